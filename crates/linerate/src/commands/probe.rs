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
use model::run::{Failure, FailureKind, Outcome};

use super::attempt::stop_on_signals;
use super::hints::of_echoes;
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
    let unanswered = unanswered(&finding);
    let Some(failure) = failure(&finding).or(unanswered.as_ref()) else { return Ok(Exit::Success) };
    show::error::print_failure(failure, &hints_of(failure, what));
    Ok(Exit::of_outcome(&Outcome::Failed(failure.clone())))
}

/// A host of which not one echo came back, in a series that nobody stopped.
fn unanswered(finding: &Finding) -> Option<Failure> {
    let Finding::Echo(found) = finding else { return None };
    let rtt = &found.summary.rtt;
    let is_silent = rtt.sent.get() > 0 && rtt.lost == rtt.sent;
    let detail = match found.summary.reported.get() {
        0 => format!("{} does not answer echoes", found.subject.target),
        _ => format!(
            "{} does not answer echoes; a router or this host says that it cannot be reached",
            found.subject.target
        ),
    };
    is_silent.then_some(Failure { kind: FailureKind::Unreachable, detail })
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

/// No probe needs a test partner, so there is nothing to start there.
fn hints_of(failure: &Failure, what: &PathProbe) -> Vec<String> {
    match (what, failure.kind) {
        (PathProbe::Http(_), _) => Vec::new(),
        (_, FailureKind::Local) if failure.detail.contains(PING_GROUPS) => vec![
            format!(
                "as root: sysctl -w {PING_GROUPS}='0 2147483647' lets everybody, or `setcap cap_net_raw+ep` the program"
            ),
            "in a network namespace of your own you may: unshare -Urn".to_owned(),
        ],
        _ => of_echoes(failure, what.host()),
    }
}

/// The setting that says who may speak ICMP without a right of their own.
const PING_GROUPS: &str = "net.ipv4.ping_group_range";

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
