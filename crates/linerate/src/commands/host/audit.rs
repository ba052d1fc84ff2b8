//! `linerate host audit`.

use std::fs;
use std::path::Path;

use anyhow::Context;
use archive::changes::ChangeFilter;
use archive::snapshots::find::Wanted;
use audit::profile::Learnt;
use audit::scope::HostFacts;
use audit::{Case, Inputs, Keep, Report, Rules};
use host::learnt;

use super::reading::{facts_of, text_of, this_host};
use super::sides::found;
use crate::cli::Common;
use crate::cli::host::audit::{AuditArgs, CaseArgs};
use crate::commands::{archive as kept, print, print_text};
use crate::exit::{Complaint, Exit};
use crate::show;

pub fn run(common: &Common, args: &AuditArgs) -> anyhow::Result<Exit> {
    let rules = rules(&args.case)?;
    if let Some(id) = &args.explain {
        let rule = rules.get(id).ok_or_else(|| {
            Complaint::new(Exit::NotFound, format!("there is no rule `{id}`")).hint("docs/rules.md lists all rules")
        })?;
        return print(audit::page::explained(rule).as_bytes());
    }
    let (host, learnt, before) = match &args.snapshot {
        Some(path) => (facts_of(path)?, Learnt::default(), None),
        None => {
            let (before, host) = sampled(&args.case)?;
            (host, learnt::now(), before)
        }
    };
    let keep = if args.all { Keep::Everything } else { Keep::Findings };
    let report = ask(common, &args.case, &rules, &Host { facts: &host, learnt, before: before.as_ref() }, keep)?;
    if common.json {
        print(&show::json::document(&report)?)?;
    } else {
        print_text(&show::host::audit::text(&report))?;
    }
    let counts = report.findings.iter().any(|finding| args.fail_on.counts(finding.severity));
    Ok(if counts { Exit::Found } else { Exit::Success })
}

/// The rules that are compiled in, and a site's own.
pub fn rules(args: &CaseArgs) -> anyhow::Result<Rules> {
    let mut rules = Rules::built_in();
    if let Some(folder) = &args.rules {
        add_rules(&mut rules, folder)?;
    }
    Ok(rules)
}

/// A host that is asked about.
pub struct Host<'a> {
    /// Settings, devices and counters of one moment.
    pub facts: &'a HostFacts,
    /// What its connections show of its transfers.
    pub learnt: Learnt,
    /// The same host a moment earlier, where its counters were read twice.
    pub before: Option<&'a HostFacts>,
}

/// This host, and before that once more: a counter says something only by how much it grows.
pub fn sampled(args: &CaseArgs) -> anyhow::Result<(Option<HostFacts>, HostFacts)> {
    if args.before.is_some() || args.counters_over.is_zero() {
        return Ok((None, HostFacts::of(&this_host()?)));
    }
    let before = HostFacts::of(&this_host()?);
    linux::clock::sleep_until(linux::clock::now() + args.counters_over).context("cannot wait between two readings")?;
    Ok((Some(before), HostFacts::of(&this_host()?)))
}

/// What all rules say about a host. Rules that cannot be used are told on the way.
pub fn ask(common: &Common, args: &CaseArgs, rules: &Rules, host: &Host<'_>, keep: Keep) -> anyhow::Result<Report> {
    let mut inputs = inputs(args, rules, host.facts)?;
    if inputs.before.is_none() {
        inputs.before = host.before.cloned();
    }
    add_kept(common, args, host.facts, &mut inputs)?;
    let profile = args.profile(host.learnt);
    let report = audit::audit(rules, &Case { host: host.facts, profile: &profile, inputs: &inputs, keep });
    for fault in &report.faults {
        eprintln!("warning: {fault}; this rule is left out");
    }
    Ok(report)
}

fn inputs(args: &CaseArgs, rules: &Rules, host: &HostFacts) -> anyhow::Result<Inputs> {
    let mut inputs = Inputs::default();
    if let Some(path) = &args.baseline {
        inputs.add_baseline(host, &facts_of(path)?);
    }
    if !args.peer.is_empty() {
        let peers = args.peer.iter().map(|path| facts_of(path)).collect::<anyhow::Result<Vec<_>>>()?;
        inputs.add_peers(host, &peers);
    }
    for path in &args.input {
        let text = text_of(path)?;
        let is_toml = path.extension().is_some_and(|extension| extension == "toml");
        let shown = path.display();
        let parsed = if is_toml {
            toml::from_str(&text).map_err(anyhow::Error::from)
        } else {
            serde_json::from_str(&text).map_err(anyhow::Error::from)
        };
        let facts = parsed.with_context(|| Complaint::new(Exit::Usage, format!("cannot understand {shown}")))?;
        let added = inputs.add(facts, rules.language().vocabulary());
        added.with_context(|| {
            Complaint::new(Exit::Usage, format!("cannot use {shown}"))
                .hint(format!("a host stands without --input: `linerate host audit {shown}`"))
        })?;
    }
    inputs.before = args.before.as_deref().map(facts_of).transpose()?;
    Ok(inputs)
}

/// What the archive knows of the host: what it was when somebody blessed it, and what was changed since. An archive that is
/// not there knows nothing.
fn add_kept(common: &Common, args: &CaseArgs, host: &HostFacts, inputs: &mut Inputs) -> anyhow::Result<()> {
    let path = common.archive().map(Path::to_owned).or_else(|| archive::location::default_path().ok());
    if host.name.is_empty() || !path.is_some_and(|path| path.exists()) {
        return Ok(());
    }
    let archive = kept::open_to_read(common)?;
    let mut since = None;
    if args.baseline.is_none()
        && let Ok(summary) = archive.find_snapshot(&Wanted::Baseline { host: host.name.clone() })
    {
        let blessed = found(archive.snapshot(summary.id))?;
        since = Some(blessed.taken);
        inputs.add_baseline(host, &HostFacts::of(&blessed));
    }
    let filter =
        ChangeFilter { host: Some(host.name.clone()), since, limit: Some(MOST_CHANGES), ..ChangeFilter::default() };
    let changes = archive.changes(&filter).context(Complaint::new(Exit::Local, "the change log cannot be used"))?;
    // A log that nobody keeps says nothing: that no change is in it would be no answer.
    if !changes.is_empty() {
        inputs.add_log(&changes);
    }
    Ok(())
}

/// What a host's log holds of some years; the last entered count.
const MOST_CHANGES: u32 = 10_000;

fn add_rules(rules: &mut Rules, folder: &Path) -> anyhow::Result<()> {
    let unreadable = || Complaint::new(Exit::NotFound, format!("cannot read the rules in {}", folder.display()));
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(unreadable)? {
        let path = entry.with_context(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    // Of two rules with one name the later file's holds, so the order must not be chance.
    files.sort();
    for path in files {
        rules.add(&path.display().to_string(), &text_of(&path)?);
    }
    Ok(())
}
