//! Has the linker fold functions that are equal: generic code is, for many types.
//!
//! Nothing here compares addresses of functions. `rust-lld` can fold, and is what rustc links with on this target unless flags say
//! otherwise; other linkers may not know the option.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    let is_usual = var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|flags| flags.is_empty());
    if is("TARGET", "x86_64-unknown-linux-gnu") && is("PROFILE", "release") && !is("OPT_LEVEL", "0") && is_usual {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    }
}
