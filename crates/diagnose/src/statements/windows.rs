//! TCP of Windows: how far its receive window may grow, and how it sends.

use std::time::Duration;

use import::evidence::{HostFact, WindowTuning, WindowsTcp};
use model::measurement::Heading;
use predict::physics::RttSource;
use predict::physics::facts::rtt;
use units::duration::show;
use units::{ByteCount, DataRate};

use super::beside::{Beside, MOST_FACTS, Transfer, is_held_by, named};
use super::statement::Statement;

/// All of the facts.
pub(super) fn of(beside: &Beside<'_>) -> Vec<Statement> {
    let settings = beside.facts.iter().take(MOST_FACTS).filter_map(|(host, fact)| match fact {
        HostFact::WindowsTcp(tcp) => Some((host.as_ref(), tcp)),
        _ => None,
    });
    settings
        .flat_map(|(host, tcp)| [of_window(beside, host, tcp), of_control(host, tcp)].into_iter().flatten())
        .collect()
}

fn of_window(beside: &Beside<'_>, host: Option<&String>, tcp: &WindowsTcp) -> Option<Statement> {
    let name = named(host);
    let tuning = tcp.autotuning?;
    let (level, window) = match tuning {
        WindowTuning::Normal => {
            return Some(Statement::fact(format!(
                "{name}: the receive window grows by itself (auto-tuning level normal)"
            )));
        }
        WindowTuning::Disabled => ("disabled", LARGEST_UNSCALED),
        WindowTuning::HighlyRestricted => ("highlyrestricted", LARGEST_UNSCALED << 2),
        WindowTuning::Restricted => ("restricted", LARGEST_UNSCALED << 4),
    };
    let window = ByteCount::new(window);
    let allows = |rtt: Duration| Some((DataRate::of(window, rtt)?, rtt));
    let near_and_far = RTTS_MS.into_iter().filter_map(|ms| allows(Duration::from_millis(ms)));
    let rates: Vec<String> = near_and_far.map(|(rate, rtt)| format!("{rate} at an RTT of {}", show(rtt))).collect();
    let explained = explained(beside, host, window).unwrap_or_default();
    Some(Statement::fault(format!(
        "{name}: auto-tuning of the receive window is {level}, so that one connection has at most {window} under way to it: {}{explained}; \
         `netsh interface tcp set global autotuninglevel=normal`",
        rates.join(", ")
    )))
}

/// A transfer to the host that is as fast as the window allows at its RTT.
fn explained(beside: &Beside<'_>, host: Option<&String>, window: ByteCount) -> Option<String> {
    beside.transfers().find_map(|Transfer { run, total, from, to }| {
        // What a client printed without a prompt is of the host whose settings stand beside it.
        let is_towards = host.map_or(total.heading == Heading::Inbound, |host| to == host.as_str());
        let rtt = rtt(run, total).filter(|rtt| is_towards && rtt.source != RttSource::WindowOverRate)?.low;
        let is_that = run.spec.streams == 1 && is_held_by(DataRate::of(window, rtt)?, total.goodput);
        is_that.then(|| format!("; the {} from {from} are what it allows at {}", total.goodput, show(rtt)))
    })
}

fn of_control(host: Option<&String>, tcp: &WindowsTcp) -> Option<Statement> {
    let (name, control) = (named(host), tcp.congestion_control.as_deref()?);
    Some(if control == "dctcp" {
        Statement::fault(format!(
            "{name} sends with DCTCP, which is made for the switches of one data centre and must not be used over the Internet (RFC 8257 section 5): \
             `netsh int tcp set supplemental internet congestionprovider=cubic`"
        ))
    } else {
        Statement::fact(format!("{name} sends with the congestion control {control}"))
    })
}

/// Without window scaling (RFC 7323 section 2).
const LARGEST_UNSCALED: u64 = 65_535;
/// Within a city, within a continent, between continents.
const RTTS_MS: [u64; 3] = [5, 30, 150];
