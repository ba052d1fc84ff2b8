//! Claims about connections that are watched: totals, starts, ends, limits.

use std::collections::BTreeMap;
use std::time::Duration;

use model::host::HostIdentity;
use model::measurement::Heading;
use model::run::RunId;
use model::series::field::Field;
use model::transfer::{LossCounts, LossEventKind, ReceivedCount, Transfer, TransferEnd};
use units::{ByteCount, MonoTime, WallTime};

use super::ClosedFirst;
use super::finish::Surroundings;
use super::reading::{Ends, FinSeen, Reading, Sighting};
use super::table::{Ended, LastWords, Table, Wanted};

fn table(last_words: LastWords) -> Table {
    Table::new(Wanted { least: ByteCount::new(1_000), spacing: Duration::from_millis(100), last_words })
}

fn at(millis: u64) -> MonoTime {
    MonoTime::from_nanos((1_000_000 + millis) * 1_000_000)
}

/// What the kernel shows of connection 7 after some time.
fn sighting(millis: u64, numbers: &[(Field, u64)]) -> Sighting {
    let numbers: BTreeMap<Field, u64> = numbers.iter().copied().collect();
    Sighting {
        cookie: 7,
        ends: Ends { local: "192.0.2.1:40000".parse().unwrap(), peer: "192.0.2.2:5201".parse().unwrap() },
        uid: 0,
        inode: 99,
        fin: FinSeen::No,
        congestion_control: None,
        unread: 0,
        since_ack: None,
        since_data: None,
        reading: Reading::new(at(millis), |field| numbers.get(&field).copied()),
    }
}

/// A sender without losses that has sent so much.
fn sent(millis: u64, bytes: u64) -> Sighting {
    sighting(millis, &[(Field::BytesSent, bytes), (Field::BytesRetrans, 0), (Field::BytesAcked, bytes + 1)])
}

fn received(millis: u64, bytes: u64) -> Sighting {
    sighting(millis, &[(Field::BytesReceived, bytes), (Field::DataSegsIn, 9), (Field::BytesAcked, 0)])
}

fn walk(table: &mut Table, millis: u64, seen: &[Sighting]) -> Vec<Ended> {
    table.begin_walk(at(millis));
    seen.iter().for_each(|sighting| table.see(sighting));
    table.end_walk()
}

fn transfer(ended: Ended) -> Transfer {
    let around = Surroundings {
        id: RunId::new(WallTime::from_unix_nanos(0), 1),
        mono: at(60_000),
        wall: WallTime::from_unix_nanos(1_700_000_060_000_000_000),
        host: HostIdentity::default(),
        namespace: None,
        owner: None,
        declared_line_rate: None,
    };
    ended.span.transfer(around).0
}

fn asked_in_vain(_: &Ends) -> Option<ClosedFirst> {
    panic!("nobody needs to know who closed first")
}

#[test]
fn a_transfer_between_two_walks_has_its_totals_from_the_last_word() {
    let mut table = table(LastWords::Come);
    walk(&mut table, 0, &[]);
    let ended = table.last_word(&sent(700, 50_000), |_| None).unwrap();
    let transfer = transfer(ended);
    assert_eq!((transfer.sent.get(), transfer.received.get(), transfer.heading), (50_000, 0, Heading::Outbound));
    assert_eq!((transfer.end, transfer.started_within), (TransferEnd::Closed, Some(Duration::from_millis(700))));
    assert!(table.is_empty());
}

#[test]
fn retransmitted_bytes_are_payload_once() {
    let mut table = table(LastWords::Come);
    walk(&mut table, 0, &[]);
    let numbers = [(Field::BytesSent, 60_000), (Field::BytesRetrans, 10_000), (Field::TotalRetrans, 7)];
    let transfer = transfer(table.last_word(&sighting(500, &numbers), |_| None).unwrap());
    assert_eq!((transfer.sent.get(), transfer.retransmits.get()), (50_000, 7));
}

#[test]
fn what_was_moved_before_the_watch_is_no_part_of_the_rate() {
    let mut table = table(LastWords::Come);
    walk(&mut table, 0, &[sent(0, 1_000_000)]);
    walk(&mut table, 1_000, &[sent(1_000, 2_000_000)]);
    let transfer = transfer(table.last_word(&sent(2_000, 3_000_000), |_| None).unwrap());
    assert_eq!((transfer.sent.get(), transfer.before_watch.get()), (3_000_000, 1_000_000));
    assert_eq!((transfer.active, transfer.goodput.bps()), (Duration::from_secs(2), 8_000_000));
    assert_eq!(transfer.started_within, None);
}

