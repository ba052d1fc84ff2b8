//! What policies did on a real cluster, for people.

use comfy_table::Table;
use gateways::experiment::report::Interval;
use gateways::trial::agreement::{Agreement, Agrees, Compared, Verdict, half_width};
use gateways::trial::beside::Beside;
use gateways::trial::report::{LabReport, TrialRun};

use super::table;

/// A run that has just ended, in a line.
pub fn run(run: &TrialRun) -> String {
    let shares: Vec<String> = run.cluster.shares.iter().map(|share| format!("{:.0}", 100.0 * share)).collect();
    let spread = |value: Option<f64>| value.map_or("not measured".to_owned(), |value| format!("{value:.2}"));
    let mut text = format!(
        "{} #{}: {} files, shares {} %, spread {} (model {})\n",
        run.policy,
        run.repetition,
        run.fetched,
        shares.join(" "),
        spread(run.cluster.spread_in_flight),
        spread(run.model.spread_in_flight)
    );
    for anomaly in run.anomalies.iter().take(3) {
        text.push_str(&format!("note: {anomaly}\n"));
    }
    text
}

/// The whole report.
pub fn text(report: &LabReport) -> String {
    let repetitions = report.policies.first().map_or(0, |policy| policy.repetitions);
    let mut text = format!(
        "cmsd {}: {} runs of {:.0} s each, after {:.0} s; rates and sizes divided by {}\n\n",
        report.cmsd, repetitions, report.time_s, report.warm_up_s, report.scale
    );
    let mut out = Table::new();
    out.set_header(["POLICY", "SPREAD", "MODEL", "HERD", "MODEL", "SHARES %", "MODEL %"]);
    for policy in &report.policies {
        let of = |name: &str, pick: fn(&Compared) -> &Interval| {
            policy.measure(name).map_or("not measured".to_owned(), |measure| shown(pick(measure)))
        };
        let (cluster, model) = (|measure: &Compared| measure.cluster.mean, |measure: &Compared| measure.model.mean);
        out.add_row([
            policy.policy.clone(),
            of("spread_in_flight", |measure| &measure.cluster),
            of("spread_in_flight", |measure| &measure.model),
            of("herd", |measure| &measure.cluster),
            of("herd", |measure| &measure.model),
            shares(policy, cluster),
            shares(policy, model),
        ]);
    }
    text.push_str(&table::text(out));
    text.push_str(&differences(report));
    text.push_str(&contests(report));
    text.push_str(&catch_up(report));
    text.push_str(&beside(report));
    text
}

/// What a gateway got after it had been left out.
fn catch_up(report: &LabReport) -> String {
    let measured =
        report.policies.iter().filter_map(|policy| Some((&policy.policy, policy.measure("catch_up_share")?)));
    let lines: Vec<String> = measured
        .map(|(policy, measure)| {
            let (cluster, model) = (shown(&measure.cluster), shown(&measure.model));
            format!("  {policy:<22}{cluster}, model {model}: {:+.0} %\n", 100.0 * measure.difference)
        })
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("\nshare of the requests of a gateway that is back, over 15 s:\n{}", lines.concat())
}

/// Memory and deletions of the cluster, policy by policy; the mean over repetitions.
fn beside(report: &LabReport) -> String {
    let mut text =
        String::from("\nmemory of xrootd, and deletions through the manager (the start of a process included):\n");
    for policy in &report.policies {
        let runs = || report.runs.iter().filter(|run| run.policy == policy.policy).map(|run| &run.beside);
        let mean = |of: fn(&Beside) -> Option<f64>| Interval::of(&runs().filter_map(of).collect::<Vec<_>>());
        let number = |of: fn(&Beside) -> Option<f64>| mean(of).map_or("-".to_owned(), |mean| shown(&mean));
        let failed: u64 = runs().map(|beside| beside.deletions_failed).sum();
        text.push_str(&format!(
            "  {}: {} MB idle, {} MB a transfer, explains {}; deletions p95 {} s idle, {} s loaded, {failed} failed\n",
            policy.policy,
            number(|one| one.memory_idle_mb),
            number(|one| one.memory_per_transfer_mb),
            number(|one| one.memory_explained),
            number(|one| one.deletion_idle_s.map(|times| times.p95)),
            number(|one| one.deletion_loaded_s.map(|times| times.p95)),
        ));
    }
    text
}

fn shown(interval: &Interval) -> String {
    match half_width(interval) {
        Some(half) => format!("{:.2} ±{half:.2}", interval.mean),
        None => format!("{:.2}", interval.mean),
    }
}

fn shares(policy: &Agreement, pick: impl Fn(&Compared) -> f64) -> String {
    let shares = policy.measures.iter().filter(|measure| measure.name.starts_with("share_"));
    shares.map(|measure| format!("{:.0}", 100.0 * pick(measure))).collect::<Vec<_>>().join(" ")
}

/// Where model and cluster differ.
fn differences(report: &LabReport) -> String {
    let mut text = String::from("\nmodel against cluster (within 10 %, or within the interval of the cluster):\n");
    for policy in &report.policies {
        let of = |agrees: Agrees| policy.measures.iter().filter(|one| one.agrees == agrees).count();
        let differ: Vec<String> = policy
            .measures
            .iter()
            .filter(|measure| measure.agrees == Agrees::No)
            .map(|measure| format!("{} {:+.0} %", measure.name, 100.0 * measure.difference))
            .collect();
        let agreed = format!(
            "{} of {} within 10 %, {} more within the interval",
            of(Agrees::Within),
            policy.measures.len(),
            of(Agrees::Interval)
        );
        let differ = if differ.is_empty() { String::new() } else { format!("; differ: {}", differ.join(", ")) };
        text.push_str(&format!("  {}: {agreed}{differ}\n", policy.policy));
    }
    text
}

fn contests(report: &LabReport) -> String {
    if report.contests.is_empty() {
        return String::new();
    }
    let mut text = format!("\nspread of others less that of {} on the cluster:\n", report.contests[0].policy);
    for contest in &report.contests {
        let verdict = match contest.verdict {
            Verdict::MoreEven => "more even",
            Verdict::NotSeparated => "not separated",
            Verdict::LessEven => "LESS EVEN",
        };
        text.push_str(&format!("  {:<22}{}  {verdict}\n", contest.other, shown(&contest.gain)));
    }
    text
}
