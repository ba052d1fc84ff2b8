//! Whatever the bytes are, they are read without a panic.

use import::read;
use proptest::prelude::*;

/// The start and the end of a recorded file, with something between them.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let files: Vec<Vec<u8>> = super::files().iter().map(|file| std::fs::read(file).unwrap()).collect();
    (proptest::sample::select(files), any::<prop::sample::Index>(), any::<prop::sample::Index>(), piece()).prop_map(
        |(file, from, to, piece)| {
            let (from, to) = (from.index(file.len()), to.index(file.len()));
            [&file[..from.min(to)], piece.as_bytes(), &file[from.max(to)..]].concat()
        },
    )
}

/// What is likely to hurt: long numbers, signs, other scripts, brackets, ends of lines.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-9]{1,40}",
        "[-+./0-9eE]{1,12}",
        "[\\[\\]{}\",: \n\t]{1,8}",
        "\\PC{0,12}",
        Just("18446744073709551615".to_owned()),
        Just("9".repeat(5_000)),
        Just("\u{feff}\0\r\n".to_owned()),
    ]
}

fn check(bytes: &[u8]) {
    let import = read(bytes);
    for test in &import.tests {
        for stream in &test.samples.streams {
            assert!(stream.columns.iter().all(|column| column.values.len() == stream.at_us.len()));
        }
        test.observations.iter().for_each(|observation| assert!(!observation.to_string().is_empty()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        check(&bytes);
    }

    #[test]
    fn recorded_files_with_a_piece_replaced_are_read(bytes in mutated()) {
        check(&bytes);
    }
}
