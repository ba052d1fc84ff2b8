//! Pixels as a PNG file (ISO/IEC 15948): true colour without transparency.

use miniz_oxide::deflate::compress_to_vec_zlib;

/// An image of `width` by `height` pixels, three bytes each, row by row from the top.
pub(crate) struct Image {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) rgb: Vec<u8>,
}

/// PNG file of an image: true colour, 8 bits per channel.
pub(crate) fn file(image: &Image) -> Vec<u8> {
    let mut header = Vec::with_capacity(13);
    header.extend(image.width.to_be_bytes());
    header.extend(image.height.to_be_bytes());
    // Eight bits a channel, true colour; the only compression, the only set of filters, not interlaced (§11.2.1).
    header.extend([8, 2, 0, 0, 0]);
    let mut file = SIGNATURE.to_vec();
    chunk(&mut file, *b"IHDR", &header);
    chunk(&mut file, *b"IDAT", &compress_to_vec_zlib(&filtered(image), LEVEL));
    chunk(&mut file, *b"IEND", &[]);
    file
}

/// Each row as its difference from the one above (§9.2): drawings repeat themselves downwards.
fn filtered(image: &Image) -> Vec<u8> {
    let row_bytes = image.width as usize * 3;
    let mut rows = Vec::with_capacity(image.rgb.len() + image.height as usize);
    let mut above: &[u8] = &vec![0; row_bytes];
    for row in image.rgb.chunks_exact(row_bytes.max(1)) {
        rows.push(UP);
        rows.extend(row.iter().zip(above).map(|(here, above)| here.wrapping_sub(*above)));
        above = row;
    }
    rows
}

#[expect(clippy::cast_possible_truncation, reason = "a picture of 4 GB would not have fitted into memory")]
fn chunk(file: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    file.extend((data.len() as u32).to_be_bytes());
    let checked_from = file.len();
    file.extend(kind);
    file.extend(data);
    let sum = crc(&file[checked_from..]);
    file.extend(sum.to_be_bytes());
}

/// The checksum of a chunk's kind and data (§5.5, annex D).
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg()))
    })
}

const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";
const UP: u8 = 2;
const LEVEL: u8 = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_one_of_the_standard() {
        assert_eq!(crc(b"123456789"), 0xcbf4_3926, "the usual check value of CRC-32");
        assert_eq!(crc(b"IEND"), 0xae42_6082, "the last bytes of every PNG");
    }

    #[test]
    fn rows_are_told_apart_by_what_changed() {
        let image = Image { width: 1, height: 2, rgb: vec![10, 20, 30, 11, 19, 30] };
        assert_eq!(filtered(&image), [UP, 10, 20, 30, UP, 1, 255, 0]);
    }
}
