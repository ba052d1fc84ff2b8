//! TCP connections of the namespace of the calling thread.

use std::collections::BTreeMap;
use std::fs;

use linux::sock_diag::{Selection, SockDiag, SocketRecord, StateSet, TcpState};
use linux::sockets::{BufferLocks, Family, Transport, locks_of_another};
use model::host::connection::Connection;
use model::host::fact::{Fact, Missing, Source};
use model::host::namespace::Namespace;

pub(super) fn read() -> Fact<Vec<Connection>> {
    let source = Source::netlink("SOCK_DIAG_BY_FAMILY");
    let mut records = Vec::new();
    for family in [Family::V4, Family::V6] {
        let states = StateSet::of(TcpState::Established);
        let selection = Selection { family, transport: Transport::Tcp, states };
        match SockDiag::open().and_then(|mut diag| diag.discover(selection)) {
            Ok(found) => records.extend(found),
            // A kernel without IPv6 has none of its sockets.
            Err(_) if family == Family::V6 => {}
            Err(error) => return Fact::missing(Missing::Failed { reason: error.to_string() }, source),
        }
    }
    records.retain(|record| {
        let remote = record.remote.ip().to_canonical();
        !remote.is_loopback() && remote != record.local.ip().to_canonical()
    });
    records.sort_by_key(|record| std::cmp::Reverse(moved(record)));
    records.truncate(Namespace::MOST_CONNECTIONS);
    let locks = locks(&records);
    Fact::known(records.iter().map(|record| connection(record, locks.get(&record.inode))).collect(), source)
}

fn connection(record: &SocketRecord, locks: Option<&BufferLocks>) -> Connection {
    let info = record.tcp_info.as_ref();
    let memory = record.memory.as_ref();
    Connection {
        remote: record.remote.ip().to_canonical(),
        moved_bytes: moved(record),
        mss_bytes: info.and_then(|info| info.tcpi_snd_mss()),
        pmtu_bytes: info.and_then(|info| info.tcpi_pmtu()),
        reordering: info.and_then(|info| info.tcpi_reordering()),
        window_scaling: info.and_then(|info| info.tcpi_options()).map(|options| options & WINDOW_SCALING != 0),
        receive_buffer_bytes: memory.and_then(|memory| memory.rcvbuf),
        send_buffer_bytes: memory.and_then(|memory| memory.sndbuf),
        receive_buffer_locked: locks.map(|locks| locks.receive),
        send_buffer_locked: locks.map(|locks| locks.send),
    }
}

fn moved(record: &SocketRecord) -> u64 {
    let info = record.tcp_info.as_ref();
    let sent = info.and_then(|info| info.tcpi_bytes_acked()).unwrap_or_default();
    sent.saturating_add(info.and_then(|info| info.tcpi_bytes_received()).unwrap_or_default())
}

/// What programs fixed, by the number of the socket's file. No list of the kernel has it, so each socket is asked itself, as
/// far as its program may be traced.
fn locks(records: &[SocketRecord]) -> BTreeMap<u32, BufferLocks> {
    let mut wanted: BTreeMap<String, u32> = records
        .iter()
        .filter(|record| record.inode != 0)
        .map(|record| (format!("socket:[{}]", record.inode), record.inode))
        .collect();
    let mut found = BTreeMap::new();
    let processes = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    for process in processes {
        if wanted.is_empty() {
            break;
        }
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let files = fs::read_dir(process.path().join("fd")).into_iter().flatten().filter_map(Result::ok);
        for file in files {
            let target = fs::read_link(file.path()).ok().and_then(|target| target.into_os_string().into_string().ok());
            let Some(inode) = target.as_ref().and_then(|target| wanted.get(target)).copied() else { continue };
            let number = file.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
            if let Some(locks) = number.and_then(|number| locks_of_another(pid, number).ok()) {
                found.insert(inode, locks);
                wanted.retain(|_, known| *known != inode);
            }
        }
    }
    found
}

/// TCPI_OPT_WSCALE (include/uapi/linux/tcp.h).
const WINDOW_SCALING: u8 = 4;
