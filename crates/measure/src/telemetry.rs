//! From what the sampler recorded to samples in linerate's own words. The kernel's names are translated here, once.

use linux::tcp_info::{self, TcpInfo};
use model::measurement::{Cadence, Whose};
use model::series::field::Field;
use model::series::{Column, StreamSamples};
use units::MonoTime;

use crate::engine::counters::Counts;
use crate::engine::sampler::{self, SampleLog, SendBufferUse};

/// The samples of one stream, with times from `start`.
#[must_use]
pub fn samples(log: &SampleLog, start: MonoTime) -> StreamSamples {
    let at_us = log.at.iter().map(|at| at.signed_nanos_since(start) / 1_000).collect();
    let mut columns = application_columns(log);
    let records: Vec<&[u8]> = log.records().collect();
    if records.len() == log.at.len() {
        columns.extend(kernel_columns(&records));
        columns.extend(send_buffer_columns(log));
    }
    StreamSamples { stream: log.stream, heading: log.heading, end: log.end, whose: Whose::Local, at_us, columns }
}

/// How well the sampling of a test kept its pace; `None` where fewer than two samples were taken.
#[must_use]
pub fn cadence(logs: &[SampleLog], wanted: std::time::Duration) -> Option<Cadence> {
    let longest = logs.iter().max_by_key(|log| log.at.len())?;
    let mut spacings: Vec<u64> =
        longest.at.windows(2).map(|pair| pair[1].signed_nanos_since(pair[0]).unsigned_abs() / 1_000).collect();
    spacings.sort_unstable();
    let (wanted_us, at_most_us) =
        (units::duration::micros(wanted), units::duration::micros(sampler::longest_gap(wanted)));
    Some(Cadence {
        whose: Whose::Local,
        wanted_us,
        achieved_us: *spacings.get(spacings.len() / 2)?,
        samples: longest.at.len() as u64,
        gaps: spacings.iter().filter(|spacing| **spacing > at_most_us).count() as u64,
        longest_gap_us: *spacings.last()?,
        at_most_us: Some(at_most_us),
        thinned: longest.thinned,
    })
}

/// The kernel's value of `field` in one record.
#[must_use]
pub fn value(info: &TcpInfo, field: Field) -> Option<u64> {
    let name = KERNEL_NAMES.iter().find(|(_, named)| *named == field)?.0;
    info.value(tcp_info::FIELDS.iter().find(|known| known.name == name)?)
}

fn application_columns(log: &SampleLog) -> Vec<Column> {
    let column = |field, read: fn(&Counts) -> u64| Column { field, values: log.counts.iter().map(read).collect() };
    let mut columns = vec![column(Field::AppBytes, |counts| counts.bytes)];
    if log.info(0).is_none() {
        columns.push(column(Field::AppPackets, |counts| counts.packets));
        columns.push(column(Field::AppLost, |counts| counts.lost));
        columns.push(column(Field::SocketDrops, |counts| counts.socket_drops));
    }
    columns
}

/// What lay in the send buffer, and what it takes, where the kernel said so at each sample.
fn send_buffer_columns(log: &SampleLog) -> impl Iterator<Item = Column> {
    let of = |field, value: fn(&SendBufferUse) -> Option<u32>| {
        let values: Option<Vec<u64>> = log.send_buffers().iter().map(|each| value(each).map(u64::from)).collect();
        Some(Column { field, values: values.filter(|values| values.len() == log.at.len())? })
    };
    let columns = [
        of(Field::WmemQueued, |each| each.queued),
        of(Field::Sndbuf, |each| each.limit),
        of(Field::WmemAlloc, |each| each.below),
    ];
    columns.into_iter().flatten()
}

/// One column for each field that this kernel tells, of its records of one connection.
pub(crate) fn kernel_columns(records: &[&[u8]]) -> impl Iterator<Item = Column> {
    tcp_info::FIELDS.iter().filter_map(move |known| {
        let field = KERNEL_NAMES.iter().find(|(name, _)| *name == known.name)?.1;
        let mut values = Vec::with_capacity(records.len());
        for record in records {
            values.push(known.value_in(record)?);
        }
        Some(Column { field, values: Some(values).filter(|values| !values.is_empty())? })
    })
}

