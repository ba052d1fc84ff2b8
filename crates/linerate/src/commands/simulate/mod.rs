//! `linerate simulate`: what a path should do.
//!
//! | file | what it does |
//! |---|---|
//! | `flow`, `flows`, `settings` | one transfer, several over one path; what was typed of them |
//! | `source`, `from_run`, `path_file` | where settings are from |
//! | `beside`, `seeds`, `effect`, `budget` | what is said about the result, and how much is simulated for that |
//! | `pcap` | its packets as a capture file |
//! | `sweep`, `merge`, `result`, `journal`, `work`, `calibration` | experiments of many transfers |
//! | `tune` | the search for settings |
//! | `gateways` | storage gateways behind a balancer |

mod beside;
mod budget;
mod calibration;
mod effect;
mod flow;
mod flows;
mod from_run;
mod gateways;
mod journal;
mod merge;
mod path_file;
mod pcap;
mod result;
mod seeds;
mod settings;
mod source;
mod sweep;
mod tune;
mod work;

use super::print;
use crate::cli::Common;
use crate::cli::simulate::Simulate;
use crate::exit::Exit;

pub fn run(common: &Common, what: &Simulate) -> anyhow::Result<Exit> {
    match what {
        Simulate::Flow(args) => flow::run(common, args),
        Simulate::Gateways(args) => gateways::run(common, args),
        Simulate::Sweep(args) => sweep::run(common, args),
        Simulate::Tune(args) => tune::run(common, args),
        Simulate::Merge(args) => merge::run(common, args),
        Simulate::Show(args) => result::run(common, args),
    }
}
