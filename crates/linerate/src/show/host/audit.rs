//! An audit for people: findings by severity, then what is unknown by what is missing, then one line that sums up.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use audit::profile::Origin;
use audit::report::{Finding, LackedFact, Report, Subject, UsedFact};

/// The whole report.
pub fn text(report: &Report) -> String {
    let clean = foreign::terminal::lines_of(report);
    let report = clean.as_ref().unwrap_or(report);
    let mut text = String::new();
    let _ = writeln!(text, "{}: {}", report.host, profile(report));
    let mut severity = None;
    for same in report.findings.chunk_by(|one, next| one.rule == next.rule) {
        let Some(finding) = same.first() else { continue };
        if severity != Some(finding.severity) {
            severity = Some(finding.severity);
            let _ = writeln!(text, "\n{}", finding.severity.word());
        }
        add_finding(&mut text, finding);
        add_others(&mut text, &same[1..]);
    }
    add_unknown(&mut text, report);
    let _ = writeln!(text, "\n{}", summary(report));
    text
}

fn profile(report: &Report) -> String {
    let shown = report.profile.iter().map(|value| match (&value.value, value.origin) {
        (None, _) => format!("{} unknown", value.name),
        (Some(known), Origin::Given) => format!("{} {known}", value.name),
        (Some(known), Origin::Learnt) => format!("{} {known} (from its connections)", value.name),
        (Some(known), Origin::Snapshot) => format!("{} {known} (its fastest link)", value.name),
        (Some(known), Origin::Assumed) => format!("{} {known} (assumed)", value.name),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Where the same rule fired besides; `--json` has each in full.
fn add_others(text: &mut String, others: &[Finding]) {
    if others.is_empty() {
        return;
    }
    let places: Vec<String> = others.iter().take(MOST_PLACES).map(|other| subject(&other.subject)).collect();
    let more = others.len() - places.len();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let _ = writeln!(text, "      also{}{more}", places.join(","));
}

fn add_finding(text: &mut String, finding: &Finding) {
    // What was asked for stands in the first line of the report; here are the host's own facts, where there are any.
    let (asked, own): (Vec<&UsedFact>, Vec<&UsedFact>) =
        finding.facts.iter().partition(|used| used.name.starts_with("profile."));
    let shown = own.into_iter().chain(asked).take(MOST_FACTS).map(fact);
    let now = shown.collect::<Vec<_>>().join(", ");
    let wanted = finding.wanted.as_deref().unwrap_or_default();
    let _ = writeln!(text, "  {}{}: {}", finding.rule, subject(&finding.subject), finding.title);
    let _ = writeln!(text, "      now {now}; wanted {wanted}");
    let _ = writeln!(text, "      why {}", first_sentence(&finding.why));
    for step in &finding.fix {
        let _ = writeln!(text, "      do  {}", step.command);
    }
}

fn subject(subject: &Subject) -> String {
    let mut words = String::new();
    if let Some(link) = &subject.link {
        let _ = write!(words, " on {link}");
    }
    if let Some(route) = &subject.route {
        let _ = write!(words, " for {route}");
    }
    if let Some(namespace) = &subject.namespace {
        let _ = write!(words, " in {namespace}");
    }
    words
}

fn fact(used: &UsedFact) -> String {
    if let Some(keys) = keys(&used.value) {
        return format!("{} {keys}", name(&used.name));
    }
    let value = match &used.value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Number(number) if number.is_f64() => format!("{:.3}", number.as_f64().unwrap_or_default()),
        serde_json::Value::Array(values) => list(values),
        other => other.to_string(),
    };
    let value = match value.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}...", &value[..end]),
        None => value,
    };
    format!("{} {value}", name(&used.name))
}

/// The keys of what has them: settings that differ.
fn keys(value: &serde_json::Value) -> Option<String> {
    let values = value.as_array().filter(|values| !values.is_empty())?;
    let keys: Vec<&str> = values.iter().map(|value| value.get("key")?.as_str()).collect::<Option<_>>()?;
    let more = keys.len().saturating_sub(MOST_KEYS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("{}{more}", keys[..keys.len().min(MOST_KEYS)].join(", ")))
}

/// What stands side by side; of what has parts only the number.
fn list(values: &[serde_json::Value]) -> String {
    if values.is_empty() {
        return "none".to_owned();
    }
    if values.iter().any(|value| value.is_object() || value.is_array()) {
        return format!("({} of them)", values.len());
    }
    let words = values.iter().map(|value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned));
    words.collect::<Vec<_>>().join(", ")
}

/// `sysctl["net.ipv4.tcp_rmem"][2]` as `net.ipv4.tcp_rmem[2]`.
fn name(name: &str) -> String {
    for (root, instead) in [
        ("host_sysctl[\"", "the host's "),
        ("sysctl[\"", ""),
        ("proto[\"", ""),
        ("default[\"", "default of "),
        ("nic.features[\"", ""),
    ] {
        if let Some((before, after)) = name.split_once(root) {
            return format!("{before}{instead}{}", after.replacen("\"]", "", 1));
        }
    }
    name.to_owned()
}

fn first_sentence(why: &str) -> &str {
    why.find(". ").map_or(why, |end| &why[..=end])
}

fn add_unknown(text: &mut String, report: &Report) {
    let mut groups: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for unknown in &report.unknown {
        let reasons: BTreeSet<String> = unknown.missing.iter().map(lacked).collect();
        for reason in reasons {
            groups.entry(reason).or_default().insert(&unknown.rule);
        }
    }
    if groups.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nunknown, by what is missing");
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(reason, rules)| (std::cmp::Reverse(rules.len()), reason.clone()));
    let left_out = groups.split_off(groups.len().min(MOST_REASONS));
    for (reason, rules) in groups {
        let rules: Vec<&str> = rules.into_iter().collect();
        let shown = rules.iter().take(MOST_RULES).copied().collect::<Vec<_>>().join(", ");
        let more = rules.len().saturating_sub(MOST_RULES);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let _ = writeln!(text, "  {reason}\n      {shown}{more}");
    }
    if !left_out.is_empty() {
        let rules: BTreeSet<&str> = left_out.iter().flat_map(|(_, rules)| rules).copied().collect();
        let _ = writeln!(text, "  and {} facts more, for {} rules; --json has them all", left_out.len(), rules.len());
    }
}

fn lacked(lacked: &LackedFact) -> String {
    let missing = &lacked.missing;
    if missing.reason == audit::fact::Reason::NotGiven && !missing.detail.is_empty() {
        missing.detail.clone()
    } else {
        format!("{}: {missing}", name(&lacked.name))
    }
}

fn summary(report: &Report) -> String {
    let (summary, counts) = (&report.summary, &report.summary.by_rule);
    // One rule may find something in several places.
    let findings = if summary.fail == counts.fail { String::new() } else { format!(" ({} findings)", summary.fail) };
    format!(
        "{} rules: {} fired{findings}, {} passed, {} unknown, {} not applicable{}; `--explain RULE` prints a rule in full",
        summary.rules,
        counts.fail,
        counts.pass,
        counts.unknown,
        counts.not_applicable,
        if report.faults.is_empty() { String::new() } else { format!(", {} unusable", report.faults.len()) }
    )
}

const MOST_FACTS: usize = 3;
const MOST_RULES: usize = 6;
const MOST_REASONS: usize = 12;
const MOST_PLACES: usize = 4;
const MOST_KEYS: usize = 4;
const LONGEST_VALUE: usize = 60;
