//! A mesh with more pairs than a page reads results of: its grid is made of the latest value of each series.

use std::fmt::Write as _;

use hub::store::Store;
use hub::store::rows::{Judgement, Point, PointQuality};
use hub::store::sqlite::Sqlite;
use hub::store::turn::{Changes, TurnRequest};
use mesh::incident::{Metric, Series};
use serde_json::Value;
use units::WallTime;

use super::Visit;
use super::hub::hub;

/// Above 65,536 pairs, from which on a grid has grades alone; from 20,000 on no results are read.
const HOSTS: usize = 260;

/// What a pair has of 1 Gbit/s that it should have: from 1 % to 100 %.
fn percent(from: usize, to: usize) -> usize {
    (from * 31 + to * 17) % 100 + 1
}

fn letter(percent: usize) -> char {
    match percent {
        90.. => 'A',
        70.. => 'B',
        40.. => 'C',
        10.. => 'D',
        _ => 'F',
    }
}

fn name(host: usize) -> String {
    format!("host-{host:03}")
}

fn plan() -> String {
    let mut text = "title = \"large\"\n[times]\nevery = \"24h\"\n".to_owned();
    for host in 0..HOSTS {
        let _ = writeln!(
            text,
            "[hosts.{}]\naddress = \"10.{}.{}.1\"\nrate = \"1Gbit/s\"",
            name(host),
            host / 250,
            host % 250
        );
    }
    let names: Vec<String> = (0..HOSTS).map(|host| format!("\"{}\"", name(host))).collect();
    let _ = writeln!(text, "[groups.all]\nmesh = [{}]", names.join(", "));
    text.push_str("[[tests]]\nkind = \"tcp\"\nlabel = \"tcp\"\ntime = \"1s\"\nexpect = \"100%\"\n");
    text
}

/// A result of each pair within the last hour, each of a record of its own; the first pair has none.
fn points() -> Vec<Point> {
    let now = linux::clock::wall_now().unix_nanos();
    let pairs = (0..HOSTS * HOSTS).map(|at| (at / HOSTS, at % HOSTS));
    let pairs = pairs.filter(|(from, to)| from != to && (*from, *to) != (0, 1));
    let point = |(number, (from, to)): (usize, (usize, usize))| Point {
        series: Series {
            from: name(from),
            to: name(to),
            test: "tcp".to_owned(),
            family: None,
            metric: Metric::Goodput,
        },
        at: WallTime::from_unix_nanos(now - 3_600_000_000_000 + number as u64),
        value: 1e7 * percent(from, to) as f64,
        settled: None,
        good: PointQuality::Good,
        record: number as u64 + 1,
    };
    pairs.enumerate().map(point).collect()
}

fn stored(store: &Sqlite) {
    let changes = Changes { plan: Some(plan()), ..Changes::default() };
    store.turn(TurnRequest::default()).unwrap().1.commit(changes).unwrap();
    store.judged(Judgement { points: points(), ..Judgement::default() }).unwrap();
}

#[test]
fn the_grid_of_more_pairs_than_are_read_has_each_pair_as_it_was_measured() {
    let (_place, directory, store) = hub();
    stored(&store);
    let mut visit = Visit::of(&directory);
    visit.browser.open(&visit.site.clone());
    let round = visit.json("/view/v1/round/latest");
    assert_eq!((round["tests"].as_u64(), round["hosts"].as_array().map(Vec::len)), (Some(67_339), Some(HOSTS)));
    let grid = visit.json("/view/v1/round/latest/grid?metric=goodput");
    let grades: Vec<char> = grid["grades"].as_str().unwrap().chars().collect();
    let grade = |from, to| match (from, to) {
        (from, to) if from == to => '.',
        (0, 1) => '-',
        (from, to) => letter(percent(from, to)),
    };
    let should: Vec<char> = (0..HOSTS * HOSTS).map(|at| grade(at / HOSTS, at % HOSTS)).collect();
    assert!(grades == should, "the grades of the grid are those of the results");
    let worst = &grid["worst"][0];
    assert_eq!(worst["percent"], 1, "{worst}");

    let text = visit.look_at("/", "large-overview");
    assert!(text.contains("67339 of 67339 pairs have a result of the last 24 hours"), "{text}");

    // What the page says of a pair is what was measured of it.
    visit.look_at("/round/latest", "large-grid");
    visit.browser.value("document.querySelector('.grid').focus()");
    // The first pair has no result, so the next one of its row is chosen; the arrow leads below it.
    visit.browser.press("ArrowDown");
    // What exactly a pair of so many has is asked for once somebody looks at it.
    let says = "(async () => { const says = document.querySelector('.says');
        while (!says.innerText.includes('%')) await new Promise((later) => setTimeout(later, 20));
        return says.innerText; })()";
    let says = visit.browser.value(says);
    let percent = percent(1, 2);
    let rate = visit.browser.value(&format!("import('/assets/units.js').then((units) => units.rate({percent}e7))"));
    let grade = letter(percent);
    let said =
        format!("host-001 to host-002: {grade}, {percent} % of what it should be, {} history", rate.as_str().unwrap());
    assert_eq!(says.as_str().unwrap(), said);
    assert_eq!(visit.browser.complaints(), Vec::<Value>::new());
}
