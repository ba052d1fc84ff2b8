//! Asking the kernel over netlink: one request, and its answer or the dump of a whole table.
//!
//! A dump is made anew where the table changed under it (`NLM_F_DUMP_INTR`) or an answer was lost for lack of buffer
//! (`ENOBUFS`), up to [`MAX_ATTEMPTS`] times. Each message is read by a function of the caller, which sees the bytes
//! behind the netlink header.

mod attribute;
pub(crate) mod change;
pub(crate) mod generic;
pub(crate) mod listening;
mod request;
pub(crate) mod value;

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use netlink_packet_core::{Emitable, NLM_F_DUMP, NLM_F_DUMP_INTR, NLM_F_REQUEST, NetlinkBuffer, NetlinkHeader};
use netlink_sys::{Socket, SocketAddr};

use crate::bulk::Progress;
use crate::bulk::datagrams::{BatchShape, ReceiveBatch, Wait};
use crate::{Unavailable, sockets};
pub(crate) use attribute::{Attribute, attributes};
pub(crate) use request::Request;

/// A netlink socket of one protocol, such as `NETLINK_ROUTE`, in the network namespace in which it was opened.
#[derive(Debug)]
pub(crate) struct Netlink {
    socket: Socket,
    sequence: u32,
    buffer: Vec<u8>,
    outgoing: Vec<u8>,
    /// Room for many short answers, where they are asked for.
    batch: Option<ReceiveBatch>,
}

/// Why the kernel did not answer.
#[derive(Debug, thiserror::Error)]
pub enum NetlinkError {
    /// A call on the socket failed.
    #[error("netlink: cannot {operation}")]
    Socket {
        /// What was tried.
        operation: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel refused the request.
    #[error("netlink: the kernel refused the request")]
    Refused {
        /// Error number of the answer (`NLMSG_ERROR`).
        source: io::Error,
    },
    /// The kernel refused the request, and says why in words.
    #[error("netlink: the kernel refused the request: {words}")]
    Explained {
        /// Text of the extended acknowledgement (`NLMSGERR_ATTR_MSG`).
        words: String,
        /// Error number of the answer (`NLMSG_ERROR`).
        source: io::Error,
    },
    /// The table changed under each dump, or answers were lost each time.
    #[error("netlink: no consistent dump in {MAX_ATTEMPTS} attempts")]
    Unsteady,
    /// A message is not what it should be.
    #[error("netlink: message malformed at byte {offset}: {reason}")]
    Malformed {
        /// Where in the message, counted from behind the netlink header.
        offset: usize,
        /// What is wrong there.
        reason: &'static str,
    },
}

impl NetlinkError {
    /// The same as a reason that something cannot be read.
    pub(crate) fn unavailable(&self, what: &str) -> Unavailable {
        match self {
            Self::Socket { source, .. } | Self::Refused { source } | Self::Explained { source, .. } => {
                Unavailable::because(what, source)
            }
            Self::Unsteady | Self::Malformed { .. } => Unavailable::failed(what, self.to_string()),
        }
    }

    /// The error number, where the kernel gave one.
    #[must_use]
    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::Socket { source, .. } | Self::Refused { source } | Self::Explained { source, .. } => {
                source.raw_os_error()
            }
            Self::Unsteady | Self::Malformed { .. } => None,
        }
    }

    fn socket(operation: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Socket { operation, source }
    }
}

/// How the reading of one dump ended.
enum Dump<T> {
    Complete(Vec<T>),
    Again,
}

impl Netlink {
    pub(crate) fn open(protocol: isize) -> Result<Self, NetlinkError> {
        let mut socket = Socket::new(protocol).map_err(NetlinkError::socket("open a socket"))?;
        socket.bind_auto().map_err(NetlinkError::socket("bind the socket"))?;
        sockets::set_receive_timeout(&socket, Some(PATIENCE)).map_err(NetlinkError::socket("set a time limit"))?;
        Ok(Self { socket, sequence: 0, buffer: Vec::with_capacity(BUFFER_LEN), outgoing: Vec::new(), batch: None })
    }

