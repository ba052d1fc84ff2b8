//! Memory of this process that the kernel can bring back by itself.

use std::fs;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::ptr;

use rustix::mm::{Advice, madvise};

/// Lets go of the code of this program that lies in memory; what is run again is read again from its file. For a program that
/// begins with much work and then waits for days. Returns the bytes of the mappings.
///
/// # Errors
/// Where the kernel does not tell what is mapped.
pub fn set_code_aside() -> io::Result<usize> {
    let program = fs::read_link("/proc/self/exe")?;
    let maps = fs::read("/proc/self/maps")?;
    let mut bytes = 0;
    for range in code(&maps, program.as_os_str().as_bytes()) {
        let start = ptr::with_exposed_provenance_mut(range.start);
        // SAFETY: the range is a whole mapping of this program's file, private and without the right to write, so that none of
        // its pages differs from the file: each is read again, as it was, by whoever touches it next.
        unsafe { madvise(start, range.len(), Advice::LinuxDontNeed)? };
        bytes += range.len();
    }
    Ok(bytes)
}

/// Where the code of a program is mapped, by `/proc/self/maps` (proc_pid_maps(5)):
/// `55d0c8a00000-55d0c9000000 r-xp 00200000 fe:00 1234   /usr/bin/linerate`.
fn code(maps: &[u8], program: &[u8]) -> Vec<Range<usize>> {
    let of_line = |line: &[u8]| {
        let line = str::from_utf8(line.strip_suffix(program)?).ok()?;
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let address = |text: &str| usize::from_str_radix(text, 16).ok();
        rest.starts_with("r-xp ").then_some(address(start)?..address(end)?)
    };
    maps.split(|byte| *byte == b'\n').filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_of_the_program_itself_is_let_go() {
        let maps = b"1000-2000 r--p 00000000 fe:00 7   /bin/one\n\
            2000-5000 r-xp 00001000 fe:00 7   /bin/one\n\
            5000-6000 r--p 00004000 fe:00 7   /bin/one\n\
            6000-7000 rw-p 00005000 fe:00 7   /bin/one\n\
            7000-8000 r-xp 00006000 fe:00 7   /bin/one\n\
            8000-9000 r-xp 00000000 fe:00 8   /lib/libc.so\n\
            9000-a000 rwxp 00000000 fe:00 7   /bin/one\n";
        assert_eq!(code(maps, b"/bin/one"), [0x2000..0x5000, 0x7000..0x8000]);
    }

    #[test]
    fn a_program_goes_on_without_it() {
        assert!(set_code_aside().unwrap() > 0);
    }
}
