//! What a stream's thread has done so far, readable by the sampler at any moment.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of one stream. One thread writes, others read; each has cache lines of its own, since two streams that
/// share one slow each other down with every write.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct StreamCounters {
    bytes: AtomicU64,
    packets: AtomicU64,
    lost: AtomicU64,
    socket_drops: AtomicU64,
}

/// The counts at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Payload handed to or taken from the kernel.
    pub bytes: u64,
    /// Datagrams sent, or received and counted once.
    pub packets: u64,
    /// Datagrams missing.
    pub lost: u64,
    /// Datagrams the receiving socket dropped.
    pub socket_drops: u64,
}

impl StreamCounters {
    /// Adds payload. Only the stream's own thread may call this.
    pub fn add_bytes(&self, bytes: usize) {
        add(&self.bytes, bytes as u64);
    }

    /// Adds datagrams. Only the stream's own thread may call this.
    pub fn add_packets(&self, packets: u64) {
        add(&self.packets, packets);
    }

    /// Sets what is known of a receiver's datagrams. Only the stream's own thread may call this.
    pub fn set_datagrams(&self, received: u64, lost: u64, socket_drops: u64) {
        self.packets.store(received, Ordering::Relaxed);
        self.lost.store(lost, Ordering::Relaxed);
        self.socket_drops.store(socket_drops, Ordering::Relaxed);
    }

    /// The counts now.
    #[must_use]
    pub fn read(&self) -> Counts {
        Counts {
            bytes: self.bytes.load(Ordering::Relaxed),
            packets: self.packets.load(Ordering::Relaxed),
            lost: self.lost.load(Ordering::Relaxed),
            socket_drops: self.socket_drops.load(Ordering::Relaxed),
        }
    }
}

/// With one writer a load and a store suffice, which costs a tenth of a locked add.
fn add(counter: &AtomicU64, amount: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
}