    /// Dumps a table: sends `request` and reads each message of the answer with `parse`.
    pub(crate) fn dump<T>(
        &mut self,
        message_type: u16,
        request: &[u8],
        mut parse: impl FnMut(&[u8]) -> Result<T, NetlinkError>,
    ) -> Result<Vec<T>, NetlinkError> {
        for _ in 0..MAX_ATTEMPTS {
            self.send(message_type, NLM_F_REQUEST | NLM_F_DUMP, request)?;
            if let Dump::Complete(entries) = self.receive_dump(&mut parse)? {
                return Ok(entries);
            }
        }
        Err(NetlinkError::Unsteady)
    }

    /// Asks for one entry: sends `request` and reads the answer with `parse`; `None` where the kernel says `ENOENT`.
    pub(crate) fn get<T>(
        &mut self,
        message_type: u16,
        request: &[u8],
        mut parse: impl FnMut(&[u8]) -> Result<T, NetlinkError>,
    ) -> Result<Option<T>, NetlinkError> {
        self.send(message_type, NLM_F_REQUEST, request)?;
        loop {
            self.receive().map_err(NetlinkError::socket("receive an answer"))?;
            for message in messages(&self.buffer, Asked::one(self.sequence)) {
                match Answer::of(&message?)? {
                    Answer::NotYet => {}
                    Answer::Absent => return Ok(None),
                    Answer::Entry(entry) => return parse(entry).map(Some),
                }
            }
        }
    }

    /// Asks for several entries with one call, takes as many answers with a call as there are, and hands each to `parse`; an entry
    /// of which the kernel says `ENOENT` is left out. An answer has [`SHORT_LEN`] bytes at most, and all of them must fit into the
    /// socket's queue.
    pub(crate) fn get_each<R: AsRef<[u8]>>(
        &mut self,
        message_type: u16,
        requests: impl IntoIterator<Item = R>,
        mut parse: impl FnMut(&[u8]) -> Result<(), NetlinkError>,
    ) -> Result<(), NetlinkError> {
        self.outgoing.clear();
        let before = self.sequence;
        for request in requests {
            self.enqueue(message_type, request.as_ref(), NLM_F_REQUEST)?;
        }
        let asked = Asked { before, count: self.sequence.wrapping_sub(before) };
        if asked.count == 0 {
            return Ok(());
        }
        self.flush()?;
        let failed = NetlinkError::socket("receive answers");
        let mut outstanding = asked.count;
        let batch = self.batch.get_or_insert_with(|| ReceiveBatch::new(SHORT_ANSWERS));
        while outstanding > 0 {
            match batch.receive(self.socket.as_fd(), Wait::ForFirst).map_err(&failed)? {
                Progress::Moved(_) => {}
                Progress::NoBuffers => return Err(failed(io::Error::from_raw_os_error(libc::ENOBUFS))),
                _ => return Err(failed(io::ErrorKind::TimedOut.into())),
            }
            for datagram in batch.iter().filter(|datagram| is_of_kernel(datagram.raw_source())) {
                if datagram.bytes > datagram.payload.len() {
                    return Err(NetlinkError::Malformed { offset: SHORT_LEN, reason: "an answer that is too long" });
                }
                for message in messages(datagram.payload, asked) {
                    match Answer::of(&message?)? {
                        Answer::NotYet => continue,
                        Answer::Absent => {}
                        Answer::Entry(entry) => parse(entry)?,
                    }
                    outstanding = outstanding.saturating_sub(1);
                }
            }
        }
        Ok(())
    }

