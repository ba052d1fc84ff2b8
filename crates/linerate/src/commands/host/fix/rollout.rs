//! A fix on several hosts in stages: the next stage begins only where each host of the one before has proven a gain.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Child;

use anyhow::Context;
use audit::fix::report::{FixReport, OnHost, Outcome, RollOut, RolloutBatch, Verdict};

use crate::cli::Common;
use crate::cli::host::fix::FixArgs;
use crate::commands::attempt::stop_on_signals;
use crate::commands::host::reading::text_of;
use crate::commands::host::transport::Transport;
use crate::commands::print;
use crate::exit::{Complaint, Exit};
use crate::show;

pub fn run(common: &Common, args: &FixArgs) -> anyhow::Result<Exit> {
    if args.verify.is_none() && !args.dry_run {
        return Err(Complaint::new(Exit::Usage, "a roll-out goes on by proof only, and --verify is missing")
            .hint("--dry-run shows what each host would get")
            .into());
    }
    let stages = stages(&args.hosts)?;
    let arguments = arguments(args)?;
    let transports = stages
        .iter()
        .map(|stage| stage.iter().map(|name| Transport::to(name, &args.ssh)).collect::<anyhow::Result<Vec<_>>>());
    let transports: Vec<Vec<Transport>> = transports.collect::<anyhow::Result<_>>()?;
    let stop = stop_on_signals()?;
    let mut done = RollOut { stages: Vec::new(), untouched: Vec::new() };
    let mut ends = Exit::Success;
    for stage in &transports {
        let mut hosts = Vec::new();
        for transport in stage {
            let going_on = !stop.is_stopped() && done.stopped().is_none() && hosts.iter().all(proven);
            if going_on {
                let (host, exit) = one(common, args, transport, &arguments);
                hosts.push(host);
                ends = exit;
            } else {
                done.untouched.push(transport.name.clone());
            }
        }
        if !hosts.is_empty() {
            done.stages.push(RolloutBatch { hosts });
        }
    }
    if common.json {
        print(&show::json::document(&done)?)?;
    } else {
        print(show::host::fix::roll_out(&done).as_bytes())?;
    }
    // The last host that was asked says why it ended, unless a person did.
    Ok(if ends == Exit::Success && !done.untouched.is_empty() { Exit::Interrupted } else { ends })
}

fn proven(host: &OnHost) -> bool {
    host.stopped.is_none()
}

/// `a,b then c,d` as stages.
fn stages(words: &[String]) -> anyhow::Result<Vec<Vec<String>>> {
    let wrong = |what: &str| Complaint::new(Exit::Usage, what.to_owned()).hint("write --hosts a,b then c,d");
    let line = words.join(" ");
    let mut stages = vec![Vec::new()];
    for word in line.split_whitespace() {
        match (word, stages.last_mut()) {
            ("then", Some(last)) if !last.is_empty() => stages.push(Vec::new()),
            ("then", _) => return Err(wrong("a stage of --hosts has no host").into()),
            (hosts, Some(last)) => {
                last.extend(hosts.split(',').filter(|host| !host.is_empty()).map(str::to_owned));
            }
            (_, None) => {}
        }
    }
    if stages.last().is_none_or(Vec::is_empty) {
        return Err(wrong("the last stage of --hosts has no host").into());
    }
    let mut all: Vec<&String> = stages.iter().flatten().collect();
    all.sort_unstable();
    if let Some(twice) = all.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(wrong(&format!("{} is in --hosts twice", twice[0])).into());
    }
    Ok(stages)
}

/// What each host is told to do. Files of this machine are not there, so a plan goes as text.
fn arguments(args: &FixArgs) -> anyhow::Result<Vec<String>> {
    let mut arguments = ["host", "fix", "--json"].map(str::to_owned).to_vec();
    arguments.extend((!args.dry_run).then(|| "--ask".to_owned()));
    let case = args.case.forwarded().map_err(|option| {
        Complaint::new(Exit::Usage, format!("{option} names a file of this machine, which the other hosts do not have"))
            .hint("make a plan with it first: `linerate host fix … --dry-run --json > plan.json`")
    })?;
    let is_rule = |what: &String| !std::path::Path::new(what).exists();
    if args.what.iter().all(is_rule) {
        arguments.extend(args.what.iter().cloned());
    } else {
        let [path] = args.what.as_slice() else {
            return Err(Complaint::new(Exit::Usage, "a plan stands alone").into());
        };
        arguments.extend(["--inline".to_owned(), text_of(std::path::Path::new(path))?]);
    }
    let mut switch = |on: bool, name: &str| arguments.extend(on.then(|| name.to_owned()));
    switch(args.all_findings, "--all-findings");
    switch(args.persist, "--persist");
    switch(args.dry_run, "--dry-run");
    switch(args.all_netns, "--all-netns");
    switch(args.less_is_better, "--less-is-better");
    switch(args.any_host, "--any-host");
    let within = units::duration::show(args.confirm_within);
    let pairs = args.pairs.to_string();
    let confidence = args.confidence.to_string();
    let mut option = |name: &str, value: Option<&str>| {
        arguments.extend(value.into_iter().flat_map(|value| [name.to_owned(), value.to_owned()]));
    };
    option("--device", args.device.as_deref());
    option("--reason", args.reason.as_deref());
    option("--verify", args.verify.as_deref());
    let limit = units::duration::show(args.test_limit);
    option("--test-limit", args.verify.as_ref().map(|_| limit.as_str()));
    option("--confirm-within", Some(&within));
    let proof = |value| args.verify.as_ref().map(|_| value);
    option("--pairs", proof(pairs.as_str()));
    option("--confidence", proof(confidence.as_str()));
    arguments.extend(args.netns.iter().flat_map(|netns| ["--netns".to_owned(), netns.clone()]));
    arguments.extend(case);
    Ok(arguments)
}

