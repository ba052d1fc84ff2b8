//! A plan as a person writes it.

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::time::Duration;

use serde::Deserialize;
use units::{ByteCount, DataRate};

/// A whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct PlanText {
    pub(super) title: String,
    pub(super) about: Option<String>,
    #[serde(default)]
    pub(super) times: TimesText,
    pub(super) hosts: BTreeMap<String, HostText>,
    #[serde(default)]
    pub(super) networks: BTreeMap<String, NetworkText>,
    #[serde(default)]
    pub(super) segments: Vec<SegmentText>,
    #[serde(default)]
    pub(super) ways: Vec<WayText>,
    pub(super) groups: BTreeMap<String, GroupText>,
    #[serde(default)]
    pub(super) tests: Vec<TestText>,
    #[serde(default)]
    pub(super) expectations: Vec<ExpectationText>,
    #[serde(default)]
    pub(super) maintenance: Vec<MaintenanceText>,
    #[serde(default)]
    pub(super) budgets: Vec<BudgetText>,
}

/// `[times]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct TimesText {
    #[serde(default, deserialize_with = "units::duration::text::read_some")]
    pub(super) every: Option<Duration>,
    #[serde(default, deserialize_with = "units::duration::text::read_some")]
    pub(super) light_every: Option<Duration>,
    #[serde(default, deserialize_with = "units::duration::text::read_some")]
    pub(super) gap: Option<Duration>,
}

/// `[hosts.NAME]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct HostText {
    pub(super) address: Option<String>,
    #[serde(default)]
    pub(super) addresses: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) roles: Vec<String>,
    #[serde(default)]
    pub(super) attributes: BTreeMap<String, String>,
    pub(super) ssh: Option<String>,
    pub(super) lab: Option<String>,
    pub(super) netns: Option<String>,
    #[serde(default)]
    pub(super) here: bool,
    pub(super) program: Option<String>,
    #[serde(default)]
    pub(super) serves: bool,
    pub(super) port: Option<NonZeroU16>,
    pub(super) http_port: Option<NonZeroU16>,
    pub(super) machine: Option<String>,
    #[serde(default, deserialize_with = "units::text::read_some")]
    pub(super) rate: Option<DataRate>,
    #[serde(default)]
    pub(super) forwards: bool,
}

/// `[networks.NAME]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct NetworkText {
    pub(super) about: Option<String>,
}

/// `[[segments]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct SegmentText {
    pub(super) name: String,
    pub(super) between: [String; 2],
    #[serde(default, deserialize_with = "units::text::read_some")]
    pub(super) rate: Option<DataRate>,
    #[serde(default)]
    pub(super) shared: bool,
}

/// `[[ways]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct WayText {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) network: Option<String>,
    pub(super) over: Vec<String>,
}

/// `[groups.NAME]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct GroupText {
    pub(super) mesh: Option<Vec<String>>,
    pub(super) disjoint: Option<[Vec<String>; 2]>,
    pub(super) list: Option<Vec<[String; 2]>>,
    #[serde(default)]
    pub(super) one_way: bool,
    pub(super) network: Option<String>,
    #[serde(default)]
    pub(super) without: Vec<[String; 2]>,
}

/// `[[tests]]`, besides what [`crate::task::text`] reads of it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct TestText {
    pub(super) label: Option<String>,
    pub(super) group: Option<String>,
    pub(super) expect: Option<String>,
    #[serde(default, deserialize_with = "units::duration::text::read_some")]
    pub(super) every: Option<Duration>,
    pub(super) when: Option<String>,
}

/// `[[expectations]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ExpectationText {
    #[serde(default)]
    pub(super) from: Vec<String>,
    #[serde(default)]
    pub(super) to: Vec<String>,
    pub(super) network: Option<String>,
    pub(super) expect: String,
}

/// `[[maintenance]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct MaintenanceText {
    pub(super) about: Option<String>,
    #[serde(default)]
    pub(super) hosts: Vec<String>,
    #[serde(default)]
    pub(super) segments: Vec<String>,
    pub(super) from: Option<String>,
    pub(super) until: Option<String>,
    pub(super) at: Option<String>,
    #[serde(default)]
    pub(super) days: Vec<String>,
    #[serde(default, deserialize_with = "units::duration::text::read_some")]
    pub(super) lasts: Option<Duration>,
}

/// `[[budgets]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct BudgetText {
    #[serde(default)]
    pub(super) hosts: Vec<String>,
    #[serde(default)]
    pub(super) segments: Vec<String>,
    #[serde(deserialize_with = "units::text::read")]
    pub(super) bytes_a_day: ByteCount,
}
