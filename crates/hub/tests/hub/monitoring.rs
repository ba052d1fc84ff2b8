//! What Prometheus reads.

use std::collections::BTreeSet;
use std::time::Duration;

use hub::agent::connection::Call;
use hub::trust::token::Purpose;
use tempfile::TempDir;

use crate::running::Running;

/// Names of metrics of linerate in a text.
fn names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    words.filter(|word| word.starts_with("linerate_hub_") || word.starts_with("linerate_agent_")).collect()
}

#[test]
fn every_metric_that_alert_rules_name_is_one_of_the_hubs() {
    let hub = Running::start();
    let home = TempDir::new().unwrap();
    hub.join(home.path(), "dtn-1", hub.token(Purpose::Join)).unwrap();
    let call = Call { method: "GET", path: "/metrics", patience: Duration::from_secs(60) };
    let text = hub.person(&hub.token(Purpose::View)).exchange(&call, &[]).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("linerate_hub_incidents{status=\"open\"} 0\n"), "{text}");
    assert!(text.contains("linerate_hub_series{state=\"stale\"} 0\n"), "{text}");
    assert!(text.contains("linerate_agent_spooled_records{agent=\"dtn-1\"} 0\n"), "{text}");
    let rules = include_str!("../../../../docs/monitoring/alerts.yml");
    let known = names(&text);
    assert!(names(rules).len() >= 5);
    for name in names(rules) {
        assert!(known.contains(name), "{name} is not among {known:?}");
    }
}
