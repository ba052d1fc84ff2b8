//! Memory of a program that runs in a host, found from the process that stands for it on this side.

use std::fs;
use std::path::PathBuf;

/// Resident memory of `program`, bytes: of `process`, or of the first of its descendants that has the program's name, since a
/// command in a host stands behind two others, the one on this side and the one that changes the user. Absent where
/// there is none (`children` of proc(5); `VmRSS`, whose kB are 1024 B).
pub(super) fn resident(process: u32, program: &str) -> Option<f64> {
    let mut waiting = vec![process];
    while let Some(process) = waiting.pop() {
        let directory = PathBuf::from(format!("/proc/{process}"));
        let name = fs::read_to_string(directory.join("comm")).unwrap_or_default();
        if name.trim_end() == program {
            let status = fs::read_to_string(directory.join("status")).ok()?;
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
            return line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok().map(|kibibytes| kibibytes * 1024.0);
        }
        let children = fs::read_to_string(directory.join(format!("task/{process}/children"))).unwrap_or_default();
        waiting.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
    }
    None
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_program_behind_another_is_the_one_that_is_measured() {
        let script = "cat; exit";
        let mut outer =
            Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut input, mut output) = (outer.stdin.take().unwrap(), outer.stdout.take().unwrap());
        input.write_all(b"x").unwrap();
        output.read_exact(&mut [0]).unwrap();
        for name in ["sh", "cat"] {
            let bytes = resident(outer.id(), name);
            assert!(bytes.is_some_and(|bytes| bytes > 100e3), "{name}: {bytes:?}");
        }
        assert_eq!(resident(outer.id(), "nobody"), None);
        drop(input);
        outer.wait().unwrap();
        assert_eq!(resident(outer.id(), "cat"), None);
    }
}
