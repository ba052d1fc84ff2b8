//! A device's counters, read over and over: the way without the right to load a program.

use std::fs;
use std::io;
use std::time::Duration;

use linux::counters::parse_devices;
use model::measurement::Heading;
use passive::bursts::tick::Tick;
use units::MonoTime;

/// One device's counts of bytes and packets.
#[derive(Debug)]
pub(super) struct DeviceReader {
    device: String,
    bucket: Duration,
    last: Option<Counts>,
}

#[derive(Debug, Clone, Copy)]
struct Counts {
    at: MonoTime,
    received: (u64, u64),
    sent: (u64, u64),
}

impl DeviceReader {
    pub(super) fn new(device: &str, bucket: Duration) -> Self {
        Self { device: device.to_owned(), bucket, last: None }
    }

    /// Reads the counters, and hands what passed since the last reading to `each`. A reading that came late is spread evenly
    /// over the buckets since the last one: the counters do not say more.
    pub(super) fn read(&mut self, mut each: impl FnMut(Heading, Tick)) -> io::Result<()> {
        let now = self.counts()?;
        let Some(last) = self.last.replace(now) else { return Ok(()) };
        let bucket = units::duration::nanos(self.bucket).max(1);
        let (from, to) = (last.at.as_nanos() / bucket, now.at.as_nanos() / bucket);
        let buckets = (to - from).max(1);
        let pairs = [(Heading::Inbound, last.received, now.received), (Heading::Outbound, last.sent, now.sent)];
        for (heading, before, after) in pairs {
            // A device that was made anew counts from zero.
            let (bytes, packets) = (after.0.saturating_sub(before.0), after.1.saturating_sub(before.1));
            for number in 0..buckets {
                let part = |whole: u64| whole * (number + 1) / buckets - whole * number / buckets;
                let tick = Tick { epoch: from + number, bytes: part(bytes), packets: part(packets), ..Tick::default() };
                if tick.bytes > 0 {
                    each(heading, tick);
                }
            }
        }
        Ok(())
    }

    fn counts(&self) -> io::Result<Counts> {
        let text = fs::read_to_string("/proc/thread-self/net/dev")?;
        let at = linux::clock::now();
        let (devices, _) = parse_devices(&text);
        let gone = || io::Error::new(io::ErrorKind::NotFound, format!("the device {} has gone", self.device));
        let device = devices.into_iter().find(|device| device.device == self.device).ok_or_else(gone)?;
        let value = |name: &str| device.values.get(name).copied().unwrap_or(0);
        Ok(Counts {
            at,
            received: (value("rx_bytes"), value("rx_packets")),
            sent: (value("tx_bytes"), value("tx_packets")),
        })
    }
}
