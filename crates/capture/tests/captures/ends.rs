//! Two captures of one connection, whose packets are known one by one.

use std::net::SocketAddrV4;

use capture::ends::{Clocks, Joined, Recorder, Recording, join};
use capture::write::{WrittenSegment, file_header, segment};

const MS: i64 = 1_000_000;
const MSS: u32 = 1_000;
/// One way.
const DELAY: i64 = 20 * MS;

/// What happens to a packet on its way.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Arrives { later_ns: i64 },
    Lost,
    Doubled,
    NotCaptured,
}

const PLAIN: Fate = Fate::Arrives { later_ns: 0 };

/// Two captures that are being written; the second clock is ahead.
struct Two {
    near: Vec<(i64, Vec<u8>)>,
    far: Vec<(i64, Vec<u8>)>,
    ahead_ns: i64,
    /// What a firewall adds to sequence numbers of the client.
    rewritten: u32,
}

impl Two {
    fn new(ahead_ns: i64, rewritten: u32) -> Self {
        let mut two = Self { near: Vec::new(), far: Vec::new(), ahead_ns, rewritten };
        two.put(0, Sent { seq: 999, ack: 0, flags: 2, payload: 0 }, PLAIN);
        two.answer(DELAY, Sent { seq: 6, ack: 1_000, flags: 18, payload: 0 });
        two
    }

    /// From the client, captured near it first.
    fn put(&mut self, at_ns: i64, sent: Sent, fate: Fate) {
        let stamp = u32::try_from(at_ns / MS).unwrap();
        self.near.push((at_ns, bytes(at_ns, true, sent, stamp)));
        let there = Sent { seq: sent.seq.wrapping_add(self.rewritten), ..sent };
        let arrives = |later_ns: i64| {
            let at_ns = at_ns + DELAY + later_ns + self.ahead_ns;
            (at_ns, bytes(at_ns, true, there, stamp))
        };
        match fate {
            Fate::Arrives { later_ns } => self.far.push(arrives(later_ns)),
            Fate::Doubled => self.far.extend([arrives(0), arrives(MS / 100)]),
            Fate::Lost | Fate::NotCaptured => {}
        }
    }

    /// From the server, captured near it first.
    fn answer(&mut self, at_ns: i64, sent: Sent) {
        let stamp = u32::try_from(at_ns / MS).unwrap();
        let there = Sent { ack: sent.ack.wrapping_add(self.rewritten), ..sent };
        self.far.push((at_ns + self.ahead_ns, bytes(at_ns + self.ahead_ns, false, there, stamp)));
        self.near.push((at_ns + DELAY, bytes(at_ns + DELAY, false, sent, stamp)));
    }

    /// Segments a millisecond apart, each acknowledged; what is lost is sent again 100 ms later.
    fn transfer(&mut self, fates: &[Fate]) {
        for (at, fate) in (0_u32..).zip(fates) {
            let sent_ns = 3 * DELAY + i64::from(at) * MS;
            let data = Sent { seq: 1_000 + at * MSS, ack: 7, flags: 16, payload: MSS };
            self.put(sent_ns, data, *fate);
            if *fate == Fate::Lost {
                self.put(sent_ns + 100 * MS, data, PLAIN);
            }
        }
        for at in 0..u32::try_from(fates.len()).unwrap() {
            let sent_ns = 4 * DELAY + 150 * MS + i64::from(at) * MS;
            self.answer(sent_ns, Sent { seq: 7, ack: 1_000 + (at + 1) * MSS, flags: 16, payload: 0 });
        }
    }

    fn joined(self, clocks: Clocks) -> Joined {
        join(&recording(self.near), &recording(self.far), clocks)
    }
}

#[derive(Clone, Copy)]
struct Sent {
    seq: u32,
    ack: u32,
    flags: u8,
    payload: u32,
}

fn bytes(at_ns: i64, from_client: bool, sent: Sent, stamp: u32) -> Vec<u8> {
    let client = SocketAddrV4::new([192, 0, 2, 1].into(), 40_000);
    let server = SocketAddrV4::new([192, 0, 2, 2].into(), 5_201);
    let (from, to) = if from_client { (client, server) } else { (server, client) };
    let mut options = vec![1, 1, 8, 10];
    options.extend(stamp.to_be_bytes());
    options.extend([0; 4]);
    if sent.flags & 2 != 0 {
        options.extend([2, 4, 3, 0xf4]);
    }
    let written = WrittenSegment {
        time_ns: u64::try_from(1_700_000_000_000_000_000 + at_ns).unwrap(),
        from,
        to,
        seq: sent.seq,
        ack: sent.ack,
        flags: sent.flags,
        window: 0xffff,
        payload: sent.payload,
        options: &options,
        ip_id: 0,
        ecn: 0,
    };
    let mut out = Vec::new();
    segment(&written, &mut out);
    out
}

