//! A rate that nothing exceeds: datagrams at several rates, one stream beside several, and whether what is too much waits or is dropped.

use import::StatedKind;
use units::DataRate;

use super::load::LoadContrast;
use super::measurement::{Matrix, Measurement};
use crate::statements::statement::{Statement, percent};

/// The limit of each pair.
pub(super) fn of(matrix: &Matrix<'_>) -> Vec<Statement> {
    matrix.pairs().into_iter().filter_map(|pair| of_pair(matrix, pair)).collect()
}

/// Datagrams at one rate.
#[derive(Debug, Clone, Copy)]
struct Rung {
    offered: DataRate,
    lost: f64,
    through: DataRate,
}

/// What shows a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShownBy {
    /// Datagrams that were cut at it.
    Datagrams,
    /// Streams that have no more together.
    Streams,
}

/// A rate that is not exceeded, and what shows it.
struct Cap {
    rate: DataRate,
    shows: String,
    by: ShownBy,
}

fn of_pair(matrix: &Matrix<'_>, pair: [&str; 2]) -> Option<Statement> {
    let all = matrix.of_pair(pair);
    let tests: Vec<&Measurement<'_>> = all.into_iter().filter(|one| one.is_test()).collect();
    let tcp: Vec<&Measurement<'_>> = tests.iter().copied().filter(|one| one.is_tcp() && !one.is_paced()).collect();
    let best = tcp.iter().map(|one| one.steady()).max();
    let load = LoadContrast::of(matrix, pair);
    let streams = same_with_more(&tcp);
    let cap = by_datagrams(&ladder(matrix, &tests), best).or_else(|| {
        let (few, many) = streams?;
        // Streams alone may be limited by a host: a queue that they fill is the path's.
        let is_queued = load.is_some_and(LoadContrast::grows);
        is_queued.then(|| Cap { rate: few.rate().max(many.rate()), shows: String::new(), by: ShownBy::Streams })
    })?;
    // TCP that has more shows that what cuts datagrams is none of the path's.
    (best.is_none_or(|best| best.bps() * 10 <= cap.rate.bps() * 12)).then_some(())?;
    // A host that is used up, or a radio, cuts datagrams as well, and what a link carries is no fault of the path.
    (!matrix.is_of_host() && !matrix.is_of_link(cap.rate)).then_some(())?;
    let also = streams.map(|(few, many)| {
        format!(
            "{} stream{} of TCP {} {} and {} {}",
            few.streams(),
            if few.streams() == 1 { "" } else { "s" },
            has(few),
            few.rate(),
            many.streams(),
            many.rate()
        )
    });
    let shows: Vec<String> = [Some(cap.shows).filter(|shows| !shows.is_empty()), also].into_iter().flatten().collect();
    let (is_full, said) = held_against(matrix, &tests, cap.rate);
    let means = meaning(load, cap.rate, cap.by);
    let says = format!(
        "{} to {}: {}: a rate limit of about {} on the path{said}; {means}",
        pair[0],
        pair[1],
        shows.join("; "),
        cap.rate
    );
    Some(if is_full {
        Statement::fact(says)
    } else if load.is_some_and(|load| load.grows() || load.is_flat()) {
        Statement::decisive(says)
    } else {
        Statement::fault(says)
    })
}

fn has(one: &Measurement<'_>) -> &'static str {
    if one.streams() == 1 { "has" } else { "have" }
}

/// What is known of datagrams of a pair at each rate; what people say of them where no test is printed at that rate.
fn ladder(matrix: &Matrix<'_>, tests: &[&Measurement<'_>]) -> Vec<Rung> {
    let printed = tests
        .iter()
        .filter(|one| !one.is_tcp())
        .filter_map(|one| Some(Rung { offered: one.offered(), lost: one.lost()?, through: one.rate() }));
    let mut all: Vec<Rung> = printed.collect();
    for (offered, lost) in matrix.stated_losses() {
        let is_new = all.iter().all(|rung| rung.offered.bps().abs_diff(offered.bps()) * 20 > offered.bps());
        if is_new {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "a part of a rate"
            )]
            let through = DataRate::from_bps((offered.bps() as f64 * (1.0 - lost)) as u64);
            all.push(Rung { offered, lost, through });
        }
    }
    all.sort_by_key(|rung| rung.offered);
    all
}

