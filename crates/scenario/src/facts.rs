//! What a file records of a host that a namespace cannot show (docs/formats/recorded-facts.md).

use document::{DocumentError, Key};
use model::host::interface::LINK_COUNTERS;
use model::host::recorded::RecordedFacts;
use serde::Deserialize;

use crate::diagnostics::Diagnostics;

/// Complains of what is no fact of a host, so that none is lost without a word: a slip of the pen reads as a counter that nobody has.
pub(crate) fn check(key: &Key, facts: &toml::Table, diagnostics: &mut Diagnostics<'_>) {
    let recorded = match RecordedFacts::deserialize(facts.clone()) {
        Ok(recorded) => recorded,
        Err(error) => return diagnostics.complain(key, DocumentError::Syntax(error.to_string().trim_end().to_owned())),
    };
    // What is not written again was not understood.
    let written = toml::Table::try_from(&recorded).unwrap_or_default();
    complain_of_lost(key, facts, &written, diagnostics);
    let Some(toml::Value::Table(interfaces)) = facts.get("interfaces") else { return };
    for device in interfaces.keys() {
        if !recorded.counters(device).is_empty() {
            let counters = key.at("interfaces").at(device).at("counters");
            diagnostics.only_keys(&counters, "the kernel", &LINK_COUNTERS);
        }
    }
}

fn complain_of_lost(key: &Key, facts: &toml::Table, written: &toml::Table, diagnostics: &mut Diagnostics<'_>) {
    for (name, value) in facts {
        match (value, written.get(name)) {
            (toml::Value::Table(inner), Some(toml::Value::Table(written))) => {
                complain_of_lost(&key.at(name), inner, written, diagnostics);
            }
            (toml::Value::Table(inner), None) if inner.is_empty() => {}
            // What is off is not written.
            (toml::Value::Boolean(false), None) | (_, Some(_)) => {}
            (_, None) => {
                let known = Vec::new();
                diagnostics
                    .complain(&key.at(name), DocumentError::UnknownWord { what: "fact", name: name.clone(), known });
            }
        }
    }
}
