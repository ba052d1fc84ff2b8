//! Random bytes, and files that only their owner reads.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt as _};
use std::path::Path;

use ring::rand::{SecureRandom, SystemRandom};

/// Random bytes from the kernel.
///
/// # Errors
/// Where the kernel has none to give, which is before its generator is ready at boot.
pub fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).map_err(|_| io::Error::other("the kernel gives no random bytes"))?;
    Ok(bytes)
}

/// Makes a directory that only its owner enters.
///
/// # Errors
/// What making it gives; one that is there stays as it is.
pub fn directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes a file that only its owner reads, whole or not at all, and on disk when this returns.
///
/// # Errors
/// What writing gives; the old content is there then.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let draft = path.with_extension("new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => File::open(parent)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}

/// Reads a file of at most `LARGEST` bytes.
///
/// # Errors
/// What reading gives, with the file's name.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("cannot read {}: {error}", path.display()));
    let mut content = Vec::new();
    File::open(path).and_then(|file| file.take(LARGEST).read_to_end(&mut content)).map_err(named)?;
    Ok(content)
}

/// Reads a secret that a person has put into a file of its own, without the end of its line.
///
/// # Errors
/// Where it cannot be read, is empty, is no text, or is readable by others; no message has it.
pub fn text(file: &Path) -> io::Result<String> {
    let wrong = |why: &str| io::Error::other(format!("{}: {why}", file.display()));
    let content = read(file)?;
    if fs::metadata(file)?.permissions().mode() & 0o077 != 0 {
        return Err(wrong("others can read it: chmod 600"));
    }
    let text = String::from_utf8(content).map_err(|_| wrong("it is no text"))?;
    let text = text.trim_end_matches(['\r', '\n']).to_owned();
    if text.is_empty() { Err(wrong("it is empty")) } else { Ok(text) }
}

/// Keys, certificates and settings are far smaller.
const LARGEST: u64 = 1 << 20;
