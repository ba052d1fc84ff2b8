//! From the text of a file to a plan.
//!
//! | file | what it has |
//! |---|---|
//! | `mod` | the whole file |
//! | `text` | its tables, as written |
//! | `names` | what is defined, and complaints |
//! | `host`, `between`, `group`, `test`, `operation` | the tables, as read |

mod between;
pub(crate) mod group;
mod host;
pub(crate) mod names;
mod operation;
pub(crate) mod test;
mod text;

use document::{Complaint, Complaints, DocumentError, Reading, Source};

use crate::plan::{Plan, Times};
use crate::task::text::Tables;
use names::Names;
use text::{PlanText, TimesText};

/// Why there is no plan to be had.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The file is longer than any plan is.
    #[error("{file} has more than {limit} bytes, which no plan needs")]
    TooLarge {
        /// Name by which complaints refer to the file.
        file: String,
        /// Longest file that is read, in bytes.
        limit: usize,
    },
    /// What the file says cannot be.
    #[error("{}", document::shown(.0))]
    Refused(Vec<Complaint<DocumentError>>),
}

impl PlanError {
    /// What to do about it, a line each.
    #[must_use]
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::TooLarge { .. } => Vec::new(),
            Self::Refused(complaints) => document::hints(complaints),
        }
    }
}

impl Plan {
    /// Reads a plan from a text; `file` stands for it in complaints.
    ///
    /// # Errors
    /// [`PlanError::Refused`] with all that is wrong.
    pub fn parse(file: &str, text: &str) -> Result<Self, PlanError> {
        if text.len() > LONGEST_FILE {
            return Err(PlanError::TooLarge { file: file.to_owned(), limit: LONGEST_FILE });
        }
        plan(&Source { file: file.to_owned(), text: text.to_owned() })
    }
}

fn plan(source: &Source) -> Result<Plan, PlanError> {
    let mut reading = Reading::new(source);
    let texts = reading.read().and_then(|text: PlanText| Some((text, reading.read()?)));
    // Of a file with lines that are no TOML nobody knows what is missing.
    let texts = texts.filter(|_| reading.is_toml());
    let desk: Complaints<'_, DocumentError> = reading.complaints();
    let Some((text, tasks)): Option<(PlanText, Tables)> = texts else {
        return Err(PlanError::Refused(desk.into_all()));
    };
    let mut names = Names::new(desk, &text);
    let networks = host::networks(text.networks, &names);
    let hosts = host::hosts(text.hosts, &mut names);
    let segments = between::segments(text.segments, &mut names);
    let ways = between::ways(text.ways, &segments, &mut names);
    let groups = group::groups(text.groups, &hosts, &mut names);
    let tests =
        if text.tests.is_empty() { test::usual(&groups) } else { test::tests(text.tests, &tasks.tests, &mut names) };
    let expectations = test::expectations(&text.expectations, &mut names);
    let maintenance = operation::maintenance(text.maintenance, &mut names);
    let budgets = operation::budgets(text.budgets, &mut names);
    let TimesText { every, light_every, gap } = text.times;
    let times = Times { every, light_every, gap: gap.unwrap_or(Times::default().gap) };
    let plan = Plan {
        title: text.title,
        about: text.about.map(|about| about.split_whitespace().collect::<Vec<_>>().join(" ")),
        times,
        hosts,
        networks,
        segments,
        ways,
        groups,
        tests,
        expectations,
        maintenance,
        budgets,
    };
    if names.desk.is_content() {
        test::check_all(&plan, &mut names);
    }
    names.desk.close(plan).map_err(PlanError::Refused)
}

/// A mesh of a hundred hosts with attributes has a thirtieth of this.
const LONGEST_FILE: usize = 1 << 20;
