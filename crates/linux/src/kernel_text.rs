//! Text files that the kernel makes when they are read. They say that they are empty, so that `std` would read them in many
//! small pieces.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Most files fit in one read.
const USUAL: usize = 16 << 10;

/// All of a file.
///
/// # Errors
/// What opening and reading it give, and `InvalidData` where it is no text.
pub(crate) fn read(path: impl AsRef<Path>) -> io::Result<String> {
    let mut text = String::with_capacity(USUAL);
    // Not of the file itself, which would ask for its size first.
    File::open(path)?.take(u64::MAX).read_to_string(&mut text)?;
    Ok(text)
}

/// The beginning of a file, of which a host with many CPUs has much.
///
/// # Errors
/// What opening and reading it give.
pub(crate) fn read_beginning(path: impl AsRef<Path>) -> io::Result<String> {
    let mut bytes = [0; 4 << 10];
    let length = File::open(path)?.read(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_a_file_is_read_and_of_another_its_beginning() {
        assert_eq!(read("/proc/self/mounts").unwrap(), std::fs::read_to_string("/proc/self/mounts").unwrap());
        let whole = std::fs::read_to_string("/proc/self/maps").unwrap();
        let line = |text: &str| text.lines().next().map(str::to_owned);
        assert_eq!(line(&read_beginning("/proc/self/maps").unwrap()), line(&whole));
        assert!(read("/proc/self/none").is_err());
    }
}
