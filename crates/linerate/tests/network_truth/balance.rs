//! Truth tests of the datagram balance: drops are planted in each place, counted by those who drop, and the balance must
//! say the same, to the datagram.
//!
//! They need root, `ip`, `tc`, `nft` and `sysctl`. Latency probes are switched off, since they cross the same queues.

use diagnose::balance::part::Certainty;
use diagnose::balance::{Balance, balance};

use crate::support::truth_cgroup::Quota;
use crate::support::truth_network::Network;
use crate::support::truth_program::{Quotas, Recorded, test, test_within};

const DATAGRAMS: &str = "--udp --time 2s --no-gso --no-gro --probe-every 0s";

#[test]
fn what_the_senders_queue_drops_is_dropped_in_the_sender() {
    let network = Network::alone();
    network.within(&network.near, "tc qdisc add dev dev0 root tbf rate 100mbit burst 32k limit 64k");
    let balance = balanced(&test(&network, &network.to_far(&format!("{DATAGRAMS} --flood"))));
    let lost = balance.handed.get() - balance.received.get();
    assert!(lost > 1_000, "the queue dropped nothing: {balance:#?}");
    assert_eq!(balance.dropped_in_sender.known() + balance.lost_on_path.known(), lost, "{balance:#?}");
    assert_path(&balance, 0);
    assert_eq!(balance.dropped_in_receiver.known(), 0, "{balance:#?}");
}

#[test]
fn what_the_path_drops_is_lost_on_the_path() {
    let network = Network::alone();
    network.lose(&network.router, "forward", "udp");
    let balance = balanced(&test(&network, &network.to_far(&format!("{DATAGRAMS} --rate 100Mbit/s"))));
    let lost = network.lost(&network.router);
    assert!(lost > 0);
    assert_path(&balance, lost);
    assert_eq!(balance.lost_on_path.certainty, Certainty::Exact, "{balance:#?}");
    assert_eq!((balance.dropped_in_sender.known(), balance.dropped_in_receiver.known()), (0, 0), "{balance:#?}");
}

#[test]
fn what_a_small_socket_buffer_drops_is_dropped_in_the_receiver() {
    let network = Network::alone();
    let quota = Quota::percent(20);
    let quotas = Quotas { far: Some(&quota), near: None };
    let args = network.to_far(&format!("{DATAGRAMS} --rate 200Mbit/s --window 16KiB"));
    let balance = balanced(&test_within(&network, &quotas, &args));
    let lost = balance.handed.get() - balance.received.get();
    assert!(lost > 0, "the socket dropped nothing: {balance:#?}");
    assert_eq!(balance.dropped_in_receiver.known() + balance.lost_on_path.known(), lost, "{balance:#?}");
    assert_eq!(balance.dropped_in_sender.known(), 0, "{balance:#?}");
    assert_path(&balance, 0);
}

#[test]
fn a_small_send_buffer_makes_the_sender_wait_and_drops_nothing() {
    let network = Network::alone();
    network.within(&network.near, "tc qdisc add dev dev0 root tbf rate 100mbit burst 32k limit 1m");
    let balance = balanced(&test(&network, &network.to_far(&format!("{DATAGRAMS} --flood --window 16KiB"))));
    assert_eq!(balance.dropped_in_sender.known(), 0, "{balance:#?}");
    assert_path(&balance, 0);
}

#[test]
fn drops_in_all_places_at_once_are_told_apart() {
    let network = Network::alone();
    network.within(&network.near, "tc qdisc add dev dev0 root tbf rate 200mbit burst 32k limit 16k");
    network.lose(&network.router, "forward", "udp");
    let quota = Quota::percent(5);
    let quotas = Quotas { far: Some(&quota), near: None };
    let args = network.to_far(&format!("{DATAGRAMS} --rate 250Mbit/s --window 64KiB"));
    let balance = balanced(&test_within(&network, &quotas, &args));
    assert_path(&balance, network.lost(&network.router));
    assert!(balance.dropped_in_sender.known() > 0, "{balance:#?}");
    assert!(balance.dropped_in_receiver.known() > 0, "{balance:#?}");
}

#[test]
fn merged_packets_that_were_dropped_are_unknown_not_one_each() {
    let network = Network::alone();
    network.within(&network.near, "tc qdisc add dev dev0 root tbf rate 100mbit burst 128k limit 256k");
    let balance = balanced(&test(&network, &network.to_far("--udp --time 2s --flood --probe-every 0s")));
    let lost = balance.handed.get() - balance.received.get();
    assert!(lost > 1_000, "the queue dropped nothing: {balance:#?}");
    assert_eq!(balance.dropped_in_sender.certainty, Certainty::Unknown, "{balance:#?}");
    assert_eq!(balance.lost_on_path.known(), lost, "{balance:#?}");
    assert_eq!(balance.lost_on_path.certainty, Certainty::PathOrUnknown, "{balance:#?}");
}

/// The path lost exactly what was dropped there. Apart from that, a sender that waits in its last call hands over after
/// it has told the receiver to stop: such datagrams came after the last one received, and are told apart.
fn assert_path(balance: &Balance, dropped: u64) {
    let path = balance.lost_on_path.known();
    let late = balance.lost_at_tail.get().min(BATCH);
    assert!((dropped..=dropped + late).contains(&path), "{path} lost, {dropped} dropped, {late} late: {balance:#?}");
}

/// Datagrams that the program hands over with one call.
const BATCH: u64 = 64;

fn balanced(recorded: &Recorded) -> Balance {
    let balance = balance(&recorded.run).remove(0);
    let parts = [&balance.dropped_in_sender, &balance.lost_on_path, &balance.dropped_in_receiver];
    let sum = parts.map(|part| part.known()).iter().sum::<u64>() + balance.received.get();
    assert_eq!(sum, balance.handed.get(), "{balance:#?}");
    println!(
        "{} handed = {:?} in the sender + {:?} on the path + {:?} in the receiver + {} received; counted {:?} {:?} {:?}",
        balance.handed,
        balance.dropped_in_sender.packets,
        balance.lost_on_path.packets,
        balance.dropped_in_receiver.packets,
        balance.received,
        balance.dropped_in_sender.counted,
        balance.dropped_in_receiver.counted,
        balance.notes,
    );
    balance
}
