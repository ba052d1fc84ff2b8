//! Kinds of settings, and how likely each is to cost rate. The kinds are data: `classes.toml`.

use serde::{Deserialize, Serialize};

/// All kinds of settings, in the order in which they are tried.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Classes {
    #[serde(rename = "class")]
    classes: Vec<Class>,
}

/// A kind of settings.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// What it is called.
    pub name: String,
    /// Names of settings, with `*` for anything.
    pub settings: Vec<String>,
    /// How likely it is to cost rate where it differs, from 0 to 1.
    pub prior: f64,
    /// What trying another value takes.
    pub change: Effort,
    /// Why the prior is what it is.
    pub because: String,
}

/// What trying another value of a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// A command on the running host.
    Running,
    /// The host has to start anew.
    Restart,
    /// Other hardware. Such a setting can only be a sign of another.
    Hardware,
}

/// A list of classes that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ClassesError {
    /// It is not written as it should be.
    #[error("the list of classes of settings cannot be read")]
    Text(#[from] toml::de::Error),
    /// A prior is no probability.
    #[error("class `{class}` of settings has the prior {prior}; it is a number above 0 and at most 1")]
    Prior {
        /// Name of the class in the list.
        class: String,
        /// Number as it was written: not above 0, or above 1.
        prior: f64,
    },
    /// Some settings would have no class.
    #[error("the last class of settings must fit all that is left: `settings = [\"*\"]`")]
    NoLast,
}

impl Classes {
    /// Those that come with linerate.
    #[must_use]
    pub fn built_in() -> Self {
        // A test reads the file, so that what is compiled in can be read.
        Self::read(include_str!("classes.toml")).unwrap_or(Self { classes: Vec::new() })
    }

    /// Reads a list as TOML.
    ///
    /// # Errors
    /// [`ClassesError`] where the text is no such list, a prior is no probability, or some settings would have no class.
    pub fn read(text: &str) -> Result<Self, ClassesError> {
        let classes: Self = toml::from_str(text)?;
        if let Some(class) = classes.classes.iter().find(|class| !(class.prior > 0.0 && class.prior <= 1.0)) {
            return Err(ClassesError::Prior { class: class.name.clone(), prior: class.prior });
        }
        let last = classes.classes.last().filter(|last| last.settings.iter().any(|pattern| pattern == "*"));
        last.map(|_| ()).ok_or(ClassesError::NoLast)?;
        Ok(classes)
    }

    /// The class of a setting, by its name without the device: `feature.rx-gro-hw`.
    #[must_use]
    pub fn of(&self, setting: &str) -> Option<&Class> {
        self.classes.iter().find(|class| class.settings.iter().any(|pattern| fits(pattern, setting)))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Class> {
        self.classes.iter()
    }
}

/// Whether a name is what a pattern says. A part after a `*` is taken where it comes first, but for the last one.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|start| name.strip_prefix(start)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_can_be_read_and_every_class_is_some_settings() {
        let classes = Classes::read(include_str!("classes.toml")).unwrap();
        assert_eq!(classes, Classes::built_in());
        // A class all of whose patterns fit an earlier one first would never be used.
        for class in classes.iter() {
            let example = |pattern: &String| pattern.replace('*', "q");
            let used = class.settings.iter().map(example).any(|name| classes.of(&name) == Some(class));
            assert!(used, "{}", class.name);
        }
    }

    #[test]
    fn settings_have_the_class_that_people_would_give_them() {
        let classes = Classes::built_in();
        for (setting, class) in [
            ("feature.rx-gro-hw", "receive offload"),
            ("feature.tx-tcp-segmentation", "offload"),
            ("link.mtu", "packet size"),
            ("route[default].mtu", "packet size"),
            ("net.ipv4.tcp_rmem", "buffers"),
            ("net.ipv4.tcp_ecn", "congestion control"),
            ("net.ipv4.tcp_sack", "TCP"),
            ("qdisc.root", "queue discipline"),
            ("driver.name", "card"),
            ("driver.firmware", "kernel and firmware"),
            ("machine.memory", "machine"),
            ("net.iw_cm.default_backlog", "other network settings"),
            ("boot", "set at the next start"),
            ("surprise", "other"),
        ] {
            assert_eq!(classes.of(setting).map(|class| class.name.as_str()), Some(class), "{setting}");
        }
    }

    #[test]
    fn a_list_that_leaves_something_out_is_refused() {
        let class = |settings: &str, prior: f64| {
            format!(
                "[[class]]\nname = \"a\"\nsettings = [\"{settings}\"]\nprior = {prior:?}\nchange = \"running\"\nbecause = \"b\""
            )
        };
        assert!(Classes::read(&class("*", 0.5)).is_ok());
        assert!(matches!(Classes::read(&class("net.*", 0.5)), Err(ClassesError::NoLast)));
        assert!(matches!(Classes::read(&class("*", 1.5)), Err(ClassesError::Prior { .. })));
        assert!(matches!(Classes::read("nonsense"), Err(ClassesError::Text(_))));
    }
}
