//! From the bytes of a file to lines that a grammar can read: compression, encodings, escape sequences, what slides and
//! mail programs put around a log.
//!
//! * [`decoration`]: what loggers put before each line
//! * [`markup`]: tags of HTML, blocks of wikis

mod decoration;
mod markup;

use std::borrow::Cow;
use std::io::Read;

use flate2::read::MultiGzDecoder;

use super::anomaly::Anomalies;
use super::limits::MAX_BYTES;

/// The text of a file of at most [`MAX_BYTES`], before and after decompression. The number of its lines is that of the
/// file, so that an anomaly names the line that an editor shows.
pub(crate) fn text<'a>(bytes: &'a [u8], outside: &mut Anomalies) -> Cow<'a, str> {
    let mut kept = Cow::Borrowed(bytes.get(..MAX_BYTES).unwrap_or(bytes));
    if bytes.len() > MAX_BYTES {
        outside.add(1, format!("at most {MAX_BYTES} bytes"), &format!("{} bytes", bytes.len()));
    }
    if kept.starts_with(&GZIP) {
        kept = Cow::Owned(decompressed(&kept, outside));
    }
    let text = match kept {
        Cow::Borrowed(bytes) => decoded(bytes, outside),
        Cow::Owned(bytes) => Cow::Owned(decoded(&bytes, outside).into_owned()),
    };
    let text = if markup::is_page(&text) { Cow::Owned(markup::without_tags(&text)) } else { text };
    let text = if needs_cleaning(&text) { Cow::Owned(cleaned(&text)) } else { text };
    let text = if decoration::are_numbered(&text) { Cow::Owned(decoration::without_numbers(&text)) } else { text };
    let text = decoration::without_numbers_of_part(&text).map_or(text, Cow::Owned);
    if text.lines().any(|line| undecorated(line).len() < line.len()) {
        Cow::Owned(all_undecorated(&text))
    } else {
        text
    }
}

/// A text whose lines are written as a program's string, `\\n` for each end, as an object of JSON has the output of a server, in
/// lines of their own.
pub(crate) fn unescaped(text: &str) -> Cow<'_, str> {
    let is_string = |line: &str| line.contains("\\n[") && line.matches("\\n").count() >= FEWEST_ENDS;
    if !text.contains("\\n[") || !text.lines().any(is_string) {
        return Cow::Borrowed(text);
    }
    let lines = text.lines().map(|line| if is_string(line) { line.replace("\\n", "\n") } else { line.to_owned() });
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// A path of Windows has one or two.
const FEWEST_ENDS: usize = 4;

/// A line without what a logger has put before it, also within the quotation of a mail.
fn undecorated(line: &str) -> &str {
    let inside = unquoted(line);
    let bare = decoration::undecorated(inside);
    if bare.len() < inside.len() { bare } else { line }
}

fn all_undecorated(text: &str) -> String {
    text.lines().map(undecorated).fold(String::with_capacity(text.len()), |mut all, line| {
        all.push_str(line);
        all.push('\n');
        all
    })
}

/// RFC 1952 §2.3.1, with deflate as the method.
const GZIP: [u8; 3] = [0x1f, 0x8b, 8];

fn decompressed(bytes: &[u8], outside: &mut Anomalies) -> Vec<u8> {
    let mut text = Vec::new();
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
    // What came before an error is kept: a log of a full disk ends in the middle of a block.
    if let Err(error) = MultiGzDecoder::new(bytes).take(limit.saturating_add(1)).read_to_end(&mut text) {
        outside.add(1, "a whole gzip file", &error.to_string());
    }
    if text.len() > MAX_BYTES {
        text.truncate(MAX_BYTES);
        outside.add(1, format!("at most {MAX_BYTES} bytes in a gzip file"), "more");
    }
    text
}

fn decoded<'a>(bytes: &'a [u8], outside: &mut Anomalies) -> Cow<'a, str> {
    if let Some(big_endian) = utf16(bytes) {
        let start = if matches!(bytes, [0xfe, 0xff, ..] | [0xff, 0xfe, ..]) { 2 } else { 0 };
        let units = bytes[start..].chunks_exact(2).map(|pair| match *pair {
            [a, b] if big_endian => u16::from_be_bytes([a, b]),
            [a, b] => u16::from_le_bytes([a, b]),
            _ => 0,
        });
        return Cow::Owned(char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect());
    }
    let text = String::from_utf8_lossy(bytes);
    if let Cow::Owned(_) = &text {
        let line = text.split(char::REPLACEMENT_CHARACTER).next().map_or(1, |before| before.matches('\n').count() + 1);
        outside.add(line, "UTF-8", "other bytes, replaced by \u{fffd}");
    }
    // The mark that some editors put before UTF-8.
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Cow::Owned(text) => Cow::Owned(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)),
    }
}

