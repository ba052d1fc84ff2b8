//! What else is known while bursts are watched: connections that moved, retransmits, drops, how the NIC batches.

use std::collections::HashMap;

use linux::counters::HostCounters;
use linux::ethtool::Ethtool;
use linux::facts::ethtool::Settings;
use linux::links::Link;
use linux::sock_diag::{SockDiag, StateSet, TcpState};
use model::bursts::BusyConnection;
use model::host::Device;
use passive::flows::finish::canonical;
use units::{ByteCount, DataRate, PacketCount};

/// Counts of the namespace at one moment.
#[derive(Debug)]
pub(super) struct Before {
    connections: HashMap<u64, (u64, u64)>,
    retransmits: Option<u64>,
    dropped: Option<u64>,
}

/// What grew since.
#[derive(Debug, Default)]
pub(super) struct Since {
    pub(super) busiest: Vec<BusyConnection>,
    pub(super) retransmits: Option<PacketCount>,
    pub(super) dropped: Option<PacketCount>,
}

impl Before {
    pub(super) fn read(device: &str) -> Self {
        let mut connections = HashMap::new();
        each_connection(|cookie, connection| {
            connections.insert(cookie, (connection.sent.get(), connection.received.get()));
        });
        let (retransmits, dropped) = counts(device);
        Self { connections, retransmits, dropped }
    }

    pub(super) fn since(&self, device: &str) -> Since {
        let mut busiest = Vec::new();
        each_connection(|cookie, mut connection| {
            let (sent, received) = self.connections.get(&cookie).copied().unwrap_or_default();
            connection.sent = connection.sent.saturating_sub(ByteCount::new(sent));
            connection.received = connection.received.saturating_sub(ByteCount::new(received));
            if moved(&connection) > 0 {
                busiest.push(connection);
            }
        });
        busiest.sort_by_key(|connection| std::cmp::Reverse(moved(connection)));
        busiest.truncate(MOST_BUSY);
        let (retransmits, dropped) = counts(device);
        let grown = |after: Option<u64>, before: Option<u64>| {
            after.zip(before).map(|(after, before)| PacketCount::new(after.saturating_sub(before)))
        };
        Since { busiest, retransmits: grown(retransmits, self.retransmits), dropped: grown(dropped, self.dropped) }
    }
}

fn moved(connection: &BusyConnection) -> u64 {
    connection.sent.get().saturating_add(connection.received.get())
}

/// Without the kernel's list there is no connection to name.
fn each_connection(mut each: impl FnMut(u64, BusyConnection)) {
    let Ok(mut diag) = SockDiag::open() else { return };
    let walked = diag.each_tcp(StateSet::of(TcpState::Established), |record| {
        let Some(info) = &record.tcp_info else { return };
        let sent = info.tcpi_bytes_sent().zip(info.tcpi_bytes_retrans()).map(|(all, again)| all.saturating_sub(again));
        let connection = BusyConnection {
            local: canonical(record.local),
            peer: canonical(record.remote),
            sent: ByteCount::new(sent.or(info.tcpi_bytes_acked()).unwrap_or(0)),
            received: ByteCount::new(info.tcpi_bytes_received().unwrap_or(0)),
        };
        each(record.cookie, connection);
    });
    drop(walked);
}

/// Segments retransmitted in the namespace, and packets that the device dropped.
fn counts(device: &str) -> (Option<u64>, Option<u64>) {
    let counters = HostCounters::read();
    let retransmits = counters.snmp.as_ref().ok().and_then(|snmp| snmp.get("Tcp", "RetransSegs"));
    let devices = counters.devices.unwrap_or_default();
    let device = devices.iter().find(|known| known.device == device);
    let value = |name: &str| device.and_then(|device| device.values.get(name)).copied();
    (retransmits, value("rx_drop").zip(value("tx_drop")).map(|(received, sent)| received + sent))
}

/// The speed that the NIC reports, where its driver does not make it up.
pub(super) fn reported_rate(link: &Link) -> Option<DataRate> {
    let ethtool = Ethtool::open().ok()?;
    let driver = ethtool.driver(&link.name).ok().map(|driver| driver.driver).or_else(|| link.kind.clone());
    let speed = ethtool.link(&link.name).ok()?.speed;
    Device { name: link.name.clone(), driver, speed, mtu: link.mtu }.reported_speed()
}

/// How long the NIC waits before it reports packets, in microseconds; none where it does not say.
pub(super) fn interrupt_delay(link: &Link) -> Option<u64> {
    let coalesce = Settings::open().ok()?.coalesce(link.index).ok()?;
    coalesce.values.get("rx-usecs").copied().map(u64::from)
}

const MOST_BUSY: usize = 5;
