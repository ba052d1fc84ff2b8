//! How well and how fast changes are found: the five families of generated series and a mesh of 20 hosts, on seeds that no threshold was
//! chosen on, and how many series one core screens.

use baseline::families::{Labelled, Steps, series};
use baseline::mesh::Element;
use baseline::rules::Rule;
use baseline::score::Score;
use baseline::screen::Screen;
use baseline::series::{Prepared, Scale};
use linux::clock::thread_cpu_time;
use mesh::judged::{Failing, Judged, Quarter};
use path::Seed;
use stats::proportion::Proportion;

use crate::contests::effort::Effort;
use crate::outcome::{Row, Target};

pub(super) fn run(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let count: usize = effort.choose(500, 4000);
    let with = (0..count).map(|number| series(JUDGED, number, 500, Steps::One));
    let all: Vec<Labelled> =
        with.chain((0..count / 4).map(|number| series(JUDGED, number, 500, Steps::None))).collect();
    let mut screen = Screen::default();
    let began = thread_cpu_time();
    let screened = all.iter().filter_map(|one| screen.screen(&Prepared::new(&one.samples, Scale::Ratio).levels, 5));
    let suspects = screened.filter(|screened| screened.z >= baseline::analysis::SUSPECT_Z).count();
    let each = (thread_cpu_time() - began).as_secs_f64() / all.len() as f64;
    let mut rows = vec![
        Row::new("series of 500 results screened by one core", 1.0 / each, "/s")
            .target(Target::AtLeast(20_000.0))
            .note(format!("{suspects} of {} suspect", all.len())),
    ];
    for rule in Rule::ALL {
        let mut score = Score::default();
        all.iter().for_each(|one| score.count(one, &rule.alarms(&one.samples, &mut screen)));
        let row = Row::new(format!("F1, {}", rule.name()), score.f1(), "").note(format!("+- {:.3}", score.f1_error()));
        rows.push(if rule == Rule::Linerate { row.target(Target::AtLeast(0.87)) } else { row });
        if rule == Rule::Linerate {
            let share = 100.0 * score.still().share().unwrap_or(100.0);
            rows.push(Row::new("series without a step that alarm", share, "%").target(Target::AtMost(5.0)));
        }
    }
    rows.extend(mesh(effort.choose(2, 10)));
    Ok(rows)
}

/// Quarters of a mesh as a hub sees them: quiet, and with a host that loses 30 % from the 50th day on.
fn mesh(quarters: u64) -> Vec<Row> {
    let quarter = |part: u64, fault| Quarter { hosts: 20, days: 90, seed: JUDGED.part(part), fault }.judge();
    let quiet: usize = (0..quarters).map(|part| quarter(part, None).false_incidents).sum();
    let failing = |part: u64| {
        let host = usize::try_from(part).unwrap_or(0) * 7 % 20;
        let element = [Element::Host(host), Element::From(host), Element::To(host)][host % 3];
        quarter(1000 + part, Some(Failing { element, from_day: 50, drop: 0.3 }))
    };
    let judged: Vec<Judged> = (0..quarters).map(failing).collect();
    let share = |what: &str, is: fn(&Judged) -> bool| {
        let some = u32::try_from(judged.iter().filter(|one| is(one)).count()).unwrap_or(u32::MAX);
        let proportion = Proportion { some, of: u32::try_from(judged.len()).unwrap_or(u32::MAX) };
        let (low, high) = proportion.interval();
        Row::new(what, 100.0 * proportion.share().unwrap_or(0.0), "%").target(Target::AtLeast(100.0)).note(format!(
            "of {quarters}, 95 % interval {:.0} to {:.0} %",
            100.0 * low,
            100.0 * high
        ))
    };
    vec![
        share("host faults of 30 % in a mesh of 20 named the same day", |one| one.same_day),
        share("of these, open 40 days later", |one| one.open_at_the_end),
        Row::new("false incidents a mesh and quarter", quiet as f64 / quarters as f64, "")
            .target(Target::AtMost(1.0))
            .note(format!("of {quarters} quarters")),
    ]
}

/// Thresholds were chosen on seed 7.
const JUDGED: Seed = Seed(20_261_123);
