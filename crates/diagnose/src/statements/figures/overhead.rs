//! A rate through a tunnel that is all that its link leaves for it.

use import::figures::{Figure, FigureSource, Thing};
use units::DataRate;

use crate::statements::statement::Statement;

/// The fastest of a tunnel, where it is what the headers leave.
pub(super) fn of(all: &[&Figure]) -> Option<Statement> {
    let in_tunnel = |one: &&&Figure| {
        let has_tunnel = one.of.marks.iter().any(|mark| mark.thing == Thing::Tunnel && mark.on);
        one.source == FigureSource::Output && (has_tunnel || one.of.mtu.is_some_and(|mtu| USUAL_MTUS.contains(&mtu)))
    };
    let fastest = all.iter().filter(in_tunnel).filter_map(|one| one.reached()).max()?;
    let link =
        LINKS.into_iter().find(|link| fastest.share_of(*link).is_some_and(|part| (LEAST..=MOST).contains(&part)))?;
    Some(Statement::well(format!(
        "{fastest} through the tunnel is what a link of {link} leaves for it: a packet of 1420 B carries 1368 B of TCP's payload and is 1518 to 1538 B on the \
         wire with the headers of WireGuard, UDP, IP and Ethernet"
    )))
}

/// 1368 of 1538 B, and what AES in UDP or GRE have beside it.
const LEAST: f64 = 0.875;
const MOST: f64 = 0.915;
const USUAL_MTUS: [u32; 4] = [1420, 1412, 1438, 1400];
const LINKS: [DataRate; 4] = [
    DataRate::from_bps(100_000_000),
    DataRate::from_bps(1_000_000_000),
    DataRate::from_bps(2_500_000_000),
    DataRate::from_bps(10_000_000_000),
];
