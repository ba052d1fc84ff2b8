//! Settings that are numbers, one message each.

use model::host::interface::driver::{Eee, Fec, LinkMode};
use model::host::interface::tuning::{Channels, Coalesce, Pause, Rings};
use units::DataRate;

use super::header::Asked;
use super::{Settings, bitset};
use crate::Unavailable;
use crate::netlink::value;

impl Settings {
    /// The rings of the device with the number `index`.
    ///
    /// # Errors
    /// Why they cannot be read; [`crate::Reason::Unsupported`] where the driver has none.
    pub fn rings(&mut self, index: u32) -> Result<Rings, Unavailable> {
        self.ask("RINGS_GET", RINGS_GET, Asked::of(index), |rings: &mut Rings, attribute| {
            let number = value::u32(attribute);
            match attribute.kind {
                2 => rings.rx_max = number,
                3 => rings.rx_mini_max = number,
                4 => rings.rx_jumbo_max = number,
                5 => rings.tx_max = number,
                6 => rings.rx = number,
                7 => rings.rx_mini = number,
                8 => rings.rx_jumbo = number,
                9 => rings.tx = number,
                10 => rings.rx_buffer = number,
                _ => {}
            }
            Ok(())
        })
    }

    /// The channels of the device with the number `index`.
    ///
    /// # Errors
    /// Why they cannot be read; [`crate::Reason::Unsupported`] where the driver has none.
    pub fn channels(&mut self, index: u32) -> Result<Channels, Unavailable> {
        self.ask("CHANNELS_GET", CHANNELS_GET, Asked::of(index), |channels: &mut Channels, attribute| {
            let number = value::u32(attribute);
            match attribute.kind {
                2 => channels.rx_max = number,
                3 => channels.tx_max = number,
                4 => channels.other_max = number,
                5 => channels.combined_max = number,
                6 => channels.rx = number,
                7 => channels.tx = number,
                8 => channels.other = number,
                9 => channels.combined = number,
                _ => {}
            }
            Ok(())
        })
    }

    /// Interrupt coalescing of the device with the number `index`.
    ///
    /// # Errors
    /// Why it cannot be read; [`crate::Reason::Unsupported`] where the driver has none.
    pub fn coalesce(&mut self, index: u32) -> Result<Coalesce, Unavailable> {
        self.ask("COALESCE_GET", COALESCE_GET, Asked::of(index), |coalesce: &mut Coalesce, attribute| {
            match attribute.kind {
                11 => coalesce.adaptive_rx = value::flag(attribute),
                12 => coalesce.adaptive_tx = value::flag(attribute),
                kind => {
                    let name = COALESCE.get(usize::from(kind)).filter(|name| !name.is_empty());
                    coalesce.values.extend(name.map(|name| (*name).to_owned()).zip(value::u32(attribute)));
                }
            }
            Ok(())
        })
    }

    /// Pause frames of the device with the number `index`, with counts where the driver has them.
    ///
    /// # Errors
    /// Why they cannot be read; [`crate::Reason::Unsupported`] where the driver has none.
    pub fn pause(&mut self, index: u32) -> Result<Pause, Unavailable> {
        self.ask("PAUSE_GET", PAUSE_GET, Asked::with_statistics(index), |pause: &mut Pause, attribute| {
            let on = value::flag(attribute).unwrap_or_default();
            match attribute.kind {
                2 => pause.autonegotiation = on,
                3 => pause.rx = on,
                4 => pause.tx = on,
                5 => value::for_nested(attribute, |part| {
                    match part.kind {
                        2 => pause.tx_frames = value::wide(part),
                        3 => pause.rx_frames = value::wide(part),
                        _ => {}
                    }
                    Ok(())
                })?,
                _ => {}
            }
            Ok(())
        })
    }