#[test]
fn retransmissions_close_together_are_one_run_and_those_of_others_are_left_out() {
    let mut runs = Vec::new();
    for at_ms in [1_000, 1_100, 1_300, 2_000, 2_300] {
        super::loss::retransmitted(&mut runs, at(at_ms));
    }
    let shown: Vec<(Duration, Duration, u64)> =
        runs.iter().map(|run| run.since(at(500))).map(|run| (run.at, run.length, run.transmissions)).collect();
    let ms = Duration::from_millis;
    assert_eq!(shown, [(ms(500), ms(300), 3), (ms(1_500), ms(300), 2)]);
    (0..1_000).for_each(|number| super::loss::retransmitted(&mut runs, at(10_000 + 1_000 * number)));
    assert_eq!(runs.len(), 64);
}

#[test]
fn losses_belong_to_the_connection_with_their_ends_and_to_their_interval() {
    let mut table = table(LastWords::Come);
    walk(&mut table, 0, &[]);
    walk(&mut table, 1_000, &[sent(1_000, 50_000)]);
    // Events name IPv4 as such, the kernel's list an IPv6 socket with IPv4 in it, or the other way round.
    let ends = |local: &str, peer: &str| Ends { local: local.parse().unwrap(), peer: peer.parse().unwrap() };
    let mapped = ends("[::ffff:192.0.2.1]:40000", "[::ffff:192.0.2.2]:5201");
    table.loss(at(1_200), &mapped, LossEventKind::Recovery);
    table.loss(at(1_300), &ends("192.0.2.1:40000", "192.0.2.2:5202"), LossEventKind::Timeout);
    let first = table.take_interval();
    assert_eq!(first[0].losses, LossCounts { recoveries: 1, timeouts: 0 });
    walk(&mut table, 2_000, &[sent(2_000, 90_000)]);
    table.loss(at(2_100), &sent(0, 0).ends, LossEventKind::Timeout);
    assert_eq!(table.take_interval()[0].losses, LossCounts { recoveries: 0, timeouts: 1 });
    let start = transfer(table.last_word(&sent(3_000, 99_000), |_| None).unwrap());
    let kinds: Vec<LossEventKind> = start.loss_events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [LossEventKind::Recovery, LossEventKind::Timeout]);
    assert_eq!(start.loss_events[1].at - start.loss_events[0].at, Duration::from_millis(900));
    // Its ends may be those of another connection now.
    table.loss(at(3_100), &mapped, LossEventKind::Timeout);
    assert!(table.take_interval().iter().all(|each| each.losses == LossCounts::default()));
}

#[test]
fn the_fin_is_no_payload_where_the_state_or_the_close_says_that_it_came() {
    // The peer closed first, and a walk saw it.
    let mut table = table(LastWords::Come);
    walk(&mut table, 0, &[]);
    let closing = Sighting { fin: FinSeen::Yes, ..received(1_000, 5_001) };
    walk(&mut table, 1_000, &[closing]);
    let dead = |millis, bytes| Sighting { fin: FinSeen::Unknown, ..received(millis, bytes) };
    let seen = transfer(table.last_word(&dead(1_500, 5_001), |_| None).unwrap());
    assert_eq!((seen.received.get(), seen.received_count), (5_000, ReceivedCount::OneByteMore));

    // The same between two walks: our FIN was acknowledged, and nothing waits for stray segments.
    let last = sighting(
        1_700,
        &[
            (Field::BytesReceived, 5_001),
            (Field::DataSegsIn, 9),
            (Field::BytesAcked, 1),
            (Field::BytesSent, 0),
            (Field::BytesRetrans, 0),
        ],
    );
    let last = Sighting { fin: FinSeen::Unknown, ..last };
    let last = |closed| {
        let mut table = self::table(LastWords::Come);
        walk(&mut table, 0, &[]);
        let transfer = transfer(table.last_word(&last, |_| closed).unwrap());
        (transfer.received.get(), transfer.received_count)
    };
    assert_eq!(last(Some(ClosedFirst::No)), (5_000, ReceivedCount::OneByteMore));
    assert_eq!(last(Some(ClosedFirst::PeerStillOpen)), (5_001, ReceivedCount::OneByteMore));
    assert_eq!(last(Some(ClosedFirst::Both)), (5_001, ReceivedCount::OneByteMore));

    // A reset: our FIN was never acknowledged, and the peer's may have come before.
    walk(&mut table, 2_000, &[]);
    let reset = transfer(table.last_word(&dead(2_500, 5_000), |_| Some(ClosedFirst::No)).unwrap());
    assert_eq!((reset.received.get(), reset.received_count), (5_000, ReceivedCount::OneByteMore));
}