    fn receive_dump<T>(
        &mut self,
        parse: &mut impl FnMut(&[u8]) -> Result<T, NetlinkError>,
    ) -> Result<Dump<T>, NetlinkError> {
        let mut entries = Vec::new();
        let mut steady = true;
        loop {
            match self.receive() {
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => return Ok(Dump::Again),
                outcome => outcome.map_err(NetlinkError::socket("receive an answer"))?,
            }
            for message in messages(&self.buffer, Asked::one(self.sequence)) {
                let message = message?;
                steady &= message.flags() & NLM_F_DUMP_INTR == 0;
                match message.message_type() {
                    NLMSG_NOOP => {}
                    NLMSG_DONE => match error_of(message.payload())? {
                        Some(source) => return Err(NetlinkError::Refused { source }),
                        None => return Ok(if steady { Dump::Complete(entries) } else { Dump::Again }),
                    },
                    NLMSG_ERROR => {
                        if let Some(source) = error_of(message.payload())? {
                            return Err(NetlinkError::Refused { source });
                        }
                    }
                    _ => entries.push(parse(message.payload())?),
                }
            }
        }
    }

    fn send(&mut self, message_type: u16, flags: u16, request: &[u8]) -> Result<(), NetlinkError> {
        self.outgoing.clear();
        self.enqueue(message_type, request, flags)?;
        self.flush()
    }

    /// Puts one more request behind those that the next [`flush`](Self::flush) hands to the kernel.
    fn enqueue(&mut self, message_type: u16, request: &[u8], flags: u16) -> Result<(), NetlinkError> {
        self.sequence = self.sequence.wrapping_add(1);
        let length = HEADER_LEN + request.len();
        let mut header = NetlinkHeader::default();
        header.length = u32::try_from(length)
            .map_err(|_| NetlinkError::Malformed { offset: 0, reason: "the request is too long" })?;
        header.message_type = message_type;
        header.flags = flags;
        header.sequence_number = self.sequence;
        let begin = self.outgoing.len();
        self.outgoing.resize(begin + length.next_multiple_of(ALIGNMENT), 0);
        header.emit(&mut self.outgoing[begin..begin + HEADER_LEN]);
        self.outgoing[begin + HEADER_LEN..begin + length].copy_from_slice(request);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), NetlinkError> {
        let kernel = SocketAddr::new(0, 0);
        let sent = again_after_signals(|| self.socket.send_to(&self.outgoing, &kernel, 0));
        sent.map(drop).map_err(NetlinkError::socket("send a request"))
    }

    /// Receives one datagram of the kernel, which holds whole messages.
    fn receive(&mut self) -> io::Result<()> {
        loop {
            self.buffer.clear();
            let (length, sender) = again_after_signals(|| self.socket.recv_from(&mut self.buffer, libc::MSG_TRUNC))?;
            if length > self.buffer.len() {
                let reason = format!("a message of {length} bytes, over the limit of {BUFFER_LEN}");
                return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
            }
            if sender.port_number() == 0 {
                return Ok(());
            }
        }
    }
}

fn again_after_signals<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

/// What a message says of the entry that was asked for.
enum Answer<'a> {
    /// Nothing.
    NotYet,
    /// There is none.
    Absent,
    Entry(&'a [u8]),
}

impl<'a> Answer<'a> {
    fn of(message: &NetlinkBuffer<&'a [u8]>) -> Result<Self, NetlinkError> {
        match message.message_type() {
            NLMSG_NOOP => Ok(Self::NotYet),
            NLMSG_DONE => Ok(Self::Absent),
            NLMSG_ERROR => match error_of(message.payload())? {
                Some(error) if error.raw_os_error() != Some(libc::ENOENT) => {
                    Err(NetlinkError::Refused { source: error })
                }
                _ => Ok(Self::Absent),
            },
            _ => Ok(Self::Entry(message.payload())),
        }
    }
}

/// Whether a `struct sockaddr_nl` is that of the kernel: the number of a process stands in its second word.
fn is_of_kernel(source: &[u8]) -> bool {
    source.get(4..8) == Some(&[0; 4])
}

/// The numbers of the requests whose answers are awaited.
#[derive(Debug, Clone, Copy)]
struct Asked {
    /// The number before the first one.
    before: u32,
    count: u32,
}

impl Asked {
    const fn one(sequence: u32) -> Self {
        Self { before: sequence.wrapping_sub(1), count: 1 }
    }

    const fn has(self, sequence: u32) -> bool {
        sequence.wrapping_sub(self.before).wrapping_sub(1) < self.count
    }
}