/// Whether the bytes are UTF-16, and big-endian: by the mark at their start, or since every other byte of the start is
/// zero, as PowerShell's `>` without a mark leaves it.
fn utf16(bytes: &[u8]) -> Option<bool> {
    const LOOKED_AT: usize = 512;
    match bytes {
        [0xff, 0xfe, ..] => return Some(false),
        [0xfe, 0xff, ..] => return Some(true),
        _ => {}
    }
    let start = &bytes[..bytes.len().min(LOOKED_AT)];
    let zeros = |from: usize| start.iter().skip(from).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd, half) = (zeros(0), zeros(1), start.len() / 2);
    (start.len() >= 16).then_some(())?;
    if odd * 10 >= half * 9 && even * 10 < half {
        Some(false)
    } else if even * 10 >= half * 9 && odd * 10 < half {
        Some(true)
    } else {
        None
    }
}

fn needs_cleaning(text: &str) -> bool {
    const LETTERS: [char; 12] = [
        '\u{1b}', '\r', '\u{8}', '\0', '\u{a0}', '\u{2007}', '\u{202f}', '\u{2013}', '\u{2212}', '\u{201c}',
        '\u{201d}', '\u{200b}',
    ];
    // Most logs are plain: that a byte is nowhere is found out ten times as fast as that words are not.
    let has = |byte: u8| text.as_bytes().contains(&byte);
    let marks = |first: u8, marks: &[&str]| has(first) && marks.iter().any(|mark| text.contains(mark));
    let is_plain = text.is_ascii() && ![0x1b, b'\r', 8, 0].into_iter().any(has);
    (!is_plain && text.contains(LETTERS))
        || marks(b'^', &["\n^C"])
        || marks(b'{', &["\\text{", "{code", "{noformat", "{quote"])
        || marks(b'[', &["[/code]", "[/quote]", "[/b]", "[/pre]"])
        || (has(b'&') && ENTITIES.iter().any(|(entity, _)| text.contains(&format!("&{entity}"))))
}

/// What web pages write for letters that mean something to them.
const ENTITIES: [(&str, char); 8] = [
    ("gt;", '>'),
    ("lt;", '<'),
    ("#37;", '%'),
    ("nbsp;", ' '),
    ("amp;", '&'),
    ("quot;", '"'),
    ("#34;", '"'),
    ("#39;", '\''),
];

fn cleaned(text: &str) -> String {
    // Files of old systems have carriage returns alone.
    let text = if text.contains('\n') { Cow::Borrowed(text) } else { Cow::Owned(text.replace('\r', "\n")) };
    let mut clean = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        clean_line(line, &mut clean);
    }
    clean
}

/// One line as a terminal shows it: what a carriage return goes back over is overwritten.
fn clean_line(line: &str, clean: &mut String) {
    let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
    let body = body.trim_end_matches('\r');
    let shown = body.rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or("");
    let start = clean.len();
    let unblocked = markup::without_blocks(shown);
    // What a terminal echoes of the key that ended a program.
    let mut rest = unblocked.strip_prefix("^C").unwrap_or(&unblocked);
    while let Some(letter) = rest.chars().next() {
        rest = &rest[letter.len_utf8()..];
        match letter {
            '\u{1b}' => rest = after_escape(rest),
            '\u{8}' => {
                if clean.len() > start {
                    clean.pop();
                }
            }
            '\0' => {}
            '\u{a0}' | '\u{2007}' | '\u{202f}' => clean.push(' '),
            '\u{2013}' | '\u{2212}' => clean.push('-'),
            '\u{201c}' | '\u{201d}' => clean.push('"'),
            '\u{200b}' => {}
            // Slides that were typeset: `1.00 \text{ sec} =`.
            '\\' if rest.starts_with("text{") => {
                if let Some((inside, after)) = rest["text{".len()..].split_once('}') {
                    clean.push_str(inside.trim());
                    rest = after;
                } else {
                    clean.push(letter);
                }
            }
            '&' => {
                let entity = ENTITIES.iter().find(|(entity, _)| rest.starts_with(entity));
                clean.push(entity.map_or('&', |(_, letter)| *letter));
                rest = entity.map_or(rest, |(entity, _)| &rest[entity.len()..]);
            }
            _ => clean.push(letter),
        }
    }
    clean.push_str(end);
}

