//! `ndt7-client`: one connection in each direction to a server near the host.

use std::time::Duration;

use units::DataRate;

use super::access::{AccessRates, AccessStreams};
use super::shown::Found;
use crate::quantity::{hundredths, megabits, milliseconds};

/// Reads the summary: `Server:`, `Client:` and what follows, in one table or in one for each direction.
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let server = field(lines.first()?)?.of("Server")?;
    field(lines.get(1)?)?.of("Client")?;
    let mut both: [Printed; 2] = Default::default();
    // Below which title a number stands; one table for all has none.
    let mut title = None;
    let mut used = 2;
    for (at, line) in lines.iter().enumerate().take(MAX_LINES).skip(2) {
        let text = line.trim();
        match (text, field(text)) {
            ("", _) => continue,
            ("Download", _) => title = Some(0),
            ("Upload", _) => title = Some(1),
            (_, Some(found)) if NAMES.contains(&found.name) => take(&mut both, title, &found)?,
            _ => break,
        }
        used = at + 1;
    }
    let [down, up] = both;
    let rates = AccessRates {
        download: down.rate,
        upload: up.rate,
        rtt: down.rtt.or(up.rtt),
        retransmitted: down.retransmitted,
        ..AccessRates::unknown(server, AccessStreams::One)
    };
    Found::of_access(rates, used)
}

/// What the program prints of a direction.
const NAMES: [&str; 5] = ["Download", "Upload", "Throughput", "Latency", "Retransmission"];
/// Lines of both tables.
const MAX_LINES: usize = 16;

/// `Retransmission:    4.31 %`.
struct Field<'a> {
    name: &'a str,
    value: &'a str,
    unit: &'a str,
}

impl<'a> Field<'a> {
    fn of(&self, name: &str) -> Option<&'a str> {
        (self.name == name).then_some(self.value)
    }
}

fn field(line: &str) -> Option<Field<'_>> {
    let (name, rest) = line.trim().split_once(':')?;
    let mut words = rest.split_whitespace();
    let found = Field { name, value: words.next()?, unit: words.next().unwrap_or_default() };
    words.next().is_none().then_some(found)
}

/// What is printed of one direction.
#[derive(Debug, Clone, Copy, Default)]
struct Printed {
    rate: Option<DataRate>,
    rtt: Option<Duration>,
    retransmitted: Option<u32>,
}

/// Puts a number where it belongs; `None` where it is none.
fn take(both: &mut [Printed; 2], title: Option<usize>, field: &Field<'_>) -> Option<()> {
    let rate = || megabits(field.value).filter(|_| field.unit == "Mbit/s");
    match (field.name, title) {
        ("Download", None) => both[0].rate = Some(rate()?),
        ("Upload", None) => both[1].rate = Some(rate()?),
        ("Throughput", Some(at)) => both[at].rate = Some(rate()?),
        ("Latency", at) => {
            let rtt = milliseconds(field.value).filter(|_| field.unit == "ms")?;
            at.map_or(0..2, |at| at..at + 1).for_each(|at| both[at].rtt = Some(rtt));
        }
        // The server counts it of what it sends.
        ("Retransmission", at) => both[at.unwrap_or(0)].retransmitted = Some(hundredths(field.value)?),
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::host_fact::HostFact;
    use super::super::shown::Shown;
    use super::*;

    fn rates(text: &str) -> Option<AccessRates> {
        let lines: Vec<&str> = text.lines().collect();
        match read(&lines, &[], &mut Vec::new())?.shows.as_slice() {
            [Shown::Host(HostFact::Access(rates))] => Some(rates.clone()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn both_forms_of_the_summary_say_the_same() {
        let one = "         Server: ndt.example.org\n         Client: 198.51.100.7\n        Latency:    24.1 ms\n       Download:    38.2 \
                   Mbit/s\n         Upload:     9.4 Mbit/s\n Retransmission:    4.31 %\nprose: of people";
        let two = "         Server: ndt.example.org\n         Client: 198.51.100.7\n\n            Download\n     Throughput:    38.2 Mbit/s\n  \
                   \x20     Latency:    24.1 ms\n Retransmission:    4.31 %\n\n              Upload\n     Throughput:     9.4 Mbit/s\n        \
                   Latency:    24.1 ms\n";
        let found = rates(one).expect("an access line");
        assert_eq!(rates(two).as_ref(), Some(&found));
        let bps = |rate: Option<DataRate>| rate.map(DataRate::bps);
        assert_eq!((bps(found.download), bps(found.upload)), (Some(38_200_000), Some(9_400_000)));
        assert_eq!((found.retransmitted, found.streams), (Some(431), AccessStreams::One));
        assert_eq!(found.rtt.map(|rtt| rtt.as_micros()), Some(24_100));
        assert_eq!(rates("Server: here\nClient: there\nprose"), None);
    }
}
