//! What carries frames through chains.
