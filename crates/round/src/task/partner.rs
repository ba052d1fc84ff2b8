//! The partner of a flow.

use std::ffi::OsString;
use std::time::Duration;

use measure::stop::Stop;

use super::site::{Site, cannot_start, silence};
use crate::carrier::{Call, Voice};
use crate::program::{OutputEnd, Running};

/// Starts a partner for one test, and waits until it listens. Where the port is taken there is none to start: what has the
/// port may well be a partner, and is asked.
pub(super) fn start<'s>(site: &Site<'s>, limit: Duration, stop: &Stop) -> Result<Option<Running<'s>>, String> {
    let name = site.name;
    let Some(carrier) = site.carrier else {
        return Err(format!("{name}: nothing can be started there, and no partner stands there"));
    };
    let within = format!("{}ms", limit.saturating_add(PATIENCE).as_millis());
    let port = site.port.to_string();
    let arguments = ["serve", "--once", "--no-archive", "--within", &within, "--port", &port].map(OsString::from);
    let call = Call { program: site.program, arguments: &arguments, voice: Voice::Silent };
    let mut partner = Running::start(carrier, &call).map_err(|error| cannot_start(site, &error))?;
    let patience = limit.min(PATIENCE);
    match partner.listen(carrier.clock().now() + patience, stop, |partner| partner.talk().contains(LISTENING)) {
        OutputEnd::Enough => Ok(Some(partner)),
        OutputEnd::Stopped => Err(format!("{name}: was stopped")),
        OutputEnd::Flooded => Err(format!("{name}: printed without end, and was ended")),
        OutputEnd::Overdue => Err(format!("{name}: no partner listens after {}", units::duration::show(patience))),
        OutputEnd::All => match partner.end(None) {
            Ok(said) if said.stderr.contains(TAKEN) => Ok(None),
            Ok(said) => Err(silence(site, &said).0),
            Err(error) => Err(cannot_start(site, &error)),
        },
    }
}

/// What a partner says whose port is taken.
const TAKEN: &str = "another program listens on port";

/// What a partner says once it can be asked.
pub const LISTENING: &str = "listening on";

/// How long a partner may take until it listens. It takes milliseconds, and as long as a login to another machine.
const PATIENCE: Duration = Duration::from_secs(60);
