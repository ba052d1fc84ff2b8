//! The demonstration that a hub without a plan offers.

use super::request::RequestError;
use super::state::Hub;
use crate::api::demonstration::{DemonstrationInfo, DemonstrationKind, DemonstrationState, DemonstrationWish, Wish};
use crate::store::StoreError;

/// How it is: none is offered once there is a plan.
pub(super) fn info(hub: &Hub) -> Result<DemonstrationInfo, StoreError> {
    let found = hub.demonstrations.info(&hub.names);
    if found.state == DemonstrationState::Offered && hub.store.mesh()?.plan.is_some() {
        return Ok(DemonstrationInfo::default());
    }
    Ok(found)
}

pub(super) fn set(hub: &Hub, wish: DemonstrationWish) -> Result<DemonstrationInfo, RequestError> {
    let kind = match wish.wish {
        Wish::Live => DemonstrationKind::Live,
        Wish::Virtual => DemonstrationKind::Virtual,
        Wish::End => {
            hub.demonstrations.end();
            return Ok(info(hub)?);
        }
    };
    if hub.store.mesh()?.plan.is_some() {
        return Err(RequestError::Conflict("this hub has a plan, and shows what that measures".to_owned()));
    }
    hub.demonstrations
        .begin(kind)
        .map_err(|error| RequestError::Conflict(format!("this hub shows no demonstration: {error}")))?;
    Ok(info(hub)?)
}

/// For the log of actions.
pub(super) fn words(wish: DemonstrationWish) -> String {
    match wish.wish {
        Wish::Live => "demonstration begun, live".to_owned(),
        Wish::Virtual => "demonstration begun, in virtual time".to_owned(),
        Wish::End => "demonstration ended".to_owned(),
    }
}
