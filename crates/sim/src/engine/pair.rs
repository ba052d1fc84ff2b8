//! The two hosts of a flow.

use std::time::Duration;

use units::MonoTime;

use super::NEVER;
use crate::receiver::{Acknowledgement, Inbox, Receiver};
use crate::sender::{RTO_INITIAL, Sender};

/// A sender and a receiver.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    /// What has come to the receiving host and is not with TCP yet, where that takes time.
    pub(crate) inbox: Option<Inbox>,
    /// When the first segment is sent next; none once the connection stands.
    knocks_at: Option<MonoTime>,
    /// When it was sent last.
    knocked: MonoTime,
    starts: MonoTime,
    pub(crate) established: Option<MonoTime>,
    /// The time stamp of the last acknowledgment that the sender has.
    pub(crate) heard_ms: u32,
}

impl Pair {
    /// Hosts that have not spoken yet, and begin to at `starts`.
    pub(crate) fn new(sender: Sender, receiver: Receiver, inbox: Option<Inbox>, starts: MonoTime) -> Self {
        Self {
            sender,
            receiver,
            inbox,
            knocks_at: Some(starts),
            knocked: starts,
            starts,
            established: None,
            heard_ms: 0,
        }
    }

    /// When one of them does something by itself.
    pub(super) fn due(&self) -> MonoTime {
        let sender = self.knocks_at.unwrap_or_else(|| self.sender.due());
        let host = self.inbox.as_ref().and_then(Inbox::due).unwrap_or(NEVER);
        sender.min(host).min(self.receiver.due().unwrap_or(NEVER))
    }

    /// Whether the first segment of the connection is sent now, for the first time or again.
    pub(super) fn knocks(&mut self, now: MonoTime) -> bool {
        let knocks = self.knocks_at.is_some_and(|at| at <= now);
        if knocks {
            self.knocked = now;
            self.knocks_at = Some(now + RTO_INITIAL);
        }
        knocks
    }

    /// The sender takes what the receiver says. Whether the connection stands since, or everything is acknowledged.
    pub(super) fn hears(&mut self, ack: &Acknowledgement, now: MonoTime) -> bool {
        self.heard_ms = ack.said_ms;
        if self.knocks_at.take().is_some() {
            self.established = Some(now);
            self.sender.established(now, now.since(self.knocked), ack.window);
            return true;
        }
        self.sender.acknowledged(ack, now);
        self.sender.is_done()
    }

    pub(super) fn is_established(&self) -> bool {
        self.established.is_some()
    }

    /// When the connection stood, or when it was first asked for where it does not yet.
    pub(crate) fn began(&self) -> MonoTime {
        self.established.unwrap_or(self.starts)
    }

    /// How long the handshake took.
    pub(crate) fn handshake(&self) -> Option<Duration> {
        self.established.map(|at| at.since(self.starts))
    }

    /// Whether everything that was to be sent has been acknowledged.
    pub(crate) fn is_done(&self) -> bool {
        self.is_established() && self.sender.is_done()
    }
}
