//! Standard input, whose first bytes may be looked at before it is read: they say what it holds.

use std::io::{self, Chain, Cursor, Read, StdinLock};
use std::sync::{Mutex, PoisonError};

/// What was looked at and not read yet.
static AHEAD: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// More is not looked at.
const MOST_AHEAD: usize = 64 << 10;

/// What the first bytes are, once they are enough for `of` to know. None where standard input ends before, or says nothing for too long.
///
/// # Errors
/// Where it cannot be read.
pub fn look_ahead<T>(of: impl Fn(&[u8]) -> Option<T>) -> io::Result<Option<T>> {
    let mut ahead = AHEAD.lock().unwrap_or_else(PoisonError::into_inner);
    let mut piece = [0; 4 << 10];
    loop {
        if let Some(known) = of(&ahead) {
            return Ok(Some(known));
        }
        if ahead.len() >= MOST_AHEAD {
            return Ok(None);
        }
        match io::stdin().lock().read(&mut piece) {
            Ok(0) => return Ok(None),
            Ok(read) => ahead.extend(piece.iter().take(read)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// All of it.
pub fn read() -> Chain<Cursor<Vec<u8>>, StdinLock<'static>> {
    let mut ahead = AHEAD.lock().unwrap_or_else(PoisonError::into_inner);
    Cursor::new(std::mem::take(&mut *ahead)).chain(io::stdin().lock())
}
