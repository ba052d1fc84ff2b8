//! Feeds the reader that `LINERATE_READER` names: one program for all, since each would be linked of the same code.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use readers::{ALL, Reader, extreme};

static READER: LazyLock<Reader> = LazyLock::new(|| {
    let name = std::env::var("LINERATE_READER").unwrap_or_default();
    let named = ALL.into_iter().find(|reader| reader.name == name);
    named.unwrap_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|reader| reader.name).collect();
        eprintln!("LINERATE_READER names no reader: {name:?}. There are {}", names.join(", "));
        std::process::exit(2)
    })
});

fuzz_target!(|bytes: &[u8]| (READER.read)(bytes));

// Every other time numbers become extremes; else the input is changed as libFuzzer does by itself.
fuzz_mutator!(|memory: &mut [u8], size: usize, most: usize, seed: u32| {
    if seed % 2 == 0 {
        return fuzzer_mutate(memory, size, most);
    }
    let changed = extreme::with_extremes(&memory[..size], seed / 2);
    let size = changed.len().min(most);
    memory[..size].copy_from_slice(&changed[..size]);
    size
});
