//! `linerate host watch`.

use archive::changes::watched::LockError;
use host::watch::{self, Namespaces, Options, WatchError, WatchEvent};
use model::host::change::LoggedChange;

use crate::cli::Common;
use crate::cli::host::watch::WatchArgs;
use crate::commands::attempt::stop_on_signals;
use crate::commands::{archive as kept, print};
use crate::exit::{Complaint, Exit};
use crate::show;

pub fn run(common: &Common, args: &WatchArgs) -> anyhow::Result<Exit> {
    let mut archive = kept::open(common)?;
    let options = Options {
        interval: args.interval,
        reach: if args.all_netns { Namespaces::All } else { Namespaces::Own },
        ..Options::default()
    };
    let stop = stop_on_signals()?;
    let mut told = |said: WatchEvent<'_>| match said {
        WatchEvent::Began { namespaces, settings, knows_writers } if !common.quiet => {
            eprintln!("{}", show::host::log::began(namespaces, settings, knows_writers));
        }
        WatchEvent::Entered(change) if args.print => entered(common, change),
        WatchEvent::Warning(words) => eprintln!("warning: {words}"),
        WatchEvent::Began { .. } | WatchEvent::Entered(_) => {}
    };
    watch::watch(&mut archive, &options, &stop.flag(), &mut told).map_err(complain)?;
    Ok(Exit::Success)
}

/// Whoever reads the lines may go; the log is written all the same.
fn entered(common: &Common, change: &LoggedChange) {
    let line = if common.json {
        show::json::document(change).unwrap_or_default()
    } else {
        format!("{}\n", show::host::log::line(change)).into_bytes()
    };
    let _ = print(&line);
}

fn complain(error: WatchError) -> anyhow::Error {
    let complaint = match &error {
        WatchError::Lock(LockError::Taken { .. }) => Complaint::new(Exit::Local, "this host is watched already")
            .hint("`linerate host log` shows what the other one enters; --archive names another log"),
        _ => Complaint::new(Exit::Local, "this host cannot be watched"),
    };
    anyhow::Error::new(error).context(complaint)
}
