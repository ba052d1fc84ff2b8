//! `linerate report`.

use std::path::PathBuf;

use clap::Args;

use super::hub::ConnectArgs;

/// Write the post-mortem of an incident: summary, lead-up, fault, impact, detection, response, recovery, timeline, root cause, recurrence,
/// lessons, actions, filled from the hub's record. A file that is there grows with the record, and what people have edited in it stays.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate report /var/lib/linerate/hub I1798000000-1234
  linerate report /var/lib/linerate/hub I1798000000-1234 --output report.md --html report.html
  linerate report https://hub.example.net:8443 I1798000000-1234 --token view.token > report.md")]
pub struct ReportArgs {
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// Incident by its name
    #[arg(value_name = "INCIDENT")]
    pub incident: String,
    /// Markdown file to write, or to bring up to date [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// HTML file to write: for a browser, and to print
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}
