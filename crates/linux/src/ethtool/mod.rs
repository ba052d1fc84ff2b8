//! What the driver of a network device says: name, link, its own counters (`SIOCETHTOOL`,
//! include/uapi/linux/ethtool.h of 6.18). All of it may be read without privilege.

mod features;
mod guarded;
mod spread;

use std::io;
use std::mem::MaybeUninit;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use units::DataRate;

use crate::Unavailable;
pub use features::{Feature, FeatureError, Hold};
use guarded::GuardedBuffer;

/// Asks drivers of the network namespace in which it was opened.
#[derive(Debug)]
pub struct Ethtool {
    socket: UdpSocket,
}

/// Which driver a device has. Empty where the driver does not say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DriverInfo {
    /// Name of the driver.
    pub driver: String,
    /// Its version; of drivers in the kernel tree that of the kernel.
    pub version: String,
    /// Version of the device's firmware.
    pub firmware: String,
    /// Where the device is, such as a PCI address.
    pub bus_info: String,
}

/// The state of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkSettings {
    /// Speed, `None` where it is unknown: the link is down, or the device is virtual.
    pub speed: Option<DataRate>,
    /// Duplex, `None` where it is unknown.
    pub duplex: Option<Duplex>,
    /// Whether speed and duplex were negotiated.
    pub autonegotiation: Autonegotiation,
}

/// Whether both ends of a link may send at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplex {
    /// One at a time.
    Half,
    /// Both at once.
    Full,
}

/// Whether the ends of a link agree on its speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Autonegotiation {
    /// They do.
    On,
    /// It is set.
    Off,
}

impl Ethtool {
    /// For the network namespace of the calling thread.
    ///
    /// # Errors
    /// What opening a socket gives.
    pub fn open() -> io::Result<Self> {
        // Any socket will do. It is not bound to an address that could be missing.
        let socket = crate::sockets::open(crate::sockets::Family::V4, crate::sockets::Transport::Udp)?;
        Ok(Self { socket: socket.into() })
    }

    /// Which driver `device` has (`ETHTOOL_GDRVINFO`).
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn driver(&self, device: &str) -> Result<DriverInfo, Unavailable> {
        self.drvinfo(device).map(|(driver, _)| driver).map_err(|error| unavailable(device, "driver", &error))
    }

    /// Speed and duplex of `device` (`ETHTOOL_GLINKSETTINGS`, since Linux 4.6).
    ///
    /// # Errors
    /// Why they cannot be read.
    pub fn link(&self, device: &str) -> Result<LinkSettings, Unavailable> {
        self.link_settings(device).map_err(|error| unavailable(device, "link settings", &error))
    }

    /// Has `device` say that it has this speed, full duplex (`ETHTOOL_SLINKSETTINGS`). Of a TAP device it is a word
    /// only, but one that programs read.
    ///
    /// # Errors
    /// What the kernel says: `EOPNOTSUPP` where the driver does not let it be set, `EPERM` without `CAP_NET_ADMIN`.
    pub fn set_speed(&self, device: &str, speed: DataRate) -> io::Result<()> {
        let megabits = u32::try_from(speed.bps() / 1_000_000).map_err(|_| io::ErrorKind::InvalidInput)?;
        let answer = self.request(device, ETHTOOL_GLINKSETTINGS, &[])?;
        let words = answer.bytes().get(LINK_MODE_WORDS).map_or(0, |&words| words.wrapping_neg());
        let mut ask = [0; LINK_MODE_WORDS + 1 - 4];
        ask[LINK_MODE_WORDS - 4] = words;
        let answer = self.request(device, ETHTOOL_GLINKSETTINGS, &ask)?;
        // The header, and three sets of link modes of so many words.
        let length = LINK_SETTINGS_LEN + 3 * 4 * usize::from(words);
        let mut settings = answer.bytes()[4..length].to_vec();
        settings[..4].copy_from_slice(&megabits.to_ne_bytes());
        settings[4] = DUPLEX_FULL;
        self.request(device, ETHTOOL_SLINKSETTINGS, &settings).map(drop)
    }

