//! One gateway at one moment.

use crate::calibrate::cmsd_log::Logged;
use crate::calibrate::summary::Summary;

/// What was reported of a gateway at a moment. What its source does not say is absent, never 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// Name of the gateway, host and port where the source has both.
    pub gateway: String,
    /// When, seconds since 1970.
    pub at_s: f64,
    /// Since when its service runs, seconds since 1970.
    pub since_s: Option<f64>,
    /// Connections or transfers in flight.
    pub in_flight: Option<f64>,
    /// Requests so far.
    pub begun: Option<f64>,
    /// Bytes moved so far, in both directions.
    pub moved_bytes: Option<f64>,
    /// Requests so far that were refused or found no thread.
    pub refused: Option<f64>,
    /// Memory in use, bytes.
    pub memory_bytes: Option<f64>,
    /// Its limit, bytes.
    pub memory_limit_bytes: Option<f64>,
    /// The load that the balancer has of it, percent.
    pub load: Option<f64>,
    /// How long deletions take, seconds.
    pub deletion_s: Option<f64>,
}

/// A number of a reading, by the name that `--metric` gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// [`Reading::since_s`].
    Since,
    /// [`Reading::in_flight`].
    InFlight,
    /// [`Reading::begun`].
    Begun,
    /// [`Reading::moved_bytes`]; several metrics of this field are added.
    Moved,
    /// [`Reading::refused`].
    Refused,
    /// [`Reading::memory_bytes`].
    Memory,
    /// [`Reading::memory_limit_bytes`].
    MemoryLimit,
    /// [`Reading::load`].
    Load,
    /// [`Reading::deletion_s`].
    Deletion,
}

impl Field {
    /// All, each with its name and the metrics that are read as it where nothing else is said: process and cgroup metrics of
    /// common exporters, and our own names.
    pub const ALL: [(Self, &'static str, &'static [&'static str]); 9] = [
        (Self::Since, "since", &["process_start_time_seconds"]),
        (Self::InFlight, "in-flight", &["gateway_in_flight", "xrootd_link_num"]),
        (Self::Begun, "begun", &["gateway_requests_total", "xrootd_link_tot"]),
        (Self::Moved, "moved", &["gateway_bytes_total", "xrootd_link_in", "xrootd_link_out"]),
        (Self::Refused, "refused", &["gateway_refused_total", "xrootd_sched_tlimr"]),
        (Self::Memory, "memory", &["process_resident_memory_bytes", "container_memory_usage_bytes"]),
        (Self::MemoryLimit, "memory-limit", &["container_spec_memory_limit_bytes"]),
        (Self::Load, "load", &["gateway_load_percent"]),
        (Self::Deletion, "deletion", &["gateway_deletion_seconds"]),
    ];

    /// The field of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| *known == name).map(|(field, ..)| *field)
    }
}

impl Reading {
    /// The number of a field, to be set.
    pub fn field(&mut self, field: Field) -> &mut Option<f64> {
        match field {
            Field::Since => &mut self.since_s,
            Field::InFlight => &mut self.in_flight,
            Field::Begun => &mut self.begun,
            Field::Moved => &mut self.moved_bytes,
            Field::Refused => &mut self.refused,
            Field::Memory => &mut self.memory_bytes,
            Field::MemoryLimit => &mut self.memory_limit_bytes,
            Field::Load => &mut self.load,
            Field::Deletion => &mut self.deletion_s,
        }
    }

    /// What XRootD's summary monitoring says. Its buffers are the part of memory that transfers hold.
    #[must_use]
    pub fn of_summary(summary: &Summary) -> Self {
        Self {
            gateway: summary.source.clone(),
            at_s: number(summary.at_s),
            since_s: Some(number(summary.since_s)),
            in_flight: Some(number(summary.connections)),
            begun: Some(number(summary.connections_so_far)),
            moved_bytes: Some(number(summary.received.saturating_add(summary.sent))),
            refused: summary.threads_lacking.map(number),
            memory_bytes: summary.buffer_bytes.map(number),
            ..Self::default()
        }
    }
}

impl Reading {
    /// What cmsd's manager logs of a gateway; its clock is taken to be UTC.
    #[must_use]
    pub fn of_log(logged: &Logged) -> Self {
        let gateway = logged.server.split('/').next().unwrap_or_default().to_owned();
        let (load, begun) = (Some(f64::from(logged.load)), Some(number(logged.references)));
        Self { gateway, at_s: number(logged.at_s) + YEAR_2000_S, load, begun, ..Self::default() }
    }
}

/// The beginning of 2000, seconds since 1970.
const YEAR_2000_S: f64 = 946_684_800.0;

#[expect(clippy::cast_precision_loss, reason = "counters for rates and shares")]
fn number(counter: u64) -> f64 {
    counter as f64
}
