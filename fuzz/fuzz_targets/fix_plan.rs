#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::fix_plan(bytes));
libfuzzer_sys::fuzz_mutator!(|bytes: &mut [u8], size: usize, most: usize, seed: u32| fuzz::change(bytes, size, most, seed));
