//! Samples of one stream at one end, as they are collected.

use std::time::Duration;

use model::measurement::{End, Heading, Whose};
use model::series::field::Field;
use model::series::{Column, StreamSamples};
use sim::TcpInfo;

use crate::convert::micros;

/// Rows of one stream at one end.
pub(crate) struct Rows {
    at_us: Vec<i64>,
    fields: &'static [Field],
    values: Vec<Vec<u64>>,
}

impl Rows {
    pub(crate) fn new(fields: &'static [Field], room: usize) -> Self {
        Self {
            at_us: Vec::with_capacity(room),
            fields,
            values: fields.iter().map(|_| Vec::with_capacity(room)).collect(),
        }
    }

    pub(crate) fn add(&mut self, at: Duration, value: impl Fn(Field) -> u64) {
        self.at_us.push(micros(at));
        for (field, values) in self.fields.iter().zip(&mut self.values) {
            values.push(value(*field));
        }
    }

    pub(crate) fn finish(self, stream: u32, heading: Heading, end: End) -> StreamSamples {
        let is_local = (heading == Heading::Outbound) == (end == End::Sender);
        let columns = self.fields.iter().zip(self.values);
        StreamSamples {
            stream,
            heading,
            end,
            whose: if is_local { Whose::Local } else { Whose::Peer },
            at_us: self.at_us,
            columns: columns.map(|(field, values)| Column { field: *field, values }).collect(),
        }
    }
}

/// What a sender of TCP tells.
pub(crate) const OF_SENDER: &[Field] = &[
    Field::AppBytes,
    Field::CaState,
    Field::Options,
    Field::Rto,
    Field::SndMss,
    Field::Unacked,
    Field::Sacked,
    Field::Lost,
    Field::Retrans,
    Field::Rtt,
    Field::Rttvar,
    Field::SndSsthresh,
    Field::SndCwnd,
    Field::Advmss,
    Field::TotalRetrans,
    Field::PacingRate,
    Field::MaxPacingRate,
    Field::BytesAcked,
    Field::Notsent,
    Field::MinRtt,
    Field::DataSegsOut,
    Field::BusyTime,
    Field::RwndLimited,
    Field::SndbufLimited,
    Field::Delivered,
    Field::DeliveredCe,
    Field::BytesSent,
    Field::BytesRetrans,
    Field::DsackDups,
    Field::ReordSeen,
    Field::SndWnd,
    Field::TotalRto,
    Field::TotalRtoTime,
];

/// What a receiver of TCP tells.
pub(crate) const OF_RECEIVER: &[Field] =
    &[Field::AppBytes, Field::BytesReceived, Field::Options, Field::RcvWnd, Field::DataSegsIn];

/// What the connection does not change while it lasts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fixed {
    pub(crate) options: u64,
    pub(crate) advmss: u32,
    pub(crate) max_pacing: u64,
}

/// The value of a field.
pub(crate) fn of_tcp(info: &TcpInfo, fixed: Fixed, end: End, field: Field) -> u64 {
    let us = |time: Duration| units::duration::micros(time);
    match field {
        Field::AppBytes if end == End::Sender => info.written.get(),
        Field::AppBytes => info.bytes_received.saturating_sub(info.unread).get(),
        Field::BytesReceived => info.bytes_received.get(),
        Field::DataSegsIn => info.bytes_received.get() / u64::from(info.snd_mss.max(1)),
        Field::RcvWnd => info.rcv_wnd.get(),
        Field::CaState => u64::from(info.ca_state),
        Field::Options => fixed.options,
        Field::Rto => us(info.rto),
        Field::SndMss => u64::from(info.snd_mss),
        Field::Unacked => u64::from(info.unacked),
        Field::Sacked => u64::from(info.sacked),
        Field::Lost => u64::from(info.lost),
        Field::Retrans => u64::from(info.retrans),
        Field::Rtt => us(info.rtt),
        Field::Rttvar => us(info.rttvar),
        Field::SndSsthresh => info.snd_ssthresh.map_or(NO_THRESHOLD, u64::from),
        Field::SndCwnd => u64::from(info.snd_cwnd),
        Field::Advmss => u64::from(fixed.advmss),
        Field::TotalRetrans => info.total_retrans,
        Field::PacingRate => info.pacing_rate.bytes_per_second(),
        Field::MaxPacingRate => fixed.max_pacing,
        Field::BytesAcked => info.bytes_acked.get(),
        Field::Notsent => info.notsent.get(),
        Field::MinRtt => us(info.min_rtt),
        Field::DataSegsOut => info.data_segs_out,
        Field::BusyTime => us(info.busy_time),
        Field::RwndLimited => us(info.rwnd_limited),
        Field::SndbufLimited => us(info.sndbuf_limited),
        Field::Delivered => info.delivered,
        Field::DeliveredCe => info.delivered_ce,
        Field::BytesSent => info.data_segs_out * u64::from(info.snd_mss),
        Field::BytesRetrans => info.total_retrans * u64::from(info.snd_mss),
        Field::DsackDups => info.dsack_dups,
        Field::ReordSeen => info.reord_seen,
        Field::SndWnd => info.snd_wnd.get(),
        Field::TotalRto => u64::from(info.total_rto),
        Field::TotalRtoTime => u64::try_from(info.total_rto_time.as_millis()).unwrap_or(u64::MAX),
        _ => 0,
    }
}

/// `TCP_INFINITE_SSTHRESH` (include/net/tcp.h).
const NO_THRESHOLD: u64 = 0x7fff_ffff;
