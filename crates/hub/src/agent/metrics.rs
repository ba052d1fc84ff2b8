//! What an agent counts for Prometheus.

use measure::metrics::{Exposition, Family};

use super::shared::Shared;

/// All of it.
pub(super) fn numbers(shared: &Shared<'_>) -> Exposition {
    let health = shared.health();
    let mut text = Exposition::default();
    let family = |name, help| Family { name, help };
    let help = "Results, changes and facts that were written down for the hub";
    text.counter(family("linerate_agent_records_total", help), shared.kept());
    text.gauge(family("linerate_agent_spool_records", "Records that wait on this disk"), health.spooled);
    let help = "Records that the spool had no room for";
    text.counter(family("linerate_agent_spool_dropped_records_total", help), health.dropped);
    let help = "Runs that were beyond the limits of this host";
    text.counter(family("linerate_agent_refused_runs_total", help), health.refused);
    if let Some(at) = shared.contact() {
        let help = "When the hub answered last, by its clock";
        text.moment(family("linerate_agent_last_contact_timestamp_seconds", help), at);
    }
    text
}