    /// The driver's own counters of `device`, in its order and with its names (`ETHTOOL_GSTATS`).
    ///
    /// # Errors
    /// Why they cannot be read.
    pub fn statistics(&self, device: &str) -> Result<Vec<(String, u64)>, Unavailable> {
        for _ in 0..MAX_ATTEMPTS {
            let statistics = self.named_statistics(device);
            if let Some(statistics) = statistics.map_err(|error| unavailable(device, "statistics", &error))? {
                return Ok(statistics);
            }
        }
        Err(Unavailable::failed(format!("statistics of {device}"), "their number changes all the time"))
    }

    /// The driver, and how many statistics it has.
    fn drvinfo(&self, device: &str) -> io::Result<(DriverInfo, u32)> {
        let answer = self.request(device, ETHTOOL_GDRVINFO, &[])?;
        let bytes = answer.bytes();
        let driver = DriverInfo {
            driver: text(bytes, 4, 32),
            version: text(bytes, 36, 32),
            firmware: text(bytes, 68, 32),
            bus_info: text(bytes, 100, 32),
        };
        Ok((driver, word(bytes, 180)?))
    }

    fn link_settings(&self, device: &str) -> io::Result<LinkSettings> {
        // Asked with no room for the link modes, the kernel says how much it wants, as a number below zero.
        let answer = self.request(device, ETHTOOL_GLINKSETTINGS, &[])?;
        let wanted = answer.bytes().get(LINK_MODE_WORDS).map_or(0, |&words| words.wrapping_neg());
        let mut settings = [0; LINK_MODE_WORDS + 1 - 4];
        settings[LINK_MODE_WORDS - 4] = wanted;
        let answer = self.request(device, ETHTOOL_GLINKSETTINGS, &settings)?;
        let bytes = answer.bytes();
        let megabits = word(bytes, 4)?;
        Ok(LinkSettings {
            speed: (megabits != SPEED_UNKNOWN && megabits != 0)
                .then(|| DataRate::from_bps(u64::from(megabits) * 1_000_000)),
            duplex: match bytes.get(8) {
                Some(0) => Some(Duplex::Half),
                Some(1) => Some(Duplex::Full),
                _ => None,
            },
            autonegotiation: if bytes.get(11) == Some(&1) { Autonegotiation::On } else { Autonegotiation::Off },
        })
    }

    /// `None` where the number of statistics has changed between the requests.
    fn named_statistics(&self, device: &str) -> io::Result<Option<Vec<(String, u64)>>> {
        let (_, count) = self.drvinfo(device)?;
        if count == 0 {
            return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
        }
        let mut request = [0; 8];
        request[..4].copy_from_slice(&ETH_SS_STATS.to_ne_bytes());
        request[4..].copy_from_slice(&count.to_ne_bytes());
        let names = self.request(device, ETHTOOL_GSTRINGS, &request)?;
        let values = self.request(device, ETHTOOL_GSTATS, &count.to_ne_bytes())?;
        if (word(names.bytes(), 8)?, word(values.bytes(), 4)?) != (count, count) {
            return Ok(None);
        }
        let values = values.bytes()[8..].chunks_exact(8);
        let names = names.bytes()[12..].chunks_exact(ETH_GSTRING_LEN);
        let pairs = names.zip(values).take(count as usize);
        let value = |bytes: &[u8]| bytes.try_into().map(u64::from_ne_bytes).unwrap_or_default();
        Ok(Some(pairs.map(|(name, bytes)| (text(name, 0, ETH_GSTRING_LEN), value(bytes))).collect()))
    }

    /// Makes one request: its number, then `arguments`. Returns the memory that now holds the answer.
    fn request(&self, device: &str, command: u32, arguments: &[u8]) -> io::Result<GuardedBuffer> {
        let mut buffer = GuardedBuffer::new()?;
        buffer.bytes_mut()[..4].copy_from_slice(&command.to_ne_bytes());
        buffer.bytes_mut()[4..4 + arguments.len()].copy_from_slice(arguments);

        // SAFETY: `ifreq` is a name and a union of integers and pointers, for which zero is a value.
        let mut request: libc::ifreq = unsafe { MaybeUninit::zeroed().assume_init() };
        if device.len() >= request.ifr_name.len() {
            return Err(io::Error::from_raw_os_error(libc::ENODEV));
        }
        for (stored, byte) in request.ifr_name.iter_mut().zip(device.bytes()) {
            *stored = byte.cast_signed();
        }
        request.ifr_ifru.ifru_data = buffer.as_mut_ptr().cast();
        // SAFETY: `request` names a device with a terminated string and points to the buffer; both of them live
        // through the call. However much the kernel writes there, it writes to the buffer or fails.
        let outcome = unsafe { libc::ioctl(self.socket.as_raw_fd(), libc::SIOCETHTOOL as _, &raw mut request) };
        if outcome < 0 { Err(io::Error::last_os_error()) } else { Ok(buffer) }
    }
}

