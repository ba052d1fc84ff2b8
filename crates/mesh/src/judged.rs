//! How incidents are judged: a quarter of a generated mesh, quiet or with a host that fails, as a hub would see it.

use std::ops::Range;

use baseline::mesh::{Element as FaultyElement, Fault, Mesh};
use baseline::watch::Quality;
use path::Seed;
use units::WallTime;

use crate::incident::{Element, Incident, Incidents, Measured, Metric, Series, Settings, Subject};
use crate::rules::Rules;

/// A quarter of a mesh of 20 hosts, two tests a pair and day, each pair at its own hour.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quarter {
    /// Hosts.
    pub hosts: usize,
    /// Days.
    pub days: usize,
    /// Where the series come from.
    pub seed: Seed,
    /// What fails, from which day on, until the end.
    pub fault: Option<Failing>,
}

/// A host that loses a part of its rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Failing {
    /// What of which host.
    pub element: FaultyElement,
    /// The first day.
    pub from_day: usize,
    /// The part, 0 to 1.
    pub drop: f64,
}

/// What came of a quarter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Judged {
    /// The fault was an incident with the right host and direction on the day on which it began.
    pub same_day: bool,
    /// It was at all.
    pub named: bool,
    /// That incident was still open at the end.
    pub open_at_the_end: bool,
    /// Incidents that were none.
    pub false_incidents: usize,
}

impl Quarter {
    /// All incidents of it, with results coming in hour by hour.
    #[must_use]
    pub fn incidents(&self) -> Vec<Incident> {
        let rounds = self.days * 2;
        let fault = self.fault.map(|failing| Fault {
            element: failing.element,
            rounds: (failing.from_day * 2, rounds),
            drop: failing.drop,
        });
        let mesh = Mesh { hosts: self.hosts, rounds, seed: self.seed, fault };
        let mut incidents = Incidents::new(Settings::default(), Rules::default());
        let series: Vec<Series> = mesh.pairs().into_iter().map(|(pair, _)| named(pair.0, Host(pair.1))).collect();
        series.iter().for_each(|one| incidents.add_series(one.clone(), Vec::new()));
        for (round, results) in (0_u64..).zip(mesh.results()) {
            for hour in 0..HOURS {
                let now = round * HOURS + hour;
                let of_hour =
                    (0_u64..).zip(results.iter().zip(&series)).filter(|(number, _)| number * 7 % HOURS == hour);
                let measured = of_hour.map(|(number, (result, series))| Measured {
                    series: series.clone(),
                    at: at(now * 3_600 + number),
                    value: result.sample.value,
                    settled: None,
                    quality: Quality::Good,
                });
                let measured: Vec<Measured> = measured.collect();
                incidents.results(&measured, at((now + 1) * 3_600));
                incidents.tick(at((now + 1) * 3_600));
            }
        }
        incidents.list().to_vec()
    }

    /// What came of it.
    #[must_use]
    pub fn judge(&self) -> Judged {
        let found = self.incidents();
        let Some(failing) = self.fault else {
            return Judged { false_incidents: found.len(), ..Judged::default() };
        };
        let subject = Subject::Element(match failing.element {
            FaultyElement::Host(host) => Element::Host(name(Host(host))),
            FaultyElement::From(host) => Element::From(name(Host(host))),
            FaultyElement::To(host) => Element::To(name(Host(host))),
        });
        let day: Range<WallTime> = at(failing.from_day as u64 * DAY)..at((failing.from_day as u64 + 1) * DAY + 1);
        let is_it = |incident: &&Incident| incident.subject == subject && incident.opened >= day.start;
        let it = found.iter().find(is_it);
        Judged {
            same_day: it.is_some_and(|incident| day.contains(&incident.opened)),
            named: it.is_some(),
            open_at_the_end: it.is_some_and(|incident| incident.status.is_bad()),
            false_incidents: found.len() - usize::from(it.is_some()),
        }
    }
}

#[derive(Clone, Copy)]
struct Host(usize);

fn name(host: Host) -> String {
    format!("h{}", host.0)
}

fn named(from: usize, to: Host) -> Series {
    Series { from: name(Host(from)), to: name(to), test: "tcp".to_owned(), family: None, metric: Metric::Goodput }
}

/// A second of the generated time, at which hours of a day are those of its series.
fn at(seconds: u64) -> WallTime {
    WallTime::from_unix_nanos((START + seconds) * 1_000_000_000)
}

/// A midnight of 2026.
const START: u64 = 20_780 * DAY;
const DAY: u64 = 86_400;
const HOURS: u64 = 12;
