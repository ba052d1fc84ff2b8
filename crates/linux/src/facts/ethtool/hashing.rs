//! How received packets are spread over queues.

use super::Settings;
use super::header::Asked;
use crate::Unavailable;
use crate::netlink::value;

/// The table by which received packets are spread over queues.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HashTable {
    /// The function, where the driver says it.
    pub function: Option<String>,
    /// The queue of each entry.
    pub queues: Vec<u32>,
}

impl Settings {
    /// Receive hashing of the device with the number `index` (since Linux 6.3).
    ///
    /// # Errors
    /// Why it cannot be read; [`crate::Reason::Unsupported`] where the driver has none.
    pub fn hash_table(&mut self, index: u32) -> Result<HashTable, Unavailable> {
        let (function, queues): (Option<u32>, Vec<u32>) =
            self.ask("RSS_GET", RSS_GET, Asked::of(index), |(function, queues): &mut (_, Vec<_>), attribute| {
                match attribute.kind {
                    RSS_HFUNC => *function = value::u32(attribute),
                    RSS_INDIR => {
                        *queues = attribute.value.chunks_exact(4).filter_map(|chunk| value::word(chunk, 0)).collect();
                    }
                    _ => {}
                }
                Ok(())
            })?;
        // One bit, whose place names the function.
        let name = |bits: u32| self.hash_functions.get(usize::try_from(bits.trailing_zeros()).ok()?).cloned();
        Ok(HashTable { function: function.and_then(name), queues })
    }
}

// include/uapi/linux/ethtool_netlink_generated.h of 6.18
const RSS_GET: u8 = 38;
const RSS_HFUNC: u16 = 3;
const RSS_INDIR: u16 = 4;
