//! Files that keep a fix over the next start: written whole or not at all, and taken back to the byte.
//!
//! What stands in them is worked out by `audit::persist`; here is where they go, and who wins against whom.
//!
//! * [`write()`], [`remove`]: the blocks of a fix, in and out
//! * [`whole`]: several files, all of them or none
//! * `place`: a name for the file of sysctls under which it wins

mod place;
pub mod whole;

use std::collections::BTreeMap;
use std::path::Path;

use audit::persist::{Lasting, Product, block};

use crate::files::{Disk, Files};
pub use place::Overruled;
pub use whole::{Planned, WriteError};

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Written {
    /// The files, by their path below the root.
    pub files: Vec<String>,
    /// Settings that another file overrules at boot, or would where somebody types `sysctl --system`.
    pub overruled: Vec<Overruled>,
}

/// Writes the lines of a fix into the files below `root`. `running` are the sysctls of the host, as
/// [`crate::provenance::find`] wants them.
///
/// # Errors
/// Why a file could not be written; then none is.
pub fn write(
    root: &Path,
    fix: u64,
    lasting: &Lasting,
    running: &BTreeMap<String, Option<String>>,
) -> Result<Written, WriteError> {
    let disk = Disk::below(root);
    let mut written = Written::default();
    let mut planned: Vec<Planned> = Vec::new();
    for (product, lines) in &lasting.lines {
        let (old_path, before) = present(&disk, *product)?;
        let content = block::with(before.as_deref(), *product, fix, lines);
        let path = if *product == Product::Sysctl {
            let (path, overruled) = place::choose(&disk, old_path.as_deref(), &content, lines, running);
            written.overruled = overruled;
            path
        } else {
            product.path().to_owned()
        };
        if let Some(old) = old_path.filter(|old| *old != path) {
            planned.push(Planned { path: old, content: None, mode: product.mode() });
        }
        written.files.push(path.clone());
        planned.push(Planned { path, content: Some(content), mode: product.mode() });
    }
    whole::replace(root, &planned)?;
    Ok(written)
}

/// Takes the lines of a fix out of all files below `root`, and says of which.
///
/// # Errors
/// Why a file could not be written; then none is.
pub fn remove(root: &Path, fix: u64) -> Result<Vec<String>, WriteError> {
    let disk = Disk::below(root);
    let mut planned = Vec::new();
    for product in Product::ALL {
        for path in product.paths() {
            let Some(text) = read(&disk, path)?.filter(|text| block::holds(text, fix)) else { continue };
            let content = block::without(&text, fix);
            planned.push(Planned { path: path.to_owned(), content, mode: product.mode() });
        }
    }
    whole::replace(root, &planned)?;
    Ok(planned.into_iter().map(|planned| planned.path).collect())
}

/// The file of a product that is there, and what is in it.
fn present(disk: &Disk, product: Product) -> Result<(Option<String>, Option<String>), WriteError> {
    for path in product.paths() {
        if let Some(text) = read(disk, path)? {
            return Ok((Some(path.to_owned()), Some(text)));
        }
    }
    Ok((None, None))
}

/// A file that is there and cannot be read must not be overwritten.
fn read(disk: &Disk, path: &str) -> Result<Option<String>, WriteError> {
    match disk.text(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(WriteError { path: path.to_owned(), doing: "read", source }),
    }
}

#[cfg(test)]
mod tests;
