//! The table of the fields of `struct tcp_info`, and the accessors made from it.

use super::TcpInfo;

/// One field of `struct tcp_info`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The kernel's name.
    pub name: &'static str,
    /// Where its bytes start in the structure.
    pub offset: usize,
    /// Bytes that hold it: 1, 2, 4 or 8.
    pub bytes: usize,
    /// For a bit field its lowest bit within these bytes, else 0.
    pub shift: u32,
    /// How many bits it has.
    pub bits: u32,
    /// What it counts in.
    pub unit: Unit,
}

impl Field {
    /// Its value in a record as the kernel returned it, or `None` where the record is too short for it.
    #[must_use]
    #[inline]
    pub fn value_in(&self, record: &[u8]) -> Option<u64> {
        let stored = record.get(self.offset..)?;
        // One load where the field is known to the compiler, as it is in each accessor.
        let word = match self.bytes {
            1 => u64::from(*stored.first()?),
            2 => u64::from(u16::from_le_bytes(*stored.first_chunk()?)),
            4 => u64::from(u32::from_le_bytes(*stored.first_chunk()?)),
            8 => u64::from_le_bytes(*stored.first_chunk()?),
            _ => return None,
        };
        let value = word >> self.shift;
        Some(if self.bits < u64::BITS { value & ((1 << self.bits) - 1) } else { value })
    }
}

/// What a field counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// TCP segments of one MSS each (or less).
    Segments,
    /// How often something happened.
    Events,
    /// Microseconds.
    Micros,
    /// Milliseconds.
    Millis,
    /// Bytes each second.
    BytesPerSecond,
    /// A power of two by which something is shifted.
    Shift,
    /// A code, a set of flags or a flag.
    Code,
}

macro_rules! fields {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident: $type:ident, $offset:literal $([$shift:literal, $bits:literal])?, $unit:ident;
    )+) => {
        /// All fields in the order of the structure.
        pub const FIELDS: &[Field] = &[$(fields!(@field $name, $type, $offset, $unit $(, $shift, $bits)?)),+];

        impl TcpInfo {
            $(
                $(#[doc = $doc])+
                ///
                #[doc = concat!("Unit: ", stringify!($unit), ". Offset ", stringify!($offset), ".")]
                #[must_use]
                pub fn $name(&self) -> Option<$type> {
                    const FIELD: Field = fields!(@field $name, $type, $offset, $unit $(, $shift, $bits)?);
                    self.value(&FIELD).and_then(|value| <$type>::try_from(value).ok())
                }
            )+
        }
    };
    (@field $name:ident, $type:ident, $offset:literal, $unit:ident) => {
        fields!(@field $name, $type, $offset, $unit, 0, $type::BITS)
    };
    (@field $name:ident, $type:ident, $offset:literal, $unit:ident, $shift:expr, $bits:expr) => {
        Field {
            name: stringify!($name),
            offset: $offset,
            bytes: size_of::<$type>(),
            shift: $shift,
            bits: $bits,
            unit: Unit::$unit,
        }
    };
}

