//! A firewall that looks at packets one by one, with a small buffer before it: made for many small flows, and overrun by
//! a single fast one.

use std::num::NonZeroU64;

use serde::Deserialize;
use units::MonoTime;

use crate::buffer::{Buffer, BufferSpec, Role};
use crate::chain::is_exempt;
use crate::element::Element;
use crate::outlet::Outlet;
use crate::random::Seed;
use crate::reason::{Delay, Drop};
use crate::spec::{ElementSpec, SpecError};
use crate::train::{PacketKind, Train};
use crate::transmitter::{Pace, Transmitter};

/// A firewall as it is written in files. It inspects one direction: that of the chain it stands in.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FirewallSpec {
    /// How many packets a second it can look at.
    pub packets_per_second: NonZeroU64,
    /// The buffer before it; without one everything waits that comes too fast.
    #[serde(default)]
    pub queue: BufferSpec,
    /// Which packets it looks at. The others pass at once.
    #[serde(default)]
    pub inspects: Inspects,
    /// Whether it takes the window scale option (RFC 7323) out of SYNs, so that windows end at 64 KB.
    #[serde(default)]
    pub strips_window_scale: bool,
}

/// Which packets a firewall looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Inspects {
    /// All.
    #[default]
    All,
    /// Those of TCP, outside of tunnels.
    Tcp,
    /// Those of UDP, and of tunnels over it.
    Udp,
}

impl FirewallSpec {
    /// # Errors
    /// A buffer that cannot be.
    pub fn check(&self) -> Result<(), SpecError> {
        self.queue.check()
    }
}

impl Inspects {
    fn includes(self, train: &Train) -> bool {
        match self {
            Self::All => true,
            Self::Tcp => matches!(train.kind, PacketKind::TcpSyn | PacketKind::TcpData | PacketKind::TcpControl),
            Self::Udp => matches!(train.kind, PacketKind::Udp | PacketKind::TunnelledTcpData | PacketKind::Tunnelled),
        }
    }
}

/// See [`FirewallSpec`].
///
/// Model: one server for all flows; a real one has several, and gives each flow to one of them.
#[derive(Debug)]
pub(crate) struct Firewall {
    inspects: Inspects,
    strips_window_scale: bool,
    service: Transmitter<Buffer>,
}

impl Firewall {
    pub(crate) fn new(spec: &FirewallSpec, seed: Seed) -> Self {
        let pace = Pace::Packets(spec.packets_per_second);
        let role = Role { full: Drop::FirewallFull, waiting: Delay::Queue, packet_time: pace.packet_time() };
        Self {
            inspects: spec.inspects,
            strips_window_scale: spec.strips_window_scale,
            service: Transmitter::new(Buffer::new(&spec.queue, role, seed), Vec::new(), pace),
        }
    }
}

impl Element for Firewall {
    fn offer(&mut self, mut train: Train, out: &mut Outlet<'_>) {
        if is_exempt(&train) || !self.inspects.includes(&train) {
            return out.pass(train);
        }
        train.edits.window_scale_stripped |= self.strips_window_scale && train.kind == PacketKind::TcpSyn;
        self.service.offer(train, out);
    }

    fn due(&self) -> Option<MonoTime> {
        self.service.due()
    }

    fn advance(&mut self, out: &mut Outlet<'_>) {
        self.service.catch_up(out);
    }

    fn adopt(&mut self, spec: &ElementSpec, out: &mut Outlet<'_>) {
        let ElementSpec::Firewall(spec) = spec else { return };
        let pace = Pace::Packets(spec.packets_per_second);
        (self.inspects, self.strips_window_scale) = (spec.inspects, spec.strips_window_scale);
        self.service.change_pace(pace, out);
        self.service.queue_mut().adopt(&spec.queue, pace.packet_time());
    }
}
