//! Hosts side by side, for people: the telling differences first, then the rest by device, then what is not known.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use archive::snapshots::SnapshotSummary;
use audit::compare::{Comparison, Difference, ReadBy, SharedValue};
use comfy_table::Table;

use crate::show::{table, when, wrap};

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// What fits a screen or two.
    Screen,
    /// Everything.
    All,
}

/// Writing to a text does not fail.
macro_rules! line {
    ($text:expr, $($argument:tt)*) => {{ let _ = writeln!($text, $($argument)*); }};
}

/// The whole comparison.
pub fn text(comparison: &Comparison, width: Width) -> String {
    let clean = foreign::terminal::lines_of(comparison);
    let comparison = clean.as_ref().unwrap_or(comparison);
    let mut text = String::new();
    let sides = Sides { comparison };
    let (telling, rest): (Vec<&Difference>, Vec<&Difference>) =
        comparison.differences.iter().partition(|difference| is_telling(difference));
    sides.telling(&mut text, &telling, width);
    sides.rest(&mut text, &rest, width);
    sides.matched(&mut text);
    sides.unknown(&mut text, width);
    if !text.is_empty() {
        text.push('\n');
    }
    let count = comparison.differences.len();
    let differ = match count {
        0 => "nothing differs".to_owned(),
        1 => "1 setting differs".to_owned(),
        several => format!("{several} settings differ"),
    };
    line!(text, "{}: {differ}, {} are alike where they are known", self::sides(comparison), comparison.alike);
    text.trim_start().to_owned()
}

fn sides(comparison: &Comparison) -> String {
    if comparison.sides.len() > MOST_MATCHED {
        format!("{} hosts", comparison.sides.len())
    } else {
        comparison.sides.join(", ")
    }
}

/// Whether a rule looks at it, or it explains something that a rule looks at.
fn is_telling(difference: &Difference) -> bool {
    !difference.rules.is_empty() || difference.score > LEAST_TELLING
}

struct Sides<'a> {
    comparison: &'a Comparison,
}

impl Sides<'_> {
    fn telling(&self, text: &mut String, telling: &[&Difference], width: Width) {
        let shown = if width == Width::All { telling.len() } else { MOST_TELLING };
        for difference in telling.iter().take(shown) {
            line!(text, "{}", self.values(difference, difference.key.device.is_some()));
            for rule in difference.rules.iter().take(MOST_RULES) {
                line!(text, "    {}", read_by(rule, self.comparison.sides.len()));
            }
            for source in self.sources(difference) {
                line!(text, "    {source}");
            }
        }
        more(text, telling.len().saturating_sub(shown));
    }

    /// What no rule looks at, by device.
    fn rest(&self, text: &mut String, rest: &[&Difference], width: Width) {
        let mut by_place: BTreeMap<(&str, Option<&str>), Vec<&Difference>> = BTreeMap::new();
        let (devices, rest): (Vec<&Difference>, Vec<&Difference>) =
            rest.iter().partition(|difference| difference.key.name == "device");
        let most = if width == Width::All { usize::MAX } else { MOST_OF_A_PLACE };
        if !devices.is_empty() {
            line!(text, "\ndevices that not all have");
            devices.iter().take(most).for_each(|difference| line!(text, "  {}", self.values(difference, true)));
            more(text, devices.len().saturating_sub(most));
        }
        for difference in rest {
            let key = &difference.key;
            by_place.entry((&key.namespace, key.device.as_deref())).or_default().push(difference);
        }
        for ((namespace, device), differences) in &by_place {
            let place = match (device, namespace.is_empty()) {
                (Some(device), true) => (*device).to_owned(),
                (Some(device), false) => format!("{device} in {namespace}"),
                (None, true) => "the host".to_owned(),
                (None, false) => format!("namespace {namespace}"),
            };
            line!(text, "\n{place}");
            for difference in differences.iter().take(most) {
                line!(text, "  {}", self.values(difference, false));
            }
            more(text, differences.len().saturating_sub(most));
        }
    }

    /// `rx-gro-hw: on at naasc-vs-4 (em1), off [fixed] at the 3 others`.
    fn values(&self, difference: &Difference, with_device: bool) -> String {
        let key = &difference.key;
        let device = key.device.as_deref().filter(|_| with_device);
        let is_role = device.is_some_and(|device| self.comparison.devices.iter().any(|of| of.role == device));
        let label = match key.name.as_str() {
            "driver.name" => "NIC driver",
            "bus.model" => "NIC model",
            _ => key.short(),
        };
        let name = match device {
            Some(device) if key.name == "device" => device.to_owned(),
            Some(device) if !is_role => format!("{device}: {label}"),
            _ => label.to_owned(),
        };
        let place = if key.namespace.is_empty() { String::new() } else { format!(" in {}", key.namespace) };
        let odd = difference.odd().iter().map(|held| self.held(difference, held, is_role));
        let mut values: Vec<String> = odd.take(MOST_VALUES).collect();
        let hidden = difference.odd().len().saturating_sub(MOST_VALUES);
        if hidden > 0 {
            values.push(format!("{hidden} other values"));
        }
        if let Some(common) = difference.common() {
            let others =
                if common.by.len() == 1 { common.by[0].clone() } else { format!("the {} others", common.by.len()) };
            values.push(format!("{} at {others}", shown(common)));
        }
        format!("{name}{place}: {}", values.join(", "))
    }

    fn held(&self, difference: &Difference, held: &SharedValue, with_device: bool) -> String {
        let role = difference.key.device.as_deref().filter(|_| with_device);
        let names = role.and_then(|role| self.comparison.devices.iter().find(|of| of.role == role)).map(|of| &of.names);
        let who = |host: &String| match names.and_then(|names| names.get(host)) {
            Some(device) => format!("{host} ({device})"),
            None => host.clone(),
        };
        let mut who: Vec<String> = held.by.iter().take(MOST_HOSTS).map(who).collect();
        if held.by.len() > MOST_HOSTS {
            who.push(format!("{} more", held.by.len() - MOST_HOSTS));
        }
        format!("{} at {}", shown(held), who.join(", "))
    }

    /// Which file sets the value, of those that have an odd one; of all where nothing is odd.
    fn sources(&self, difference: &Difference) -> Vec<String> {
        let odd: Vec<&String> = difference.odd().iter().flat_map(|held| &held.by).collect();
        let of_odd = difference.sources.iter().filter(|source| odd.contains(&&source.at)).take(MOST_HOSTS);
        of_odd
            .map(|source| match &source.origin {
                Some(origin) => format!("at {}: {origin}", source.at),
                None => format!("at {}: no file sets it", source.at),
            })
            .collect()
    }

    fn matched(&self, text: &mut String) {
        for (index, device) in
            self.comparison.devices.iter().filter(|device| !device.role.contains(" on the ")).enumerate()
        {
            if index == 0 {
                text.push('\n');
            }
            let names = device.names.iter().take(MOST_MATCHED).map(|(host, name)| format!("{name} of {host}"));
            let mut names: Vec<String> = names.collect();
            if device.names.len() > MOST_MATCHED {
                names.push(format!("{} more", device.names.len() - MOST_MATCHED));
            }
            text.push_str(&wrap::text(&format!("{}: {}", device.role, names.join(", ")), 0));
        }
    }

    /// What is not known, by the reason and who lacks it.
    fn unknown(&self, text: &mut String, width: Width) {
        let mut lacking: BTreeMap<(String, &str), Vec<&str>> = BTreeMap::new();
        for unknown in &self.comparison.unknown {
            lacking.entry((unknown.key.to_string(), &unknown.why)).or_default().push(&unknown.at);
        }
        let mut by_reason: BTreeMap<(&str, Vec<&str>), Vec<String>> = BTreeMap::new();
        for ((key, why), at) in lacking {
            by_reason.entry((why, at)).or_default().push(key);
        }
        if !by_reason.is_empty() {
            line!(text, "\nNot known, so neither equal nor different:");
        }
        let most = if width == Width::All { usize::MAX } else { MOST_UNKNOWN };
        for ((why, at), keys) in &by_reason {
            let at = if at.len() > MOST_HOSTS { format!("{} hosts", at.len()) } else { at.join(", ") };
            let mut shown: Vec<String> = keys.iter().take(most).cloned().collect();
            if keys.len() > most {
                shown.push(format!("{} more", keys.len() - most));
            }
            text.push_str(&wrap::text(&format!("{at}, {why}: {}", shown.join(", ")), 2));
        }
    }
}