fields! {
    /// State of the connection (`TCP_ESTABLISHED` is 1; include/net/tcp_states.h).
    tcpi_state: u8, 0, Code;
    /// State of congestion control: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss (`enum tcp_ca_state`).
    tcpi_ca_state: u8, 1, Code;
    /// Retransmission timeouts in a row for the segment at the head, without an answer.
    tcpi_retransmits: u8, 2, Events;
    /// Window probes sent without an answer.
    tcpi_probes: u8, 3, Events;
    /// Doublings of the retransmission timeout.
    tcpi_backoff: u8, 4, Shift;
    /// `TCPI_OPT_*`: 1 time stamps, 2 SACK, 4 window scale, 8 ECN, 16 ECN seen, 32 SYN data, 64 usec time stamps, 128
    /// child of fast open.
    tcpi_options: u8, 5, Code;
    /// Window scale of the peer: what its advertised window is shifted by.
    tcpi_snd_wscale: u8, 6 [0, 4], Shift;
    /// Our window scale: what the window we advertise is shifted by.
    tcpi_rcv_wscale: u8, 6 [4, 4], Shift;
    /// 1 where `tcpi_delivery_rate` was measured while the application did not fill the pipe.
    tcpi_delivery_rate_app_limited: u8, 7 [0, 1], Code;
    /// Why fast open failed at the client (`enum tcp_fastopen_client_fail`); 0 where it was not tried.
    tcpi_fastopen_client_fail: u8, 7 [1, 2], Code;
    /// Retransmission timeout.
    tcpi_rto: u32, 8, Micros;
    /// Delayed acknowledgement timeout.
    tcpi_ato: u32, 12, Micros;
    /// Payload of the largest segment we send.
    tcpi_snd_mss: u32, 16, Bytes;
    /// Estimate of the payload of the segments we receive.
    tcpi_rcv_mss: u32, 20, Bytes;
    /// Segments sent and not yet acknowledged. Of a listener: connections that wait to be accepted.
    tcpi_unacked: u32, 24, Segments;
    /// Segments acknowledged selectively. Of a listener: the limit on connections that wait.
    tcpi_sacked: u32, 28, Segments;
    /// Segments in flight that are taken for lost.
    tcpi_lost: u32, 32, Segments;
    /// Retransmitted segments in flight.
    tcpi_retrans: u32, 36, Segments;
    /// Not kept since Linux 4.15, always 0.
    tcpi_fackets: u32, 40, Segments;
    /// Time since data was last sent.
    tcpi_last_data_sent: u32, 44, Millis;
    /// Not kept by the kernel, always 0.
    tcpi_last_ack_sent: u32, 48, Millis;
    /// Time since data was last received.
    tcpi_last_data_recv: u32, 52, Millis;
    /// Time since an acknowledgement was last received.
    tcpi_last_ack_recv: u32, 56, Millis;
    /// Path MTU.
    tcpi_pmtu: u32, 60, Bytes;
    /// Current limit on the growth of the window we advertise.
    tcpi_rcv_ssthresh: u32, 64, Bytes;
    /// Smoothed round-trip time.
    tcpi_rtt: u32, 68, Micros;
    /// Mean deviation of the round-trip time.
    tcpi_rttvar: u32, 72, Micros;
    /// Slow-start threshold; 2147483647 where none has been set.
    tcpi_snd_ssthresh: u32, 76, Segments;
    /// Congestion window.
    tcpi_snd_cwnd: u32, 80, Segments;
    /// MSS that we advertised.
    tcpi_advmss: u32, 84, Bytes;
    /// Reordering that loss detection tolerates at present.
    tcpi_reordering: u32, 88, Segments;
    /// Round-trip time as the receiver estimates it, 0 before there is an estimate.
    tcpi_rcv_rtt: u32, 92, Micros;
    /// What the application read in one round trip, by which the receive buffer is tuned.
    tcpi_rcv_space: u32, 96, Bytes;
    /// Segments retransmitted since the start.
    tcpi_total_retrans: u32, 100, Segments;
    /// Rate the kernel paces at; all ones where it does not.
    tcpi_pacing_rate: u64, 104, BytesPerSecond;
    /// Limit set by `SO_MAX_PACING_RATE`; all ones where there is none.
    tcpi_max_pacing_rate: u64, 112, BytesPerSecond;
    /// Bytes sent and acknowledged; the SYN counts as one (RFC 4898 `tcpEStatsAppHCThruOctetsAcked`).
    tcpi_bytes_acked: u64, 120, Bytes;
    /// Bytes received in order (RFC 4898 `tcpEStatsAppHCThruOctetsReceived`).
    tcpi_bytes_received: u64, 128, Bytes;
    /// Segments sent, retransmitted and pure acknowledgements included (RFC 4898 `tcpEStatsPerfSegsOut`).
    tcpi_segs_out: u32, 136, Segments;
    /// Segments received (RFC 4898 `tcpEStatsPerfSegsIn`).
    tcpi_segs_in: u32, 140, Segments;
    /// Bytes in the send buffer that were not sent yet.
    tcpi_notsent_bytes: u32, 144, Bytes;
    /// Least round-trip time within `tcp_min_rtt_wlen`; all ones before there is a sample.
    tcpi_min_rtt: u32, 148, Micros;
    /// Segments with data received (RFC 4898 `tcpEStatsDataSegsIn`).
    tcpi_data_segs_in: u32, 152, Segments;
    /// Segments with data sent, retransmitted ones included (RFC 4898 `tcpEStatsDataSegsOut`).
    tcpi_data_segs_out: u32, 156, Segments;
    /// Latest estimate of the goodput that the path delivers.
    tcpi_delivery_rate: u64, 160, BytesPerSecond;
    /// Time with data to send, since the start.
    tcpi_busy_time: u64, 168, Micros;
    /// Part of the busy time in which the peer's receive window held us back.
    tcpi_rwnd_limited: u64, 176, Micros;
    /// Part of the busy time in which our send buffer held us back.
    tcpi_sndbuf_limited: u64, 184, Micros;
    /// Segments delivered to the peer, retransmitted ones included.
    tcpi_delivered: u32, 192, Segments;
    /// Segments delivered of which the peer said that they carried CE.
    tcpi_delivered_ce: u32, 196, Segments;
    /// Bytes sent, retransmitted ones included (RFC 4898 `tcpEStatsPerfHCDataOctetsOut`).
    tcpi_bytes_sent: u64, 200, Bytes;
    /// Bytes retransmitted (RFC 4898 `tcpEStatsPerfOctetsRetrans`).
    tcpi_bytes_retrans: u64, 208, Bytes;
    /// Duplicates the peer reported with DSACK (RFC 4898 `tcpEStatsStackDSACKDups`).
    tcpi_dsack_dups: u32, 216, Segments;
    /// How often reordering was seen.
    tcpi_reord_seen: u32, 220, Events;
    /// Segments received out of order.
    tcpi_rcv_ooopack: u32, 224, Segments;
    /// Receive window the peer advertises, scaled.
    tcpi_snd_wnd: u32, 228, Bytes;
    /// Receive window we advertise, scaled.
    tcpi_rcv_wnd: u32, 232, Bytes;
    /// How often the flow hash was changed to find another path, after timeouts.
    tcpi_rehash: u32, 236, Events;
    /// Retransmission timeouts since the start, SYN included.
    tcpi_total_rto: u16, 240, Events;
    /// Recoveries by retransmission timeout since the start, an unfinished one included.
    tcpi_total_rto_recoveries: u16, 242, Events;
    /// Time spent in recovery by retransmission timeout since the start, an unfinished one included.
    tcpi_total_rto_time: u32, 244, Millis;
    /// Segments with CE received (accurate ECN, RFC 9768).
    tcpi_received_ce: u32, 248, Segments;
    /// Bytes delivered of which the peer said that they carried ECT(1) (accurate ECN).
    tcpi_delivered_e1_bytes: u32, 252, Bytes;
    /// Bytes delivered of which the peer said that they carried ECT(0) (accurate ECN).
    tcpi_delivered_e0_bytes: u32, 256, Bytes;
    /// Bytes delivered of which the peer said that they carried CE (accurate ECN).
    tcpi_delivered_ce_bytes: u32, 260, Bytes;
    /// Bytes received with ECT(1) (accurate ECN).
    tcpi_received_e1_bytes: u32, 264, Bytes;
    /// Bytes received with ECT(0) (accurate ECN).
    tcpi_received_e0_bytes: u32, 268, Bytes;
    /// Bytes received with CE (accurate ECN).
    tcpi_received_ce_bytes: u32, 272, Bytes;
    /// How accurate ECN failed. Linux 6.18 has 16 bits here; the headers of 2026 keep bits of several fields in these
    /// four bytes, at the same length, so read it only where the kernel is known to be 6.18.
    tcpi_accecn_fail_mode: u16, 276, Code;
    /// Whether the accurate ECN option was seen. See `tcpi_accecn_fail_mode` for kernels after 6.18.
    tcpi_accecn_opt_seen: u16, 278, Code;
}
