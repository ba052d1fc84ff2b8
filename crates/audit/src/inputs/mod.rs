//! What an audit can know besides the snapshot.

mod baseline;
mod log;
mod peers;

use model::host::change::LoggedChange;

use crate::fact::{Fact, FactMap};
use crate::scope::{HostFacts, INPUT_ROOTS};
use crate::vocabulary::Vocabulary;

/// What is known besides the snapshot. All of it may be left out; the rules that need it are unknown then.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// An earlier snapshot of the host: counters say something as differences only.
    pub before: Option<HostFacts>,
    /// Facts by root: `peers`, `baseline`, `probe`, `path`, `proxy`, `log`.
    pub facts: FactMap,
}

/// What is wrong with an input.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// It is not a set of named facts.
    #[error("an input is a set of named facts: probe, path, proxy, log, baseline, peers")]
    NoNames,
    /// It holds facts that no rule could use.
    #[error("no rule uses {}; docs/rules.md lists the facts there are", names.join(", "))]
    Strangers {
        /// Their names.
        names: Vec<String>,
    },
}

impl Inputs {
    /// Adds what the host was in better days.
    pub fn add_baseline(&mut self, now: &HostFacts, baseline: &HostFacts) {
        let facts = baseline::facts(now, baseline);
        merge(self.facts.entry("baseline".to_owned()).or_insert_with(|| Fact::Map(FactMap::new())), facts);
    }

    /// Adds what the change log of the host holds.
    pub fn add_log(&mut self, changes: &[LoggedChange]) {
        self.facts.entry("log".to_owned()).or_insert_with(|| log::facts(changes));
    }

    /// Adds what the other hosts of the same role are.
    pub fn add_peers(&mut self, host: &HostFacts, peers: &[HostFacts]) {
        let facts = peers::facts(host, peers);
        merge(self.facts.entry("peers".to_owned()).or_insert_with(|| Fact::Map(FactMap::new())), facts);
    }

    /// Adds facts that an operator or another program gives, in the names of the vocabulary.
    ///
    /// # Errors
    /// Where a name is not in the vocabulary: a misspelt one would be missing silently.
    pub fn add(&mut self, json: serde_json::Value, vocabulary: &Vocabulary) -> Result<(), InputError> {
        let Fact::Map(given) = Fact::from_json(json) else { return Err(InputError::NoNames) };
        let mut strangers = Vec::new();
        for (root, fact) in &given {
            if !INPUT_ROOTS.contains(&root.as_str()) || root == "profile" {
                strangers.push(root.clone());
            } else {
                strangers.extend(vocabulary.strangers(root, fact));
            }
        }
        if !strangers.is_empty() {
            return Err(InputError::Strangers { names: strangers });
        }
        for (root, fact) in given {
            merge(self.facts.entry(root).or_insert_with(|| Fact::Map(FactMap::new())), fact);
        }
        Ok(())
    }
}

/// Puts facts over others, name by name.
pub fn merge(under: &mut Fact, over: Fact) {
    match (under, over) {
        (Fact::Map(under), Fact::Map(over)) => {
            for (name, fact) in over {
                match under.get_mut(&name) {
                    Some(known) => merge(known, fact),
                    None => drop(under.insert(name, fact)),
                }
            }
        }
        (under, over) => *under = over,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_input_is_refused() {
        let vocabulary = Vocabulary::built_in();
        let mut inputs = Inputs::default();
        let wrong = serde_json::json!({"probe": {"tcp": {"retransmit": 3}}, "prob": 1, "profile": {"streams": 2}});
        let Err(InputError::Strangers { names }) = inputs.add(wrong, &vocabulary) else { panic!("accepted") };
        assert_eq!(names, ["prob", "probe.tcp.retransmit", "profile"]);
        inputs.add(serde_json::json!({"probe": {"tcp": {"retransmits": 3}}}), &vocabulary).unwrap();
        inputs.add(serde_json::json!({"probe": {"tcp": {"segments": 9}}}), &vocabulary).unwrap();
        assert_eq!(inputs.facts["probe"].to_string(), "{tcp: {retransmits: 3 segments: 9}}");
    }
}
