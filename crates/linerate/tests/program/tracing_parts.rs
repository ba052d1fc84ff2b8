//! Parts of large captures, drawn from the index that a first picture leaves in the user's cache; captures that come by standard input.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::tracing::window_limited;

/// A folder with a capture of some megabytes, and caches.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(options: &[&str]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        let simulated = Command::new(env!("CARGO_BIN_EXE_linerate"))
            .args(["simulate", "flow", "--rate", "200Mbit/s", "--time", "5s", "--seeds", "1", "--no-offload"])
            .args(["--pcap", "s.pcap"])
            .args(options)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(simulated.status.success(), "{}", String::from_utf8_lossy(&simulated.stderr));
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Draws with a cache of its own, and returns what is printed and drawn.
    fn draw(&self, cache: &str, args: &[&str]) -> (String, String) {
        let output = self.trace(cache, &[&["s.pcap", "--plot", "p.svg"], args].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        (String::from_utf8(output.stdout).unwrap(), fs::read_to_string(self.path().join("p.svg")).unwrap())
    }

    fn trace(&self, cache: &str, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
        command.env("XDG_CACHE_HOME", self.path().join(cache)).current_dir(self.path());
        command.arg("trace").args(args).output().unwrap()
    }

    fn indexes(&self, cache: &str) -> Vec<PathBuf> {
        let folder = fs::read_dir(self.path().join(cache).join("linerate/captures"));
        folder.map_or_else(|_| Vec::new(), |entries| entries.map(|entry| entry.unwrap().path()).collect())
    }

    /// Writes over the first packets of the capture, whose size and time stay as they are.
    fn forget_begin(&self) {
        let path = self.path().join("s.pcap");
        let written = fs::metadata(&path).unwrap().modified().unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.write_all_at(&vec![0xff; 1 << 20], FILE_HEADER_BYTES).unwrap();
        file.set_modified(written).unwrap();
    }
}

/// What says that a file is a capture.
const FILE_HEADER_BYTES: u64 = 24;
const PART: [&str; 4] = ["--from", "2s", "--to", "2100ms"];

#[test]
fn a_part_is_drawn_from_the_index_as_from_the_whole_capture() {
    // Whoever waits for room in a small send buffer is known for it only later.
    for options in [
        &["--wmem", "512KiB", "--rtt", "20ms"][..],
        &["--queue", "60kB", "--rtt", "20ms"],
        &["--application-rate", "150Mbit/s", "--rtt", "20ms"],
    ] {
        let folder = Folder::new(options);
        let (told, _) = folder.draw("kept", &[]);
        assert_eq!(
            folder.indexes("kept").len(),
            1,
            "a capture of {} bytes",
            fs::metadata(folder.path().join("s.pcap")).unwrap().len()
        );
        let parts = [
            ["--from", "1s", "--to", "1010ms"],
            PART,
            ["--from", "300ms", "--to", "3s"],
            ["--from", "3500ms", "--to", "1h"],
        ];
        for (at, part) in parts.iter().enumerate() {
            let by_all = folder.draw(&format!("none{at}"), part);
            assert!(folder.draw("kept", part) == by_all, "{options:?} {part:?}");
            assert_eq!(by_all.0, told, "the text is that of the whole capture");
        }
        assert_eq!(folder.indexes("kept").len(), 1);
    }
}

/// Of a part of a large transfer a column holds less than a pixel of it.
#[test]
fn what_was_sent_is_seen_however_little_of_it_is_in_a_column() {
    let folder = Folder::new(&["--rtt", "20ms"]);
    let (_, svg) = folder.draw("kept", &PART);
    let sequence = &svg[svg.find("id=\"sequence\"").unwrap()..svg.find("id=\"rtt\"").unwrap()];
    let strokes = sequence.split("<path d=\"").filter(|path| path.contains("stroke=\"#1f2428\""));
    let longest = strokes.max_by_key(|path| path.len()).unwrap();
    // From where it moves to, each goes up.
    let heights: Vec<f64> = longest[..longest.find('"').unwrap()]
        .split('M')
        .filter_map(|line| {
            let (from, up) = line.split_once('V')?;
            Some((from.split_once(' ')?.1.parse::<f64>().ok()? - up.parse::<f64>().ok()?).abs())
        })
        .collect();
    assert!(heights.len() > 100 && heights.iter().all(|height| *height > 0.8), "{heights:?}");
}

