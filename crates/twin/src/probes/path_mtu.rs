//! A search for the largest packet that arrives.

use std::time::Duration;

use model::probe::IcmpAccess;
use model::probe::path_mtu::{MtuLimit, PathMtu, PathMtuSpec, SizeVerdict, TriedSize};
use model::run::Outcome;
use path::Seed;
use units::Mtu;

use super::Asked;
use super::packets::Packets;
use super::rtt::{Fate, Pair, ask};
use crate::network::Network;

/// Searches between the least size that every path carries and what the device takes.
pub(crate) fn search(network: &mut Network<'_>, pair: &Pair<'_>, interface: Mtu, asked: Asked) -> PathMtu {
    let spec = PathMtuSpec::default();
    let mut tried = Vec::new();
    let mut limit = None;
    let try_size = |network: &mut Network<'_>, size: u32, tried: &mut Vec<TriedSize>| {
        let number = tried.len() as u64;
        let found = one(network, pair, size, spec.probes, asked.seed.part(number));
        let verdict = found.verdict.clone();
        tried.push(found);
        verdict
    };
    let (mut least, mut most) = (LEAST, interface.get());
    let mut arrives = false;
    match try_size(network, most, &mut tried) {
        SizeVerdict::Arrives => {
            (least, arrives, limit) = (most, true, Some(MtuLimit::Interface));
        }
        verdict => {
            let mut why = verdict;
            let mut next = first_guess(&why, [least, most]);
            while least < most {
                match try_size(network, next, &mut tried) {
                    SizeVerdict::Arrives => (least, arrives) = (next, true),
                    verdict => (most, why) = (next - 1, verdict),
                }
                next = least + (most - least).div_ceil(2);
            }
            if arrives || matches!(try_size(network, least, &mut tried), SizeVerdict::Arrives) {
                arrives = true;
                limit = Some(match why {
                    SizeVerdict::Told { reporter, told } => MtuLimit::Told { reporter, told },
                    _ => MtuLimit::Silent,
                });
            }
        }
    }
    PathMtu {
        subject: asked.subject(),
        spec,
        outcome: Outcome::Complete,
        access: Some(IcmpAccess::RawSocket),
        interface_mtu: Some(interface),
        path_mtu: Mtu::new(least).ok().filter(|_| arrives),
        limit,
        sizes: tried,
    }
}

/// What was told, or the middle.
fn first_guess(verdict: &SizeVerdict, [least, most]: [u32; 2]) -> u32 {
    match verdict {
        SizeVerdict::Told { told: Some(told), .. } => (*told).clamp(least + 1, most.max(least + 1)),
        _ => least + (most - least).div_ceil(2),
    }
}

fn one(network: &mut Network<'_>, pair: &Pair<'_>, size: u32, probes: u8, seed: Seed) -> TriedSize {
    let sent: Vec<Packets> = (0..u32::from(probes))
        .map(|number| Packets {
            at: Duration::from_millis(20) * number,
            count: 1,
            ip_bytes: size,
            whole: true,
            over: Duration::ZERO,
        })
        .collect();
    let fates = ask(network, pair, seed, &sent);
    let answered = fates.iter().filter(|fate| matches!(fate, Fate::Answered(_))).count();
    let told = fates.iter().find_map(|fate| match fate {
        Fate::TooBig { fits, reporter } => Some(SizeVerdict::Told { reporter: *reporter, told: Some(fits.get()) }),
        Fate::Answered(_) | Fate::Lost => None,
    });
    let verdict = match told {
        _ if answered > 0 => SizeVerdict::Arrives,
        Some(told) => told,
        None => SizeVerdict::Silent,
    };
    TriedSize { packet_bytes: size, sent: probes, answered: u8::try_from(answered).unwrap_or(probes), verdict }
}

/// What every IPv4 host takes (RFC 791 section 3.2).
const LEAST: u32 = 576;
