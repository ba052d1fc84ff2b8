//! The host that serves.

use std::io::{BufRead, Read, Write};

use anyhow::Context;
use measure::serve::{Config, Event, serve};
use measure::stop::Stop;

use super::network;
use crate::exit::Exit;

/// Waits for the cable, serves until the other host ends.
pub fn run() -> anyhow::Result<Exit> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).context("the other host is gone")?;
    network::plug_in(network::FAR)?;
    let stop = Stop::default();
    let ended = stop.clone();
    std::thread::Builder::new().name("hang-up".to_owned()).spawn(move || {
        // The end of the stream is the end of the other host.
        let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
        ended.stop();
    })?;
    let config = Config { port: measure::DEFAULT_PORT, ..Config::default() };
    serve(&config, &stop, &|event| {
        if matches!(event, Event::Listening { .. }) {
            // The other host waits for this line; where it is gone, the thread above ends us.
            let _ = writeln!(std::io::stdout(), "listening");
        }
    })?;
    Ok(Exit::Success)
}