#[test]
fn nobody_is_asked_about_a_connection_too_small_for_a_transfer() {
    let mut table = table(LastWords::Come);
    walk(&mut table, 0, &[]);
    assert!(table.last_word(&sent(100, 999), asked_in_vain).is_none());
    assert_eq!((table.take_small(), table.take_small()), (1, 0));
}

#[test]
fn a_connection_that_vanishes_is_kept_with_its_last_sample_and_counted() {
    let mut table = table(LastWords::Come);
    walk(&mut table, 0, &[]);
    walk(&mut table, 1_000, &[sent(1_000, 40_000)]);
    // Its last word may be on its way.
    assert!(walk(&mut table, 2_000, &[]).is_empty());
    let ended = walk(&mut table, 3_000, &[]).remove(0);
    assert_eq!(table.missed().without_last_word, 1);
    let transfer = transfer(ended);
    assert_eq!((transfer.end, transfer.sent.get()), (TransferEnd::NotHeard, 40_000));

    // Where last words are denied that is how every transfer ends, and nothing was missed.
    let mut table = self::table(LastWords::Denied);
    walk(&mut table, 0, &[]);
    walk(&mut table, 1_000, &[sent(1_000, 40_000)]);
    assert_eq!(walk(&mut table, 2_000, &[]).len(), 1);
    assert_eq!(table.missed().without_last_word, 0);
}

#[test]
fn a_walk_that_fails_ends_nothing() {
    let mut table = table(LastWords::Denied);
    walk(&mut table, 0, &[sent(0, 40_000)]);
    table.begin_walk(at(1_000));
    table.walk_failed();
    assert_eq!((table.len(), table.missed().failed_walks), (1, 1));
    assert!(walk(&mut table, 2_000, &[sent(2_000, 41_000)]).is_empty());
}

#[test]
fn an_interval_has_what_moved_in_it_and_what_ended_in_it() {
    let mut table = table(LastWords::Come);
    walk(&mut table, 0, &[sent(0, 10_000)]);
    assert!(table.take_interval().is_empty());
    walk(&mut table, 1_000, &[sent(1_000, 15_000)]);
    assert_eq!(table.busiest(5).len(), 1);
    assert_eq!(table.take_interval()[0].sent, 5_000);
    assert!(table.busiest(5).is_empty(), "nothing has moved since");
    table.last_word(&sent(1_500, 15_777), |_| None);
    assert_eq!(table.take_interval()[0].sent, 777);
}

#[test]
fn the_kernels_clocks_are_what_limits_a_transfer() {
    let mut table = table(LastWords::Come);
    walk(&mut table, 0, &[]);
    let numbers = |tenth: u64| {
        let busy = tenth * 100_000;
        vec![
            (Field::BytesSent, tenth * 65_536),
            (Field::BytesRetrans, 0),
            (Field::BytesAcked, tenth * 65_536),
            (Field::BusyTime, busy),
            (Field::RwndLimited, busy * 9 / 10),
            (Field::SndbufLimited, 0),
            (Field::Unacked, 45),
            (Field::Notsent, 300_000),
            (Field::SndWnd, 65_536),
            (Field::SndCwnd, 90),
            (Field::SndSsthresh, 2_147_483_647),
            (Field::SndMss, 1_448),
            (Field::Rtt, 100_500),
            (Field::MinRtt, 100_000),
            (Field::CaState, 0),
            (Field::TotalRetrans, 0),
            (Field::Delivered, tenth * 45),
        ]
    };
    for tenth in 1..=100 {
        walk(&mut table, tenth * 100, &[sighting(tenth * 100, &numbers(tenth))]);
    }
    let now = transfer(Ended { span: table.recent(7).unwrap(), uid: 0, inode: 0 });
    assert_eq!(now.limits[0].cause, "receive_window", "{:?}", now.limits);
    assert!(now.active >= Duration::from_secs(4) && now.active <= Duration::from_secs(5), "{:?}", now.active);
    let whole = transfer(table.last_word(&sighting(10_050, &numbers(100)), |_| None).unwrap());
    assert_eq!(whole.limits[0].cause, "receive_window", "{:?}", whole.limits);
    assert!(whole.limits[0].part > 0.7, "{:?}", whole.limits);
}

