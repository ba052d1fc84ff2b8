//! An agent delivers.

use super::counters::Event;
use super::request::{Request, RequestError};
use super::state::Hub;
use crate::api::record::{Delivery, MOST_RECORDS, Receipt, Verdict};
use crate::store::rows::Arrival;

/// Stores what can be read, and says of each record what became of it.
pub(super) fn deliver(hub: &Hub, request: &Request, agent: &str) -> Result<Receipt, RequestError> {
    let delivery: Delivery = request.content()?;
    if delivery.records.len() > MOST_RECORDS {
        return Err(RequestError::NotUnderstood(format!("more than {MOST_RECORDS} records at once")));
    }
    let read = delivery.records.into_iter().map(|record| match record.unpack() {
        Ok(unpacked) => Ok(Arrival { record, unpacked }),
        Err(error) => Err(Verdict::Refused { reason: error.to_string() }),
    });
    let (mut arrivals, mut refused) = (Vec::new(), Vec::new());
    for (place, record) in read.enumerate() {
        match record {
            Ok(arrival) => arrivals.push(arrival),
            Err(verdict) => refused.push((place, verdict)),
        }
    }
    let mut verdicts = stored(hub, agent, arrivals)?;
    for (place, verdict) in refused {
        verdicts.insert(place, verdict);
    }
    for verdict in &verdicts {
        hub.counters.count(match verdict {
            Verdict::Stored => Event::RecordStored,
            Verdict::Duplicate => Event::RecordDuplicate,
            Verdict::Unwanted | Verdict::Refused { .. } => Event::RecordRefused,
        });
    }
    Ok(Receipt { verdicts })
}

/// Hands records to the schedule and to the database; returns when they are on disk.
fn stored(hub: &Hub, agent: &str, arrivals: Vec<Arrival>) -> Result<Vec<Verdict>, RequestError> {
    let verdicts = hub.schedule.deliver(hub.store.as_ref(), agent, arrivals, hub.now())?;
    // What is delivered frees hosts for others, and is to be judged.
    for agent in hub.schedule.wanted(hub.now()) {
        hub.bells.ring(&agent);
    }
    hub.watching.ring();
    Ok(verdicts)
}