fn unavailable(device: &str, what: &str, error: &io::Error) -> Unavailable {
    Unavailable::because(format!("{what} of {device}"), error)
}

/// A string of the kernel: up to the first zero byte, at most `length` bytes.
fn text(bytes: &[u8], offset: usize, length: usize) -> String {
    let field = bytes.get(offset..offset + length).unwrap_or_default();
    let end = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).trim().to_owned()
}

fn word(bytes: &[u8], offset: usize) -> io::Result<u32> {
    let word = bytes.get(offset..offset + 4).and_then(|word| word.try_into().ok());
    word.map(u32::from_ne_bytes).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

// include/uapi/linux/ethtool.h
const ETHTOOL_GDRVINFO: u32 = 0x03;
const ETHTOOL_GSTRINGS: u32 = 0x1b;
const ETHTOOL_GSTATS: u32 = 0x1d;
const ETHTOOL_GLINKSETTINGS: u32 = 0x4c;
const ETHTOOL_SLINKSETTINGS: u32 = 0x4d;
const ETH_SS_STATS: u32 = 1;
const DUPLEX_FULL: u8 = 1;
const ETH_GSTRING_LEN: usize = 32;
const SPEED_UNKNOWN: u32 = u32::MAX;

/// Offset of `link_mode_masks_nwords` in `struct ethtool_link_settings`.
const LINK_MODE_WORDS: usize = 15;

/// Size of `struct ethtool_link_settings` without its sets of link modes.
const LINK_SETTINGS_LEN: usize = 48;

/// How often statistics are asked for anew because their number has changed (queues were added).
const MAX_ATTEMPTS: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reason;

    #[test]
    fn device_that_does_not_exist_is_absent() {
        let ethtool = Ethtool::open().unwrap();
        for device in ["nonesuch0", "a name that is far too long for a device"] {
            assert_eq!(ethtool.driver(device).unwrap_err().reason, Reason::Absent);
            assert_eq!(ethtool.statistics(device).unwrap_err().reason, Reason::Absent);
            assert_eq!(ethtool.link(device).unwrap_err().reason, Reason::Absent);
        }
    }

    #[test]
    fn loopback_has_no_link_settings() {
        let ethtool = Ethtool::open().unwrap();
        assert_eq!(ethtool.link("lo").unwrap_err().reason, Reason::Unsupported);
    }

    #[test]
    fn request_starts_from_zeros_after_an_answer() {
        let mut first = GuardedBuffer::new().unwrap();
        first.bytes_mut()[..64].fill(7);
        let start = first.as_mut_ptr();
        drop(first);
        let mut second = GuardedBuffer::new().unwrap();
        assert_eq!(second.as_mut_ptr(), start, "the mapping is used again");
        assert!(second.bytes()[..64].iter().all(|&byte| byte == 0));
        let mut third = GuardedBuffer::new().unwrap();
        assert_ne!(third.as_mut_ptr(), start, "a second one beside it has its own");
    }

    #[test]
    fn buffer_ends_in_guarded_space() {
        let mut buffer = GuardedBuffer::new().unwrap();
        buffer.bytes_mut().fill(1);
        let end = buffer.as_mut_ptr().wrapping_add(buffer.bytes().len());
        let file = std::fs::File::open("/dev/zero").unwrap();
        // SAFETY: the kernel checks the address and fails; it lies in space that belongs to the buffer.
        let read = unsafe { libc::read(file.as_raw_fd(), end.cast(), 1) };
        assert_eq!((read, io::Error::last_os_error().raw_os_error()), (-1, Some(libc::EFAULT)));
    }
}
