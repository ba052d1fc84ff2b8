//! Timetables: what fits, when each test runs, and what a day looks like.

use std::collections::BTreeMap;
use std::time::Duration;

use mesh::clock;
use mesh::day::Day;
use mesh::fit::{Fit, Problem};
use mesh::rules::Rules;
use mesh::run::{Resource, RunRow};
use mesh::timetable::{Timetable, agents_of};
use path::Seed;
use plan::Plan;
use proptest::prelude::*;
use units::WallTime;

/// 2026-11-23 00:00 UTC.
const MIDNIGHT: WallTime = WallTime::from_unix_nanos(20_780 * 86_400_000_000_000);
const DAY: Duration = Duration::from_secs(86_400);

/// Hosts on both sides of a trunk, each testing each.
fn plan(hosts: usize, more: &str) -> Plan {
    let mut text = "title = \"t\"\n".to_owned();
    for host in 0..hosts {
        let side = ["left", "right"][host % 2];
        text += &format!("[hosts.h{host}]\naddress = \"192.0.2.{host}\"\nrate = \"10Gbit/s\"\n");
        text += &format!("[[segments]]\nname = \"access-{host}\"\nbetween = [\"h{host}\", \"{side}\"]\n");
    }
    let names: Vec<String> = (0..hosts).map(|host| format!("\"h{host}\"")).collect();
    text += "[hosts.left]\nforwards = true\n[hosts.right]\nforwards = true\n";
    text += &format!("[groups.all]\nmesh = [{}]\n{more}", names.join(", "));
    Plan::parse("t.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

const TRUNK: &str = "[[segments]]\nname = \"trunk\"\nbetween = [\"left\", \"right\"]\nshared = true\n";
const TCP: &str = "[[tests]]\nkind = \"tcp\"\ntime = \"10s\"\nomit = \"5s\"\n";

fn times(every: &str) -> String {
    format!("[times]\nevery = \"{every}\"\ngap = \"9s\"\n{TCP}")
}

fn timetable(plan: &Plan, seed: u64) -> Timetable {
    Timetable::new(plan, &agents_of(plan), Seed(seed)).unwrap()
}

/// Runs that use a resource at once, were each to begin when it is due.
fn meetings(runs: &[RunRow]) -> usize {
    let mut by_resource: BTreeMap<&Resource, Vec<(WallTime, WallTime)>> = BTreeMap::new();
    for run in runs {
        for need in &run.needs {
            by_resource.entry(need).or_default().push((run.not_before, clock::later(run.not_before, run.keep)));
        }
    }
    let meet = |spans: &mut Vec<(WallTime, WallTime)>| {
        spans.sort();
        spans.windows(2).filter(|pair| pair[1].0 < pair[0].1).count()
    };
    by_resource.values_mut().map(meet).sum()
}

#[test]
fn a_mesh_of_100_hosts_is_done_within_5_percent_of_the_optimum() {
    let plan = plan(100, &times("85min"));
    let timetable = timetable(&plan, 1);
    let runs = timetable.between(MIDNIGHT, clock::later(MIDNIGHT, Duration::from_secs(4 * 85 * 60)));
    // Four periods touch that many, less what lies in the halves of the first and the last.
    assert!(runs.len() >= 3 * 9_900, "{}", runs.len());
    assert_eq!(meetings(&runs), 0);
    let least = 198 * 24;
    let demand = plan::schedule::Demand::new(&plan);
    let slots = demand.slots();
    assert_eq!(demand.least(&slots), Duration::from_secs(least));
    let end = demand.schedule(slots).iter().map(|slot| slot.begins + slot.lasts).max().unwrap();
    assert!(end.as_secs() <= least * 105 / 100, "{end:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn tests_of_one_period_never_meet_and_each_has_its_turn_once(seed in any::<u64>(), hosts in 3..9_usize, hours in 1..7_u64) {
        let plan = plan(hosts, &format!("{TRUNK}{}", times(&format!("{hours}h"))));
        let timetable = timetable(&plan, seed);
        let cycles = 3;
        let start = WallTime::from_unix_nanos(hours * 3_600_000_000_000 * 100);
        let end = clock::later(start, Duration::from_secs(hours * 3_600 * cycles));
        let runs = timetable.between(start, end);
        prop_assert_eq!(runs.len() as u64, (hosts * (hosts - 1)) as u64 * cycles);
        prop_assert_eq!(meetings(&runs), 0);
        let names: std::collections::BTreeSet<_> = runs.iter().map(|run| &run.id).collect();
        prop_assert_eq!(names.len(), runs.len());
        // However the time is cut, the same runs come out.
        let middle = clock::later(start, Duration::from_secs(seed % (hours * 3_600 * cycles)));
        let mut parts = timetable.between(start, middle);
        parts.extend(timetable.between(middle, end));
        prop_assert_eq!(&parts, &runs);
        // So they do some at a time, and none of those due at one moment is left for later.
        let (mut some, mut from) = (Vec::new(), start);
        while from < end {
            let first = timetable.first(from, end, 5);
            let of_one_moment = first.runs.iter().all(|run| run.not_before == first.runs[0].not_before);
            prop_assert!(first.until > from && (first.runs.len() <= 5 || of_one_moment));
            some.extend(first.runs);
            from = first.until;
        }
        prop_assert_eq!(some, runs);
    }
}

#[test]
fn a_pair_is_not_always_tested_at_the_same_time_of_day() {
    let plan = plan(6, &times("6h"));
    let runs = timetable(&plan, 3).between(MIDNIGHT, clock::later(MIDNIGHT, DAY * 20));
    let mut hours: BTreeMap<u64, usize> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.from == "h0" && run.to == "h1") {
        *hours.entry(run.not_before.unix_seconds() / 3_600 % 24).or_default() += 1;
    }
    assert!(hours.len() >= 18, "80 runs at these hours: {hours:?}");
}

#[test]
fn a_plan_that_cannot_fit_is_refused_and_told_what_would() {
    let fit = Fit::of(&plan(100, &times("1h")));
    let [Problem::PeriodTooShort { every, needed, fits }] = &fit.problems[..] else { panic!("{:?}", fit.problems) };
    assert_eq!((every.as_secs(), needed.as_secs()), (3_600, 198 * 24));
    assert!(needed <= fits && fits.as_secs() <= 85 * 60, "{fits:?}");
    let again = plan(100, &times(&format!("{}min", fits.as_secs() / 60)));
    assert_eq!(Fit::of(&again).problems, []);
    let unfit = Timetable::new(&plan(100, &times("1h")), &agents_of(&again), Seed(1)).unwrap_err();
    assert_eq!(
        unfit.to_string(),
        "the plan does not fit: one round every 1 h needs at least 1 h 20 min: every 1 h 20 min would fit"
    );
}

#[test]
fn a_budget_that_is_too_small_is_named_with_the_period_that_would_fit() {
    let budget = |bytes: &str, every: &str| {
        let more = format!("{}[[budgets]]\nhosts = [\"h0\"]\nbytes-a-day = \"{bytes}\"\n", times(every));
        Fit::of(&plan(4, &more)).problems
    };
    // 6 runs every 6 hours, 15 s at 10 Gbit/s each: 24 x 18.75 GB = 450 GB a day.
    assert_eq!(budget("450GB", "6h"), []);
    let problems = budget("449GB", "6h");
    let [Problem::OverBudget { needed, fits, .. }] = &problems[..] else { panic!("{problems:?}") };
    assert_eq!(needed.get(), 450_000_000_000);
    assert_eq!(budget("449GB", &format!("{}h", fits.as_secs() / 3_600)), []);
}

#[test]
fn a_day_of_two_periods_has_room_for_all_and_nobody_meets() {
    let more = format!(
        "{TRUNK}{}[[tests]]\nkind = \"udp\"\ntime = \"5s\"\nrate = \"1Mbit/s\"\nevery = \"50min\"\n",
        times("1h")
    );
    let plan = plan(8, &more);
    let timetable = timetable(&plan, 5);
    let planned = timetable.between(MIDNIGHT, clock::later(MIDNIGHT, DAY)).len();
    let day = Day::new(&timetable, &Rules::of(&plan), MIDNIGHT, DAY);
    assert_eq!((day.runs.len(), day.missed), (planned, vec![]));
    assert!(day.runs.iter().any(|run| !run.waited.is_zero()), "tests of two periods meet");
    let mut ends: BTreeMap<&String, WallTime> = BTreeMap::new();
    for run in &day.runs {
        for host in [&run.from, &run.to] {
            let before = ends.insert(host, clock::later(run.begins, run.keep));
            assert!(before.is_none_or(|before| before <= run.begins), "{host} {run:?}");
        }
    }
}

#[test]
fn nothing_runs_in_a_maintenance_window_and_what_finds_no_room_says_why() {
    let window = "[[maintenance]]\nhosts = [\"h0\"]\nat = \"00:00\"\nlasts = \"12h\"\n";
    let plan = plan(4, &format!("{}{window}", times("2h")));
    let day = Day::new(&timetable(&plan, 1), &Rules::of(&plan), MIDNIGHT, DAY);
    let noon = clock::later(MIDNIGHT, DAY / 2);
    let touches = |run: &mesh::day::DayRun| [&run.from, &run.to].iter().any(|host| *host == "h0");
    assert!(day.runs.iter().filter(|run| touches(run)).all(|run| run.begins >= noon));
    // The last of them could have begun at noon, and then another one used the host.
    let of_maintenance = day.missed.iter().filter(|missed| missed.why == "maintenance").count();
    assert!(of_maintenance >= 30 && day.missed.len() - of_maintenance <= 6, "{:?}", day.missed);
    assert!(day.missed.iter().all(|missed| missed.run.contains("h0")), "{:?}", day.missed);
}

#[test]
fn light_tests_are_standing_orders_spread_over_their_period() {
    let plan = plan(10, &format!("{TCP}[[tests]]\nkind = \"ping\"\n"));
    let timetable = timetable(&plan, 1);
    assert!(timetable.between(MIDNIGHT, clock::later(MIDNIGHT, DAY)).iter().all(|run| run.test == "tcp"));
    let mut seconds: BTreeMap<u64, usize> = BTreeMap::new();
    for host in 0..10 {
        let name = format!("h{host}");
        assert_eq!(timetable.standing(&name).count(), 9);
        for test in timetable.standing(&name) {
            let (id, due) = test.next(MIDNIGHT);
            assert!(due > MIDNIGHT && due <= clock::later(MIDNIGHT, Duration::from_secs(300)));
            let (next, later) = test.next(due);
            assert!(next != id && clock::between(due, later) == Duration::from_secs(300));
            *seconds.entry(due.unix_seconds() / 30).or_default() += 1;
        }
    }
    assert!(seconds.values().all(|count| *count <= 12), "90 tests in 300 s, 9 each 30 s: {seconds:?}");
}
