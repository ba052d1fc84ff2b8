//! What captures are compressed with: gzip and zstd, in several parts or one, decompressed as they are read.
//!
//! Whoever wrote the file decides how much comes out of it: memory is that of one window, and what is longer than any capture would be,
//! by what it is compressed to, ends with an error.

use std::cell::Cell;
use std::io::{self, BufRead, Chain, Cursor, Read};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;
use zstd::stream::read::Decoder;

/// Of a window of zstd, two to the power of this: 128 MiB, as `zstd --long` writes and `zstd -d` reads without being asked to.
const MAX_WINDOW_LOG: u32 = 27;
/// Headers of a bulk transfer become a tenth in zstd, frames full of one byte a thousandth in gzip; a file of nothing else becomes a
/// thirty-thousandth in zstd.
const MAX_RATIO: u64 = 4_096;
/// So much may come out of any file.
const ALWAYS_ALLOWED: u64 = 1 << 28;

/// The bytes of a capture, decompressed if they are compressed.
///
/// # Errors
/// What `input` gives, and where zstd has no memory for a window.
pub fn decompressed<'a>(mut input: impl BufRead + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let mut head = Vec::new();
    input.by_ref().take(MAGIC_BYTES).read_to_end(&mut head)?;
    let compression = Compression::of(&head);
    let whole = Cursor::new(head).chain(input);
    let Some(compression) = compression else { return Ok(Box::new(whole)) };
    let taken = Rc::new(Cell::new(0));
    let compressed = Counted { input: whole, taken: Rc::clone(&taken) };
    let output: Box<dyn Read + 'a> = match compression {
        Compression::Gzip => Box::new(MultiGzDecoder::new(compressed)),
        Compression::Zstd => {
            let mut decoder = Decoder::with_buffer(compressed)?;
            decoder.window_log_max(MAX_WINDOW_LOG)?;
            Box::new(decoder)
        }
    };
    Ok(Box::new(Bounded { output, taken, given: 0 }))
}

/// By which of both a file starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zstd,
}

const MAGIC_BYTES: u64 = 4;

impl Compression {
    fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd] => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// Counts what a decoder takes.
struct Counted<R> {
    input: Chain<Cursor<Vec<u8>>, R>,
    taken: Rc<Cell<u64>>,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.taken.set(self.taken.get() + read as u64);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.taken.set(self.taken.get() + amount as u64);
        self.input.consume(amount);
    }
}

/// Ends where no capture would go on.
struct Bounded<'a> {
    output: Box<dyn Read + 'a>,
    taken: Rc<Cell<u64>>,
    given: u64,
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let taken = self.taken.get();
        if self.given > ALWAYS_ALLOWED.saturating_add(taken.saturating_mul(MAX_RATIO)) {
            let (given, limit) = (self.given, MAX_RATIO);
            let text =
                format!("{taken} compressed bytes became {given}, more than {limit} times as many: no capture does");
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        let read = self.output.read(buffer)?;
        self.given += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn zstd(bytes: &[u8]) -> io::Result<Vec<u8>> {
        zstd::stream::encode_all(bytes, 1)
    }

    fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes)?;
        encoder.finish()
    }

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut plain = Vec::new();
        decompressed(bytes)?.read_to_end(&mut plain)?;
        Ok(plain)
    }

    #[test]
    fn what_is_compressed_in_two_parts_is_read_whole() -> io::Result<()> {
        let text = b"a capture of two parts";
        let (one, other) = text.split_at(9);
        for compress in [zstd, gzip] {
            assert_eq!(read(&[compress(one)?, compress(other)?].concat())?, text);
        }
        assert_eq!(read(text)?, text);
        assert_eq!(read(b"abc")?, b"abc");
        Ok(())
    }

    /// Blocks of zstd that repeat one byte (RFC 8878 section 3.1.1.2): four bytes become 128 KiB.
    fn bomb(blocks: usize) -> Vec<u8> {
        let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];
        bytes.extend([0x02, 0x00, 0x10, 0x00].repeat(blocks - 1));
        // The last one says that it is.
        bytes.extend([0x03, 0x00, 0x10, 0x00]);
        bytes
    }

    #[test]
    fn what_becomes_longer_than_any_capture_ends_with_an_error() -> io::Result<()> {
        let whole = io::copy(&mut decompressed(&*bomb(1_000))?, &mut io::sink())?;
        assert_eq!(whole, 1_000 << 17, "so little may come out of any file");
        let error = io::copy(&mut decompressed(&*bomb(4_000))?, &mut io::sink()).err();
        assert!(error.is_some_and(|error| error.to_string().contains("no capture does")));
        Ok(())
    }

    /// A window of 2 GiB, as the header of a frame may ask for.
    #[test]
    fn a_window_that_takes_too_much_memory_is_refused() {
        let mut bytes = bomb(10);
        bytes[5] = 21 << 3;
        assert!(read(&bytes).is_err());
    }
}
