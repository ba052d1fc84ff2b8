//! Received bytes, cut into messages under limits.

use serde::de::DeserializeOwned;

use super::cookie::{COOKIE_LEN, Cookie};
use super::signal::Signal;

/// Bytes that have arrived and are not yet understood.
#[derive(Debug, Default)]
pub struct Inbox {
    bytes: Vec<u8>,
    /// Up to here the bytes are used up.
    start: usize,
}

/// What cannot be a message of the protocol.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// A control byte without a meaning.
    #[error("control byte {byte:#04x} has no meaning")]
    UnknownSignal {
        /// Byte as it was received.
        byte: u8,
    },
    /// A control byte that may not come now.
    #[error("{signal:?} came where {expected} was due")]
    OutOfTurn {
        /// What came.
        signal: Signal,
        /// What may come.
        expected: &'static str,
    },
    /// A length that no peer needs.
    #[error("the {what} announce {length} bytes, more than the limit of {limit}")]
    TooLong {
        /// Which message.
        what: &'static str,
        /// The length announced.
        length: usize,
        /// Most bytes that this message may have.
        limit: usize,
    },
    /// A blob that is not what it should be.
    #[error("the {what} cannot be read")]
    Unreadable {
        /// Which message.
        what: &'static str,
        /// Where and why.
        source: serde_json::Error,
    },
}

impl Inbox {
    /// Adds bytes as they came from the connection.
    pub fn feed(&mut self, bytes: &[u8]) {
        // What is used up goes at once, or a peer that never pauses between messages would fill the memory.
        self.bytes.drain(..self.start);
        self.start = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// Bytes waiting for the rest of their message.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// The next 37 bytes, when they are there.
    pub fn cookie(&mut self) -> Option<Cookie> {
        let bytes: [u8; COOKIE_LEN] = self.rest().first_chunk().copied()?;
        self.start += COOKIE_LEN;
        Some(Cookie::from_bytes(bytes))
    }

    /// The next control byte, when it is there.
    ///
    /// # Errors
    /// If the byte has no meaning.
    pub fn signal(&mut self) -> Result<Option<Signal>, WireError> {
        let Some(&byte) = self.rest().first() else { return Ok(None) };
        let signal = Signal::from_byte(byte).ok_or(WireError::UnknownSignal { byte })?;
        self.start += 1;
        Ok(Some(signal))
    }

    /// The two codes after [`Signal::ServerError`]: iperf3's own and the system's.
    pub fn error_codes(&mut self) -> Option<(i32, i32)> {
        let bytes: [u8; 8] = self.rest().first_chunk().copied()?;
        self.start += bytes.len();
        let [a, b, c, d, e, f, g, h] = bytes;
        Some((i32::from_be_bytes([a, b, c, d]), i32::from_be_bytes([e, f, g, h])))
    }

    /// The next blob (a 32-bit length, then JSON), when all of it is there.
    ///
    /// # Errors
    /// If it announces more than `limit` bytes or is not a `T`.
    pub fn blob<T: DeserializeOwned>(&mut self, what: &'static str, limit: usize) -> Result<Option<T>, WireError> {
        const HEADER: usize = 4;
        let Some(header) = self.rest().first_chunk::<HEADER>() else { return Ok(None) };
        let length = usize::try_from(u32::from_be_bytes(*header)).unwrap_or(usize::MAX);
        if length > limit {
            return Err(WireError::TooLong { what, length, limit });
        }
        let Some(body) = self.rest().get(HEADER..HEADER + length) else { return Ok(None) };
        let value = object(body).map_err(|source| WireError::Unreadable { what, source })?;
        self.start += HEADER + length;
        Ok(Some(value))
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

/// Reads an object. Every message is one, and a list must not pass for the fields of an object in their order.
fn object<T: DeserializeOwned>(body: &[u8]) -> Result<T, serde_json::Error> {
    use serde::de::Error;
    match body.trim_ascii_start().first() {
        Some(b'{') | None => serde_json::from_slice(body),
        Some(_) => Err(serde_json::Error::custom("expected an object")),
    }
}

/// Writes `value` as a blob.
///
/// # Errors
/// If it cannot be written as JSON or needs more than 32 bits of length.
pub fn write_blob<T: serde::Serialize>(value: &T, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    use serde::ser::Error;
    let json = serde_json::to_vec(value)?;
    let length = u32::try_from(json.len()).map_err(serde_json::Error::custom)?;
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(&json);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Object = std::collections::BTreeMap<String, u32>;

    fn object(value: u32) -> Object {
        [("key".to_owned(), value)].into()
    }

    #[test]
    fn a_message_is_understood_however_it_is_cut() {
        let mut wire = vec![Signal::TestStart.byte(), Signal::TestRunning.byte()];
        write_blob(&object(123), &mut wire).unwrap();
        let mut inbox = Inbox::default();
        for byte in &wire[..wire.len() - 1] {
            inbox.feed(&[*byte]);
        }
        assert_eq!(inbox.signal().unwrap(), Some(Signal::TestStart));
        assert_eq!(inbox.signal().unwrap(), Some(Signal::TestRunning));
        assert_eq!(inbox.blob::<Object>("numbers", 100).unwrap(), None);
        inbox.feed(&wire[wire.len() - 1..]);
        assert_eq!(inbox.blob("numbers", 100).unwrap(), Some(object(123)));
        assert_eq!(inbox.waiting(), 0);
    }

    #[test]
    fn a_lie_about_length_is_refused_before_the_bytes_come() {
        let mut inbox = Inbox::default();
        inbox.feed(&[0xff, 0xff, 0xff, 0xff]);
        let error = inbox.blob::<Object>("parameters", 8192).unwrap_err();
        assert_eq!(error.to_string(), "the parameters announce 4294967295 bytes, more than the limit of 8192");
    }

    #[test]
    fn messages_without_a_pause_between_them_take_no_more_room_than_one() {
        let mut message = Vec::new();
        write_blob(&object(7), &mut message).unwrap();
        let mut inbox = Inbox::default();
        inbox.feed(&message[..9]);
        for _ in 0..1_000 {
            inbox.feed(&message[9..]);
            inbox.feed(&message[..9]);
            assert!(inbox.blob::<Object>("numbers", 1_000).unwrap().is_some());
        }
        assert!(inbox.bytes.len() <= message.len() + 9, "{} bytes are kept", inbox.bytes.len());
    }

    #[test]
    fn a_list_is_no_message() {
        let mut inbox = Inbox::default();
        inbox.feed(b"\0\0\0\x06 [1,2]\0\0\0\x00");
        let error = inbox.blob::<crate::params::Params>("parameters", 100).unwrap_err();
        assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "expected an object");
    }

    #[test]
    fn an_unreadable_blob_says_where() {
        let mut inbox = Inbox::default();
        inbox.feed(&[0, 0, 0, 2, b'{', b'x']);
        assert!(matches!(inbox.blob::<Object>("results", 100), Err(WireError::Unreadable { what: "results", .. })));
    }
}
