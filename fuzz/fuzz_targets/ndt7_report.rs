#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::ndt7_report(bytes));
libfuzzer_sys::fuzz_mutator!(|memory: &mut [u8], size: usize, most: usize, seed: u32| {
    fuzz::change(memory, fuzz::Input { size, most, seed })
});
