//! How large the messages are that carry load.

/// Grows with what was sent: small at first, so that a slow path shows its rate early, large on a fast one, where each message
/// costs. ndt7-protocol.md, appendix: the size doubles while it is at most a sixteenth of what was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageSize(usize);

/// What a test begins with.
const FIRST: usize = 1 << 13;
/// A larger message saves no more, as M-Lab's server has it (ndt-server v0.25, `MaxScaledMessageSize`).
pub const LARGEST_SENT: usize = 1 << 20;
/// The largest that a peer may send.
pub const LARGEST_RECEIVED: usize = 1 << 24;
const FRACTION: u64 = 16;

impl Default for MessageSize {
    fn default() -> Self {
        Self(FIRST)
    }
}

impl MessageSize {
    /// The size of the next message after `sent` bytes.
    pub fn next(&mut self, sent: u64) -> usize {
        if self.0 < LARGEST_SENT && self.0 as u64 <= sent / FRACTION {
            self.0 *= 2;
        }
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_grow_as_those_of_m_labs_server_were_seen_to() {
        let (mut size, mut sent, mut seen) = (MessageSize::default(), 0, Vec::new());
        for _ in 0..100 {
            let next = size.next(sent);
            sent += next as u64;
            seen.push(next >> 10);
        }
        let count = |kib| seen.iter().filter(|size| **size == kib).count();
        assert_eq!([8, 16, 32, 64, 128, 256, 512].map(count), [16, 8, 8, 8, 8, 8, 8]);
        assert_eq!(seen.last(), Some(&1024));
    }
}
