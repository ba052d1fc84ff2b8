//! The handshake: which options both hosts have agreed on, and at which of them the capture was taken.

use super::From;
use crate::decode::{Segment, TcpOptions, flag};
use crate::direction::Direction;

/// See the module.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Handshake {
    pub(crate) client_isn: Option<u32>,
    pub(crate) first_syn_ns: Option<i64>,
    syn_ns: Option<i64>,
    syn_ack_ns: Option<i64>,
    pub(crate) syns: u32,
    /// From SYN to SYN/ACK: from the capture to the server and back.
    pub(crate) to_server_ns: Option<i64>,
    /// From SYN/ACK to ACK: from the capture to the client and back.
    pub(crate) to_client_ns: Option<i64>,
    client: TcpOptions,
    server: TcpOptions,
    /// Nothing more is expected of it.
    pub(crate) is_settled: bool,
    pub(crate) sack_permitted: Option<bool>,
}

/// Bytes of time stamps in each segment.
const STAMP_BYTES: u32 = 12;
/// What an end of the path that is nearer than this share of the RTT counts as.
const NEAR: i64 = 10;
/// A handshake that was slower than another answer by a part of so many was slow by itself; less is jitter.
const SLOWER: i64 = 4;

impl Handshake {
    pub(crate) fn take(&mut self, segment: &Segment, from: From, own: &mut Direction, other: &mut Direction) {
        let time_ns = segment.time_ns;
        match (segment.has(flag::SYN), segment.has(flag::ACK)) {
            (true, false) => {
                self.client_isn = Some(segment.seq);
                self.first_syn_ns = self.first_syn_ns.or(Some(time_ns));
                self.syn_ns = Some(time_ns);
                self.syns += 1;
                self.client = segment.options;
            }
            (true, true) => {
                self.server = segment.options;
                // A SYN that was sent twice may have been answered once: which of them, nobody knows.
                if self.syns == 1 && self.syn_ack_ns.is_none() {
                    self.to_server_ns = self.syn_ns.map(|syn_ns| time_ns - syn_ns);
                }
                self.syn_ack_ns = Some(time_ns);
            }
            (false, true) if from == From::Client => {
                let Some(syn_ack_ns) = self.syn_ack_ns else {
                    self.is_settled = self.client_isn.is_none();
                    return;
                };
                self.to_client_ns = Some(time_ns - syn_ack_ns);
                self.settle(own, other);
                if let Some(first_ns) = self.first_syn_ns {
                    own.handshake(first_ns, time_ns);
                }
            }
            _ => self.is_settled = self.client_isn.is_none() && !segment.has(flag::SYN),
        }
    }

    fn settle(&mut self, client: &mut Direction, server: &mut Direction) {
        self.is_settled = true;
        if self.client_isn.is_none() {
            return;
        }
        let has_stamps = self.client.timestamps.is_some() && self.server.timestamps.is_some();
        let is_permitted = self.client.sack_permitted && self.server.sack_permitted;
        self.sack_permitted = (is_permitted || !self.client.is_cut && !self.server.is_cut).then_some(is_permitted);
        let stated = [self.client.mss, self.server.mss].into_iter().flatten().min();
        // A SYN without the option allows 536 bytes (RFC 9293 §3.7.1), but then nobody keeps to it: better none.
        let mss = stated.map_or(0, |mss| u32::from(mss).saturating_sub(if has_stamps { STAMP_BYTES } else { 0 }));
        let scales = self.client.window_scale.zip(self.server.window_scale);
        // What the snap length has cut off may have been there.
        let is_cut = self.client.is_cut || self.server.is_cut;
        for (direction, scale) in [(&mut *client, scales.map(|both| both.1)), (&mut *server, scales.map(|both| both.0))]
        {
            direction.counts.mss = if is_cut && !has_stamps { 0 } else { mss };
            direction.window.scale = scale.or((!is_cut).then_some(0));
        }
        if let Some((to_server_ns, to_client_ns)) = self.to_server_ns.zip(self.to_client_ns) {
            client.set_lag(to_client_ns, to_client_ns + to_server_ns);
            server.set_lag(to_server_ns, to_client_ns + to_server_ns);
        }
    }
}

impl Direction {
    /// From the capture to the sender of the data and back, of an RTT.
    fn set_lag(&mut self, lag_ns: i64, rtt_ns: i64) {
        self.has_sender_lag = true;
        self.sender_lag_ns = if lag_ns * NEAR < rtt_ns || rtt_ns < 1_000_000 { 0 } else { lag_ns };
    }

    /// The sender has answered something else sooner than the handshake: a SYN may have waited for a host, an address or a balancer.
    pub(super) fn bound_lag(&mut self, lag_ns: i64) {
        if self.has_sender_lag && lag_ns.saturating_mul(SLOWER) < self.sender_lag_ns.saturating_mul(SLOWER - 1) {
            let (known_ns, slower_ns) = (if self.rtt.samples > 0 { self.rtt.min_ns } else { 0 }, self.sender_lag_ns);
            self.set_lag(lag_ns, known_ns + lag_ns);
            self.hears_sooner(slower_ns - self.sender_lag_ns);
        }
    }

    /// The same by time stamps: the least is nearest to the truth, as a sender may have nothing to send.
    pub(super) fn take_lag(&mut self, lag_ns: i64) {
        self.lag.take(lag_ns);
        self.bound_lag(lag_ns);
        if self.has_sender_lag || self.rtt.samples == 0 {
            return;
        }
        if self.least_lag_ns.is_none_or(|least_ns| lag_ns < least_ns) {
            self.least_lag_ns = Some(lag_ns);
            let rtt_ns = self.rtt.min_ns + lag_ns;
            self.sender_lag_ns = if lag_ns * NEAR < rtt_ns || rtt_ns < 1_000_000 { 0 } else { lag_ns };
        }
    }

    /// Whether an acknowledgment of this direction says anything: a peer that sends no data acknowledges nothing.
    #[inline]
    pub(super) fn expects(&self, segment: &Segment) -> bool {
        // The first one has the window that the sender may begin with.
        self.counts.data_packets > 0 || self.counts.acks == 0 || self.is_behind(segment.ack)
    }
}

saved!(Handshake {
    client_isn,
    first_syn_ns,
    syn_ns,
    syn_ack_ns,
    syns,
    to_server_ns,
    to_client_ns,
    client,
    server,
    is_settled,
    sack_permitted
});
