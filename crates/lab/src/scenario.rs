//! Scenarios of files and of the library: what the crate `scenario` reads, found on this machine.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

pub use ::scenario::*;

/// The scenario of a file, or that of a name in the library. What has a slash or ends in `.toml` is a file.
///
/// # Errors
/// See [`ScenarioError`].
pub fn load(name_or_path: &str) -> Result<Scenario, ScenarioError> {
    let path = Path::new(name_or_path);
    let is_path = name_or_path.contains('/') || path.extension().is_some_and(|ending| ending == "toml");
    if is_path { Scenario::parse(name_or_path, &text_of(path)?) } else { ::scenario::library::load(name_or_path) }
}

fn text_of(path: &Path) -> Result<String, ScenarioError> {
    let file = path.display().to_string();
    let mut text = String::new();
    let read = File::open(path).and_then(|opened| opened.take(LONGEST_FILE + 1).read_to_string(&mut text));
    match read {
        Ok(_) if text.len() as u64 > LONGEST_FILE => Err(ScenarioError::TooLarge { file, limit: LONGEST_FILE }),
        Ok(_) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound && !file.contains('/') => {
            let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            Err(ScenarioError::Unknown { name: file, nearest: ::scenario::library::nearest(&name) })
        }
        // A long file may be cut in the middle of a letter.
        Err(source) => Err(ScenarioError::Read { file, source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_there_is_told_from_a_name_that_is_not_known() {
        let of_file = load("nowhere/net.toml").unwrap_err().to_string();
        assert_eq!(of_file, "cannot read the scenario nowhere/net.toml");
        let of_name = load("healthy-land").unwrap_err();
        assert!(of_name.hints()[0].contains("healthy-lan"), "{of_name}");
    }
}
