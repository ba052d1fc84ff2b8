//! As much of HTTP/1.1 as it takes to fetch and to serve files (RFC 9110, RFC 9112).
//!
//! * [`url`]: addresses of files
//! * [`head`]: what stands before a body, in requests and responses
//! * [`body`]: where a body ends
//! * [`line`](mod@line): a connection with patience, that can be told to stop
//!
//! The first three are pure. Each connection carries one request.

pub mod body;
pub mod head;
pub mod line;
pub mod url;
