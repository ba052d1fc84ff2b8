//! The pages of a hub, for browsers of this machine.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use hub::pages::HubSource;
use hub::segments::target::SegmentTarget;
use hub::server::directory::Directory;
use tokio::sync::watch;
use web::site::Site;
use web::source::Source;

use super::files::{complain, no_segments, open};
use crate::exit::{Complaint, Exit};

/// What pages of a hub are made of; [`None`] where the directory is none of a hub.
pub fn source(directory: &Path) -> anyhow::Result<Option<Box<dyn Source>>> {
    let files = Directory::at(directory);
    if !files.is_made() {
        return Ok(None);
    }
    Ok(Some(of_hub(&files)?))
}

fn of_hub(directory: &Directory) -> anyhow::Result<Box<dyn Source>> {
    let shown = directory.file("").display().to_string();
    named(directory, format!("hub in {}", shown.trim_end_matches('/')))
}

/// The same of a directory of a hub, called so.
pub fn named(directory: &Directory, name: String) -> anyhow::Result<Box<dyn Source>> {
    let settings = directory.settings().map_err(|error| complain(error, &directory.file("")))?;
    let target = settings.segments.map(|segments| SegmentTarget::parse(&segments.to)).transpose();
    let target = target.map_err(no_segments)?.map(Arc::new);
    Ok(Box::new(HubSource::new(name, Arc::from(open(directory)?), target).read_ahead()))
}

/// Pages that are served until somebody wants to stop.
pub struct Pages {
    /// Where they are.
    pub address: SocketAddr,
}

impl Pages {
    /// Serves the pages of a hub, on a thread of their own.
    pub fn start(directory: &Directory, address: SocketAddr, stop: watch::Receiver<bool>) -> anyhow::Result<Self> {
        let site = Arc::new(Site::new(of_hub(directory)?, Vec::new()));
        let failed = || Complaint::new(Exit::Local, format!("cannot listen on {address} for pages"));
        let (tell, listens) = channel();
        let serving = thread::Builder::new().name("pages".to_owned()).spawn(move || {
            web::server::serve(&site, address, stop, |address| {
                // Whoever waits for it waits long enough.
                let _ = tell.send(address);
            })
        })?;
        match listens.recv_timeout(PATIENCE) {
            Ok(address) => Ok(Self { address }),
            Err(RecvTimeoutError::Timeout) => Err(failed().into()),
            Err(RecvTimeoutError::Disconnected) => match serving.join() {
                Ok(Err(error)) => Err(anyhow::Error::new(error).context(failed())),
                _ => Err(failed().into()),
            },
        }
    }
}

/// Binding an address takes no time.
const PATIENCE: Duration = Duration::from_secs(10);
