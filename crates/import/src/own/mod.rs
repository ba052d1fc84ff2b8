//! Documents that linerate prints itself with `--json`, as evidence: probes, runs, and what `watch` saw.
//!
//! * `found`: what a document shows
//! * `probes`: sessions of OWAMP and TWAMP as what `owping` and `twping` print of theirs
//! * `watches`: bursts of a device, queues of switches, drops of a host

mod found;
mod probes;
mod watches;

use std::fmt;

use model::archived::RunExport;
use model::run::Run;
use model::series::RunSamples;
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::evidence::{Evidence, Shown};
use found::{Found, admitted, known_format};

pub(crate) use probes::ONE_WAY;

/// A document and what it shows.
#[derive(Debug, Default)]
pub(crate) struct OwnDocument {
    /// Its pieces of evidence; their line is that of the document.
    pub(crate) evidence: Vec<Evidence>,
    /// How long it is.
    pub(crate) bytes: usize,
    /// Why it shows less than it might.
    pub(crate) complaint: Option<String>,
}

/// Reads the object that a text begins with, where it is a document of linerate's.
pub(crate) fn read(text: &str, line: usize) -> Option<OwnDocument> {
    let inside = text.strip_prefix('{')?.trim_start();
    if OF_OTHERS.iter().any(|key| inside.starts_with(key)) {
        return None;
    }
    let mut objects = serde_json::Deserializer::from_str(text);
    let keys = objects.deserialize_map(KeysOf).ok()?;
    let bytes = objects.into_iter::<IgnoredAny>().byte_offset();
    let form = FORMS.iter().find(|form| form.keys.iter().all(|key| keys.iter().any(|own| own == key)))?;
    let mut own = OwnDocument { bytes, ..OwnDocument::default() };
    let read = match text.get(..bytes) {
        Some(document) if bytes <= MAX_DOCUMENT => (form.read)(document),
        _ => Err(format!("it is larger than {} MiB", MAX_DOCUMENT >> 20)),
    };
    match read {
        Ok(Found { host, shows }) => {
            own.evidence = shows.into_iter().map(|shows| Evidence { line, host: host.clone(), shows }).collect();
        }
        Err(why) => own.complaint = Some(format!("{}: {why}", form.what)),
    }
    Some(own)
}

/// A form of documents, known by keys that no other has together.
struct Form {
    keys: &'static [&'static str],
    what: &'static str,
    read: fn(&str) -> Result<Found, String>,
}

const FORMS: [Form; 11] = [
    Form { keys: &["run", "samples"], what: "an exported run", read: exported },
    Form { keys: &["id", "role", "spec", "peer"], what: "a run", read: run },
    Form {
        keys: &["target", "spec", "summary", "probes"],
        what: "a series of echoes",
        read: |text| probe(text, Shown::Echo),
    },
    Form { keys: &["target", "spec", "hops"], what: "the hops of a path", read: |text| probe(text, Shown::Hops) },
    Form { keys: &["target", "spec", "sizes"], what: "a path MTU", read: |text| probe(text, Shown::PathMtu) },
    Form {
        keys: &["target", "spec", "body_bytes", "times"],
        what: "a download",
        read: |text| probe(text, Shown::Download),
    },
    Form { keys: &["target", "spec", "result"], what: "a session of TWAMP", read: probes::two_way },
    Form { keys: &["target", "spec", "outcome", "started_unix_ns"], what: "sessions of OWAMP", read: probes::one_way },
    Form { keys: &["device", "bucket_us", "directions"], what: "bursts of a device", read: watches::bursts },
    Form {
        keys: &["datagrams", "reports", "senders", "hops"],
        what: "telemetry of switches",
        read: watches::telemetry,
    },
    Form { keys: &["host", "length_us", "counters", "retransmits"], what: "drops of a host", read: watches::drops },
];

/// First keys of iperf3's and mtr's documents, which are long: their keys are not looked at twice.
const OF_OTHERS: [&str; 3] = ["\"start\"", "\"event\"", "\"report\""];

/// A test of a minute with 16 streams has 5 MB of samples.
const MAX_DOCUMENT: usize = 16 << 20;

fn exported(text: &str) -> Result<Found, String> {
    let export: RunExport = admitted(text)?;
    known_format([export.run.format, Run::FORMAT])?;
    Ok(Found::of(vec![Shown::Run(Box::new(export))]))
}

/// A run with what `test --json` prints beside it.
fn run(text: &str) -> Result<Found, String> {
    let run: Run = admitted(text)?;
    known_format([run.format, Run::FORMAT])?;
    Ok(Found::of(vec![Shown::Run(Box::new(RunExport { run, samples: RunSamples::default() }))]))
}

/// A probe whose own form is that of evidence.
fn probe<T: DeserializeOwned>(text: &str, shows: fn(T) -> Shown) -> Result<Found, String> {
    admitted(text).map(|found| Found::of(vec![shows(found)]))
}

/// The keys of an object, without its values.
struct KeysOf;

/// None of the documents has more.
const MAX_KEYS: usize = 64;

impl<'de> Visitor<'de> for KeysOf {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Vec<String>, M::Error> {
        let mut keys = Vec::new();
        while let Some((key, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
            if keys.len() < MAX_KEYS {
                keys.push(key);
            }
        }
        Ok(keys)
    }
}