/// What follows an escape sequence (ECMA-48 §5.4): colours, cursor moves, window titles.
fn after_escape(rest: &str) -> &str {
    let mut letters = rest.char_indices();
    match letters.next() {
        Some((_, '[')) => letters.find(|(_, letter)| ('@'..='~').contains(letter)),
        Some((_, ']')) => letters.find(|(_, letter)| matches!(letter, '\u{7}' | '\\')),
        first => first,
    }
    .map_or("", |(at, letter)| &rest[at + letter.len_utf8()..])
}

/// The words of a line. Logs of tools are ASCII, of which blanks are found without a table.
pub(crate) fn words(line: &str) -> Vec<&str> {
    /// Those of a row, so that most lines are allocated once.
    const USUAL: usize = 16;
    let mut words = Vec::with_capacity(USUAL);
    if line.is_ascii() {
        words.extend(line.split_ascii_whitespace());
    } else {
        words.extend(line.split_whitespace());
    }
    words
}

/// A line without what a person has written behind a row of numbers.
pub(crate) fn without_remark(line: &str) -> &str {
    decoration::without_remark(line)
}

/// A line without what a mail or a list puts before it: `> `, `| `, a bullet.
pub(crate) fn unquoted(line: &str) -> &str {
    // Most lines are a tool's own from their first letter on.
    if matches!(line.as_bytes().first(), None | Some(b'[' | b'0'..=b'9')) {
        return line;
    }
    let mut rest = line;
    loop {
        let bare = rest.trim_start();
        if let Some(after) = bare.strip_prefix('>') {
            rest = after.strip_prefix(' ').unwrap_or(after);
        } else if let Some(after) = bare.strip_prefix("| ").or_else(|| bare.strip_prefix("|\t")) {
            rest = after.trim_end().trim_end_matches('|');
        } else {
            break;
        }
    }
    let bare = rest.trim_start();
    let bullet = ["- ", "* ", "\u{2022} ", "\u{2022}\t", "+ "].into_iter().find_map(|bullet| bare.strip_prefix(bullet));
    // A line of dashes is iperf3's own.
    bullet.filter(|after| !after.trim_start().starts_with(['-', '*', '+'])).unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn read(bytes: &[u8]) -> String {
        let mut outside = Anomalies::default();
        let text = text(bytes, &mut outside).into_owned();
        assert_eq!(outside.into_list(), []);
        text
    }

    #[test]
    fn compression_and_encodings_are_undone() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(b"a\nb\n").unwrap();
        assert_eq!(read(&packed.finish().unwrap()), "a\nb\n");
        let wide: Vec<u8> = "Connecting to host".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(read(&wide), "Connecting to host");
        assert_eq!(read(&[&[0xff, 0xfe], wide.as_slice()].concat()), "Connecting to host");
        let big: Vec<u8> = "\u{feff}x".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(read(&big), "x");
        assert_eq!(read("\u{feff}x\r\ny".as_bytes()), "x\ny");
    }

    #[test]
    fn a_terminal_s_control_bytes_are_followed() {
        assert_eq!(read(b"\x1b[1;31m[  5]\x1b[0m x\x1b]0;title\x07y\n"), "[  5] xy\n");
        assert_eq!(read(b" 10 %\r 50 %\r100 %\nab\x08c\n"), "100 %\nac\n");
        assert_eq!(read(b"a\rb\rc"), "a\nb\nc");
        assert_eq!(read("1.00\u{a0}\\text{ sec} =\n".as_bytes()), "1.00 sec =\n");
    }

    #[test]
    fn quotes_and_bullets_are_taken_off_and_rules_of_dashes_stay() {
        assert_eq!(unquoted("> > [  5] x"), "[  5] x");
        assert_eq!(unquoted("  \u{2022} nuttcp -T 1 x"), "nuttcp -T 1 x");
        assert_eq!(unquoted("- - - - - -"), "- - - - - -");
        assert_eq!(unquoted("| [  5] x |").trim(), "[  5] x");
        assert_eq!(unquoted("  12.0 MB"), "  12.0 MB");
    }
}