const KERNEL_NAMES: &[(&str, Field)] = &[
    ("tcpi_state", Field::State),
    ("tcpi_ca_state", Field::CaState),
    ("tcpi_retransmits", Field::Retransmits),
    ("tcpi_probes", Field::Probes),
    ("tcpi_backoff", Field::Backoff),
    ("tcpi_options", Field::Options),
    ("tcpi_snd_wscale", Field::SndWscale),
    ("tcpi_rcv_wscale", Field::RcvWscale),
    ("tcpi_delivery_rate_app_limited", Field::DeliveryRateAppLimited),
    ("tcpi_fastopen_client_fail", Field::FastopenClientFail),
    ("tcpi_rto", Field::Rto),
    ("tcpi_ato", Field::Ato),
    ("tcpi_snd_mss", Field::SndMss),
    ("tcpi_rcv_mss", Field::RcvMss),
    ("tcpi_unacked", Field::Unacked),
    ("tcpi_sacked", Field::Sacked),
    ("tcpi_lost", Field::Lost),
    ("tcpi_retrans", Field::Retrans),
    ("tcpi_fackets", Field::Fackets),
    ("tcpi_last_data_sent", Field::LastDataSent),
    ("tcpi_last_ack_sent", Field::LastAckSent),
    ("tcpi_last_data_recv", Field::LastDataRecv),
    ("tcpi_last_ack_recv", Field::LastAckRecv),
    ("tcpi_pmtu", Field::Pmtu),
    ("tcpi_rcv_ssthresh", Field::RcvSsthresh),
    ("tcpi_rtt", Field::Rtt),
    ("tcpi_rttvar", Field::Rttvar),
    ("tcpi_snd_ssthresh", Field::SndSsthresh),
    ("tcpi_snd_cwnd", Field::SndCwnd),
    ("tcpi_advmss", Field::Advmss),
    ("tcpi_reordering", Field::Reordering),
    ("tcpi_rcv_rtt", Field::RcvRtt),
    ("tcpi_rcv_space", Field::RcvSpace),
    ("tcpi_total_retrans", Field::TotalRetrans),
    ("tcpi_pacing_rate", Field::PacingRate),
    ("tcpi_max_pacing_rate", Field::MaxPacingRate),
    ("tcpi_bytes_acked", Field::BytesAcked),
    ("tcpi_bytes_received", Field::BytesReceived),
    ("tcpi_segs_out", Field::SegsOut),
    ("tcpi_segs_in", Field::SegsIn),
    ("tcpi_notsent_bytes", Field::Notsent),
    ("tcpi_min_rtt", Field::MinRtt),
    ("tcpi_data_segs_in", Field::DataSegsIn),
    ("tcpi_data_segs_out", Field::DataSegsOut),
    ("tcpi_delivery_rate", Field::DeliveryRate),
    ("tcpi_busy_time", Field::BusyTime),
    ("tcpi_rwnd_limited", Field::RwndLimited),
    ("tcpi_sndbuf_limited", Field::SndbufLimited),
    ("tcpi_delivered", Field::Delivered),
    ("tcpi_delivered_ce", Field::DeliveredCe),
    ("tcpi_bytes_sent", Field::BytesSent),
    ("tcpi_bytes_retrans", Field::BytesRetrans),
    ("tcpi_dsack_dups", Field::DsackDups),
    ("tcpi_reord_seen", Field::ReordSeen),
    ("tcpi_rcv_ooopack", Field::RcvOoopack),
    ("tcpi_snd_wnd", Field::SndWnd),
    ("tcpi_rcv_wnd", Field::RcvWnd),
    ("tcpi_rehash", Field::Rehash),
    ("tcpi_total_rto", Field::TotalRto),
    ("tcpi_total_rto_recoveries", Field::TotalRtoRecoveries),
    ("tcpi_total_rto_time", Field::TotalRtoTime),
    ("tcpi_received_ce", Field::ReceivedCe),
    ("tcpi_delivered_e1_bytes", Field::DeliveredE1Bytes),
    ("tcpi_delivered_e0_bytes", Field::DeliveredE0Bytes),
    ("tcpi_delivered_ce_bytes", Field::DeliveredCeBytes),
    ("tcpi_received_e1_bytes", Field::ReceivedE1Bytes),
    ("tcpi_received_e0_bytes", Field::ReceivedE0Bytes),
    ("tcpi_received_ce_bytes", Field::ReceivedCeBytes),
    ("tcpi_accecn_fail_mode", Field::AccecnFailMode),
    ("tcpi_accecn_opt_seen", Field::AccecnOptSeen),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_the_kernel_has_a_name_of_ours() {
        for known in tcp_info::FIELDS {
            assert!(KERNEL_NAMES.iter().any(|(name, _)| *name == known.name), "{} is not translated", known.name);
        }
        for (name, _) in KERNEL_NAMES {
            assert!(tcp_info::FIELDS.iter().any(|known| known.name == *name), "{name} is not a field of the kernel");
        }
    }
}
