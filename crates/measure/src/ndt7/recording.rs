//! What the kernel and the program counted of a test, moment by moment.

use std::os::fd::AsFd;
use std::time::Duration;

use linux::clock;
use linux::tcp_info::TcpInfo;
use units::MonoTime;

/// Samples of one connection. A test of 13 s has 1,300 of them, 0.7 MB.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(super) at: Vec<MonoTime>,
    /// Bytes that had passed the socket in the direction of the test.
    pub(super) bytes: Vec<u64>,
    pub(super) infos: Vec<TcpInfo>,
    spacing: Duration,
    due: MonoTime,
}

impl Recording {
    pub(super) fn new(start: MonoTime, spacing: Duration) -> Self {
        let spacing = spacing.max(LEAST_SPACING);
        Self { at: Vec::new(), bytes: Vec::new(), infos: Vec::new(), spacing, due: start }
    }

    /// When the next sample is due.
    pub(super) const fn due(&self) -> MonoTime {
        self.due
    }

    /// Takes a sample. One that the kernel refuses is left out, so that rows stay whole.
    pub(super) fn take(&mut self, socket: impl AsFd, bytes: u64) {
        let now = clock::now();
        self.due = now + self.spacing;
        if let Ok(info) = TcpInfo::read(socket.as_fd()) {
            self.at.push(now);
            self.bytes.push(bytes);
            self.infos.push(info);
        }
    }

    /// Leaves a sample out.
    pub(super) fn pass(&mut self) {
        self.due = clock::now() + self.spacing;
    }

    /// What the kernel reported last.
    pub(super) fn last(&self) -> Option<&TcpInfo> {
        self.infos.last()
    }
}

/// More samples say no more, and a test has a bounded number of them.
const LEAST_SPACING: Duration = Duration::from_millis(1);
