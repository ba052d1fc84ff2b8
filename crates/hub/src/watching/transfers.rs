//! Rates of transfers that agents deliver, as results of series.
//!
//! A peer that is a host of the plan is known by its addresses: those of the plan, and those of the newest facts of the host. Any other
//! is known by its network.

use std::collections::BTreeMap;
use std::sync::Arc;

use mesh::incident::{Metric, Series};
use model::measurement::Heading;
use model::transfer_rates::{PeerRate, RateLimit, TransferRates};

use super::State;
use super::ends::series;
use crate::api::record::content;
use crate::schedule::planned::Planned;
use crate::store::rows::{Point, PointQuality, StoredRecord};
use crate::store::{Store, StoreError};

impl State {
    /// What a record says; [`None`] where nobody can read it.
    ///
    /// # Errors
    /// Where the database refuses.
    pub(super) fn transfers(
        &mut self,
        store: &dyn Store,
        record: &StoredRecord,
        planned: Option<&Arc<Planned>>,
    ) -> Result<Option<Vec<Point>>, StoreError> {
        let Ok(rates) = content::<TransferRates>(&record.content) else { return Ok(None) };
        let Some(planned) = planned else { return Ok(Some(Vec::new())) };
        for host in planned.plan().hosts.iter().filter(|host| !host.forwards) {
            if !self.addresses.knows(&host.name) {
                let facts = super::round::snapshot(store, &host.name)?;
                self.addresses.add(host, facts.as_deref());
            }
        }
        let mut found: BTreeMap<Series, Point> = BTreeMap::new();
        for peer in &rates.peers {
            let Some(series) = self.ends(&record.agent, peer, planned) else { continue };
            let value = peer.rate.bps() as f64;
            let good = self.quality(&series, peer);
            let point =
                Point { series: series.clone(), at: rates.start, value, settled: None, good, record: record.key };
            // Of several peers of one network or one host the fastest says what the path carries.
            let is_faster = found.get(&series).is_none_or(|known| known.value < value);
            if is_faster {
                found.insert(series, point);
            }
        }
        let found: Vec<Point> = found.into_values().collect();
        self.keep(&found, Some(planned));
        Ok(Some(found))
    }

    /// The series of a peer; [`None`] where somebody else knows more of it, or there are too many.
    fn ends(&self, agent: &str, peer: &PeerRate, planned: &Planned) -> Option<Series> {
        let host = self.addresses.host(peer.peer);
        if host == Some(agent) {
            return None;
        }
        let name = host.unwrap_or(&peer.prefix);
        let series = match peer.heading {
            Heading::Outbound => series([agent, name]),
            // The sender sees its window, and reports the same transfer.
            Heading::Inbound if planned.agents().contains(name) => return None,
            Heading::Inbound => series([name, agent]),
        };
        let is_of_agent =
            |known: &&Arc<Series>| known.metric == Metric::TransferRate && (known.from == agent || known.to == agent);
        let has_room = || self.series.keys().filter(is_of_agent).count() < MOST_OF_AGENT;
        (self.series.contains_key(&series) || host.is_some() || has_room()).then_some(series)
    }

    /// A rate that a program has limited says nothing of the path, unless it is as high as usual.
    fn quality(&self, series: &Series, peer: &PeerRate) -> PointQuality {
        let usual = self.incidents.usual(series).unwrap_or(0.0);
        match peer.limited_by {
            RateLimit::Program if (peer.rate.bps() as f64) < usual * AS_USUAL => PointQuality::Poor,
            RateLimit::Program | RateLimit::Transport => PointQuality::Good,
        }
    }
}

/// The part of what is usual from which on a rate is no drop.
const AS_USUAL: f64 = 0.8;
/// Series of one agent with networks beyond the plan.
const MOST_OF_AGENT: usize = 64;
