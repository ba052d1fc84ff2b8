//! Where a body ends (RFC 9112 §6.3). Bodies are counted here, not kept.

use super::head::{HeadError, ResponseHead};

/// How the end of a body is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// It has so many bytes.
    Length(u64),
    /// It comes in chunks, each with its size.
    Chunked,
    /// It ends with the connection.
    UntilClose,
}

/// How the end of the body of a response to `GET` is known.
///
/// # Errors
/// Where the head contradicts itself.
pub fn framing(head: &ResponseHead) -> Result<Framing, HeadError> {
    let refuse = |reason: String| HeadError::Malformed { reason };
    if matches!(head.status, 100..=199 | 204 | 304) {
        return Ok(Framing::Length(0));
    }
    if let Some(coding) = head.fields.first("transfer-encoding") {
        return if coding.eq_ignore_ascii_case("chunked") && head.fields.all("transfer-encoding").count() == 1 {
            Ok(Framing::Chunked)
        } else {
            Err(refuse(format!("the transfer encoding `{coding}` was not asked for")))
        };
    }
    let mut lengths = head.fields.all("content-length");
    let Some(length) = lengths.next() else { return Ok(Framing::UntilClose) };
    if lengths.any(|other| other != length) {
        return Err(refuse("two lengths of one body".to_owned()));
    }
    let digits = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    let length = digits.then(|| length.parse().ok()).flatten();
    length.map(Framing::Length).ok_or_else(|| refuse("the length of the body is no number".to_owned()))
}

/// Counts the bytes of a body as they come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyCounter {
    state: State,
    counted: u64,
}

/// Where in a body one is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    /// So many bytes of a body of known length are missing.
    Plain(u64),
    /// Everything counts.
    Endless,
    /// Within the line that gives the size of a chunk.
    Size { line: Vec<u8> },
    /// So many bytes of a chunk are missing.
    Chunk(u64),
    /// So many bytes of the end of line after a chunk were there.
    ChunkEnd(usize),
    /// Within the lines after the last chunk: the length of this one and of all.
    Trailer { line: usize, all: usize },
    /// All of it was there.
    Done,
}

impl BodyCounter {
    /// Counts a body whose end is known like this.
    #[must_use]
    pub fn new(framing: Framing) -> Self {
        let state = match framing {
            Framing::Length(0) => State::Done,
            Framing::Length(length) => State::Plain(length),
            Framing::Chunked => State::Size { line: Vec::new() },
            Framing::UntilClose => State::Endless,
        };
        Self { state, counted: 0 }
    }

    /// Takes the next bytes of the connection, and says how many of them belonged to the body or its framing; fewer than
    /// all only where the body ends among them.
    ///
    /// # Errors
    /// Where chunks break the grammar.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<usize, HeadError> {
        let mut rest = bytes;
        while !rest.is_empty() && self.state != State::Done {
            let taken = self.step(rest)?;
            rest = rest.get(taken..).unwrap_or_default();
        }
        Ok(bytes.len() - rest.len())
    }

    /// Whether all of the body was there.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Whether the body may end here with the connection.
    #[must_use]
    pub fn may_end(&self) -> bool {
        matches!(self.state, State::Done | State::Endless)
    }

    /// Bytes of the body so far, without framing.
    #[must_use]
    pub fn counted(&self) -> u64 {
        self.counted
    }

    /// One step over bytes that are not empty; says how many it took, one at least.
    fn step(&mut self, bytes: &[u8]) -> Result<usize, HeadError> {
        let available = bytes.len() as u64;
        match &mut self.state {
            State::Plain(missing) | State::Chunk(missing) => {
                let taken = available.min(*missing);
                *missing -= taken;
                self.counted += taken;
                if *missing == 0 {
                    self.state = if let State::Plain(_) = self.state { State::Done } else { State::ChunkEnd(0) };
                }
                Ok(usize::try_from(taken).unwrap_or(bytes.len()))
            }
            State::Endless => {
                self.counted += available;
                Ok(bytes.len())
            }
            State::Done => Ok(bytes.len()),
            State::Size { .. } | State::ChunkEnd(_) | State::Trailer { .. } => {
                self.control(bytes[0])?;
                Ok(1)
            }
        }
    }

    /// One byte between chunks.
    fn control(&mut self, byte: u8) -> Result<(), HeadError> {
        let refuse = |reason: &str| HeadError::Malformed { reason: reason.to_owned() };
        match &mut self.state {
            State::Size { line } => {
                line.push(byte);
                if line.len() > MAX_SIZE_LINE {
                    return Err(refuse("the size of a chunk goes on for too long"));
                }
                if byte == b'\n' {
                    self.state = match chunk_size(line).ok_or_else(|| refuse("a chunk has no size"))? {
                        0 => State::Trailer { line: 0, all: 0 },
                        size => State::Chunk(size),
                    };
                }
            }
            State::ChunkEnd(seen) => {
                if byte != b"\r\n"[*seen] {
                    return Err(refuse("a chunk does not end where it should"));
                }
                self.state = if *seen == 1 { State::Size { line: Vec::new() } } else { State::ChunkEnd(1) };
            }
            State::Trailer { line, all } => {
                *all += 1;
                if *all > super::head::MAX_HEAD_BYTES {
                    return Err(HeadError::TooLong);
                }
                match byte {
                    b'\n' if *line == 0 => self.state = State::Done,
                    b'\n' => *line = 0,
                    b'\r' => {}
                    _ => *line += 1,
                }
            }
            State::Plain(_) | State::Chunk(_) | State::Endless | State::Done => {}
        }
        Ok(())
    }
}