fn recording(mut packets: Vec<(i64, Vec<u8>)>) -> Recording {
    packets.sort_by_key(|packet| packet.0);
    let mut file = Vec::new();
    file_header(&mut file);
    packets.iter().for_each(|packet| file.extend(&packet.1));
    let mut recorder = Recorder::default();
    let used = recorder.read(&file).unwrap();
    recorder.end(&file[used..])
}

/// 100 segments; some are lost, one is overtaken by three, one comes twice, one was missed by the second capture.
fn fates() -> Vec<Fate> {
    let mut fates = vec![PLAIN; 100];
    for lost in [10, 11, 40] {
        fates[lost] = Fate::Lost;
    }
    fates[60] = Fate::Arrives { later_ns: 3 * MS + MS / 2 };
    fates[70] = Fate::Doubled;
    fates[80] = Fate::NotCaptured;
    fates
}

#[test]
fn losses_reordering_and_copies_are_counted_whatever_clocks_and_firewalls_do() {
    for (ahead_ns, rewritten) in [(0, 0), (1_234_567_890, 0), (-77 * MS, 3_000_000_000)] {
        let mut two = Two::new(ahead_ns, rewritten);
        two.transfer(&fates());
        let joined = two.joined(Clocks::Own);
        let connection = &joined.connections[0];
        let crossing = &connection.directions.to_server;
        let counts = crossing.segments;
        assert_eq!((counts.sent, counts.arrived, counts.lost), (103, 99, 3), "{joined:#?}");
        assert_eq!((counts.reordered, counts.duplicated, counts.not_captured_after), (1, 1, 1), "{joined:#?}");
        let sizes: Vec<u64> = crossing.bursts.iter().map(|burst| burst.segments).collect();
        assert_eq!(sizes, [2, 1], "a burst and a single one");
        let delay = crossing.delay.unwrap();
        assert!((delay.min_ns - DELAY).abs() < MS / 10 && (delay.max_ns - DELAY - 3 * MS - MS / 2).abs() < MS / 10);
        assert!((connection.clock.offset_ns - ahead_ns as f64).abs() < 1e5, "{:?}", connection.clock);
        assert_eq!((connection.rewritten, connection.is_first_at_client), (rewritten != 0, true));
    }
}

#[test]
fn the_order_of_the_two_files_does_not_matter() {
    let mut two = Two::new(5 * MS, 0);
    two.transfer(&fates());
    let (near, far) = (recording(two.near), recording(two.far));
    let (one, other) = (join(&near, &far, Clocks::Own), join(&far, &near, Clocks::Own));
    let (one, other) = (&one.connections[0], &other.connections[0]);
    assert_eq!((one.is_first_at_client, other.is_first_at_client), (true, false));
    assert_eq!(one.directions.to_server.segments, other.directions.to_server.segments);
    assert_eq!(one.clock, other.clock);
}

#[test]
fn one_clock_is_taken_as_it_is() {
    let mut two = Two::new(0, 0);
    two.transfer(&[PLAIN; 20]);
    let joined = two.joined(Clocks::Same);
    let delay = joined.connections[0].directions.to_server.delay.unwrap();
    assert_eq!((delay.min_ns, delay.max_ns, delay.samples), (DELAY, DELAY, 20));
}

#[test]
fn captures_without_a_connection_in_common_give_none() {
    let mut two = Two::new(0, 0);
    two.transfer(&[PLAIN; 20]);
    let joined = join(&recording(two.near), &recording(Vec::new()), Clocks::Own);
    assert_eq!((joined.connections.len(), joined.only_in_first, joined.only_in_second), (0, 1, 0));
}

/// A thousand bytes would be a thousand segments, and a file of few packets millions.
#[test]
fn a_syn_that_says_a_byte_does_not_multiply_segments() {
    let mut two = Two::new(0, 0);
    two.transfer(&[PLAIN; 3]);
    for (_, packet) in two.near.iter_mut().chain(&mut two.far) {
        if let Some(at) = packet.windows(4).position(|option| option == [2, 4, 3, 0xf4]) {
            packet[at + 2..at + 4].copy_from_slice(&[0, 13]);
        }
    }
    let joined = two.joined(Clocks::Own);
    assert_eq!(joined.connections[0].directions.to_server.segments.sent, 3 * 21);
}

#[test]
fn a_packet_of_gigabytes_is_cut_like_the_largest_that_there_are() {
    let mut two = Two::new(0, 0);
    two.put(3 * DELAY, Sent { seq: 1_000, ack: 7, flags: 16, payload: 2_000_000_000 }, PLAIN);
    let joined = two.joined(Clocks::Own);
    assert_eq!(joined.connections[0].directions.to_server.segments.sent, 525);
}
