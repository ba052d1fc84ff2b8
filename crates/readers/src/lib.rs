//! Every reader of foreign bytes as a function of bytes, with the claims that hold whatever the bytes are.
//!
//! The fuzzers in `fuzz/` feed these functions, and the ordinary tests replay the fuzzers' corpus through them. A new
//! reader of foreign bytes gets an entry in [`ALL`], a file in `fuzz/fuzz_targets/` and a folder in `fuzz/corpus/`.

use std::fmt::Debug;
use std::slice::Chunks;

use archive::export::read_export;
use measure::foreign;
use measure::stamp::packet::{Answer, Question};
use measure::wire::client::ClientDialogue;
use measure::wire::server::{self, ServerDialogue};
use model::series::packed;
use units::{ByteCount, DataRate, duration};

/// A reader, by the name that its fuzz target and its corpus have.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// The name.
    pub name: &'static str,
    /// Reads any bytes; panics when a claim does not hold.
    pub read: fn(&[u8]),
}

/// All of them.
pub const ALL: [Reader; 7] = [
    Reader { name: "dialogue_of_client", read: dialogue_of_client },
    Reader { name: "dialogue_of_server", read: dialogue_of_server },
    Reader { name: "exported_run", read: exported_run },
    Reader { name: "foreign_output", read: foreign_output },
    Reader { name: "packed_samples", read: packed_samples },
    Reader { name: "quantities", read: quantities },
    Reader { name: "stamp", read: stamp },
];

/// More than any exported run in the corpus; the limit itself is an input of the reader.
const MAX_EXPORT_BYTES: u64 = 64 << 10;

/// What a server sends us. The first byte says in pieces of which size the rest arrives, which must not matter.
pub fn dialogue_of_client(bytes: &[u8]) {
    let hear = |pieces: Chunks<'_, u8>| {
        let mut dialogue = ClientDialogue::default();
        let mut heard = Vec::new();
        for piece in pieces {
            dialogue.feed(piece);
            loop {
                match dialogue.next_heard() {
                    Ok(Some(message)) => heard.push(format!("{message:?}")),
                    Ok(None) => break,
                    Err(error) => return (heard, Some(error.to_string())),
                }
            }
        }
        (heard, None)
    };
    assert_pieces_do_not_matter(bytes, hear);
}

/// What a client sends us. The first byte says in pieces of which size the rest arrives, which must not matter.
pub fn dialogue_of_server(bytes: &[u8]) {
    let hear = |pieces: Chunks<'_, u8>| {
        let mut dialogue = ServerDialogue::default();
        let mut heard = Vec::new();
        for piece in pieces {
            dialogue.feed(piece);
            loop {
                match dialogue.next_heard() {
                    Ok(Some(message)) => heard.push(format!("{message:?}{:?}", asked(&message))),
                    Ok(None) => break,
                    Err(error) => return (heard, Some(error.to_string())),
                }
            }
        }
        (heard, None)
    };
    assert_pieces_do_not_matter(bytes, hear);
}

/// The test that a client asks for: refused or not, no parameters may bring the server down.
fn asked(message: &server::Heard) -> Option<bool> {
    let server::Heard::Params(params) = message else { return None };
    Some(params.to_spec().is_ok())
}

fn assert_pieces_do_not_matter<T: PartialEq + Debug>(bytes: &[u8], hear: impl Fn(Chunks<'_, u8>) -> T) {
    if let Some((&size, stream)) = bytes.split_first() {
        let size = usize::from(size).max(1);
        assert_eq!(hear(stream.chunks(size)), hear(stream.chunks(1)), "pieces of {size} bytes are heard otherwise");
    }
}

/// A run that somebody exported, and maybe edited.
pub fn exported_run(bytes: &[u8]) {
    let Ok(export) = read_export(bytes, MAX_EXPORT_BYTES) else { return };
    for stream in &export.samples.streams {
        assert!(
            stream.columns.iter().all(|column| column.values.len() == stream.at_us.len()),
            "columns of two lengths"
        );
    }
}

/// What another tool has printed.
pub fn foreign_output(bytes: &[u8]) {
    let import = foreign::read(bytes);
    for test in &import.tests {
        for stream in &test.samples.streams {
            assert!(
                stream.columns.iter().all(|column| column.values.len() == stream.at_us.len()),
                "columns of two lengths"
            );
        }
        assert!(test.remarks.iter().all(|remark| !remark.to_string().is_empty()), "a remark that says nothing");
    }
}

/// Samples as they are stored and sent.
pub fn packed_samples(bytes: &[u8]) {
    let Ok(samples) = packed::unpack(bytes) else { return };
    let again = packed::unpack(&packed::pack(&samples)).ok();
    assert_eq!(again.as_ref(), Some(&samples), "what was read is not what is read after writing it");
}

/// Quantities as people type them. What is shown is rounded, but never to something that we do not read ourselves.
pub fn quantities(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(rate) = text.parse::<DataRate>() {
        assert!(rate.to_string().parse::<DataRate>().is_ok(), "{text:?} is shown as {rate}");
    }
    if let Ok(count) = text.parse::<ByteCount>() {
        assert!(count.to_string().parse::<ByteCount>().is_ok(), "{text:?} is shown as {count}");
    }
    if let Ok(time) = duration::parse(text) {
        let shown = duration::show(time);
        assert!(duration::parse(&shown).is_ok(), "{text:?} is shown as {shown}");
    }
}

/// Latency probes and their answers.
pub fn stamp(bytes: &[u8]) {
    if let Ok(question) = Question::parse(bytes) {
        assert_eq!(Question::parse(&question.emit()), Ok(question));
    }
    if let Ok(answer) = Answer::parse(bytes) {
        assert_eq!(Answer::parse(&answer.emit()), Ok(answer));
    }
}
