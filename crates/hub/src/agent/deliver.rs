//! Delivery: what is spooled goes to the hub until it is acknowledged.

use std::time::Duration;

use super::backoff::Backoff;
use super::connection::{Call, Connection};
use super::shared::{Shared, random_bits};
use super::spool::{Batch, Spooled};
use crate::api::record::{Delivery, Receipt, Record, Verdict};

/// Delivers until somebody wants to stop; `acknowledged` hears of each record that the hub has.
pub fn deliver(shared: &Shared<'_>, mut connection: Connection, acknowledged: &(dyn Fn(&Record) + Sync)) {
    let mut backoff = Backoff::default();
    let mut is_away = false;
    while !shared.stop.is_stopped() {
        let batch = shared.to_deliver(IDLE);
        if batch.records.is_empty() {
            continue;
        }
        match send(shared, &mut connection, batch, acknowledged) {
            Ok(()) => {
                backoff.reset();
                is_away = false;
            }
            // What is not acknowledged stays in the spool, for the next start.
            Err(_) if shared.stop.is_stopped() => {}
            Err(why) => {
                if !std::mem::replace(&mut is_away, true) {
                    shared.say(&format!("delivery waits: {why}"));
                }
                shared.pause(backoff.next(random_bits()));
            }
        }
    }
}

fn send(
    shared: &Shared<'_>,
    connection: &mut Connection,
    batch: Batch,
    acknowledged: &(dyn Fn(&Record) + Sync),
) -> Result<(), String> {
    let (numbers, records): (Vec<u64>, Vec<Record>) =
        batch.records.into_iter().map(|Spooled { number, record }| (number, record)).unzip();
    let delivery = Delivery { records };
    let call = Call { method: "POST", path: "/api/v1/agent/records", patience: PATIENCE };
    let receipt: Receipt = connection.call(&call, &delivery).map_err(|error| shown(&error))?;
    if receipt.verdicts.len() != numbers.len() {
        return Err("the hub has not said what became of each record".to_owned());
    }
    for ((number, record), verdict) in numbers.into_iter().zip(&delivery.records).zip(receipt.verdicts) {
        match verdict {
            Verdict::Stored | Verdict::Duplicate | Verdict::Unwanted => {
                acknowledged(record);
                shared.spool().remove(number);
            }
            Verdict::Refused { reason } => {
                shared.say(&format!("the hub does not take {}: {reason}", record.name));
                shared.spool().put_aside(number);
            }
        }
    }
    Ok(())
}

/// An error with its causes, in a line.
#[must_use]
pub fn shown(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// How long the hub may take to store a batch.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long nothing is looked for while nothing rings.
const IDLE: Duration = Duration::from_secs(5);
