//! How well each rule does on the generated series: `families [SEED [SERIES]]`, or with `--csv STEPS NULLS` on series that another
//! program has written, one a line: place of the step, family, drop, values.

use std::error::Error;
use std::fs;
use std::time::Instant;

use baseline::families::{DROPS, Family, Labelled, Steps, hourly, series};
use baseline::rules::Rule;
use baseline::score::Score;
use baseline::screen::Screen;
use baseline::series::{Prepared, Sample, Scale};
use path::Seed;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let all = match arguments.as_slice() {
        [flag, files @ ..] if flag == "--csv" => {
            let read = files.iter().map(|file| from_csv(file)).collect::<Result<Vec<_>, _>>()?;
            read.concat()
        }
        numbers => {
            let seed = Seed(numbers.first().map_or(Ok(1), |seed| seed.parse())?);
            let count: usize = numbers.get(1).map_or(Ok(10_000), |count| count.parse())?;
            let with = (0..count).map(|number| series(seed, number, 500, Steps::One));
            with.chain((0..count / 4).map(|number| series(seed, number, 500, Steps::None))).collect()
        }
    };
    let mut screen = Screen::default();
    let begin = Instant::now();
    let screened = all.iter().filter_map(|one| screen.screen(&Prepared::new(&one.samples, Scale::Ratio).levels, 5));
    let suspects = screened.filter(|screened| screened.z >= baseline::analysis::SUSPECT_Z).count();
    let rate = all.len() as f64 / begin.elapsed().as_secs_f64();
    println!("{} series, screened at {rate:.0} series/s, {suspects} suspect", all.len());
    for rule in Rule::ALL {
        report(rule, &all);
    }
    Ok(())
}

fn report(rule: Rule, all: &[Labelled]) {
    let (mut score, mut screen) = (Score::default(), Screen::default());
    let begin = Instant::now();
    for one in all {
        // WLCG's rule looks at 21 days, and was made for a few tests a day: 4 rather than 24.
        let spacing = if rule == Rule::Wlcg { 6 } else { 1 };
        let samples: Vec<Sample> =
            one.samples.iter().map(|sample| Sample { at_s: sample.at_s * spacing, ..*sample }).collect();
        let mut found = rule.alarms(&samples, &mut screen);
        if rule != Rule::Linerate {
            found = as_events(&found, one.step);
        }
        score.count(one, &found);
    }
    let each = begin.elapsed().as_secs_f64() * 1e3 / all.len() as f64;
    let (low, high) = score.still().interval();
    println!(
        "{:8} F1 {:.3} +- {:.3}, precision {:.3}, recall {:.3}; without a step {:.1} % alarm ({:.1} to {:.1} %); {each:.2} ms",
        rule.name(),
        score.f1(),
        score.f1_error(),
        score.precision(),
        score.recall(),
        100.0 * score.still().share().unwrap_or(0.0),
        100.0 * low,
        100.0 * high,
    );
    for (family, ([of, hits, others], [still, alarming])) in
        Family::ALL.iter().zip(score.by_family.iter().zip(score.still_by_family))
    {
        let name = family.name();
        println!("  {name:10} {hits:5} of {of} found, {others:4} others; without a step {alarming} of {still} alarm");
    }
    for (drop, [of, hits, others]) in DROPS.iter().zip(score.by_drop) {
        println!("  drop {:2.0} %  {hits:5} of {of} found, {others:4} others", 100.0 * drop);
    }
}

/// Rules that notice later: alarms within 48 results of the step are it, once.
fn as_events(alarms: &[usize], step: Option<usize>) -> Vec<usize> {
    let Some(step) = step else { return alarms.to_vec() };
    let (during, mut others): (Vec<usize>, Vec<usize>) = alarms.iter().partition(|at| (step..step + 48).contains(*at));
    others.retain(|at| at.abs_diff(step) > 48);
    if !during.is_empty() {
        others.push(step);
    }
    others
}

fn from_csv(file: &str) -> Result<Vec<Labelled>, Box<dyn Error>> {
    let line = |line: &str| -> Result<Labelled, Box<dyn Error>> {
        let mut columns = line.split(',');
        let mut next = || columns.next().ok_or("a column is missing");
        let (step, family, drop) = (next()?.parse::<i64>()?, next()?, next()?.parse()?);
        let family = if family == "lognorm" { "lognormal" } else { family };
        let family = *Family::ALL.iter().find(|known| known.name() == family).ok_or("unknown family")?;
        let values = columns.map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        Ok(Labelled { family, drop, step: usize::try_from(step).ok(), samples: hourly(&values) })
    };
    fs::read_to_string(file)?.lines().map(line).collect()
}