/// The messages in a datagram that answer one of these requests; others are left over from requests given up.
fn messages(datagram: &[u8], asked: Asked) -> impl Iterator<Item = Result<NetlinkBuffer<&[u8]>, NetlinkError>> {
    let mut rest = datagram;
    let all = std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Ok(message) = NetlinkBuffer::new_checked(rest) else {
            let offset = datagram.len() - rest.len();
            rest = &[];
            return Some(Err(NetlinkError::Malformed { offset, reason: "a message that is cut short" }));
        };
        let length = usize::try_from(message.length()).unwrap_or(usize::MAX);
        rest = rest.get(length.next_multiple_of(ALIGNMENT)..).unwrap_or_default();
        Some(Ok(message))
    });
    all.filter(move |message| message.as_ref().map_or(true, |message| asked.has(message.sequence_number())))
}

/// The error in the first word of `NLMSG_ERROR` and `NLMSG_DONE`, `None` where it is zero.
fn error_of(payload: &[u8]) -> Result<Option<io::Error>, NetlinkError> {
    let word = payload.get(..4).and_then(|word| word.try_into().ok()).map(i32::from_ne_bytes);
    match word {
        Some(0) => Ok(None),
        Some(errno) => Ok(Some(io::Error::from_raw_os_error(errno.wrapping_neg()))),
        None => Err(NetlinkError::Malformed { offset: 0, reason: "a status that is cut short" }),
    }
}

/// How often a dump is tried.
pub const MAX_ATTEMPTS: usize = 5;

/// How long the kernel may take for an answer. It answers at once; the limit is against waiting for an answer lost.
const PATIENCE: Duration = Duration::from_secs(5);

/// The kernel makes datagrams of a dump at most 32 KiB long (net/netlink/af_netlink.c, `netlink_recvmsg`).
const BUFFER_LEN: usize = 64 << 10;

/// A socket of `sock_diag` with all that is told of it has 600 bytes.
const SHORT_LEN: usize = 2 << 10;
const SHORT_ANSWERS: BatchShape = BatchShape { messages: 32, message_bytes: SHORT_LEN };

const HEADER_LEN: usize = 16;
const ALIGNMENT: usize = 4;
const NLMSG_NOOP: u16 = 1; // include/uapi/linux/netlink.h
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn message(length: u32, sequence: u32, payload: &[u8]) -> Vec<u8> {
        let mut bytes = length.to_ne_bytes().to_vec();
        bytes.extend([16, 0, 0, 0]);
        bytes.extend(sequence.to_ne_bytes());
        bytes.extend([0; 4]);
        bytes.extend(payload);
        bytes
    }

    #[test]
    fn messages_of_other_requests_are_passed_over() {
        let datagram = [message(20, 6, b"old."), message(19, 7, b"newx"), message(20, 7, b"more")].concat();
        let read: Vec<_> =
            messages(&datagram, Asked::one(7)).map(|message| message.unwrap().payload().to_vec()).collect();
        assert_eq!(read, [b"new".to_vec(), b"more".to_vec()]);
    }

    #[test]
    fn message_that_is_cut_short_is_an_error_with_its_place() {
        let datagram = [message(16, 7, b""), message(40, 7, b"four")].concat();
        let outcomes: Vec<_> = messages(&datagram, Asked::one(7)).collect();
        assert_eq!(outcomes.len(), 2);
        assert!(matches!(outcomes[1], Err(NetlinkError::Malformed { offset: 16, .. })));
        assert!(messages(&[0; 16], Asked::one(0)).all(|message| message.is_err()), "a length of zero ends the walk");
    }

    #[test]
    fn refused_request_carries_the_reason_of_the_kernel() {
        let mut netlink = Netlink::open(netlink_sys::protocols::NETLINK_ROUTE).unwrap();
        let outcome = netlink.get(0x1000, &[0; 16], |_| Ok(()));
        assert!(matches!(outcome, Err(NetlinkError::Refused { .. })), "{outcome:?}");
    }
}
