//! What stands before a body, in requests and responses.

use httparse::Status;

/// Most bytes of a head.
pub const MAX_HEAD_BYTES: usize = 16 << 10;
/// Most fields of a head.
pub const MAX_FIELDS: usize = 64;

/// The head of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestHead {
    /// What is to be done, such as `GET`.
    pub method: String,
    /// To what, as it was written.
    pub target: String,
    /// At most [`MAX_FIELDS`] fields, in their order.
    pub fields: Fields,
}

/// The head of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseHead {
    /// The status code.
    pub status: u16,
    /// What it means in words, as the server puts it.
    pub reason: String,
    /// At most [`MAX_FIELDS`] fields, in their order.
    pub fields: Fields,
}

/// The fields of a head in their order: names in lower case, and values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fields(pub Vec<(String, String)>);

impl Fields {
    /// The values of all fields of this name, given in lower case.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value of the first field of this name, given in lower case.
    #[must_use]
    pub fn first(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }
}

/// Bytes that are no head.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// It goes on for too long.
    #[error("the head is longer than {MAX_HEAD_BYTES} bytes or {MAX_FIELDS} fields")]
    TooLong,
    /// It breaks the grammar.
    #[error("this is not HTTP/1.1: {reason}")]
    Malformed {
        /// How.
        reason: String,
    },
}

/// A head and how many bytes it takes.
pub type Parsed<T> = Option<(T, usize)>;

/// Reads the head of a request; [`None`] while more bytes are needed.
///
/// # Errors
/// Where the bytes can become none.
pub fn read_request(bytes: &[u8]) -> Result<Parsed<RequestHead>, HeadError> {
    let mut room = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut request = httparse::Request::new(&mut room);
    let Some(length) = settle(request.parse(bytes), bytes)? else { return Ok(None) };
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let fields = owned(request.headers);
    Ok(Some((RequestHead { method: text(request.method), target: text(request.path), fields }, length)))
}

/// Reads the head of a response; [`None`] while more bytes are needed.
///
/// # Errors
/// Where the bytes can become none.
pub fn read_response(bytes: &[u8]) -> Result<Parsed<ResponseHead>, HeadError> {
    let mut room = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut response = httparse::Response::new(&mut room);
    let Some(length) = settle(response.parse(bytes), bytes)? else { return Ok(None) };
    let status = response.code.unwrap_or_default();
    if !(100..600).contains(&status) {
        return Err(HeadError::Malformed { reason: format!("there is no status {status}") });
    }
    let reason = response.reason.unwrap_or_default().to_owned();
    Ok(Some((ResponseHead { status, reason, fields: owned(response.headers) }, length)))
}

fn settle(parsed: httparse::Result<usize>, bytes: &[u8]) -> Result<Option<usize>, HeadError> {
    match parsed {
        Ok(Status::Complete(length)) if length <= MAX_HEAD_BYTES => Ok(Some(length)),
        Ok(Status::Partial) if bytes.len() < MAX_HEAD_BYTES => Ok(None),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => Err(HeadError::TooLong),
        Err(error) => Err(HeadError::Malformed { reason: error.to_string() }),
    }
}

fn owned(fields: &[httparse::Header<'_>]) -> Fields {
    // Letters beyond ASCII have no agreed meaning (RFC 9110 §5.5), so they are kept from view.
    let value = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Fields(fields.iter().map(|field| (field.name.to_ascii_lowercase(), value(field.value))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_once_they_are_whole() {
        let bytes = b"GET /1MB HTTP/1.1\r\nHost: a\r\nVia: x\r\nvia: y\r\n\r\nrest";
        assert_eq!(read_request(&bytes[..30]), Ok(None));
        let (request, length) = read_request(bytes).unwrap().unwrap();
        assert_eq!((&*request.method, &*request.target, &bytes[length..]), ("GET", "/1MB", &b"rest"[..]));
        assert_eq!(request.fields.all("via").collect::<Vec<_>>(), ["x", "y"]);
        let (response, _) = read_response(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n").unwrap().unwrap();
        assert_eq!((response.status, response.fields.first("content-length")), (200, Some("5")));
    }

    #[test]
    fn heads_without_end_are_refused_when_the_limit_is_reached() {
        let endless = [b"GET / HTTP/1.1\r\nA: ".as_slice(), &[b'a'; MAX_HEAD_BYTES]].concat();
        assert_eq!(read_request(&endless), Err(HeadError::TooLong));
        let fields = format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(MAX_FIELDS + 1));
        assert_eq!(read_request(fields.as_bytes()), Err(HeadError::TooLong));
    }

    #[test]
    fn what_is_not_http_is_refused_at_once() {
        assert!(matches!(read_request(b"\x16\x03\x01\x02"), Err(HeadError::Malformed { .. })));
        assert!(matches!(read_response(b"SSH-2.0-OpenSSH"), Err(HeadError::Malformed { .. })));
        assert!(matches!(read_response(b"HTTP/1.1 999 No\r\n\r\n"), Err(HeadError::Malformed { .. })));
    }
}
