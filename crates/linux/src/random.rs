//! Bits that nobody can guess, for names that must be unique.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// `N` random bytes from the kernel (`getrandom`).
///
/// # Errors
/// What `getrandom` gives; it does not block once the host is up.
pub fn bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        match getrandom(&mut bytes[filled..], GetRandomFlags::empty()) {
            Ok(got) => filled += got,
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #[test]
    fn two_draws_differ() {
        assert_ne!(super::bytes::<16>().unwrap(), super::bytes::<16>().unwrap());
    }
}
