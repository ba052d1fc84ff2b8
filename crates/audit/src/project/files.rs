//! What files say about settings.

use model::host::provenance::{Definition, Origin, Provenance, Setting};
use model::host::snapshot::Snapshot;

use super::value::{absent, map, missing, text};
use crate::fact::{Fact, FactMap, Missing};

pub(super) fn facts(provenance: &Provenance, snapshot: &Snapshot) -> Fact {
    let sysctls = || provenance.settings.iter().filter(|(key, _)| key.split('.').count() > 2);
    let winner: FactMap =
        sysctls().filter_map(|(key, setting)| Some((key.clone(), won(setting.winning()?, provenance)))).collect();
    map([
        ("out_of_range", Fact::List(sysctls().flat_map(|(key, setting)| out_of_range(key, setting)).collect())),
        ("conflicts", Fact::List(sysctls().filter_map(|(key, setting)| conflict(key, setting)).collect())),
        ("not_kept", Fact::List(sysctls().filter_map(|(key, setting)| not_kept(key, setting, snapshot)).collect())),
        ("winner", Fact::Map(winner)),
        ("tuned_differs", tuned_differs(provenance, snapshot)),
    ])
}

fn won(definition: &Definition, provenance: &Provenance) -> Fact {
    // Without lists of packages nobody can say whose a file is; `none` is a site's own.
    let package = match provenance.files.get(&definition.file).and_then(|file| file.package.as_deref()) {
        Some("none") => text(""),
        Some(package) => text(package),
        None => absent("no list of packages says whose the file is"),
    };
    map([("value", text(definition.value.as_str())), ("file", place(definition)), ("package", package)])
}

fn out_of_range<'a>(key: &'a str, setting: &'a Setting) -> impl Iterator<Item = Fact> + 'a {
    let sized = matches!(
        key,
        "net.core.rmem_max"
            | "net.core.wmem_max"
            | "net.core.rmem_default"
            | "net.core.wmem_default"
            | "net.ipv4.tcp_rmem"
            | "net.ipv4.tcp_wmem"
    );
    let definitions = setting.definitions.iter().filter(move |definition| sized && !definition.masked);
    definitions.filter_map(move |definition| {
        let largest = definition.value.split_whitespace().filter_map(|word| word.parse::<i64>().ok()).max()?;
        (largest > LARGEST)
            .then(|| map([("key", text(key)), ("value", Fact::Int(largest)), ("file", place(definition))]))
    })
}

fn conflict(key: &str, setting: &Setting) -> Option<Fact> {
    let counted: Vec<&Definition> = setting
        .definitions
        .iter()
        .filter(|definition| definition.origin == Origin::Sysctl && !definition.masked)
        .collect();
    let first = counted.first()?;
    let differ = counted.iter().any(|definition| plain(&definition.value) != plain(&first.value));
    differ.then(|| {
        map([
            ("key", text(key)),
            ("values", Fact::List(counted.iter().map(|definition| text(plain(&definition.value))).collect())),
            ("files", Fact::List(counted.iter().map(|definition| place(definition)).collect())),
        ])
    })
}

fn not_kept(key: &str, setting: &Setting, snapshot: &Snapshot) -> Option<Fact> {
    let winner = setting.winning()?;
    let now = snapshot.own()?.sysctl(key)?;
    (setting.running_differs == Some(true))
        .then(|| map([("key", text(key)), ("now", text(now)), ("after_boot", text(plain(&winner.value)))]))
}

fn tuned_differs(provenance: &Provenance, snapshot: &Snapshot) -> Fact {
    let tuned = match &snapshot.services.tuned_sysctls.reading {
        Ok(tuned) => tuned,
        Err(model::host::fact::Missing::Absent) => return Fact::List(Vec::new()),
        Err(why) => return Fact::Missing(Missing { ..missing(why) }),
    };
    let differs = tuned.iter().filter_map(|(key, value)| {
        let of_files = provenance.settings.get(key)?;
        let definition = of_files
            .definitions
            .iter()
            .rfind(|definition| definition.origin == Origin::Sysctl && !definition.masked)?;
        (plain(value) != plain(&definition.value)).then(|| {
            map([("key", text(key.as_str())), ("tuned", text(plain(value))), ("files", text(plain(&definition.value)))])
        })
    });
    Fact::List(differs.collect())
}

fn place(definition: &Definition) -> Fact {
    text(format!("{}:{}", definition.file, definition.line))
}

/// A value with one blank between its words.
fn plain(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The largest size that the kernel takes: measured on Linux 6.18, EINVAL above.
const LARGEST: i64 = 2_147_483_647;
