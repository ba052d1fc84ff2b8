//! `linerate probe`.

use measure::download::download;
use measure::echo::hops::trace;
use measure::echo::path_mtu::path_mtu;
use measure::echo::series::series;
use measure::stop::Stop;
use model::played::Finding;
use model::probe::download::DownloadSpec;
use model::probe::echo::EchoSpec;
use model::probe::hops::HopsSpec;
use model::probe::path_mtu::PathMtuSpec;
use model::run::{Failure, Outcome};

use super::attempt::stop_on_signals;
use super::hints::hints;
use super::probe_place::within;
use super::{print, probe_sessions};
use crate::cli::Common;
use crate::cli::probe::{PathProbe, Probe, WayArgs};
use crate::exit::Exit;
use crate::show;

pub fn run(common: &Common, what: &Probe) -> anyhow::Result<Exit> {
    let stop = stop_on_signals()?;
    let what = match what {
        Probe::Owamp(args) => return probe_sessions::one_way(common, args, &stop),
        Probe::Twamp(args) => return probe_sessions::two_way(common, args, &stop),
        #[cfg(feature = "ndt7")]
        Probe::Ndt(args) => return super::probe_ndt::run(common, args, &stop),
        Probe::Path(what) => what,
    };
    let finding = within(what.way(), || ask(what, &stop))?;
    if common.json {
        // Documents of their own, a line each: each file that is fetched is one.
        print(&show::probe::documents(&finding)?)?;
    } else {
        print(show::probe::text(&finding).as_bytes())?;
    }
    let Some(failure) = failure(&finding) else { return Ok(Exit::Success) };
    show::error::print_failure(failure, &hints_of(failure, what));
    Ok(Exit::of_outcome(&Outcome::Failed(failure.clone())))
}

fn ask(what: &PathProbe, stop: &Stop) -> Finding {
    let family = what.way().family();
    match what {
        PathProbe::Ping(args) => {
            let spec = EchoSpec {
                count: args.count,
                interval: args.interval,
                payload_bytes: u16::try_from(args.size.get()).unwrap_or(u16::MAX),
                family,
                ..EchoSpec::default()
            };
            Finding::Echo(series(&args.host, &spec, stop))
        }
        PathProbe::Mtu(args) => {
            Finding::PathMtu(path_mtu(&args.host, &PathMtuSpec { family, ..PathMtuSpec::default() }, stop))
        }
        PathProbe::Hops(args) => Finding::Hops(trace(&args.host, &HopsSpec { family, ..HopsSpec::default() }, stop)),
        PathProbe::Http(args) => {
            let spec = DownloadSpec { family, ..DownloadSpec::of(args.url.clone()) };
            let mut downloads = Vec::new();
            // The first is a result even where the wish to stop came before it.
            while downloads.is_empty() || downloads.len() < args.count as usize && !stop.is_stopped() {
                downloads.push(download(&spec, stop));
            }
            Finding::Downloads(downloads)
        }
    }
}

fn failure(finding: &Finding) -> Option<&Failure> {
    let of = |outcome| match outcome {
        &Outcome::Complete => None,
        Outcome::Failed(failure) => Some(failure),
    };
    match finding {
        Finding::Echo(found) => of(&found.outcome),
        Finding::PathMtu(found) => of(&found.outcome),
        Finding::Hops(found) => of(&found.outcome),
        Finding::Downloads(found) => found.iter().find_map(|found| of(&found.outcome)),
        Finding::Run(_) | Finding::Nothing { .. } => None,
    }
}

/// A server of files is no test partner, so there is nothing to start there.
fn hints_of(failure: &Failure, what: &PathProbe) -> Vec<String> {
    match what {
        PathProbe::Http(_) => Vec::new(),
        PathProbe::Ping(_) | PathProbe::Mtu(_) | PathProbe::Hops(_) => hints(failure, what.host(), None),
    }
}

impl PathProbe {
    fn way(&self) -> &WayArgs {
        match self {
            Self::Ping(args) => &args.way,
            Self::Mtu(args) | Self::Hops(args) => &args.way,
            Self::Http(args) => &args.way,
        }
    }

    fn host(&self) -> &str {
        match self {
            Self::Ping(args) => &args.host,
            Self::Mtu(args) | Self::Hops(args) => &args.host,
            Self::Http(args) => &args.url,
        }
    }
}
