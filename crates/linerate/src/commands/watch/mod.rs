//! `linerate watch`.

mod bursts;
mod drops;
mod flows;
mod int;
mod transfers;

use crate::cli::Common;
use crate::cli::watch::WatchWhat;
use crate::exit::Exit;

pub fn run(common: &Common, what: &WatchWhat) -> anyhow::Result<Exit> {
    match what {
        WatchWhat::Flows(args) => flows::run(common, args),
        WatchWhat::Bursts(args) => bursts::run(common, args),
        WatchWhat::Int(args) => int::run(common, args),
        WatchWhat::Drops(args) => drops::run(common, args),
        WatchWhat::Transfers(args) => transfers::run(common, args),
    }
}
