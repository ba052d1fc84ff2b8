//! The table by which received packets are spread over queues.

use std::io;

use super::{Ethtool, word};

impl Ethtool {
    /// The queue of each entry of the table.
    pub(crate) fn spread(&self, device: &str) -> io::Result<Vec<u32>> {
        // Asked with no room, the kernel says how many entries there are.
        let answer = self.request(device, ETHTOOL_GRXFHINDIR, &0u32.to_ne_bytes())?;
        let entries = word(answer.bytes(), 4)?;
        if entries == 0 || entries > MOST_ENTRIES {
            return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
        }
        let answer = self.request(device, ETHTOOL_GRXFHINDIR, &entries.to_ne_bytes())?;
        (0..entries as usize).map(|entry| word(answer.bytes(), 8 + 4 * entry)).collect()
    }

    /// Sets the queue of each entry.
    pub(crate) fn set_spread(&self, device: &str, queues: &[u32]) -> io::Result<()> {
        self.request(device, ETHTOOL_SRXFHINDIR, &table(queues)?).map(drop)
    }
}

/// `struct ethtool_rxfh_indir` behind its first word.
fn table(queues: &[u32]) -> io::Result<Vec<u8>> {
    let entries = u32::try_from(queues.len()).ok().filter(|entries| (1..=MOST_ENTRIES).contains(entries));
    let entries = entries.ok_or(io::ErrorKind::InvalidInput)?;
    Ok(std::iter::once(&entries).chain(queues).flat_map(|number| number.to_ne_bytes()).collect())
}

/// More than any driver has; hardware has up to a few thousand.
const MOST_ENTRIES: u32 = 1 << 16;

// include/uapi/linux/ethtool.h
const ETHTOOL_GRXFHINDIR: u32 = 0x38;
const ETHTOOL_SRXFHINDIR: u32 = 0x39;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_has_its_size_before_it_and_is_never_empty() {
        assert_eq!(table(&[0, 1]).unwrap(), [2u32, 0, 1].map(u32::to_ne_bytes).concat());
        // Of no entries the kernel would make its own table.
        assert!(table(&[]).is_err());
    }

    #[test]
    fn device_that_spreads_nothing_says_so() {
        let error = Ethtool::open().unwrap().spread("lo").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EOPNOTSUPP));
    }
}