/// The fix on one host, and the code with which that ends a roll-out.
fn one(common: &Common, args: &FixArgs, transport: &Transport, arguments: &[String]) -> (OnHost, Exit) {
    let name = transport.name.clone();
    if !common.quiet {
        eprintln!("{name}: begins");
    }
    // A host that hangs is known by that, before anything waits for its fix.
    let report = match transport.reach(args.patience) {
        Ok(()) => there(common, args, transport, arguments),
        Err(why) => Err(Complaint::new(Exit::Unreachable, format!("{name}: {why}")).into()),
    };
    let (report, stopped, exit) = match report {
        Ok(report) => {
            let stopped = reason_to_stop(args, &report);
            let exit = if stopped.is_some() { Exit::TakenBack } else { Exit::Success };
            (Some(report), stopped, exit)
        }
        Err(error) => (None, Some(format!("{error:#}")), Exit::of_error(&error)),
    };
    (OnHost { name, report, stopped }, exit)
}

fn reason_to_stop(args: &FixArgs, report: &FixReport) -> Option<String> {
    let proven = report.verification.as_ref().is_some_and(|proof| proof.verdict == Verdict::Gain);
    match &report.outcome {
        Outcome::Kept if proven => None,
        Outcome::Kept => Some("it is kept without a proof".to_owned()),
        Outcome::TakenBack { because } => Some(because.clone()),
        // The host has what the others get.
        Outcome::AlreadySo => None,
        Outcome::Planned if args.dry_run => None,
        Outcome::NothingToDo => Some("nothing is wrong there, so nothing is proven".to_owned()),
        Outcome::Planned => Some("it was only planned there".to_owned()),
    }
}

/// Runs this program there. Before its question is answered with yes, a new connection to the host must work.
fn there(common: &Common, args: &FixArgs, transport: &Transport, arguments: &[String]) -> anyhow::Result<FixReport> {
    let mut child = transport.start(&transport.program(&args.remote_program)?, arguments)?;
    let stdout = child.stdout.take().context("its output is not there")?;
    let printed = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = BufReader::new(stdout).take(LONGEST_REPORT).read_to_string(&mut text);
        text
    });
    let last = follow(common, args, transport, &mut child)?;
    let status = child.wait().context("its end cannot be waited for")?;
    let printed = printed.join().unwrap_or_default();
    model::plausible::read(printed.as_bytes()).with_context(|| {
        let why = if last.is_empty() { format!("it ended with {status}") } else { last };
        Complaint::new(Exit::Unreachable, format!("{}: {why}", transport.name))
    })
}

/// Reads what it says, and answers its question. Returns the last line that tells of an error.
fn follow(common: &Common, args: &FixArgs, transport: &Transport, child: &mut Child) -> anyhow::Result<String> {
    let stderr = child.stderr.take().context("its talk is not there")?;
    let mut input = child.stdin.take();
    let mut last = String::new();
    for line in BufReader::new(stderr).lines() {
        let Ok(line) = line else { break };
        if line.ends_with("[y/N]") {
            let answer = if transport.reach(args.patience).is_ok() { "y\n" } else { "n\n" };
            if let Some(mut input) = input.take() {
                // Where nobody reads any more, its end says why.
                let _ = input.write_all(answer.as_bytes());
            }
            continue;
        }
        // The program there says `error:`; what ssh says stands for itself.
        if let Some(error) = line.strip_prefix("error: ") {
            last = error.to_owned();
        } else if last.is_empty() || line.starts_with("ssh: ") {
            last.clone_from(&line);
        }
        if !common.quiet {
            eprintln!("{}: {}", transport.name, foreign::terminal::line(&line));
        }
    }
    Ok(last)
}

/// A report with every step on every device of a large host is below this.
const LONGEST_REPORT: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::stages;

    #[test]
    fn stages_are_parted_by_then() {
        let read = |words: &[&str]| stages(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(read(&["a,b", "then", "c,d"]).unwrap(), [["a", "b"], ["c", "d"]]);
        assert_eq!(read(&["a,b then c"]).unwrap(), [vec!["a", "b"], vec!["c"]]);
        for wrong in [&["then", "a"][..], &["a", "then"], &["a", "then", "then", "b"], &["a,b", "then", "a"], &[","]] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }
}
