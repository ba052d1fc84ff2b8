//! The time-sequence graph of one transfer in the format of xplot.org, drawn as tcptrace draws it: every packet of it.
//!
//! White lines are data, red ones with an R retransmissions, the green staircase acknowledgments with a tick for each
//! duplicate, the yellow one the receiver's window, purple lines SACK blocks. Numbers are 64 bits wide, so that a graph goes
//! on where the field of the header wraps.

use std::fmt::Write as _;
use std::net::SocketAddr;

use crate::connection::duplicate::Copies;
use crate::decode::{Segment, address, flag};
use crate::direction::series::Zoom;
use crate::file::FileError;
use crate::sequence;
use crate::stream::{SORT_WINDOW_NS, Stream};

/// A drawing that goes on as the capture is read.
#[derive(Debug)]
pub struct Xplot {
    stream: Stream,
    graph: Graph,
}

/// What is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Drawn {
    /// Who sends the data.
    pub from: SocketAddr,
    /// Who receives it.
    pub to: SocketAddr,
    /// What is around its packets: the same connection in another place of its path is not drawn.
    pub outer: u32,
    /// When the connection began, in nanoseconds since 1970: another one of the same ports is not drawn.
    pub first_ns: i64,
    /// When it ended.
    pub last_ns: i64,
    /// When its first data was sent.
    pub first_data_ns: i64,
    /// The part of it that is drawn, where not all is.
    pub zoom: Option<Zoom>,
}

#[derive(Debug)]
struct Graph {
    drawn: Drawn,
    copies: Copies,
    scale: Option<u8>,
    /// After the highest byte that was sent.
    next: Option<u64>,
    acked: Option<Corner>,
    window: Option<Corner>,
}

/// The last corner of a staircase.
#[derive(Debug, Clone, Copy)]
struct Corner {
    at_ns: i64,
    number: u64,
}

impl Xplot {
    /// Nothing is read yet; the head of the drawing goes to `out`.
    #[must_use]
    pub fn new(drawn: Drawn, out: &mut String) -> Self {
        let Drawn { from, to, .. } = drawn;
        let _ = write!(
            out,
            "timeval double\ntitle\n{from}_==>_{to} (time sequence graph)\nxlabel\ntime\nylabel\nsequence number\n"
        );
        let graph = Graph { drawn, copies: Copies::default(), scale: None, next: None, acked: None, window: None };
        Self { stream: Stream::new(SORT_WINDOW_NS), graph }
    }

    /// Reads on, and draws to `out`. Returns how many of `bytes` are used up.
    ///
    /// # Errors
    /// Where the file is damaged, and how. What came before is drawn.
    pub fn read(&mut self, bytes: &[u8], out: &mut String) -> Result<usize, FileError> {
        let Self { stream, graph } = self;
        stream.read(bytes, |segment| graph.take(segment, out))
    }

    /// The end of the file, of which `rest` was not used up.
    pub fn end(mut self, rest: &[u8], out: &mut String) {
        let Self { stream, graph } = &mut self;
        // Damage was told when the transfer was chosen.
        stream.end(rest, |segment| graph.take(segment, out));
        out.push_str("go\n");
    }
}

impl Graph {
    fn take(&mut self, segment: &Segment, out: &mut String) {
        let ends = segment.endpoints;
        let source = SocketAddr::new(address(ends.source), ends.source_port);
        let target = SocketAddr::new(address(ends.destination), ends.destination_port);
        let is_outside = segment.time_ns < self.drawn.first_ns || segment.time_ns > self.drawn.last_ns;
        let is_of = |from, to| source == from && target == to && ends.outer == self.drawn.outer;
        let (is_data, is_answer) = (is_of(self.drawn.from, self.drawn.to), is_of(self.drawn.to, self.drawn.from));
        // A copy of a span port is no retransmission.
        if is_outside || !(is_data || is_answer) || self.copies.is_copy(segment) {
            return;
        }
        if is_data {
            self.data(segment, out);
        } else {
            self.acknowledgment(segment, out);
        }
    }

