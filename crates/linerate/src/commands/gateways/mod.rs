//! `linerate gateways`.
//!
//! * [`status`]: what gateways report, and what is wrong with them; [`senders`]: which gateway a report is of;
//!   [`recording`]: what a file says of them
//! * [`lab`]: policies on a real cluster, beside the model of it
//! * [`perf`]: the five numbers that cmsd asks a gateway for; [`sensors`]: where they are from

mod lab;
mod perf;
pub mod recording;
mod senders;
mod sensors;
mod status;

use anyhow::Context;
use gateways::cluster::settings::Reports;
use gateways::cmsd::configuration;
use gateways::policy::{self, definition::Entry};

use super::print;
use crate::cli::Common;
use crate::cli::gateways::GatewaysAction;
use crate::exit::{Complaint, Exit};

/// Does what was asked for.
pub fn run(common: &Common, action: &GatewaysAction) -> anyhow::Result<Exit> {
    match action {
        GatewaysAction::Status(args) => status::run(common, args),
        GatewaysAction::Lab(args) => lab::run(common, args),
        GatewaysAction::Perf(args) => perf::run(args),
        GatewaysAction::Configuration { policy } => configuration_of(policy),
    }
}

fn configuration_of(name: &str) -> anyhow::Result<Exit> {
    let lines = configuration::of(find(name)?, &Reports::default())
        .with_context(|| Complaint::new(Exit::Usage, format!("policy {name} is no configuration of cmsd")))?;
    let gateway = lines.gateway.join("\n").replace("PROGRAM", "/usr/local/bin/linerate gateways perf --rate RATE");
    print(format!("# manager\n{}\n\n# each gateway\n{gateway}\n", lines.manager.join("\n")).as_bytes())
}

/// The policy of a name.
pub fn find(name: &str) -> anyhow::Result<&'static Entry> {
    policy::find(name).ok_or_else(|| {
        Complaint::new(Exit::Usage, format!("there is no policy `{name}`"))
            .hint("`linerate simulate gateways --policies` lists them")
            .into()
    })
}
