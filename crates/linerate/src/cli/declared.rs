//! What a user knows of an imported test and its output does not say.

use std::time::Duration;

use clap::Args;
use units::{DataRate, Mss};

use super::values;

/// Facts of the path and the sender, for logs of other tools.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "What the log does not say")]
pub struct DeclaredArgs {
    /// RTT of the idle path
    #[arg(long, value_parser = values::span_above_zero, value_name = "TIME")]
    pub rtt: Option<Duration>,
    /// Line rate of the path
    #[arg(long, value_parser = values::rate, value_name = "RATE")]
    pub line_rate: Option<DataRate>,
    /// Congestion control of the sender, by its kernel name
    #[arg(long, value_name = "NAME")]
    pub cca: Option<String>,
    /// Payload of a full segment
    #[arg(long, value_parser = values::mss, value_name = "BYTES")]
    pub mss: Option<Mss>,
}

impl DeclaredArgs {
    /// As the runs keep them; `expected` is the goodput that `--expect` declares.
    pub fn facts(&self, expected: Option<DataRate>) -> import::round::UserFacts {
        import::round::UserFacts {
            declared: model::run::Declared {
                rtt: self.rtt,
                expected,
                mss: self.mss.map(Mss::get),
                congestion_control: self.cca.clone(),
            },
            line_rate: self.line_rate,
        }
    }
}
