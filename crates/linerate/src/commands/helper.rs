//! `linerate helper`.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use anyhow::Context;
use host::fix::FixError;
use host::helper::policy::group_number;
use host::helper::{Options, Policy, SYSTEM_SOCKET, ServeError, Server, default_state, own_socket};
use linux::namespaces::process::leave_terminal;
use model::host::fix::journal::{Entry, State};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::cli::Common;
use crate::cli::helper::HelperArgs;
use crate::exit::{Complaint, Exit};

pub fn run(common: &Common, args: &HelperArgs) -> anyhow::Result<Exit> {
    let state = args.state.clone().unwrap_or_else(default_state);
    let socket = args
        .socket
        .clone()
        .unwrap_or_else(|| if args.started { own_socket(&state) } else { PathBuf::from(SYSTEM_SOCKET) });
    let starter = args.started.then(starter).transpose()?;
    let policy = Policy { group: args.group.as_deref().map(group).transpose()?, namespaces: args.netns.clone() };
    let server = Server::start(Options { state, socket: socket.clone(), policy, starter }).map_err(complain)?;
    for entry in server.recovered() {
        tell(&recovered(entry));
    }
    for what in server.unreadable() {
        tell(&format!("an entry of the journal cannot be read, so what its fix has changed is not known: {what}"));
    }
    if !common.quiet && !args.started {
        tell(&format!("listens at {}", socket.display()));
    }
    let stop = server.stop();
    let (mut came, comes) = UnixStream::pair().context("cannot wait for signals")?;
    // A fix that cuts the connection over which it was asked for must outlive it, to be taken back.
    let signals: &[i32] = if args.started { &[SIGTERM] } else { &[SIGINT, SIGTERM, SIGHUP] };
    for signal in signals {
        signal_hook::low_level::pipe::register(*signal, comes.try_clone()?).context("cannot wait for signals")?;
    }
    std::thread::spawn(move || {
        while came.read(&mut [0]).is_err_and(|error| error.kind() == io::ErrorKind::Interrupted) {}
        stop.now();
    });
    server.run().map_err(complain)?;
    Ok(Exit::Success)
}

/// The connection to who has started this process.
fn starter() -> anyhow::Result<UnixStream> {
    leave_terminal();
    let handed = io::stdin().as_fd().try_clone_to_owned();
    let handed = handed.context(Complaint::new(Exit::Usage, "--started is for commands of this program"))?;
    Ok(handed.into())
}

fn group(name: &str) -> anyhow::Result<u32> {
    let groups = std::fs::read_to_string("/etc/group").unwrap_or_default();
    let unknown = || Complaint::new(Exit::Usage, format!("there is no group {name}")).hint("`groupadd` makes one");
    group_number(name, &groups).ok_or_else(|| unknown().into())
}

/// Whoever started this process may be gone, and standard error with them.
fn tell(words: &str) {
    let _ = writeln!(io::stderr(), "linerate helper: {words}");
}

fn recovered(entry: &Entry) -> String {
    match &entry.state {
        State::GoneWithBoot => format!("fix {} went with an earlier boot", entry.fix),
        State::Stuck { left } => {
            format!("fix {} of an earlier helper is not undone in whole: {}", entry.fix, left.join("; "))
        }
        _ => format!("fix {} of an earlier helper was not confirmed and is undone", entry.fix),
    }
}

fn complain(error: ServeError) -> anyhow::Error {
    let complaint = match &error {
        ServeError::Fix(FixError::Locked { .. }) => Complaint::new(Exit::Busy, "a helper is at work already")
            .hint("each directory of old values has one helper; --state names another"),
        ServeError::Fix(_) => Complaint::new(Exit::Local, "the helper cannot keep old values")
            .hint("run it as root, or name a directory of your own with --state"),
        ServeError::Listen { .. } => Complaint::new(Exit::Local, "the helper cannot be asked")
            .hint("run it as root, or name a socket of your own with --socket"),
        ServeError::Wait(_) => Complaint::new(Exit::Local, "the helper had to end"),
    };
    anyhow::Error::from(error).context(complaint)
}
