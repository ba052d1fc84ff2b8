//! What the kernels of both hosts would tell of a connection at an instant (`TCP_INFO`), while it runs.

use std::time::Duration;

use units::{ByteCount, DataRate};

use crate::congestion::CaState;
use crate::run::Run;
use crate::sender::Limit;

/// The state of a connection, by the names of `struct tcp_info` where there are such. Counts are since its beginning.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the kernel's names say what they are; include/uapi/linux/tcp.h has them")]
pub struct TcpInfo {
    /// 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub ca_state: u8,
    pub rto: Duration,
    pub snd_mss: u32,
    pub unacked: u32,
    pub sacked: u32,
    pub lost: u32,
    pub retrans: u32,
    pub rtt: Duration,
    pub rttvar: Duration,
    pub min_rtt: Duration,
    pub snd_ssthresh: Option<u32>,
    pub snd_cwnd: u32,
    pub total_retrans: u64,
    pub pacing_rate: DataRate,
    pub bytes_acked: ByteCount,
    pub notsent: ByteCount,
    pub data_segs_out: u64,
    pub busy_time: Duration,
    pub rwnd_limited: Duration,
    pub sndbuf_limited: Duration,
    pub delivered: u64,
    pub delivered_ce: u64,
    pub dsack_dups: u64,
    pub reord_seen: u64,
    pub snd_wnd: ByteCount,
    pub total_rto: u32,
    pub total_rto_time: Duration,
    /// What the sending program has handed to its kernel.
    pub written: ByteCount,
    /// What has come to the receiver in order.
    pub bytes_received: ByteCount,
    /// What the receiving program has not taken of that.
    pub unread: ByteCount,
    /// What the receiver offers.
    pub rcv_wnd: ByteCount,
}

impl Run {
    /// What would be told of a transfer now; [`None`] before its connection stands.
    #[must_use]
    pub fn tcp_info(&self, flow: usize) -> Option<TcpInfo> {
        let now = self.now();
        let pair = self.pair(flow)?;
        pair.established?;
        let (sender, receiver) = (&pair.sender, &pair.receiver);
        let mss = u64::from(sender.mss);
        let bytes = |segments: u32| ByteCount::new(u64::from(segments) * mss);
        let spent = |limit: Limit| sender.spent(now)[limit as usize].1;
        let state = sender.state(now);
        Some(TcpInfo {
            ca_state: match state.ca_state {
                CaState::Open => 0,
                CaState::Disorder => 1,
                CaState::Cwr => 2,
                CaState::Recovery => 3,
                CaState::Loss => 4,
            },
            rto: sender.rtt.timeout(),
            snd_mss: sender.mss,
            unacked: state.out,
            sacked: state.sacked,
            lost: (state.out + state.resent).saturating_sub(state.sacked + sender.in_flight()),
            retrans: state.resent,
            rtt: sender.smoothed_rtt(),
            rttvar: sender.rtt.deviation(),
            min_rtt: sender.min_rtt(),
            snd_ssthresh: sender.ssthresh(),
            snd_cwnd: sender.cwnd(),
            total_retrans: sender.counters.retransmits,
            pacing_rate: state.pacing,
            bytes_acked: sender.acked(),
            notsent: bytes(state.unsent),
            data_segs_out: sender.counters.sent + sender.counters.retransmits,
            busy_time: pair.established.map_or(Duration::ZERO, |at| now.since(at)).saturating_sub(state.idle),
            rwnd_limited: spent(Limit::ReceiveWindow),
            sndbuf_limited: spent(Limit::SendBuffer),
            delivered: state.delivered,
            delivered_ce: sender.counters.marked,
            dsack_dups: sender.counters.twice,
            reord_seen: sender.counters.overtaken,
            snd_wnd: sender.offered(),
            total_rto: sender.counters.timeouts,
            total_rto_time: state.after_timeouts,
            written: bytes(state.written),
            bytes_received: bytes(receiver.next()),
            unread: bytes(receiver.unread()),
            rcv_wnd: ByteCount::new(receiver.allowed()),
        })
    }
}