    fn is_in_view(&self, at_ns: i64) -> bool {
        let since_ns = at_ns - self.drawn.first_data_ns;
        self.drawn.zoom.is_none_or(|zoom| since_ns >= zoom.from_ns && zoom.to_ns.is_none_or(|to| since_ns <= to))
    }

    /// A 32-bit number as the 64-bit one nearest to what was sent last.
    fn unwrap(&self, number: u32) -> u64 {
        self.next.map_or(u64::from(number), |next| sequence::nearest(next, number))
    }

    fn data(&mut self, segment: &Segment, out: &mut String) {
        let from = self.unwrap(segment.seq);
        let to = from + u64::from(segment.payload);
        let is_again = segment.payload > 0 && self.next.is_some_and(|next| from < next);
        self.next = Some(self.next.map_or(to, |next| next.max(to)));
        if !self.is_in_view(segment.time_ns) {
            return;
        }
        let at = Time(segment.time_ns);
        if segment.payload > 0 {
            let colour = if is_again { "red" } else { "white" };
            let _ = write!(out, "{colour}\ndarrow {at} {from}\nuarrow {at} {to}\nline {at} {from} {at} {to}\n");
            if is_again {
                let _ = write!(out, "atext {at} {to}\nR\n");
            }
            if segment.has(flag::PSH) {
                let _ = write!(out, "white\ndiamond {at} {to}\ndot {at} {to}\n");
            }
        }
        for (flag, name) in [(flag::SYN, "SYN"), (flag::FIN, "FIN")] {
            if segment.has(flag) {
                let _ = write!(out, "orange\nbox {at} {to}\natext {at} {to}\n{name}\n");
            }
        }
        if segment.ecn == 3 {
            let _ = write!(out, "yellow\ndiamond {at} {to}\nbtext {at} {from}\nCE\n");
        }
    }

    fn acknowledgment(&mut self, segment: &Segment, out: &mut String) {
        if segment.has(flag::SYN) {
            self.scale = segment.options.window_scale;
        }
        if !segment.has(flag::ACK) || segment.has(flag::RST) || self.next.is_none() {
            return;
        }
        let number = self.unwrap(segment.ack);
        let scale = if segment.has(flag::SYN) { 0 } else { self.scale.unwrap_or(0).min(14) };
        let right = number + (u64::from(segment.window) << scale);
        let at_ns = segment.time_ns;
        let is_duplicate = self.acked.is_some_and(|last| last.number == number);
        let is_same_window = self.window.is_some_and(|last| last.number == right);
        if self.is_in_view(at_ns) {
            let at = Time(at_ns);
            out.push_str("green\n");
            stairs(self.acked, at_ns, number, out);
            if is_duplicate {
                let _ = writeln!(out, "dtick {at} {number}");
            }
            out.push_str("yellow\n");
            stairs(self.window, at_ns, right, out);
            if is_same_window {
                let _ = writeln!(out, "utick {at} {right}");
            }
            for (from, to) in segment.options.sack.as_slice() {
                let (from, to) = (self.unwrap(*from), self.unwrap(*to));
                let _ = write!(out, "purple\nline {at} {from} {at} {to}\nhtick {at} {from}\nhtick {at} {to}\n");
            }
            if segment.has(flag::ECE) {
                let _ = write!(out, "yellow\nbtext {at} {number}\nECE\n");
            }
        }
        self.acked = Some(Corner { at_ns, number });
        self.window = Some(Corner { at_ns, number: right });
    }
}

/// From the last corner on, along, then up.
fn stairs(last: Option<Corner>, at_ns: i64, number: u64, out: &mut String) {
    let Some(last) = last else { return };
    let (from, at) = (Time(last.at_ns), Time(at_ns));
    let _ = writeln!(out, "line {from} {} {at} {}", last.number, last.number);
    if last.number != number {
        let _ = writeln!(out, "line {at} {} {at} {number}", last.number);
    }
}

/// Seconds since 1970, as xplot reads a `timeval`.
struct Time(i64);

impl std::fmt::Display for Time {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ns = self.0.max(0);
        write!(out, "{}.{:06}", ns / 1_000_000_000, ns % 1_000_000_000 / 1_000)
    }
}
