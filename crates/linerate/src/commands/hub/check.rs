//! A hub as a monitoring system counts it.

use std::path::Path;

use hub::api::mesh::{IncidentList, Pairs, SeriesInfo, SeriesState};
use hub::server::directory::Directory;
use hub::trust::token::Purpose;
use linux::clock;
use mesh::incident::{Incident, Status};
use mesh::notify;

use super::mesh::connect;
use crate::cli::check::CheckArgs;
use crate::cli::hub::ConnectArgs;
use crate::show::check::Health;

/// Whether what was named is a hub: by its address, or by its directory.
pub fn is_hub(what: &Path) -> bool {
    what.to_string_lossy().starts_with("https://") || Directory::at(what).is_made()
}

/// What a hub that runs says of its mesh, or of one host.
pub fn health(what: &Path, args: &CheckArgs) -> anyhow::Result<Health> {
    let named = ConnectArgs { hub: what.to_string_lossy().into_owned(), token: args.token.clone() };
    let mut hub = connect(&named, Purpose::View)?;
    let incidents: IncidentList = hub.get("/api/v1/incidents")?;
    let pairs: Pairs = hub.get("/api/v1/pairs")?;
    let is_asked = |host: &String| args.host.as_ref().is_none_or(|asked| asked == host);
    let mut health = Health::default();
    for incident in incidents.incidents.iter().filter(|incident| incident.hosts.iter().any(is_asked)) {
        add_incident(&mut health, incident);
    }
    for info in pairs.series.iter().filter(|info| is_asked(&info.series.from) || is_asked(&info.series.to)) {
        add_series(&mut health, info);
    }
    Ok(health)
}

fn add_incident(health: &mut Health, incident: &Incident) {
    let text = format!("{}: {}", incident.id, notify::subject(incident));
    let is_silent = incident.silent_until.is_some_and(|until| until > clock::wall_now());
    let is_known = incident.timeline.iter().any(|entry| entry.occurrence.is_acknowledgement());
    match incident.status {
        Status::Closed | Status::Verified => {}
        Status::Fixed | Status::Acknowledged => health.warning.push(text),
        Status::Open | Status::Explained if is_silent || is_known => health.warning.push(text),
        _ => health.critical.push(text),
    }
}

fn add_series(health: &mut Health, info: &SeriesInfo) {
    let counts = &mut health.series;
    match info.state {
        SeriesState::Good => counts.good += 1,
        SeriesState::Worse => counts.worse += 1,
        SeriesState::Suspect => counts.suspect += 1,
        SeriesState::Learning => counts.learning += 1,
        SeriesState::Stale => {
            counts.stale += 1;
            let series = &info.series;
            health.warning.push(format!("{} to {}, {} {}: stale", series.from, series.to, series.test, series.metric));
        }
        SeriesState::NoData => {}
    }
}
