//! iperf3, from 3.7 on.

mod arguments;

use super::command_line::Unable;
use super::{TestTool, ToolRequest, Version};

/// iperf3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Iperf3;

impl TestTool for Iperf3 {
    fn program(&self) -> &'static str {
        "iperf3"
    }

    fn usual_port(&self) -> u16 {
        crate::DEFAULT_PORT
    }

    fn server(&self) -> &'static str {
        "`linerate serve` or `iperf3 -s`"
    }

    fn version_option(&self) -> &'static str {
        "--version"
    }

    fn arguments(&self, request: &ToolRequest, version: Version) -> Result<Vec<String>, Unable> {
        arguments::arguments(request, version)
    }
}
