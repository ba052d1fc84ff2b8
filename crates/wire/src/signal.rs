//! State changes: one signed byte each. They may arrive many in one segment, or one segment each.

/// What a control byte means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Data connections stand; prepare.
    TestStart,
    /// Data may flow.
    TestRunning,
    /// The client has had enough.
    TestEnd,
    /// The client may send its parameters.
    ParamExchange,
    /// The client may open the data connections.
    CreateStreams,
    /// The server gives up.
    ServerTerminate,
    /// The client gives up.
    ClientTerminate,
    /// Results may be sent, the client's first.
    ExchangeResults,
    /// Results are complete.
    DisplayResults,
    /// The client is done.
    Done,
    /// The server is busy or does not want this client.
    AccessDenied,
    /// The server failed; two 32-bit codes follow.
    ServerError,
    /// A message of linerate's own follows. Sent only to a peer whose parameters showed that it knows it.
    Extension,
}

impl Signal {
    const CODES: [(Self, u8); 13] = [
        (Self::TestStart, 1),
        (Self::TestRunning, 2),
        (Self::TestEnd, 4),
        (Self::ParamExchange, 9),
        (Self::CreateStreams, 10),
        (Self::ServerTerminate, 11),
        (Self::ClientTerminate, 12),
        (Self::ExchangeResults, 13),
        (Self::DisplayResults, 14),
        (Self::Done, 16),
        (Self::AccessDenied, 0xff),
        (Self::ServerError, 0xfe),
        (Self::Extension, 64),
    ];

    /// The byte on the wire.
    #[must_use]
    pub fn byte(self) -> u8 {
        // Every variant is in the table, which a test walks.
        Self::CODES.iter().find(|(signal, _)| *signal == self).map_or(0, |(_, code)| *code)
    }

    /// The meaning of a byte; `None` for a byte that means nothing.
    #[must_use]
    pub fn from_byte(byte: u8) -> Option<Self> {
        Self::CODES.iter().find(|(_, code)| *code == byte).map(|(signal, _)| *signal)
    }
}

#[cfg(test)]
mod tests {
    use super::Signal;

    #[test]
    fn every_signal_has_a_byte_of_its_own() {
        for (signal, code) in Signal::CODES {
            assert_eq!(signal.byte(), code);
            assert_eq!(Signal::from_byte(code), Some(signal));
        }
        assert_eq!(Signal::from_byte(3), None);
    }
}
