//! Downloads of one host from several servers beside each other.

use model::played::Finding;
use model::probe::download::Download;
use model::round::{Round, Tested};
use model::run::Outcome;
use units::{ByteCount, DataRate};

use super::statement::Statement;

/// A server that gives far less than another, and each of its connections the same.
pub(super) fn of(round: &Round) -> Vec<Statement> {
    let mut all: Vec<(&str, &Download, DataRate)> = Vec::new();
    for tested in &round.tests {
        all.extend(rated(tested, |one| one.outcome == Outcome::Complete && one.body >= LEAST));
        if all.len() >= MOST {
            break;
        }
    }
    if let Some(says) = each_alike(round) {
        return vec![says];
    }
    let Some((fast, _, best)) = all.iter().max_by_key(|(_, _, rate)| *rate).copied() else { return Vec::new() };
    let mut servers: Vec<&str> = all.iter().map(|(server, ..)| *server).filter(|server| *server != fast).collect();
    servers.sort_unstable();
    servers.dedup();
    servers.iter().filter_map(|server| slow([server, fast], &all, best)).collect()
}

/// Downloads of a test, each with its server and its rate.
fn rated(tested: &Tested, is_wanted: impl Fn(&Download) -> bool) -> Vec<(&str, &Download, DataRate)> {
    let Finding::Downloads(downloads) = &tested.finding else { return Vec::new() };
    let wanted = downloads.iter().filter(|one| is_wanted(one));
    wanted.filter_map(|one| Some((one.subject.target.as_str(), one, one.goodput.or(one.overall)?))).collect()
}

/// One server whose downloads all have the same rate, one at a time, at the same time, or from elsewhere: a limit of each connection.
fn each_alike(round: &Round) -> Option<Statement> {
    let mut all: Vec<(&str, &Download, DataRate)> = Vec::new();
    for tested in round.tests.iter().take(MOST) {
        all.extend(rated(tested, |one| one.body >= MUCH));
    }
    let (server, ..) = *all.first()?;
    let mut rates: Vec<DataRate> = all.iter().map(|(.., rate)| *rate).collect();
    rates.sort_unstable();
    let (least, most) = (*rates.first()?, *rates.last()?);
    let is_alike = most.bps().saturating_sub(least.bps()) * ALIKE <= most.bps();
    (rates.len() >= FEWEST && is_alike && all.iter().all(|(of, ..)| *of == server)).then_some(())?;
    // Of echoes to it, from where it is asked: a window would give a rate that goes with them.
    let echoes = round.tests.iter().filter_map(|tested| match &tested.finding {
        Finding::Echo(series) if series.subject.target == server => series.summary.rtt.min_us,
        _ => None,
    });
    let (near, far) = echoes.fold((u64::MAX, 0), |(near, far), rtt| (near.min(rtt), far.max(rtt)));
    let rtts = if far > near.saturating_mul(TIMES) && near > 0 {
        let show = |micros: u64| units::duration::show(std::time::Duration::from_micros(micros));
        format!(", at an RTT of {} as at one of {}, so that it is no window and no loss", show(near), show(far))
    } else {
        String::new()
    };
    Some(Statement::fault(format!(
        "{} downloads from {server} have {least} to {most} each, whether alone or beside others{rtts}: a limit for each connection, at the server or a \
         device in front of it; several connections at a time, or another server, get more",
        rates.len()
    )))
}

/// A download long enough that its rate is none of its start.
const MUCH: ByteCount = ByteCount::new(20_000_000);

/// What is said of a server that is slow beside the fastest.
fn slow([server, fast]: [&str; 2], all: &[(&str, &Download, DataRate)], best: DataRate) -> Option<Statement> {
    let mut rates: Vec<DataRate> = all.iter().filter(|(of, ..)| *of == server).map(|(.., rate)| *rate).collect();
    rates.sort_unstable();
    let (least, most) = (*rates.first()?, *rates.last()?);
    (most.bps().saturating_mul(TIMES) < best.bps()).then_some(())?;
    let alike = rates.len() >= FEWEST && most.bps().saturating_sub(least.bps()) * ALIKE <= most.bps();
    let says = format!(
        "{server} gives {most} where {fast} gives {best} to the same host, whose own line and settings carry that"
    );
    Some(if alike {
        Statement::fault(format!(
            "{says}; {} connections to {server} have the same rate to one part in {}: a limit for each connection, at the server or a device in \
             front of it; several connections at a time, or another server, get more",
            rates.len(),
            most.bps()
                .checked_div(most.bps().saturating_sub(least.bps()))
                .map_or(EXACT, |part| part.clamp(ALIKE, EXACT))
        ))
    } else {
        Statement::fault(format!(
            "{says}: the server, its own line, a limit that it sets or the path to it is slow; several connections at a time tell a limit of each from \
             a full line"
        ))
    })
}

/// Smaller files are over before a rate has settled.
const LEAST: ByteCount = ByteCount::new(1_000_000);
/// A list of mirrors has dozens.
const MOST: usize = 1_000;
/// From such a ratio on.
const TIMES: u64 = 3;
/// Two may be alike by chance.
const FEWEST: usize = 3;
/// No path that anybody else uses gives rates as near to each other.
const ALIKE: u64 = 50;
/// What is said of rates that are equal as printed.
const EXACT: u64 = 10_000;
