//! One line from a caller, with limits on its size and on the time that it takes.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use model::host::fix::talk::LONGEST_LINE;

/// Reads lines.
#[derive(Debug)]
pub(super) struct Lines {
    buffer: Vec<u8>,
    longest: usize,
    idle: Duration,
}

impl Default for Lines {
    fn default() -> Self {
        Self::within(LONGEST_LINE, IDLE)
    }
}

impl Lines {
    /// Lines of up to `longest` bytes, of a caller who may be silent for `idle`.
    pub(super) fn within(longest: usize, idle: Duration) -> Self {
        Self { buffer: Vec::new(), longest, idle }
    }

    /// The next line without its end; [`None`] where the caller has gone or been silent for too long.
    ///
    /// # Errors
    /// [`io::ErrorKind::FileTooLarge`] for a line beyond the limit, [`io::ErrorKind::TimedOut`] for one that is begun and
    /// does not end, and what the socket gives.
    pub(super) fn next(&mut self, stream: &UnixStream) -> io::Result<Option<Vec<u8>>> {
        let mut begun: Option<Instant> = (!self.buffer.is_empty()).then(Instant::now);
        loop {
            if let Some(end) = self.buffer.iter().position(|&byte| byte == b'\n') {
                let rest = self.buffer.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.buffer, rest);
                line.pop();
                return Ok(Some(line));
            }
            if self.buffer.len() > self.longest {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            let left = begun.map_or(self.idle, |begun| PER_LINE.saturating_sub(begun.elapsed()));
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            stream.set_read_timeout(Some(left))?;
            let mut piece = [0; 16 << 10];
            match (&*stream).read(&mut piece) {
                Ok(0) => return Ok(None),
                Ok(length) => self.buffer.extend(piece.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && begun.is_none() => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(io::ErrorKind::TimedOut.into()),
                Err(error) => return Err(error),
            }
            begun = begun.or_else(|| Some(Instant::now()));
        }
    }
}

/// How long a caller may say nothing. Whoever measures between two questions asks over a new connection.
const IDLE: Duration = Duration::from_secs(3_600);

/// How long one question may take to arrive.
const PER_LINE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn lines_arrive_in_pieces_and_several_at_once() {
        let (mut caller, helper) = UnixStream::pair().unwrap();
        let mut lines = Lines::default();
        caller.write_all(b"one\ntwo\nth").unwrap();
        assert_eq!(lines.next(&helper).unwrap().unwrap(), b"one");
        assert_eq!(lines.next(&helper).unwrap().unwrap(), b"two");
        caller.write_all(b"ree\n").unwrap();
        assert_eq!(lines.next(&helper).unwrap().unwrap(), b"three");
        drop(caller);
        assert_eq!(lines.next(&helper).unwrap(), None);
    }

    #[test]
    fn line_without_end_is_given_up() {
        let (mut caller, helper) = UnixStream::pair().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // It fails once the other end has given up.
                while caller.write_all(&[b'x'; 4_096]).is_ok() {}
            });
            let error = Lines::default().next(&helper).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
            drop(helper);
        });
    }
}
