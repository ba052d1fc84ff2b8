//! From the text of a file to a scenario.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use document::{DocumentError, Key, Reading, Source};
use model::spec::Family;
use plan::task::text::Tables;
use serde::Deserialize;

use crate::diagnostics::Diagnostics;
use crate::error::{Problem, ScenarioError};
use crate::fault::{Fault, FaultText};
use crate::host::{self, Host, HostText};
use crate::layout::plan::{Plan, Topology};
use crate::layout::reach;
use crate::link::{self, LinkText};
use crate::overlay::OverlayText;
use crate::route::RouteText;
use crate::scenario::Scenario;
use crate::service::{self, ServiceText};
use crate::settings::{Settings, SettingsText};
use crate::test::{Test, TestText};
use crate::truth::TruthText;

/// The longest file that is read, in bytes: the longest scenario of the library has a tenth of this.
pub const LONGEST_FILE: u64 = 256 << 10;

/// A whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ScenarioText {
    title: String,
    about: String,
    emulates: Option<String>,
    scale: Option<String>,
    families: Option<Vec<Family>>,
    #[serde(default)]
    defaults: SettingsText,
    #[serde(default)]
    groups: BTreeMap<String, SettingsText>,
    hosts: BTreeMap<String, HostText>,
    #[serde(default)]
    links: Vec<LinkText>,
    #[serde(default)]
    routes: Vec<RouteText>,
    #[serde(default)]
    overlays: Vec<OverlayText>,
    #[serde(default)]
    services: Vec<ServiceText>,
    #[serde(default)]
    faults: Vec<FaultText>,
    #[serde(default)]
    tests: Vec<TestText>,
    truth: TruthText,
}

