//! `linerate test --tool`: another program runs the test.

use measure::session::client::Request;
use measure::stop::Stop;
use measure::tools::arguments::Unable;
use measure::tools::{self, Errand, Tool, ToolError};

use super::attempt::{Attempt, Frame};
use crate::exit::{Complaint, Exit};

/// Runs a test by another program. A failure is part of the run.
pub fn attempt(errand: &Errand, frame: Frame, stop: &Stop) -> anyhow::Result<Attempt> {
    let started = linux::clock::wall_now();
    let driven = tools::run(errand, stop).map_err(|error| complain(errand.tool, error))?;
    Attempt::new(started, driven, frame)
}

/// The request in the words of another program, whose server has a port of its own.
pub fn errand(tool: Tool, request: &Request) -> Errand {
    let port = if request.port == measure::DEFAULT_PORT { tool.usual_port() } else { request.port };
    Errand { tool, host: request.host.clone(), port, spec: request.spec.clone() }
}

fn complain(tool: Tool, error: ToolError) -> anyhow::Error {
    let program = tool.program();
    let complaint = match &error {
        ToolError::Missing { .. } => Complaint::new(Exit::Local, format!("the test cannot be run by {program}"))
            .hint(format!("install it, for example with `apt install {program}`, or leave out --tool")),
        ToolError::Unable(Unable { option, .. }) => {
            Complaint::new(Exit::Usage, format!("the test cannot be run by {program}"))
                .hint(format!("leave out {option}, or leave out --tool: linerate itself can do it"))
        }
        ToolError::NetnsName(_) | ToolError::Netns(_) | ToolError::Start { .. } => {
            Complaint::new(Exit::Local, format!("the test cannot be run by {program}"))
        }
    };
    anyhow::Error::from(error).context(complaint)
}
