//! One fix between its first change and its end: applied, then confirmed or taken back.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use host::helper::{AskError, Client, Fixed};
use model::host::fix::Step;
use model::host::fix::journal::{Because, Entry, FixId, State};
use model::host::fix::talk::{Order, Others, RefusalKind};

use super::helper::Helper;
use crate::exit::{Complaint, Exit};

/// Speaks to the helper, over a new connection for each question.
pub struct Session {
    helper: Helper,
    steps: Vec<Step>,
    reason: String,
}

impl Session {
    /// For these steps.
    pub fn new(socket: Option<&PathBuf>, steps: Vec<Step>, reason: String) -> anyhow::Result<Self> {
        Ok(Self { helper: Helper::reach(socket)?, steps, reason })
    }

    /// Applies all steps. They are taken back after `confirm_within` unless [`Session::confirm`] comes first.
    pub fn apply(&self, confirm_within: Duration) -> anyhow::Result<Fixed> {
        let seconds = u32::try_from(confirm_within.as_millis().div_ceil(1_000)).unwrap_or(u32::MAX);
        let order =
            Order { steps: self.steps.clone(), reason: self.reason.clone(), confirm_within_s: Some(seconds.max(1)) };
        self.client()?.apply(order).map_err(complain)
    }

    /// Keeps a fix, over a connection that is made for it.
    pub fn confirm(&self, fix: FixId) -> anyhow::Result<Fixed> {
        self.client()?.confirm(fix).map_err(complain)
    }

    /// Takes a fix back.
    pub fn undo(&self, fix: Option<FixId>, others: Others) -> anyhow::Result<Fixed> {
        self.client()?.undo(fix, others).map_err(complain)
    }

    /// The fixes of this host.
    pub fn journal(&self) -> anyhow::Result<Vec<Entry>> {
        self.client()?.journal().map_err(complain)
    }

    fn client(&self) -> anyhow::Result<Client> {
        self.helper.connect()
    }
}

/// Whether a fix was applied and every setting read back as it had been before.
pub fn is_without_effect(fixed: &Fixed) -> bool {
    fixed.entry.state == State::Undone { because: Because::NothingChanged }
}

/// What the helper refuses, with its ways out.
fn complain(error: AskError) -> anyhow::Error {
    let AskError::Refused(refusal) = error else {
        return anyhow::Error::from(error).context(Complaint::new(Exit::Local, "the helper does not answer"));
    };
    let exit = match refusal.kind {
        RefusalKind::Invalid => Exit::Usage,
        RefusalKind::Absent => Exit::NotFound,
        RefusalKind::Busy => Exit::Busy,
        RefusalKind::Denied => Exit::Refused,
        RefusalKind::Unsupported | RefusalKind::Failed | RefusalKind::Stuck | RefusalKind::Changed => Exit::Local,
    };
    let mut complaint = Complaint::new(exit, refusal.reason);
    if refusal.kind == RefusalKind::Changed {
        complaint = complaint.hint("`linerate host undo --overwrite` writes the old values all the same");
    }
    refusal.hints.into_iter().fold(complaint, Complaint::hint).into()
}

/// Takes a fix back where nothing more can be asked: what fails is told with what else would do it.
pub fn take_back(session: &Session, fix: FixId) -> anyhow::Result<()> {
    let undone = session.undo(Some(fix), Others::Keep);
    undone.map(drop).with_context(|| {
        Complaint::new(Exit::Local, format!("fix {fix} is still there"))
            .hint(format!("`linerate host undo {fix}` tries again; so does a helper that starts anew"))
    })
}
