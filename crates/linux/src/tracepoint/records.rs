//! What lies in a ring of perf: records one after the other (include/uapi/linux/perf_event.h, `struct
//! perf_event_header`).

/// What records say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Record<'a> {
    /// An event of the tracepoint, with its time in nanoseconds of the monotonic clock and its bytes.
    Event(u64, &'a [u8]),
    /// So many events were not kept.
    Lost(u64),
}

/// The records in `bytes`. Ends at the first that cannot be.
pub(super) fn records(mut bytes: &[u8]) -> impl Iterator<Item = Record<'_>> {
    std::iter::from_fn(move || {
        loop {
            let kind = u32::from_ne_bytes(*bytes.first_chunk()?);
            let length = usize::from(u16::from_ne_bytes(bytes.get(6..8)?.try_into().ok()?));
            let body = bytes.get(HEADER..length)?;
            bytes = bytes.get(length..)?;
            match kind {
                PERF_RECORD_SAMPLE => {
                    let (time, body) = body.split_first_chunk()?;
                    let (raw, body) = body.split_first_chunk()?;
                    let raw = usize::try_from(u32::from_ne_bytes(*raw)).ok()?;
                    return Some(Record::Event(u64::from_ne_bytes(*time), body.get(..raw)?));
                }
                // The number of the event, then the count.
                PERF_RECORD_LOST => {
                    return Some(Record::Lost(u64::from_ne_bytes(body.get(8..16)?.try_into().ok()?)));
                }
                _ => {}
            }
        }
    })
}

const HEADER: usize = 8;
const PERF_RECORD_LOST: u32 = 2;
const PERF_RECORD_SAMPLE: u32 = 9;

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, body: &[u8]) -> Vec<u8> {
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend([0, 0]);
        bytes.extend(u16::try_from(body.len() + 8).unwrap().to_ne_bytes());
        bytes.extend(body);
        bytes
    }

    #[test]
    fn events_and_losses_are_told_apart_and_others_passed_over() {
        let event = [&5_u64.to_ne_bytes()[..], &12_u32.to_ne_bytes(), b"twelve bytes"].concat();
        let lost = [&7_u64.to_ne_bytes()[..], &3_u64.to_ne_bytes()].concat();
        let bytes = [record(9, &event), record(5, &[0; 8]), record(2, &lost)].concat();
        let read: Vec<_> = records(&bytes).collect();
        assert_eq!(read, [Record::Event(5, b"twelve bytes"), Record::Lost(3)]);
    }

    #[test]
    fn lying_lengths_end_the_list() {
        for length in [0_u16, 7, 9, u16::MAX] {
            let mut bytes = record(9, &[0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 1, 2, 3, 4]);
            bytes[6..8].copy_from_slice(&length.to_ne_bytes());
            assert_eq!(records(&bytes).count(), 0, "{length}");
        }
        let lies = record(9, &[0, 0, 0, 0, 0, 0, 0, 0, 200, 0, 0, 0, 1, 2, 3, 4]);
        assert_eq!(records(&lies).count(), 0);
    }
}