impl Scenario {
    /// Reads a scenario from a text; `file` stands for it in complaints, and its name without ending is the scenario's.
    ///
    /// # Errors
    /// [`ScenarioError::Refused`] with all that is wrong.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScenarioError> {
        if text.len() as u64 > LONGEST_FILE {
            return Err(ScenarioError::TooLarge { file: file.to_owned(), limit: LONGEST_FILE });
        }
        scenario(stem(Path::new(file)), Source { file: file.to_owned(), text: text.to_owned() })
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Reads a scenario.
///
/// # Errors
/// [`ScenarioError::Refused`] with all that is wrong.
pub(crate) fn scenario(name: String, source: Source) -> Result<Scenario, ScenarioError> {
    let mut reading = Reading::new(&source);
    let texts = reading.read().and_then(|text: ScenarioText| Some((text, reading.read()?)));
    // Of a file with lines that are no TOML nobody knows what is missing.
    let texts = texts.filter(|_| reading.is_toml());
    let mut diagnostics = Diagnostics::of_reading(reading);
    let Some((text, tasks)): Option<(ScenarioText, Tables)> = texts else { return Err(diagnostics.refuse()) };
    let families = families(text.families, &mut diagnostics);
    host::names(&mut diagnostics);
    for (number, link) in text.links.iter().enumerate() {
        link.enter(number, &mut diagnostics);
    }
    link::check_all(&mut diagnostics);
    let hosts = hosts(text.defaults, text.groups, text.hosts, &mut diagnostics);
    let links: Vec<_> = numbered(text.links).map(|(number, link)| link.settle(number, &mut diagnostics)).collect();
    let overlays: Vec<_> =
        numbered(text.overlays).filter_map(|(number, overlay)| overlay.settle(number, &mut diagnostics)).collect();
    let list = Key::top("routes");
    let routes: Vec<_> =
        numbered(text.routes).filter_map(|(number, route)| route.settle(&list.nth(number), &mut diagnostics)).collect();
    let services: Vec<_> =
        numbered(text.services).filter_map(|(number, service)| service.settle(number, &mut diagnostics)).collect();
    let mut faults = Vec::new();
    for (number, fault) in numbered(text.faults) {
        let fault = fault.settle(number, &hosts, &links, &faults, &mut diagnostics);
        faults.extend(fault);
    }
    let tests = numbered(text.tests).zip(&tasks.tests);
    let tests: Vec<_> =
        tests.filter_map(|((number, test), task)| test.settle(number, task, &families, &mut diagnostics)).collect();
    let truth = text.truth.settle(&faults, &mut diagnostics);
    service::check_all(&services, &mut diagnostics);
    // Whether packets arrive can be told only where all the parts are there.
    let plan = if diagnostics.is_content() {
        check_times(&faults, &tests, &mut diagnostics);
        let topology = Topology { hosts: &hosts, links: &links, overlays: &overlays };
        let plan = Plan::new(topology, &routes, &families, &mut diagnostics);
        reach::check(&plan, topology, &services, &tests, &mut diagnostics);
        plan
    } else {
        Plan::default()
    };
    let services = service::with_partners(services, &hosts, &tests);
    diagnostics.close(())?;
    let ScenarioText { title, about, emulates, scale, .. } = text;
    Ok(Scenario {
        name,
        title: paragraph(&title),
        about: paragraph(&about),
        emulates: emulates.as_deref().map(paragraph),
        scale: scale.as_deref().map(paragraph),
        families,
        hosts,
        links,
        routes,
        overlays,
        services,
        faults,
        tests,
        truth,
        plan,
        source,
    })
}

/// A text without the breaks of its lines: whoever shows it has another width.
fn paragraph(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn numbered<T>(list: Vec<T>) -> impl Iterator<Item = (usize, T)> {
    list.into_iter().enumerate()
}

fn families(named: Option<Vec<Family>>, diagnostics: &mut Diagnostics<'_>) -> BTreeSet<Family> {
    let families: BTreeSet<Family> = named.unwrap_or_else(|| vec![Family::Ipv4, Family::Ipv6]).into_iter().collect();
    if families.is_empty() {
        diagnostics.complain(&Key::top("families"), DocumentError::Keys("a network speaks `ipv4`, `ipv6` or both"));
    }
    families
}

/// The hosts in the order of the file, each set by itself, its group and the defaults.
fn hosts(
    defaults: SettingsText,
    groups: BTreeMap<String, SettingsText>,
    mut texts: BTreeMap<String, HostText>,
    diagnostics: &mut Diagnostics<'_>,
) -> Vec<Host> {
    let defaults = defaults.settle(&Key::top("defaults"), diagnostics);
    let mut outer: BTreeMap<String, Settings> = BTreeMap::new();
    for (name, group) in groups {
        let key = Key::top("groups").at(&name);
        if !texts.values().any(|host| host.group() == name) {
            let mut known: Vec<String> = texts.values().map(|host| host.group().to_owned()).collect();
            known.dedup();
            diagnostics.complain(&key, DocumentError::Undefined { what: "host's group", name: name.clone(), known });
        }
        let settings = group.settle(&key, diagnostics).over(&defaults);
        outer.insert(name, settings);
    }
    let names = diagnostics.hosts.clone();
    let in_order = names.iter().filter_map(|name| Some((name, texts.remove(name)?))).collect::<Vec<_>>();
    in_order
        .into_iter()
        .map(|(name, text)| {
            let outer = outer.get(text.group()).unwrap_or(&defaults);
            text.settle(name, outer, diagnostics)
        })
        .collect()
}

/// Complains about faults that are there only when nothing is tested.
fn check_times(faults: &[Fault], tests: &[Test], diagnostics: &mut Diagnostics<'_>) {
    let Some((first, last)) = test_time(tests) else { return };
    for (number, fault) in faults.iter().enumerate() {
        let too_late = last.is_some_and(|last| fault.from >= last);
        let too_early = fault.until.is_some_and(|until| until <= first);
        if too_late || too_early {
            let fault = shown(fault.from, fault.until);
            let problem = Problem::FaultOutsideTests { fault, tests: shown(first, last) };
            diagnostics.complain(&Key::top("faults").nth(number), problem);
        }
    }
}

/// When the first test begins and the last one is over; the end is [`None`] where nobody knows.
pub(crate) fn test_time(tests: &[Test]) -> Option<(Duration, Option<Duration>)> {
    let first = tests.iter().map(|test| test.start.unwrap_or_default()).min()?;
    let mut last = Some(Duration::ZERO);
    for test in tests {
        let begins = test.start.map_or(last, Some);
        let ends = begins.zip(test.length()).map(|(begins, length)| begins + length);
        last = last.zip(ends).map(|(last, ends)| last.max(ends));
    }
    Some((first, last))
}

fn shown(from: Duration, until: Option<Duration>) -> String {
    let time = |at: Duration| if at.is_zero() { "the start".to_owned() } else { units::duration::show(at) };
    until.map_or_else(|| format!("from {}", time(from)), |until| format!("from {} until {}", time(from), time(until)))
}