/// Where what comes faster than a rate is cut to it, and what comes slower passes.
fn by_datagrams(ladder: &[Rung], best: Option<DataRate>) -> Option<Cap> {
    let cut: Vec<&Rung> = ladder.iter().filter(|rung| rung.lost >= CUT && rung.through.bps() > 0).collect();
    let rate = cut.iter().map(|rung| rung.through).max()?;
    let least = cut.iter().map(|rung| rung.through).min()?;
    (least.bps() * 100 >= rate.bps() * ALIKE).then_some(())?;
    let fits = ladder.iter().rev().find(|rung| rung.lost <= CLEAN && rung.offered.bps() * 100 <= rate.bps() * 106);
    let fits = fits.filter(|rung| rung.offered.bps() * 4 >= rate.bps());
    let is_apart =
        cut.first().zip(cut.last()).is_some_and(|(slow, fast)| fast.offered.bps() * 2 >= slow.offered.bps() * 3);
    // TCP that comes to the same rate shows it too.
    let is_tcps = best.is_some_and(|best| best.bps() * 100 >= rate.bps() * 75);
    let fast = cut.last()?;
    // One run that loses little is none by itself.
    let is_much = cut.len() > 1 || fast.lost >= MUCH;
    (fits.is_some() && is_much || is_apart || is_tcps).then_some(())?;
    let fits = fits.map_or_else(String::new, |rung| {
        if rung.lost == 0.0 {
            format!(", {} without a loss", rung.offered)
        } else {
            format!(", {} with {} lost", rung.offered, percent(rung.lost))
        }
    });
    let shows = format!(
        "datagrams pass up to {rate} and no faster (at {} {} are lost){fits}",
        fast.offered,
        percent(fast.lost)
    );
    Some(Cap { rate, shows, by: ShownBy::Datagrams })
}

/// One stream, or a few, beside more that have no more together.
fn same_with_more<'m, 'a>(tcp: &[&'m Measurement<'a>]) -> Option<(&'m Measurement<'a>, &'m Measurement<'a>)> {
    let pairs = tcp.iter().flat_map(|few| tcp.iter().map(move |many| (*few, *many)));
    pairs
        .filter(|(few, many)| {
            let (one, all) = (few.steady().bps(), many.steady().bps());
            many.streams() >= few.streams() * 2 && all * 100 >= one * 85 && all * 100 <= one * 125
        })
        .max_by_key(|(_, many)| many.streams())
}

/// Whether a limit is what the text says that the path has, and what it says.
fn held_against(matrix: &Matrix<'_>, tests: &[&Measurement<'_>], cap: DataRate) -> (bool, String) {
    let of_tests = tests.iter().find_map(|one| one.run.declared_line_rate.or(one.run.declared.expected));
    let heading = tests.first().map(|one| one.total.heading);
    let said = matrix.beside.stated().filter(|rate| rate.kind != StatedKind::Measured);
    let stated = of_tests.into_iter().chain(said.filter_map(|rate| Some(rate.towards(heading?)))).min();
    match stated {
        Some(stated) if cap.bps() * 100 >= stated.bps() * 85 => {
            (true, format!(", which is what the line has ({stated})"))
        }
        Some(stated) => (false, format!(", though it should carry {stated}")),
        None => (false, String::new()),
    }
}

/// What follows from the RTTs.
fn meaning(load: Option<LoadContrast>, cap: DataRate, by: ShownBy) -> String {
    let spares = if by == ShownBy::Datagrams {
        "no losses at random, which slower datagrams would have too, and no window of the hosts"
    } else {
        "no window of the hosts"
    };
    match load {
        Some(load) if load.grows() => format!(
            "RTTs of {}, so that what exceeds it waits in a queue of about {}: a shaper, or a link of that rate; {spares}, and no policer, which has \
             no queue; larger buffers change nothing",
            load.says(),
            load.queue(cap)
        ),
        Some(load) if load.is_flat() => format!(
            "RTTs of {}, so that nothing waits: a policer drops what comes faster than a rate (or a port with hardly a buffer does); {spares}, and no full \
             queue; TCP takes its drops for congestion: have its rate or its burst raised, or pace the sender below it",
            load.says()
        ),
        _ => format!(
            "a policer, a shaper, or a slower link; {spares}; echoes while it runs tell which (RTTs that grow are a queue, as a shaper or a link has)"
        ),
    }
}

/// What a limit takes of what comes clearly faster.
const CUT: f64 = 0.015;
/// What a limit takes of what is twice as fast, and more than an overload of a moment.
const MUCH: f64 = 0.1;
/// What a path that is well may lose.
const CLEAN: f64 = 0.001;
/// Of a hundred: rates that come through differ by less where one limit leaves them.
const ALIKE: u64 = 88;
