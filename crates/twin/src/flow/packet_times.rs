//! What larger packets need more than small ones over an idle path, each direction by itself.

use std::time::Duration;

use model::measurement::PacketTimes;
use path::Seed;

use crate::network::way::Way;
use crate::probes::packets::{Packets, send};

/// As the probes of a live test before its first byte.
pub(super) fn of([there, back]: [&Way; 2], seed: Seed) -> Option<PacketTimes> {
    let there_ns = longer(there, seed.part(0));
    let back_ns = longer(back, seed.part(1));
    (there_ns.is_some() || back_ns.is_some()).then_some(PacketTimes { more_bytes: LARGE - SMALL, there_ns, back_ns })
}

fn longer(way: &Way, seed: Seed) -> Option<u64> {
    let packets = |number: u32| {
        let (at, bytes) = if number < PROBES {
            (SMALL_EVERY * number, SMALL)
        } else {
            (SMALL_EVERY * PROBES + LARGE_EVERY * (number - PROBES), LARGE)
        };
        Packets { at, count: 1, ip_bytes: bytes + HEADERS, whole: true, over: Duration::ZERO }
    };
    let sent: Vec<Packets> = (0..PROBES + LARGE_PROBES).map(packets).collect();
    let fates = send(&way.stages, seed, 1, &sent).ok()?;
    let least = |is_large: bool| {
        let of_size = fates.arrived.iter().filter(|(_, number, ..)| (*number >= PROBES) == is_large);
        let times: Vec<Duration> =
            of_size.map(|(at, number, ..)| at.saturating_sub(sent[*number as usize].at)).collect();
        times.iter().copied().min().filter(|_| times.len() >= FEWEST)
    };
    Some(units::duration::nanos(least(true)?.saturating_sub(least(false)?)))
}

/// Bytes of payload of the two sizes, and of the headers of IPv4 and UDP.
const SMALL: u32 = 44;
const LARGE: u32 = 1_400;
const HEADERS: u32 = 28;
/// How many of each, and how far apart.
const PROBES: u32 = 10;
const LARGE_PROBES: u32 = 5;
const SMALL_EVERY: Duration = Duration::from_micros(300);
const LARGE_EVERY: Duration = Duration::from_micros(100);
/// Fewer answers do not show a least time.
const FEWEST: usize = 3;
