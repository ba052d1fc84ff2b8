//! Files over HTTP.
