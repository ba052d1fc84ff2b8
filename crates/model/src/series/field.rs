//! What is sampled. The kernel's names are translated here, once.

use serde::{Deserialize, Serialize};

macro_rules! fields {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A sampled quantity. Serialised by the name that carries its unit.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum Field {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl Field {
            /// Every field, in the order of the packed form. New ones are added at the end.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name with its unit.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

fields! {
    /// Payload the application has handed to or taken from the kernel so far.
    AppBytes = "app_bytes",
    /// Datagrams the application has sent or received so far.
    AppPackets = "app_packets",
    /// Datagrams missing so far.
    AppLost = "app_lost",
    /// Datagrams the receiving socket has dropped so far.
    SocketDrops = "socket_drops",
    /// State of the connection (`tcpi_state`).
    State = "state",
    /// State of loss recovery: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss (`tcpi_ca_state`).
    CaState = "ca_state",
    /// Timeouts in a row without an answer (`tcpi_retransmits`).
    Retransmits = "retransmits",
    /// Window probes in a row without an answer (`tcpi_probes`).
    Probes = "probes",
    /// Doublings of the timeout (`tcpi_backoff`).
    Backoff = "backoff",
    /// Options in use, as bits (`tcpi_options`).
    Options = "options",
    /// Shift of the window the peer offers (`tcpi_snd_wscale`).
    SndWscale = "snd_wscale",
    /// Shift of the window offered to the peer (`tcpi_rcv_wscale`).
    RcvWscale = "rcv_wscale",
    /// Whether the delivery rate was limited by the application (`tcpi_delivery_rate_app_limited`).
    DeliveryRateAppLimited = "delivery_rate_app_limited",
    /// Why a fast open failed (`tcpi_fastopen_client_fail`).
    FastopenClientFail = "fastopen_client_fail",
    /// Retransmission timeout (`tcpi_rto`).
    Rto = "rto_us",
    /// Delayed-acknowledgement timeout (`tcpi_ato`).
    Ato = "ato_us",
    /// Largest segment sent (`tcpi_snd_mss`).
    SndMss = "snd_mss_bytes",
    /// Largest segment received, as estimated (`tcpi_rcv_mss`).
    RcvMss = "rcv_mss_bytes",
    /// Segments in flight (`tcpi_unacked`).
    Unacked = "unacked_segments",
    /// Segments acknowledged selectively (`tcpi_sacked`).
    Sacked = "sacked_segments",
    /// Segments taken as lost (`tcpi_lost`).
    Lost = "lost_segments",
    /// Retransmitted segments in flight (`tcpi_retrans`).
    Retrans = "retrans_segments",
    /// No longer used by the kernel (`tcpi_fackets`).
    Fackets = "fackets_segments",
    /// Time since data was sent (`tcpi_last_data_sent`).
    LastDataSent = "last_data_sent_ms",
    /// Not kept by the kernel (`tcpi_last_ack_sent`).
    LastAckSent = "last_ack_sent_ms",
    /// Time since data came (`tcpi_last_data_recv`).
    LastDataRecv = "last_data_recv_ms",
    /// Time since an acknowledgement came (`tcpi_last_ack_recv`).
    LastAckRecv = "last_ack_recv_ms",
    /// Path MTU (`tcpi_pmtu`).
    Pmtu = "pmtu_bytes",
    /// Receive-window clamp of slow start (`tcpi_rcv_ssthresh`).
    RcvSsthresh = "rcv_ssthresh_bytes",
    /// Smoothed round-trip time (`tcpi_rtt`).
    Rtt = "rtt_us",
    /// Its mean deviation (`tcpi_rttvar`).
    Rttvar = "rttvar_us",
    /// Slow-start threshold (`tcpi_snd_ssthresh`).
    SndSsthresh = "snd_ssthresh_segments",
    /// Congestion window (`tcpi_snd_cwnd`).
    SndCwnd = "snd_cwnd_segments",
    /// Segment size offered to the peer (`tcpi_advmss`).
    Advmss = "advmss_bytes",
    /// Reordering the sender allows for (`tcpi_reordering`).
    Reordering = "reordering_segments",
    /// Round-trip time as the receiver sees it (`tcpi_rcv_rtt`).
    RcvRtt = "rcv_rtt_us",
    /// Bytes the receiver's application took within one of its round trips (`tcpi_rcv_space`).
    RcvSpace = "rcv_space_bytes",
    /// Segments sent again so far (`tcpi_total_retrans`).
    TotalRetrans = "total_retrans_segments",
    /// Pacing rate (`tcpi_pacing_rate`), to three significant digits.
    PacingRate = "pacing_rate_bytes_per_s",
    /// Cap of the pacing rate (`tcpi_max_pacing_rate`).
    MaxPacingRate = "max_pacing_rate_bytes_per_s",
    /// Payload acknowledged so far (`tcpi_bytes_acked`).
    BytesAcked = "bytes_acked",
    /// Payload received in order so far (`tcpi_bytes_received`).
    BytesReceived = "bytes_received",
    /// Segments sent so far (`tcpi_segs_out`).
    SegsOut = "segs_out",
    /// Segments received so far (`tcpi_segs_in`).
    SegsIn = "segs_in",
    /// Payload in the send buffer not yet sent (`tcpi_notsent_bytes`).
    Notsent = "notsent_bytes",
    /// Least round-trip time seen lately (`tcpi_min_rtt`).
    MinRtt = "min_rtt_us",
    /// Data segments received so far (`tcpi_data_segs_in`).
    DataSegsIn = "data_segs_in",
    /// Data segments sent so far (`tcpi_data_segs_out`).
    DataSegsOut = "data_segs_out",
    /// Rate at which data was last delivered (`tcpi_delivery_rate`), to three significant digits.
    DeliveryRate = "delivery_rate_bytes_per_s",
    /// Time with data outstanding so far (`tcpi_busy_time`).
    BusyTime = "busy_us",
    /// Of that, limited by the receiver's window (`tcpi_rwnd_limited`).
    RwndLimited = "rwnd_limited_us",
    /// Of that, limited by the send buffer (`tcpi_sndbuf_limited`).
    SndbufLimited = "sndbuf_limited_us",
    /// Segments delivered so far (`tcpi_delivered`).
    Delivered = "delivered_segments",
    /// Of those, marked by the network (`tcpi_delivered_ce`).
    DeliveredCe = "delivered_ce_segments",
    /// Payload sent so far, again included (`tcpi_bytes_sent`).
    BytesSent = "bytes_sent",
    /// Of that, sent again (`tcpi_bytes_retrans`).
    BytesRetrans = "bytes_retrans",
    /// Duplicates the receiver reported so far (`tcpi_dsack_dups`).
    DsackDups = "dsack_dups",
    /// Reorderings seen so far (`tcpi_reord_seen`).
    ReordSeen = "reord_seen",
    /// Segments received out of order so far (`tcpi_rcv_ooopack`).
    RcvOoopack = "rcv_ooopack",
    /// Window the peer offers (`tcpi_snd_wnd`).
    SndWnd = "snd_wnd_bytes",
    /// Window offered to the peer (`tcpi_rcv_wnd`).
    RcvWnd = "rcv_wnd_bytes",
    /// Times the flow's path hash changed (`tcpi_rehash`).
    Rehash = "rehash",
    /// Timeouts so far (`tcpi_total_rto`).
    TotalRto = "total_rto",
    /// Recoveries from timeouts so far (`tcpi_total_rto_recoveries`).
    TotalRtoRecoveries = "total_rto_recoveries",
    /// Time spent in those (`tcpi_total_rto_time`).
    TotalRtoTime = "total_rto_ms",
    /// Segments received with a congestion mark so far (`tcpi_received_ce`).
    ReceivedCe = "received_ce_segments",
    /// Bytes delivered as ECT(1), by AccECN (`tcpi_delivered_e1_bytes`).
    DeliveredE1Bytes = "delivered_e1_bytes",
    /// Bytes delivered as ECT(0), by AccECN (`tcpi_delivered_e0_bytes`).
    DeliveredE0Bytes = "delivered_e0_bytes",
    /// Bytes delivered with a mark, by AccECN (`tcpi_delivered_ce_bytes`).
    DeliveredCeBytes = "delivered_ce_bytes",
    /// Bytes received as ECT(1) (`tcpi_received_e1_bytes`).
    ReceivedE1Bytes = "received_e1_bytes",
    /// Bytes received as ECT(0) (`tcpi_received_e0_bytes`).
    ReceivedE0Bytes = "received_e0_bytes",
    /// Bytes received with a mark (`tcpi_received_ce_bytes`).
    ReceivedCeBytes = "received_ce_bytes",
    /// Why AccECN failed (`tcpi_accecn_fail_mode`).
    AccecnFailMode = "accecn_fail_mode",
    /// Which AccECN options were seen (`tcpi_accecn_opt_seen`).
    AccecnOptSeen = "accecn_opt_seen",
    /// Memory of what lies in the send buffer, sent and not acknowledged or unsent, with the kernel's bookkeeping (`sk_wmem_queued`).
    WmemQueued = "wmem_queued_bytes",
    /// Most that the send buffer takes of that before its program has to wait (`sk_sndbuf`).
    Sndbuf = "sndbuf_bytes",
    /// Memory of what the qdiscs and NIC of the sender's host have and did not send yet, with the kernel's bookkeeping (`sk_wmem_alloc`). TCP
    /// small queues let a connection have 1 ms of its pacing rate there, and two frames.
    WmemAlloc = "wmem_alloc_bytes",
}
