//! From the kernel's record of a socket to what is watched. The kernel's names are translated here.

use std::time::Duration;

use linux::sock_diag::{SocketRecord, TcpState};
use linux::sockets::SocketMemory;
use linux::tcp_info::TcpInfo;
use model::series::field::Field;
use passive::flows::reading::{Ends, FinSeen, Reading, Sighting};
use units::MonoTime;

/// A connection as the kernel shows it; none without `tcp_info`.
pub(super) fn sighting(record: SocketRecord, at: MonoTime) -> Option<Sighting> {
    let info = record.tcp_info.as_ref()?;
    let millis = |time: Option<u32>| time.map(|time| Duration::from_millis(time.into()));
    Some(Sighting {
        cookie: record.cookie,
        ends: Ends { local: record.local, peer: record.remote },
        uid: record.uid,
        inode: record.inode,
        fin: fin(record.state()),
        unread: record.receive_queue.into(),
        since_ack: millis(info.tcpi_last_ack_recv()),
        since_data: millis(info.tcpi_last_data_recv()),
        reading: Reading::new(at, |field| number(info, field).or_else(|| memory(record.memory?, field))),
        congestion_control: record.congestion_control,
    })
}

fn fin(state: Option<TcpState>) -> FinSeen {
    match state {
        Some(TcpState::CloseWait | TcpState::LastAck | TcpState::Closing | TcpState::TimeWait) => FinSeen::Yes,
        Some(TcpState::Close) | None => FinSeen::Unknown,
        Some(_) => FinSeen::No,
    }
}

/// What lies in the send buffer. The kernel's last word on a connection does not have it.
fn memory(memory: SocketMemory, field: Field) -> Option<u64> {
    match field {
        Field::WmemQueued => memory.wmem_queued.map(u64::from),
        Field::Sndbuf => memory.sndbuf.map(u64::from),
        Field::WmemAlloc => memory.wmem_alloc.map(u64::from),
        _ => None,
    }
}

fn number(info: &TcpInfo, field: Field) -> Option<u64> {
    let short = |value: Option<u32>| value.map(u64::from);
    let byte = |value: Option<u8>| value.map(u64::from);
    match field {
        Field::BytesAcked => info.tcpi_bytes_acked(),
        Field::BytesReceived => info.tcpi_bytes_received(),
        Field::BytesSent => info.tcpi_bytes_sent(),
        Field::BytesRetrans => info.tcpi_bytes_retrans(),
        Field::BusyTime => info.tcpi_busy_time(),
        Field::RwndLimited => info.tcpi_rwnd_limited(),
        Field::SndbufLimited => info.tcpi_sndbuf_limited(),
        Field::Unacked => short(info.tcpi_unacked()),
        Field::Notsent => short(info.tcpi_notsent_bytes()),
        Field::SndWnd => short(info.tcpi_snd_wnd()),
        Field::SndCwnd => short(info.tcpi_snd_cwnd()),
        Field::SndSsthresh => short(info.tcpi_snd_ssthresh()),
        Field::SndMss => short(info.tcpi_snd_mss()),
        Field::Rtt => short(info.tcpi_rtt()),
        Field::MinRtt => short(info.tcpi_min_rtt()),
        Field::CaState => byte(info.tcpi_ca_state()),
        Field::TotalRetrans => short(info.tcpi_total_retrans()),
        Field::PacingRate => info.tcpi_pacing_rate(),
        Field::MaxPacingRate => info.tcpi_max_pacing_rate(),
        Field::Delivered => short(info.tcpi_delivered()),
        Field::Options => byte(info.tcpi_options()),
        Field::DataSegsIn => short(info.tcpi_data_segs_in()),
        Field::RcvWnd => short(info.tcpi_rcv_wnd()),
        Field::RcvRtt => short(info.tcpi_rcv_rtt()),
        Field::RcvMss => short(info.tcpi_rcv_mss()),
        _ => None,
    }
}