fn chunk_size(line: &[u8]) -> Option<u64> {
    // `httparse` takes a line without digits for the last chunk.
    line.first().filter(|byte| byte.is_ascii_hexdigit())?;
    match httparse::parse_chunk_size(line) {
        Ok(httparse::Status::Complete((_, size))) => Some(size),
        _ => None,
    }
}

/// Longest line that gives the size of a chunk; extensions are rare and short.
const MAX_SIZE_LINE: usize = 256;

#[cfg(test)]
mod tests {
    use super::super::head::read_response;
    use super::*;

    fn framing_of(fields: &str) -> Result<Framing, HeadError> {
        framing(&read_response(format!("HTTP/1.1 200 OK\r\n{fields}\r\n").as_bytes()).unwrap().unwrap().0)
    }

    #[test]
    fn the_head_says_where_the_body_ends() {
        assert_eq!(framing_of("Content-Length: 7\r\n"), Ok(Framing::Length(7)));
        assert_eq!(framing_of("Content-Length: 7\r\nContent-Length: 7\r\n"), Ok(Framing::Length(7)));
        assert_eq!(framing_of("Content-Length: 7\r\nTransfer-Encoding: Chunked\r\n"), Ok(Framing::Chunked));
        assert_eq!(framing_of(""), Ok(Framing::UntilClose));
        for wrong in ["Content-Length: 7\r\nContent-Length: 8\r\n", "Content-Length: +7\r\n", "Content-Length: -1\r\n"]
        {
            assert!(framing_of(wrong).is_err(), "{wrong}");
        }
        assert!(framing_of("Content-Length: 99999999999999999999\r\n").is_err());
        assert!(framing_of("Transfer-Encoding: gzip\r\n").is_err());
    }

    #[test]
    fn chunks_are_counted_however_they_are_cut() {
        let bytes = b"5\r\nhello\r\nA;x=y\r\n0123456789\r\n0\r\nT: v\r\n\r\nnext";
        for size in 1..bytes.len() {
            let mut counter = BodyCounter::new(Framing::Chunked);
            let taken: usize = bytes.chunks(size).map(|piece| counter.feed(piece).unwrap()).sum();
            assert!(counter.is_done());
            assert_eq!((counter.counted(), taken), (15, bytes.len() - 4), "pieces of {size}");
        }
    }

    #[test]
    fn chunks_that_break_the_grammar_are_refused() {
        for wrong in [&b"x\r\n"[..], b"3\r\nabcd\r\n", b"\r\n", b"fffffffffffffffff\r\n"] {
            assert!(BodyCounter::new(Framing::Chunked).feed(wrong).is_err(), "{wrong:?}");
        }
        assert!(BodyCounter::new(Framing::Chunked).feed(&[b'0'; 300]).is_err());
    }

    #[test]
    fn a_body_of_known_length_ends_there_and_one_of_unknown_with_the_connection() {
        let mut plain = BodyCounter::new(Framing::Length(3));
        assert_eq!(plain.feed(b"ab"), Ok(2));
        assert!(!plain.may_end());
        assert_eq!((plain.feed(b"cd"), plain.counted(), plain.is_done()), (Ok(1), 3, true));
        let mut endless = BodyCounter::new(Framing::UntilClose);
        assert_eq!((endless.feed(b"abc"), endless.may_end(), endless.is_done()), (Ok(3), true, false));
    }
}