/// Two seconds of a sender under BBR, whose slow start threshold is never set, at a steady rate.
fn limits_of_a_steady_sender(moved_before: u64) -> Vec<String> {
    let mut table = table(LastWords::Come);
    let numbers = |tenth: u64| {
        let bytes = moved_before + tenth * 2_400_000;
        vec![
            (Field::BytesSent, bytes),
            (Field::BytesRetrans, 0),
            (Field::BytesAcked, bytes),
            (Field::BusyTime, tenth * 100_000),
            (Field::RwndLimited, 0),
            (Field::SndbufLimited, 0),
            (Field::Unacked, 90),
            (Field::Notsent, 300_000),
            (Field::SndWnd, 6_000_000),
            (Field::SndCwnd, 90 + tenth),
            (Field::SndSsthresh, 2_147_483_647),
            (Field::SndMss, 1_448),
            (Field::Rtt, 5_000),
            (Field::MinRtt, 5_000),
            (Field::CaState, 0),
            (Field::TotalRetrans, 0),
            (Field::Delivered, tenth * 1_657),
        ]
    };
    if moved_before == 0 {
        walk(&mut table, 0, &[]);
    }
    for tenth in 1..=20 {
        walk(&mut table, tenth * 100, &[sighting(tenth * 100, &numbers(tenth))]);
    }
    let ended = transfer(table.last_word(&sighting(2_050, &numbers(20)), |_| None).unwrap());
    ended.limits.into_iter().map(|limit| limit.cause).collect()
}

#[test]
fn a_connection_that_moved_data_before_it_was_watched_is_not_limited_by_its_start() {
    let start = "start_up".to_owned();
    assert!(limits_of_a_steady_sender(0).contains(&start), "{:?}", limits_of_a_steady_sender(0));
    let watched_late = limits_of_a_steady_sender(50_000_000);
    assert!(!watched_late.contains(&start) && !watched_late.is_empty(), "{watched_late:?}");
}

#[test]
fn any_numbers_of_a_kernel_are_taken() {
    let mut table = table(LastWords::Come);
    walk(&mut table, 0, &[]);
    let wild = [0, 1, u64::MAX, u64::MAX - 1, 1 << 63];
    for (number, value) in wild.into_iter().cycle().take(60).enumerate() {
        let millis = number as u64 * 100 + 100;
        let mut seen = sighting(millis, &[]);
        seen.reading = Reading::new(seen.reading.at, |field| Some(value.rotate_left(field as u32)));
        walk(&mut table, millis, &[seen]);
        if let Some(span) = table.recent(7) {
            transfer(Ended { span, uid: 0, inode: 0 });
        }
    }
    table.end().into_iter().for_each(|ended| drop(transfer(ended)));
}

#[test]
fn a_hundred_thousand_connections_are_all_kept_and_those_beyond_the_limit_are_counted() {
    let number = |cookie: u64, millis: u64, sent: u64| Sighting {
        cookie,
        ends: Ends {
            local: "192.0.2.1:443".parse().unwrap(),
            peer: std::net::SocketAddr::from((
                std::net::Ipv4Addr::from(0x0a00_0000 | u32::try_from(cookie).unwrap()),
                4_000,
            )),
        },
        ..sighting(millis, &[(Field::BytesSent, sent), (Field::BytesAcked, sent)])
    };
    let mut table = table(LastWords::Denied);
    let mut walk = |millis: u64, connections: std::ops::Range<u64>| {
        table.begin_walk(at(millis));
        connections.for_each(|cookie| table.see(&number(cookie, millis, millis * 100)));
        let ended = table.end_walk().len();
        (ended, table.take_interval().len(), table.missed())
    };
    walk(1_000, 0..100_000);
    let (ended, active, missed) = walk(2_000, 0..100_000);
    assert_eq!((ended, active, missed.beyond_limit), (0, 100_000, 0));
    let (_, _, missed) = walk(3_000, 0..200_003);
    assert_eq!(missed.beyond_limit, 3);
    // All but one go at once.
    let (ended, ..) = walk(4_000, 0..1);
    assert_eq!(ended, 199_999);
}
