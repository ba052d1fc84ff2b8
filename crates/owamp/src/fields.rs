//! Fields of messages whose layout is fixed: big-endian, at offsets that the RFCs' figures give.

/// A message or a part of one with `N` octets. Offsets are those of a layout, so one beyond `N` is a bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fields<const N: usize>(pub(crate) [u8; N]);

impl<const N: usize> Fields<N> {
    pub(crate) const ZERO: Self = Self([0; N]);

    pub(crate) fn octets<const M: usize>(&self, at: usize) -> [u8; M] {
        let mut found = [0; M];
        found.copy_from_slice(&self.0[at..at + M]);
        found
    }

    pub(crate) fn u16(&self, at: usize) -> u16 {
        u16::from_be_bytes(self.octets(at))
    }

    pub(crate) fn u32(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.octets(at))
    }

    pub(crate) fn u64(&self, at: usize) -> u64 {
        u64::from_be_bytes(self.octets(at))
    }

    /// The message with these octets at `at`.
    #[must_use]
    pub(crate) fn with(mut self, at: usize, octets: &[u8]) -> Self {
        self.0[at..at + octets.len()].copy_from_slice(octets);
        self
    }
}
