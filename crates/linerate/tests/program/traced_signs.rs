//! What `linerate why` says of captures in which packets are overtaken, retransmitted in vain, or missed until a timer fires.

use std::net::SocketAddrV4;
use std::process::Command;

use capture::write::{WrittenSegment, file_header, segment};
use serde_json::Value;

const MSS: u32 = 1_000;
const MS: u64 = 1_000_000;
const RTT: u64 = 20 * MS;
const SYN: u8 = 2;
const ACK: u8 = 16;

/// A transfer in rounds of ten segments, captured at its sender. Segments count from 0, times from the first packet.
struct Rounds {
    bytes: Vec<u8>,
    ip_id: u16,
    now_ns: u64,
    next: u32,
}

impl Rounds {
    fn new() -> Self {
        let mut rounds = Self { bytes: Vec::new(), ip_id: 0, now_ns: 2 * RTT, next: 0 };
        file_header(&mut rounds.bytes);
        let options = [2, 4, 3, 0xe8, 4, 2, 1, 3, 3, 7];
        rounds.sends(0, 0, SYN, &options);
        rounds.answers(RTT, 0, SYN | ACK, &options);
        rounds
    }

    /// The sender's packet with `payload` bytes of sequence number `seq`.
    fn sends(&mut self, at_ns: u64, seq: u32, flags: u8, options: &[u8]) {
        let payload = if flags == ACK { MSS } else { 0 };
        let numbers = WrittenSegment { seq, payload, flags, options, ..self.blank(at_ns) };
        segment(&numbers, &mut self.bytes);
    }

    fn answers(&mut self, at_ns: u64, ack: u32, flags: u8, options: &[u8]) {
        let blank = self.blank(at_ns);
        let ack = if flags == ACK { ack } else { 1 };
        let answer = WrittenSegment { from: blank.to, to: blank.from, seq: 7, ack, flags, options, ..blank };
        segment(&answer, &mut self.bytes);
    }

    fn blank(&mut self, at_ns: u64) -> WrittenSegment<'static> {
        self.ip_id += 1;
        WrittenSegment {
            time_ns: 1_700_000_000_000_000_000 + at_ns,
            from: SocketAddrV4::new([192, 0, 2, 1].into(), 40_000),
            to: SocketAddrV4::new([192, 0, 2, 2].into(), 5_201),
            seq: 0,
            ack: 8,
            flags: ACK,
            window: 0xffff,
            payload: 0,
            options: &[],
            ip_id: self.ip_id,
            ecn: 0,
        }
    }

    fn data(&mut self, at_ns: u64, segment: u32) {
        self.sends(at_ns, 1 + segment * MSS, ACK, &[]);
    }

    /// Everything before a segment has arrived, and segments of these ranges.
    fn ack(&mut self, at_ns: u64, segment: u32, blocks: &[(u32, u32)]) {
        let number = |segment: u32| 1 + segment * MSS;
        let mut options = Vec::new();
        if !blocks.is_empty() {
            options.extend([1, 1, 5, u8::try_from(2 + 8 * blocks.len()).unwrap()]);
            let edges = blocks.iter().flat_map(|(from, to)| [number(*from), number(*to)]);
            edges.for_each(|edge| options.extend(edge.to_be_bytes()));
        }
        self.answers(at_ns, number(segment), ACK, &options);
    }

    /// Sends ten segments, and returns when and from which number on.
    fn flight(&mut self) -> (u64, u32) {
        let (start_ns, first) = (self.now_ns, self.next);
        (0..10).for_each(|each| self.data(start_ns + u64::from(each) * MS / 10, first + each));
        self.next += 10;
        (start_ns, first)
    }

    fn plain(&mut self) {
        let (start_ns, first) = self.flight();
        (1..=10).for_each(|each| self.ack(start_ns + RTT + u64::from(each) * MS / 10, first + each, &[]));
        self.now_ns += RTT + 2 * MS;
    }

    /// The fourth comes behind the eighth. Returns when the acknowledgment of all of them comes.
    fn overtaken(&mut self) -> (u64, u32) {
        let (start_ns, first) = self.flight();
        let at_ns = |each: u32| start_ns + RTT + u64::from(each) * MS / 10;
        (1..=3).for_each(|each| self.ack(at_ns(each), first + each, &[]));
        (5..=8).for_each(|each| self.ack(at_ns(each), first + 3, &[(first + 4, first + each)]));
        (at_ns(9), first)
    }

    /// The same, and the sender does not take it for lost.
    fn overtaken_and_patient(&mut self) {
        let (at_ns, first) = self.overtaken();
        (9..=10).for_each(|each| self.ack(at_ns + u64::from(each) * MS / 10, first + each, &[]));
        self.now_ns += RTT + 3 * MS;
    }

    /// The same, and the sender retransmits it: the receiver has both.
    fn overtaken_and_retransmitted(&mut self) {
        let (at_ns, first) = self.overtaken();
        self.data(at_ns, first + 3);
        self.ack(at_ns + MS / 5, first + 9, &[]);
        self.ack(at_ns + MS / 4, first + 10, &[]);
        self.ack(at_ns + RTT, first + 10, &[(first + 3, first + 4)]);
        self.now_ns += 2 * RTT + 4 * MS;
    }

    /// The third is retransmitted though everything was acknowledged.
    fn retransmitted_in_vain(&mut self) {
        let (start_ns, first) = self.flight();
        let at_ns = |each: u32| start_ns + RTT + u64::from(each) * MS / 10;
        (1..=2).for_each(|each| self.ack(at_ns(each), first + each, &[]));
        self.data(at_ns(3), first + 2);
        self.ack(at_ns(4), first + 10, &[]);
        self.ack(at_ns(3) + RTT, first + 10, &[(first + 2, first + 3)]);
        self.now_ns += 2 * RTT + 4 * MS;
    }

    /// The last acknowledgment is lost, so that the timer fires after 250 ms, and the receiver reports a copy.
    fn timed_out(&mut self) {
        let (start_ns, first) = self.flight();
        (1..=9).for_each(|each| self.ack(start_ns + RTT + u64::from(each) * MS / 10, first + each, &[]));
        self.now_ns += RTT + 250 * MS;
        self.data(self.now_ns, first + 9);
        self.ack(self.now_ns + RTT, first + 10, &[(first + 9, first + 10)]);
        self.now_ns += RTT + MS;
    }

    /// The document of `linerate why`.
    #[track_caller]
    fn why(&self) -> Value {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.pcap"), &self.bytes).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
        let output = command.args(["why", "--json", "a.pcap"]).current_dir(folder.path()).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }
}

