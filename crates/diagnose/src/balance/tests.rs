//! Claims about counters that say the same thing twice, or nothing.

use model::counters::{CounterReadings, Reading};
use units::PacketCount;

use super::hosts::{Host, HostDrops, Kernel, Merging, in_receiver, in_sender};
use super::part::{BalanceShare, Certainty};

fn counters(changes: &[(&str, u64)]) -> CounterReadings {
    let always = [("Udp.SndbufErrors", 0), ("Udp.RcvbufErrors", 0)];
    let reading = |(name, change): &(&str, u64)| ((*name).to_owned(), Reading { before: 7, after: 7 + change });
    CounterReadings { values: always.iter().chain(changes).map(reading).collect(), ..CounterReadings::default() }
}

fn host(counters: &CounterReadings) -> Host<'_> {
    Host { counters: Some(counters), device: Some("eth0"), kernel: Kernel::Own }
}

fn part(drops: HostDrops) -> BalanceShare {
    let all = drops.total();
    drops.part(all)
}

#[test]
fn a_queue_drop_that_the_socket_counts_too_is_one_drop() {
    let counters = counters(&[("Udp.SndbufErrors", 59_532), ("qdisc.eth0.1:.drops", 59_532)]);
    assert_eq!(in_sender(&host(&counters), Merging::Never, 0).total(), 59_532);
}

#[test]
fn a_discipline_and_its_child_count_one_drop() {
    let counters = counters(&[("qdisc.eth0.1:.drops", 100), ("qdisc.eth0.10:.drops", 100), ("qdisc.eth1.1:.drops", 9)]);
    assert_eq!(in_sender(&host(&counters), Merging::Never, 0).total(), 100);
    let anywhere = Host { device: None, ..host(&counters) };
    assert_eq!(in_sender(&anywhere, Merging::Never, 0).total(), 109);
}

#[test]
fn drops_of_queue_and_driver_are_different_ones() {
    let counters = counters(&[("qdisc.eth0.1:.drops", 100), ("dev.eth0.tx_drop", 5)]);
    assert_eq!(in_sender(&host(&counters), Merging::Never, 0).total(), 105);
}

#[test]
fn a_full_backlog_is_counted_once_though_two_counters_move() {
    let counters = counters(&[("dev.eth0.rx_drop", 30), ("softnet.cpu0.dropped", 20), ("softnet.cpu1.dropped", 10)]);
    assert_eq!(in_receiver(&host(&counters), Merging::Never, None).total(), 30);
}

#[test]
fn the_backlog_of_a_shared_kernel_says_nothing_of_one_end() {
    let counters = counters(&[("softnet.cpu0.dropped", 20)]);
    let shared = Host { kernel: Kernel::Shared, ..host(&counters) };
    assert_eq!(in_receiver(&shared, Merging::Never, None).total(), 0);
}

#[test]
fn what_the_socket_itself_counted_is_exact() {
    let counters = counters(&[("Udp.RcvbufErrors", 61)]);
    let exact = part(in_receiver(&host(&counters), Merging::Never, Some(PacketCount::new(61))));
    assert_eq!((exact.packets, exact.certainty), (Some(PacketCount::new(61)), Certainty::Exact));
    let at_most = part(in_receiver(&host(&counters), Merging::Never, Some(PacketCount::new(50))));
    assert_eq!((at_most.packets, at_most.certainty), (Some(PacketCount::new(61)), Certainty::AtMost));
}

#[test]
fn merged_packets_are_unknown_once_one_was_dropped() {
    let dropped = counters(&[("qdisc.eth0.1:.drops", 3)]);
    let unknown = part(in_sender(&host(&dropped), Merging::Possible, 9));
    assert_eq!((unknown.packets, unknown.certainty), (None, Certainty::Unknown));
    let none = counters(&[]);
    let known = part(in_sender(&host(&none), Merging::Possible, 9));
    assert_eq!((known.packets, known.certainty), (Some(PacketCount::ZERO), Certainty::Exact));
}

#[test]
fn counters_that_cannot_be_read_are_unknown_never_zero() {
    let silent = Host { counters: None, device: None, kernel: Kernel::Own };
    assert_eq!(part(in_receiver(&silent, Merging::Never, None)).packets, None);
    let mut counters = counters(&[]);
    counters.unreadable.insert("qdisc".to_owned(), "permission denied".to_owned());
    let because = part(in_sender(&host(&counters), Merging::Never, 0)).because.unwrap();
    assert_eq!(because, "qdisc counters cannot be read: permission denied");
}

#[test]
fn a_host_that_sent_nothing_else_dropped_exactly_these() {
    let alone = counters(&[("Udp.SndbufErrors", 40), ("qdisc.eth0.1:.drops", 40), ("Udp.OutDatagrams", 60)]);
    assert_eq!(part(in_sender(&host(&alone), Merging::Never, 100)).certainty, Certainty::Exact);
    let with_others = part(in_sender(&host(&alone), Merging::Never, 97));
    assert_eq!(with_others.certainty, Certainty::AtMost);
    assert!(with_others.because.unwrap().starts_with("at most 3 of them"));
}
