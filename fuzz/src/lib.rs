//! How the fuzzers change an input.

/// Changes numbers of the input to extremes, every other time; else what libFuzzer does by itself. Gives the new size.
pub fn change(bytes: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    if seed % 2 == 0 {
        return libfuzzer_sys::fuzzer_mutate(bytes, size, most);
    }
    let changed = readers::extreme::with_extremes(&bytes[..size], seed / 2);
    let size = changed.len().min(most);
    bytes[..size].copy_from_slice(&changed[..size]);
    size
}
