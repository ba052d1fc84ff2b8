//! A middlebox that knows connections, and forgets those that are idle: their packets are dropped from then on, and
//! neither end hears of it.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::num::NonZeroU32;
use std::time::Duration;

use serde::Deserialize;
use units::MonoTime;

use crate::element::Element;
use crate::outlet::Outlet;
use crate::reason::Drop;
use crate::spec::{ElementSpec, SpecError, check_not_zero};
use crate::train::{FlowHash, PacketKind, Train};

/// Connection tracking as it is written in files.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ConntrackSpec {
    /// After how long without a packet a TCP connection is forgotten.
    #[serde(deserialize_with = "units::duration::text::read")]
    pub forgets_after: Duration,
    /// How many connections it knows at once. The SYNs of more are dropped.
    #[serde(default = "usual_flows")]
    pub flows: NonZeroU32,
}

fn usual_flows() -> NonZeroU32 {
    const USUAL: NonZeroU32 = NonZeroU32::new(65_536).unwrap();
    USUAL
}

/// Connections that a table holds at most: 16 bytes each.
const MOST_FLOWS: u32 = 1 << 20;

impl ConntrackSpec {
    /// # Errors
    /// A time of zero, or a table that is too large.
    pub fn check(&self) -> Result<(), SpecError> {
        check_not_zero("conntrack", "forgets-after", self.forgets_after)?;
        if self.flows.get() > MOST_FLOWS {
            let (element, most) = ("conntrack", u64::from(MOST_FLOWS));
            return Err(SpecError::TooMany { element, key: "flows", most });
        }
        Ok(())
    }
}

/// See [`ConntrackSpec`].
///
/// Model: one direction is seen, that of the chain. Where only the other has packets, a connection counts as idle; as
/// TCP acknowledges what it gets, that does not happen on a real path. Datagrams open their entry again by themselves, so
/// they are not followed.
#[derive(Debug)]
pub(crate) struct Conntrack {
    spec: ConntrackSpec,
    /// When each connection was last seen.
    seen: HashMap<FlowHash, MonoTime, BuildHasherDefault<DefaultHasher>>,
    /// When the table is next looked through for idle ones, if it is full.
    next_sweep: MonoTime,
}

impl Conntrack {
    pub(crate) fn new(spec: &ConntrackSpec, start: MonoTime) -> Self {
        let mut seen = HashMap::default();
        seen.reserve(room(spec));
        Self { spec: spec.clone(), seen, next_sweep: start }
    }

    /// Whether a new connection finds room.
    fn has_room(&mut self, now: MonoTime) -> bool {
        if self.seen.len() >= room(&self.spec) && now >= self.next_sweep {
            let forgets_after = self.spec.forgets_after;
            self.seen.retain(|_, seen| now.since(*seen) <= forgets_after);
            self.next_sweep = now + forgets_after / SWEEPS;
        }
        self.seen.len() < room(&self.spec)
    }
}

fn room(spec: &ConntrackSpec) -> usize {
    usize::try_from(spec.flows.get()).unwrap_or(usize::MAX)
}

/// How often a full table is looked through in the time after which it forgets.
const SWEEPS: u32 = 16;

impl Element for Conntrack {
    fn offer(&mut self, train: Train, out: &mut Outlet<'_>) {
        let now = out.now();
        let known = match train.kind {
            PacketKind::TcpSyn => {
                if !self.seen.contains_key(&train.flow) && !self.has_room(now) {
                    return out.drop(train, Drop::TableFull);
                }
                self.seen.insert(train.flow, now);
                true
            }
            PacketKind::TcpData | PacketKind::TcpControl => match self.seen.get_mut(&train.flow) {
                Some(seen) if now.since(*seen) <= self.spec.forgets_after => {
                    *seen = now;
                    true
                }
                _ => false,
            },
            PacketKind::Udp
            | PacketKind::TunnelledTcpData
            | PacketKind::Tunnelled
            | PacketKind::Link
            | PacketKind::Other => true,
        };
        if known { out.pass(train) } else { out.drop(train, Drop::Forgotten) }
    }

    fn adopt(&mut self, spec: &ElementSpec, out: &mut Outlet<'_>) {
        if let ElementSpec::Conntrack(spec) = spec {
            self.spec = spec.clone();
            self.seen.reserve(room(spec).saturating_sub(self.seen.len()));
            self.next_sweep = out.now();
        }
    }
}
