//! A server of generated files: any size by its name, as `/100MB`, and named files of given sizes.

use std::collections::BTreeMap;

use measure::http::head::RequestHead;
use measure::http::line::LineError;
use measure::stop::Stop;
use units::ByteCount;

use super::connection::{Visit, receive};
use super::listener::{Exchange, ServiceListener};

/// A file server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileServer {
    /// What it calls itself in `X-Served-By`.
    pub name: String,
    /// Files by name. Besides these there is one of each size, up to [`LARGEST`](Self::LARGEST).
    pub files: BTreeMap<String, ByteCount>,
}

impl FileServer {
    /// The largest file that is made up for its name.
    pub const LARGEST: ByteCount = ByteCount::new(1_000_000_000_000);

    /// Serves until it is told to stop, and tells of each exchange.
    pub fn serve(&self, door: &ServiceListener, stop: &Stop, hear: &(dyn Fn(Exchange) + Sync)) {
        let content = content();
        receive(door, stop, &|request, visit| self.answer(request, visit, &content), hear);
    }

    fn answer(&self, request: &RequestHead, visit: &mut Visit<'_>, content: &[u8]) -> Result<(), LineError> {
        let Some(size) = self.size(&request.target) else {
            return visit.refuse(404, "there is no such file; the name of a file may be its size, as /100MB");
        };
        let length = size.get().to_string();
        let fields =
            [("Content-Type", "application/octet-stream"), ("Content-Length", &*length), ("X-Served-By", &*self.name)];
        visit.head(200, fields)?;
        if request.method == "HEAD" {
            return Ok(());
        }
        let mut left = size.get();
        while left > 0 {
            let piece = usize::try_from(left).unwrap_or(usize::MAX).min(content.len());
            visit.body(&content[..piece])?;
            left -= piece as u64;
        }
        Ok(())
    }

    fn size(&self, target: &str) -> Option<ByteCount> {
        let name = target.strip_prefix('/')?;
        let name = name.split('?').next().unwrap_or_default();
        let known = self.files.get(name).copied();
        known.or_else(|| name.parse().ok().filter(|size| *size <= Self::LARGEST))
    }
}

/// What files are filled with: bytes without a pattern that a compressing middlebox could shorten.
fn content() -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        // xorshift64 (Marsaglia, Journal of Statistical Software 8(14), 2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    std::iter::repeat_with(&mut next).take(PIECE / 8).flatten().collect()
}

/// Bytes handed to the kernel at once.
const PIECE: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_name_or_is_as_large_as_its_name_says() {
        let files = BTreeMap::from([("run.ms".to_owned(), ByteCount::new(7))]);
        let server = FileServer { name: "a".to_owned(), files };
        let size = |target| server.size(target).map(ByteCount::get);
        assert_eq!(
            (size("/run.ms"), size("/run.ms?part=1"), size("/1MB"), size("/0B")),
            (Some(7), Some(7), Some(1_000_000), Some(0))
        );
        assert_eq!((size("/other"), size("run.ms"), size("/2TB"), size("/")), (None, None, None, None));
    }
}
