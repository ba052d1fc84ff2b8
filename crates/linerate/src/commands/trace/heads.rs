//! What files begin with.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// What pcap and pcapng files begin with; no log of a tool does.
const HEADS: [[u8; 4]; 5] = [
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0x0a, 0x0d, 0x0d, 0x0a],
];

/// Whether a file that begins so is a capture.
pub fn is_capture(head: &[u8]) -> bool {
    HEADS.iter().any(|known| head.starts_with(known))
}

/// Whether a file is a capture that nothing has compressed.
pub fn is_plain(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(4).read_to_end(&mut head));
    read.is_ok() && is_capture(&head)
}
