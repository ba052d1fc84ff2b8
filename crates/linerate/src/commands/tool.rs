//! `linerate test --tool`: another program runs the test.

use measure::session::client::Request;
use measure::stop::Stop;
use measure::tools::command_line::Unable;
use measure::tools::{self, Tool, ToolError, ToolRequest};

use super::attempt::{Attempt, Frame};
use crate::exit::{Complaint, Exit};

/// Runs a test by another program. A failure is part of the run.
pub fn attempt(request: &ToolRequest, frame: Frame, stop: &Stop) -> anyhow::Result<Attempt> {
    let started = linux::clock::wall_now();
    let outcome = tools::run(request, stop).map_err(|error| complain(request.tool, error))?;
    Attempt::new(started, outcome, frame)
}

/// The request in the words of another program, whose server has a port of its own.
pub fn request_of(tool: Tool, request: &Request) -> ToolRequest {
    let port = if request.port == measure::DEFAULT_PORT { tool.usual_port() } else { request.port };
    ToolRequest { tool, host: request.host.clone(), port, spec: request.spec.clone() }
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
