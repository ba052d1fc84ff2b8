//! What was typed besides a file.

use sweep::parameter::Parameter;

/// What was typed besides a file: it holds in place of what the file says.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Parameters with their values, as in `[set]`.
    pub set: toml::Table,
    /// Settings with what they may become, as in `[vary]`; all of the file's where it is empty.
    pub vary: toml::Table,
    /// Settings that stay as they are.
    pub keep: Vec<String>,
    /// Where all chance comes from.
    pub seed: Option<u64>,
}

impl Wanted {
    /// Adds a parameter: one value, `25ms,50ms,100ms` for a list, `25ms..2s` for all between.
    ///
    /// # Errors
    /// What is wrong with it, without its name.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), String> {
        let value = written(text);
        if let Some((_, parameter)) = Parameter::find(name) {
            // Told where it was typed, not when all of it is read.
            crate::distribution::Distribution::read(parameter, &value)?;
        }
        self.set.insert(name.to_owned(), value);
        Ok(())
    }

    /// Adds a setting that may be changed: `wmem` for what is usual, `wmem=64MiB..1GiB`, `congestion=htcp,bbr`.
    pub fn vary(&mut self, text: &str) {
        let (name, values) = match text.split_once('=') {
            None => (text, toml::Value::String("usual".to_owned())),
            Some((name, values)) => (name, written(values)),
        };
        self.vary.insert(name.trim().to_owned(), values);
    }
}

/// A value as it stands in files.
fn written(text: &str) -> toml::Value {
    let string = |text: &str| toml::Value::String(text.trim().to_owned());
    if let Some((from, to)) = text.split_once("..") {
        let ends = [("from".to_owned(), string(from)), ("to".to_owned(), string(to))];
        return toml::Value::Table(ends.into_iter().collect());
    }
    if text.contains(',') { toml::Value::Array(text.split(',').map(string).collect()) } else { string(text) }
}
