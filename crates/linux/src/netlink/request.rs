//! Writing requests: a fixed part, then attributes.

use super::ALIGNMENT;

/// A request being written. Everything is in the byte order of the host unless its kind says otherwise.
#[derive(Debug, Clone)]
pub(crate) struct Request(Vec<u8>);

impl Request {
    /// One that begins with `fixed`, whose length is a multiple of four.
    pub(crate) fn new(fixed: &[u8]) -> Self {
        assert!(fixed.len().is_multiple_of(ALIGNMENT), "attributes begin at a multiple of four");
        Self(fixed.to_vec())
    }

    /// Sets a number of 32 bits in the fixed part.
    pub(crate) fn set_u32(&mut self, offset: usize, value: u32) -> &mut Self {
        self.0[offset..offset + 4].copy_from_slice(&value.to_ne_bytes());
        self
    }

    /// Adds an attribute.
    pub(crate) fn put(&mut self, kind: u16, value: &[u8]) -> &mut Self {
        let start = self.open(kind);
        self.0.extend(value);
        self.close(start)
    }

    /// Adds a number of 32 bits.
    pub(crate) fn put_u32(&mut self, kind: u16, value: u32) -> &mut Self {
        self.put(kind, &value.to_ne_bytes())
    }

    /// Adds a text with its terminating zero.
    pub(crate) fn put_text(&mut self, kind: u16, text: &str) -> &mut Self {
        let start = self.open(kind);
        self.0.extend(text.as_bytes());
        self.0.push(0);
        self.close(start)
    }

    /// Adds an attribute that holds those which `inner` adds.
    pub(crate) fn nest(&mut self, kind: u16, inner: impl FnOnce(&mut Self)) -> &mut Self {
        let start = self.open(kind);
        inner(self);
        self.close(start)
    }

    /// The request with its header, as it goes to the kernel.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn open(&mut self, kind: u16) -> usize {
        let start = self.0.len();
        self.0.extend([0; 2]);
        self.0.extend(kind.to_ne_bytes());
        start
    }

    fn close(&mut self, start: usize) -> &mut Self {
        let length = self.0.len() - start;
        assert!(length <= usize::from(u16::MAX), "an attribute is shorter than 64 KiB");
        let length = u16::try_from(length).unwrap_or(u16::MAX);
        self.0[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        self.0.resize(self.0.len().next_multiple_of(ALIGNMENT), 0);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::attributes;

    #[test]
    fn what_is_written_reads_back() {
        let mut request = Request::new(&[9; 4]);
        request.put_text(3, "lo").nest(18, |info| {
            info.put(1, b"odd").put_u32(2, 7);
        });
        let read: Vec<_> = attributes(request.bytes(), 4).map(Result::unwrap).collect();
        assert_eq!((read[0].kind, read[0].value), (3, &b"lo\0"[..]));
        let nested: Vec<_> = read[1].nested().map(Result::unwrap).collect();
        assert_eq!((nested[0].value, nested[1].value), (&b"odd"[..], &7u32.to_ne_bytes()[..]));
        assert!(request.bytes().len().is_multiple_of(ALIGNMENT));
    }
}
