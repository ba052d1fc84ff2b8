//! Classes of service: the shares of the weighted, and the right of way of the strict.

use path::Train;
use path::reason::{Delay, Drop};
use units::MonoTime;

use crate::support::{at, chain, drive, segments};

fn of_class(dscp: u8, frame: u32, count: u32, size: u32) -> Train {
    Train { dscp, ..segments(frame, count, size) }
}

#[test]
fn weighted_classes_share_within_one_quantum() {
    // Both always have something waiting, with packets of different sizes. A weight of 1 is a quantum of 9,216 bytes.
    let mut chain = chain(
        r#"chain = [{ classes = { rate = "10Mbit/s", best-effort = { weight = 3 }, scavenger = { weight = 1 } } }]"#,
        1,
    );
    let trains = [(at(0), of_class(0, 0, 2_000, 1_500)), (at(0), of_class(8, 1, 1_400, 700))];
    let log = drive(&mut chain, trains);
    let (mut best_effort, mut scavenger) = (0_i64, 0_i64);
    for (_, train) in &log.delivered {
        let bytes = i64::try_from(train.bytes().get()).unwrap();
        *(if train.dscp == 0 { &mut best_effort } else { &mut scavenger }) += bytes;
        if best_effort == 3_000_000 || scavenger == 980_000 {
            break;
        }
        // Shreedhar and Varghese, theorem 2: a quantum and what a packet may leave of it.
        assert!((best_effort / 3 - scavenger).abs() <= 9_216 + 1_500, "{best_effort} and {scavenger}");
    }
    assert!(scavenger > 900_000);
}

#[test]
fn class_that_is_alone_has_the_whole_link() {
    let text =
        r#"chain = [{ classes = { rate = "8Mbit/s", best-effort = { weight = 99 }, scavenger = { weight = 1 } } }]"#;
    let log = drive(&mut chain(text, 1), [(at(0), of_class(8, 0, 100, 1_000))]);
    assert_eq!(log.delivered.last().unwrap().0, at(100_000));
}

#[test]
fn expedited_packets_wait_for_one_packet_at_most() {
    // 20 Mbit/s of best effort on a link of 10 Mbit/s, and a packet of 100 bytes every 1.7 ms.
    let text = r#"chain = [{ classes = { rate = "10Mbit/s", expedited = {}, best-effort = { queue = { bytes = "100kB" } } } }]"#;
    let mut trains: Vec<(MonoTime, Train)> = Vec::new();
    trains.extend((0..1_000).map(|n| (at(500 * n), of_class(0, u32::try_from(n).unwrap(), 1, 1_250))));
    trains.extend((0..290).map(|n| (at(1_700 * n), of_class(46, 10_000 + u32::try_from(n).unwrap(), 1, 100))));
    trains.sort_by_key(|(when, _)| *when);
    let offered: std::collections::HashMap<u32, MonoTime> =
        trains.iter().map(|(when, train)| (train.frame.0, *when)).collect();
    let mut chain = chain(text, 1);
    let log = drive(&mut chain, trains);
    let expedited: Vec<_> = log.delivered.iter().filter(|(_, train)| train.dscp == 46).collect();
    assert_eq!(expedited.len(), 290);
    for (when, train) in expedited {
        // A packet of best effort takes 1 ms, this one 80 us.
        assert!(when.since(offered[&train.frame.0]).as_micros() <= 1_080);
    }
    assert!(log.dropped_packets(Drop::QueueFull) > 300, "best effort pays");
    assert!(chain.tallies().next().unwrap().delayed_for(Delay::Queue).longest.as_millis() > 50);
}

#[test]
fn classes_without_settings_of_their_own_are_best_effort() {
    let text = r#"chain = [{ classes = { rate = "8Mbit/s", best-effort = { queue = { packets = 2 } } } }]"#;
    let log = drive(&mut chain(text, 1), [0, 8, 46, 46].map(|dscp| (at(0), of_class(dscp, u32::from(dscp), 1, 1_000))));
    assert_eq!((log.delivered_packets(), log.dropped_packets(Drop::QueueFull)), (3, 1));
}

#[test]
fn cross_traffic_goes_to_the_queue_of_its_class() {
    // Scavenger is flooded, expedited takes a tenth of the link, and best effort of 80 % finds room in the rest.
    let text = r#"chain = [{ classes = { rate = "100Mbit/s", expedited = {}, best-effort = { weight = 20, queue = { bytes = "100kB" } },
        scavenger = { weight = 1, queue = { bytes = "100kB" } }, cross = [
            { dscp = 8, bursts = [{ rate = "200Mbit/s" }] }, { dscp = 46, bursts = [{ rate = "10Mbit/s" }] }] } }]"#;
    let mut chain = chain(text, 1);
    let best_effort = (0..2_000).map(|n| (at(125 * n), of_class(0, u32::try_from(n).unwrap(), 1, 1_250)));
    let scavenger = (0..250).map(|n| (at(1_000 * n), of_class(8, 5_000 + u32::try_from(n).unwrap(), 1, 1_250)));
    let mut trains: Vec<_> = best_effort.chain(scavenger).collect();
    trains.sort_by_key(|(when, _)| *when);
    let log = drive(&mut chain, trains);
    assert!(log.dropped.iter().all(|(.., train)| train.dscp == 8));
    assert!(log.dropped_packets(Drop::QueueFull) > 100);
}