    /// Speed and duplex of the device with the number `index`.
    ///
    /// # Errors
    /// Why they cannot be read; [`crate::Reason::Unsupported`] where the driver has none.
    pub fn link_mode(&mut self, index: u32) -> Result<LinkMode, Unavailable> {
        self.ask("LINKMODES_GET", LINKMODES_GET, Asked::compact(index), |mode: &mut LinkMode, attribute| {
            match attribute.kind {
                2 => mode.autonegotiation = value::flag(attribute),
                5 => mode.speed = value::u32(attribute).and_then(speed),
                6 => mode.full_duplex = value::u8(attribute).filter(|&duplex| duplex <= 1).map(|duplex| duplex == 1),
                9 => mode.lanes = value::u32(attribute).filter(|&lanes| lanes != 0),
                _ => {}
            }
            Ok(())
        })
    }

    /// Forward error correction of the device with the number `index`.
    ///
    /// # Errors
    /// Why it cannot be read; [`crate::Reason::Unsupported`] where the driver has none.
    pub fn fec(&mut self, index: u32) -> Result<Fec, Unavailable> {
        self.ask("FEC_GET", FEC_GET, Asked::of(index), |fec: &mut Fec, attribute| {
            match attribute.kind {
                2 => fec.configured = bitset::set_names(attribute)?,
                3 => fec.automatic = value::flag(attribute).unwrap_or_default(),
                4 => fec.active = value::u32(attribute).map(fec_name),
                _ => {}
            }
            Ok(())
        })
    }

    /// Energy-efficient Ethernet of the device with the number `index`.
    ///
    /// # Errors
    /// Why it cannot be read; [`crate::Reason::Unsupported`] where the driver has none.
    pub fn eee(&mut self, index: u32) -> Result<Eee, Unavailable> {
        self.ask("EEE_GET", EEE_GET, Asked::compact(index), |eee: &mut Eee, attribute| {
            match attribute.kind {
                4 => eee.active = value::flag(attribute).unwrap_or_default(),
                5 => eee.enabled = value::flag(attribute).unwrap_or_default(),
                _ => {}
            }
            Ok(())
        })
    }
}

fn speed(megabits: u32) -> Option<DataRate> {
    let known = megabits != SPEED_UNKNOWN && megabits != 0;
    known.then(|| DataRate::from_bps(u64::from(megabits) * 1_000_000))
}

/// Link modes that stand for kinds of correction (`ETHTOOL_LINK_MODE_FEC_…_BIT`).
fn fec_name(bit: u32) -> String {
    match bit {
        49 => "None".to_owned(),
        50 => "RS".to_owned(),
        51 => "BASER".to_owned(),
        74 => "LLRS".to_owned(),
        other => other.to_string(),
    }
}

/// `ETHTOOL_A_COALESCE_…` in order, with the names of `ethtool -c`.
const COALESCE: [&str; 24] = [
    "",
    "",
    "rx-usecs",
    "rx-frames",
    "rx-usecs-irq",
    "rx-frames-irq",
    "tx-usecs",
    "tx-frames",
    "tx-usecs-irq",
    "tx-frames-irq",
    "stats-block-usecs",
    "",
    "",
    "pkt-rate-low",
    "rx-usecs-low",
    "rx-frames-low",
    "tx-usecs-low",
    "tx-frames-low",
    "pkt-rate-high",
    "rx-usecs-high",
    "rx-frames-high",
    "tx-usecs-high",
    "tx-frames-high",
    "sample-interval",
];

// include/uapi/linux/ethtool_netlink.h and ethtool.h of 6.18. Attributes are numbered in its order, from the header at 1.
const LINKMODES_GET: u8 = 4;
const RINGS_GET: u8 = 15;
const CHANNELS_GET: u8 = 17;
const COALESCE_GET: u8 = 19;
const PAUSE_GET: u8 = 21;
const EEE_GET: u8 = 23;
const FEC_GET: u8 = 29;
const SPEED_UNKNOWN: u32 = u32::MAX;
