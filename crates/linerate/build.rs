//! Has the linker fold what is equal, which generic code is for many types, and pack the addresses that are adjusted at the start.
//!
//! `rust-lld` can do both, and is what rustc links with for glibc on x86-64 unless flags or settings say otherwise. For the static
//! program it is asked for here; other linkers may not know the options.

use std::env::var;
use std::path::PathBuf;
use std::process::Command;

/// The first glibc that adjusts packed addresses (`DT_RELR`).
const PACKS_SINCE: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    let is_usual = var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|flags| flags.is_empty()) && var("RUSTC_LINKER").is_err();
    if !is("PROFILE", "release") || is("OPT_LEVEL", "0") || !is_usual {
        return;
    }
    let packs = if is("TARGET", "x86_64-unknown-linux-gnu") {
        glibc().is_some_and(|version| version >= PACKS_SINCE)
    } else if is("TARGET", "x86_64-unknown-linux-musl") {
        let Some(lld) = lld_of_rustc() else { return };
        pass(&format!("-B{}", lld.display()));
        pass("-fuse-ld=lld");
        // rustc brings a musl that does, and links it into the program.
        true
    } else {
        return;
    };
    // Nothing here compares addresses of functions or of constants.
    pass("-Wl,--icf=all,--ignore-data-address-equality");
    if packs {
        pass("-Wl,-z,pack-relative-relocs");
    }
}

fn pass(argument: &str) {
    println!("cargo::rustc-link-arg-bins={argument}");
}

/// The C library of this machine, which is the one that the program runs with.
fn glibc() -> Option<(u32, u32)> {
    let version = said("getconf", &["GNU_LIBC_VERSION"])?;
    let (major, minor) = version.strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}

/// The folder with rustc's own linker under the name by which the C compiler looks for one.
fn lld_of_rustc() -> Option<PathBuf> {
    let sysroot = said(&var("RUSTC").ok()?, &["--print", "sysroot"])?;
    let folder = PathBuf::from(sysroot).join("lib/rustlib").join(var("HOST").ok()?).join("bin/gcc-ld");
    folder.join("ld.lld").exists().then_some(folder)
}

/// What a program prints, without the end of its line.
fn said(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
