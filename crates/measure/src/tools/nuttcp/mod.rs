//! nuttcp, from 6.1 on.

mod arguments;

use super::command_line::Unable;
use super::{TestTool, ToolRequest, Version};

/// nuttcp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nuttcp;

impl TestTool for Nuttcp {
    fn program(&self) -> &'static str {
        "nuttcp"
    }

    fn usual_port(&self) -> u16 {
        5000
    }

    fn server(&self) -> &'static str {
        "`nuttcp -S`"
    }

    fn version_option(&self) -> &'static str {
        "-V"
    }

    fn arguments(&self, request: &ToolRequest, version: Version) -> Result<Vec<String>, Unable> {
        arguments::arguments(request, version)
    }
}