#[test]
fn what_was_before_a_part_is_not_read_again_and_a_capture_that_has_changed_is() {
    let folder = Folder::new(&["--rtt", "20ms"]);
    folder.draw("kept", &[]);
    let [index] = folder.indexes("kept").try_into().unwrap();
    assert_eq!(fs::metadata(&index).unwrap().permissions().mode() & 0o777, 0o600);
    let by_all = folder.draw("none", &PART);
    folder.forget_begin();
    assert!(folder.draw("kept", &PART) == by_all, "only the part is read");
    let refused = |what: &str| {
        let output = folder.trace("kept", &[&["s.pcap", "--plot", "p.svg"][..], &PART].concat());
        assert!(!output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stdout));
    };
    // An index that is damaged, or of the capture as it was, is none.
    let kept = fs::read(&index).unwrap();
    fs::write(&index, &kept[..100]).unwrap();
    refused("a cut index");
    fs::write(&index, &kept).unwrap();
    assert!(folder.draw("kept", &PART) == by_all);
    File::options()
        .write(true)
        .open(folder.path().join("s.pcap"))
        .unwrap()
        .set_modified(std::time::UNIX_EPOCH)
        .unwrap();
    refused("another time");
}

#[test]
fn small_captures_pipes_compressed_ones_and_graphs_of_every_packet_leave_no_index() {
    let folder = Folder::new(&["--rtt", "20ms"]);
    fs::write(folder.path().join("small.pcap"), window_limited()).unwrap();
    let gzip = Command::new("gzip").args(["-k", "-1", "s.pcap"]).current_dir(folder.path()).status().unwrap();
    assert!(gzip.success());
    for args in [
        &["s.pcap", "--plot", "p.xpl", "--from", "1s", "--to", "1010ms"][..],
        &["small.pcap", "--plot", "p.svg"],
        &["s.pcap.gz", "--plot", "p.svg"],
        &["s.pcap"],
    ] {
        let output = folder.trace("kept", args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(folder.indexes("kept").is_empty());
    // Nothing is written where there is no place for it, and nothing is said.
    fs::write(folder.path().join("file"), "").unwrap();
    let output = folder.trace("file", &["s.pcap", "--plot", "p.svg"]);
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What `linerate why -` says of bytes that come in pieces of so many.
fn why(bytes: &[u8], piece: usize) -> (Option<i32>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(["why", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for piece in bytes.chunks(piece) {
        stdin.write_all(piece).unwrap();
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr),
    )
}

#[test]
fn why_takes_a_capture_from_standard_input_however_it_is_compressed() {
    let capture = window_limited();
    let squeezed = |program: &str, bytes: &[u8]| {
        let mut child = Command::new(program).arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(bytes).unwrap();
        child.wait_with_output().unwrap().stdout
    };
    let (gzip, zstd) = (squeezed("gzip", &capture), squeezed("zstd", &capture));
    for (what, bytes, piece) in
        [("plain", &capture, 1 << 20), ("plain, byte by byte", &capture, 1), ("gzip", &gzip, 7), ("zstd", &zstd, 3)]
    {
        let (code, page) = why(bytes, piece);
        assert!(code == Some(10) && page.contains("receive-window-small"), "{what}: {page}");
        assert!(page.starts_with("standard input: 1 transfer"), "{what}: {page}");
    }
    // A log of another tool is one, compressed or not, and what is neither is told of.
    let (code, page) = why(
        b"PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.05 ms\n",
        1 << 20,
    );
    assert!(code != Some(10) || !page.contains("receive-window-small"), "{page}");
    for bytes in [&b""[..], b"\xd4", b"no tool prints this\n", &squeezed("gzip", b"ab")] {
        let (code, page) = why(bytes, 1);
        assert!(code.is_some_and(|code| code != 0 && code != 10) && page.contains("standard input"), "{code:?} {page}");
    }
}
