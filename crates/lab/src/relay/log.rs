//! What happened to which packets: the truth that a diagnosis is judged by.

use std::collections::VecDeque;
use std::io;

use path::reason::{Drop, Mark};
use path::{ElementIndex, FlowHash, PacketKind, Train};
use serde::Serialize;
use units::{ByteCount, MonoTime, Mtu, PacketCount};

/// Something that happened to packets of one flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When, on the monotonic clock of this machine.
    pub at: MonoTime,
    /// On which wire, by its place in the list.
    pub wire: usize,
    /// In which direction: from end 0 to end 1, or back.
    pub direction: usize,
    /// In which element of the chain; `None` where it was the relay itself.
    pub place: Option<ElementIndex>,
    /// What.
    pub what: What,
    /// To which flow.
    pub flow: FlowHash,
    /// To what.
    pub kind: PacketKind,
    /// To how many packets.
    pub packets: PacketCount,
    /// How many bytes they had on the link.
    pub bytes: ByteCount,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// An element dropped them.
    Dropped(Drop),
    /// An element changed their ECN field.
    Marked(Mark),
    /// They were too big, and their sender was to be told.
    Refused(Mtu),
    /// They came out once more.
    Duplicated,
    /// They were written with a wrong bit, as an element had it.
    Corrupted,
    /// The relay lost them, which no element of the path did.
    Lost(Lost),
}

/// Why the relay lost packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lost {
    /// It had no memory left to keep them.
    NoRoom,
    /// The device at the far end was down.
    Down,
    /// The kernel did not take them for another reason.
    Refused,
}

impl Lost {
    /// Its name in logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoRoom => "no-room",
            Self::Down => "down",
            Self::Refused => "refused",
        }
    }
}

/// Events in order of time, as many as there was room for.
#[derive(Debug, Clone, Default)]
pub struct Events {
    /// Events in the order of time, as many as were kept.
    pub events: Vec<Event>,
    /// How many older ones were forgotten for lack of room.
    pub forgotten: u64,
}

impl Events {
    /// Writes one JSON object a line; `wires` are the names of the wires.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_lines(&self, wires: &[String], mut out: impl io::Write) -> io::Result<()> {
        for event in &self.events {
            serde_json::to_writer(&mut out, &Line::of(event, wires))?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    pub(super) fn join(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut joined = Self::default();
        for part in parts {
            joined.events.extend(part.events);
            joined.forgotten += part.forgotten;
        }
        joined.events.sort_by_key(|event| event.at);
        joined
    }
}

/// The last events.
#[derive(Debug)]
pub(super) struct Log {
    events: VecDeque<Event>,
    room: usize,
    forgotten: u64,
}

impl Log {
    pub(super) fn new(room: usize) -> Self {
        Self { events: VecDeque::with_capacity(room.min(FIRST_ROOM)), room, forgotten: 0 }
    }

    pub(super) fn add(&mut self, event: Event) {
        if self.room == 0 {
            self.forgotten += 1;
            return;
        }
        if self.events.len() >= self.room {
            self.events.pop_front();
            self.forgotten += 1;
        }
        self.events.push_back(event);
    }

    /// Hands over what there is.
    pub(super) fn take(&mut self) -> Events {
        Events { events: self.events.drain(..).collect(), forgotten: std::mem::take(&mut self.forgotten) }
    }
}

const FIRST_ROOM: usize = 1_024;

impl Event {
    pub(super) fn of(
        at: MonoTime,
        (wire, direction): (usize, usize),
        place: Option<ElementIndex>,
        what: What,
        train: &Train,
    ) -> Self {
        let packets = PacketCount::new(u64::from(train.count.get()));
        Self { at, wire, direction, place, what, flow: train.flow, kind: train.kind, packets, bytes: train.bytes() }
    }
}

/// An event as it is written.
#[derive(Debug, Serialize)]
struct Line<'a> {
    at_ns: u64,
    wire: &'a str,
    direction: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    element: Option<usize>,
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mtu_bytes: Option<u32>,
    flow: u32,
    kind: &'static str,
    packets: u64,
    bytes: u64,
}

impl<'a> Line<'a> {
    fn of(event: &Event, wires: &'a [String]) -> Self {
        let (what, reason, mtu_bytes) = match event.what {
            What::Dropped(reason) => ("dropped", Some(reason.name()), None),
            What::Marked(reason) => ("marked", Some(reason.name()), None),
            What::Refused(mtu) => ("refused", None, Some(mtu.get())),
            What::Duplicated => ("duplicated", None, None),
            What::Corrupted => ("corrupted", None, None),
            What::Lost(reason) => ("lost", Some(reason.name()), None),
        };
        Self {
            at_ns: event.at.as_nanos(),
            wire: wires.get(event.wire).map_or("", String::as_str),
            direction: event.direction,
            element: event.place.map(ElementIndex::index),
            what,
            reason,
            mtu_bytes,
            flow: event.flow.0,
            kind: kind_name(event.kind),
            packets: event.packets.get(),
            bytes: event.bytes.get(),
        }
    }
}

const fn kind_name(kind: PacketKind) -> &'static str {
    match kind {
        PacketKind::TcpSyn => "tcp-syn",
        PacketKind::TcpData => "tcp-data",
        PacketKind::TcpControl => "tcp-control",
        PacketKind::Udp => "udp",
        PacketKind::TunnelledTcpData => "tunnelled-tcp-data",
        PacketKind::Tunnelled => "tunnelled",
        PacketKind::Link => "link",
        PacketKind::Other => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(nanos: u64, what: What) -> Event {
        Event {
            at: MonoTime::from_nanos(nanos),
            wire: 1,
            direction: 0,
            place: None,
            what,
            flow: FlowHash(9),
            kind: PacketKind::TcpData,
            packets: PacketCount::new(2),
            bytes: ByteCount::new(3_028),
        }
    }

    #[test]
    fn full_log_forgets_the_oldest_and_says_so() {
        let mut log = Log::new(2);
        (1..=5).for_each(|nanos| log.add(event(nanos, What::Duplicated)));
        let Events { events, forgotten } = log.take();
        assert_eq!(events.iter().map(|event| event.at.as_nanos()).collect::<Vec<_>>(), [4, 5]);
        assert_eq!((forgotten, log.take().forgotten), (3, 0));
    }

    #[test]
    fn events_are_lines_of_json_in_order_of_time() {
        let part = |events| Events { events, forgotten: 1 };
        let late = part(vec![event(8, What::Lost(Lost::NoRoom))]);
        let joined = Events::join([late, part(vec![event(7, What::Dropped(Drop::QueueFull))])]);
        let mut written = Vec::new();
        joined.write_lines(&["a".to_owned(), "north".to_owned()], &mut written).unwrap();
        let expected = concat!(
            r#"{"at_ns":7,"wire":"north","direction":0,"what":"dropped","reason":"queue-full","flow":9,"#,
            r#""kind":"tcp-data","packets":2,"bytes":3028}"#,
            "\n",
            r#"{"at_ns":8,"wire":"north","direction":0,"what":"lost","reason":"no-room","flow":9,"#,
            r#""kind":"tcp-data","packets":2,"bytes":3028}"#,
            "\n",
        );
        assert_eq!((String::from_utf8(written).unwrap().as_str(), joined.forgotten), (expected, 2));
    }
}