fn more(text: &mut String, hidden: usize) {
    if hidden > 0 {
        line!(text, "  and {hidden} more: --all shows them");
    }
}

fn shown(held: &SharedValue) -> String {
    let text = held.value.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
    if text.chars().count() <= LONGEST_VALUE {
        return text;
    }
    format!("{}…", text.chars().take(LONGEST_VALUE).collect::<String>())
}

fn read_by(rule: &ReadBy, hosts: usize) -> String {
    let fires = match rule.fires_at.len() {
        0 => "looks at it".to_owned(),
        count if count == hosts => "fires at all".to_owned(),
        count if count > MOST_HOSTS => format!("fires at {count} of {hosts}"),
        _ => format!("fires at {}", rule.fires_at.join(", ")),
    };
    format!("{} ({}) {fires}", rule.rule, rule.severity.word())
}

/// A table of kept snapshots, or a line that says where they would be.
pub fn list(summaries: &[SnapshotSummary], archive: &Path) -> String {
    if summaries.is_empty() {
        return format!("no snapshots in {}; `linerate host snapshot --keep` keeps one\n", archive.display());
    }
    let mut rows = Table::new();
    rows.set_header(["SNAPSHOT", "TAKEN", "HOST", "GROUP", "KERNEL", "BASELINE", "LABEL"]);
    for summary in summaries {
        rows.add_row([
            summary.id.to_string(),
            when::local(summary.taken),
            summary.host.clone(),
            summary.role_group.clone().unwrap_or_default(),
            summary.kernel.clone().unwrap_or_default(),
            summary.blessed.map(|_| "blessed".to_owned()).unwrap_or_default(),
            summary.label.clone().unwrap_or_default(),
        ]);
    }
    table::text(rows)
}

/// What no rule looks at has a score of 0.05 or less.
const LEAST_TELLING: f64 = 0.051;
const MOST_TELLING: usize = 15;
const MOST_RULES: usize = 3;
const MOST_OF_A_PLACE: usize = 8;
const MOST_VALUES: usize = 4;
const MOST_HOSTS: usize = 4;
const MOST_MATCHED: usize = 8;
const MOST_UNKNOWN: usize = 8;
const LONGEST_VALUE: usize = 60;