/// The first cause that is named, and the symptom.
fn named(why: &Value) -> (&str, &str) {
    let cause = why["problems"][0]["ranking"][0]["cause"].as_str();
    (cause.unwrap_or_else(|| panic!("{why:#}")), why["symptoms"][0]["says"].as_str().unwrap())
}

#[test]
fn packets_that_are_overtaken_are_a_path_that_reorders() {
    let mut rounds = Rounds::new();
    for round in 0..100 {
        match round % 5 {
            0 => rounds.overtaken_and_patient(),
            1 => rounds.overtaken_and_retransmitted(),
            _ => rounds.plain(),
        }
    }
    let why = rounds.why();
    let (cause, says) = named(&why);
    assert!(cause == "reordering" && says.contains("limited by reordering"), "{why:#}");
    let evidence = why["problems"][0]["ranking"][0]["speaks_for"][0].as_str().unwrap();
    assert!(evidence.contains("arrived behind later ones"), "{evidence}");
}

#[test]
fn retransmissions_in_vain_are_a_sign_with_several_causes() {
    let mut rounds = Rounds::new();
    (0..100).for_each(|round| if round % 4 == 0 { rounds.retransmitted_in_vain() } else { rounds.plain() });
    let why = rounds.why();
    let (cause, says) = named(&why);
    assert!(cause == "reordering" && says.contains("limited by spurious retransmissions"), "{why:#}");
    let causes = why["problems"][0]["ranking"].as_array().unwrap();
    assert!(causes.iter().any(|ranked| ranked["cause"] == "firewall"), "{causes:#?}");
}

#[test]
fn silence_until_the_timer_fires_is_a_sign_where_no_data_was_lost() {
    let mut rounds = Rounds::new();
    (0..60).for_each(|round| if round % 29 == 28 { rounds.timed_out() } else { rounds.plain() });
    let why = rounds.why();
    let (cause, says) = named(&why);
    assert!(cause == "random-loss" && says.contains("limited by retransmission timeouts"), "{why:#}");
    assert!(why["problems"][0]["ranking"][0]["probability"].as_f64() < Some(0.5), "{why:#}");
}
