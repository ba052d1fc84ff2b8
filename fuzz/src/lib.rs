//! How the fuzzers change an input.

/// An input as libFuzzer hands it over to be changed.
#[derive(Debug, Clone, Copy)]
pub struct Input {
    /// Its bytes, at the beginning of the memory.
    pub size: usize,
    /// How many it may have.
    pub most: usize,
    /// What chooses.
    pub seed: u32,
}

/// Changes numbers of the input to extremes, every other time; else what libFuzzer does by itself. Gives the new size.
pub fn change(memory: &mut [u8], input: Input) -> usize {
    let Input { size, most, seed } = input;
    if seed % 2 == 0 {
        return libfuzzer_sys::fuzzer_mutate(memory, size, most);
    }
    let changed = readers::extreme::with_extremes(&memory[..size], seed / 2);
    let size = changed.len().min(most);
    memory[..size].copy_from_slice(&changed[..size]);
    size
}
