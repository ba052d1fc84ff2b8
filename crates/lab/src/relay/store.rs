//! Where frames lie while they are under way.
//!
//! A frame is read into a buffer that holds the largest. If it is smaller than those of another class, it is copied
//! to one of that class; the large ones, for which copying would cost, stay where they are. Buffers are used again and
//! never given back.

use path::FrameId;
use units::{ByteCount, PacketCount};

use super::frame::Frame;

/// On which wire a frame is under way, and in which direction.
pub(super) type Owner = (usize, usize);

/// Frames under way, each until the last of its packets has ended.
#[derive(Debug)]
pub(super) struct Store {
    classes: [Class; SIZES.len()],
    frames: Vec<Kept>,
    /// Numbers of frames that have ended.
    unused: Vec<u32>,
    /// Where the next frame is read to.
    incoming: Room,
    limit: ByteCount,
    taken: ByteCount,
}

/// Buffers of one size.
#[derive(Debug)]
struct Class {
    size: usize,
    chunks: Vec<Box<[u8]>>,
    unused: Vec<Room>,
}

/// Where a buffer lies.
#[derive(Debug, Clone, Copy)]
struct Room {
    class: usize,
    chunk: usize,
    start: usize,
}

#[derive(Debug)]
struct Kept {
    room: Room,
    len: usize,
    frame: Frame,
    owner: Owner,
    /// Packets that have not ended.
    packets: u64,
}

impl Store {
    /// An empty one, which takes no more memory than `limit`, if that is enough to read a frame at all.
    pub(super) fn new(limit: ByteCount) -> Self {
        let classes = SIZES.map(|size| Class { size, chunks: Vec::new(), unused: Vec::new() });
        let incoming = Room { class: LARGEST, chunk: 0, start: 0 };
        let mut store =
            Self { classes, frames: Vec::new(), unused: Vec::new(), incoming, limit, taken: ByteCount::new(0) };
        store.grow(LARGEST);
        store.incoming = store.classes[LARGEST].unused.pop().unwrap_or(incoming);
        store
    }

    /// Where to read the next frame to.
    pub(super) fn incoming(&mut self) -> &mut [u8] {
        self.classes[LARGEST].bytes_mut(self.incoming)
    }

    /// Keeps the `len` bytes that were read; `None` where there is no more memory.
    pub(super) fn keep(&mut self, len: usize, frame: Frame, owner: Owner) -> Option<FrameId> {
        let class = SIZES.iter().position(|size| len <= *size)?;
        if self.classes[class].unused.is_empty() {
            if self.taken.get() + CHUNK as u64 > self.limit.get() {
                return None;
            }
            self.grow(class);
        }
        let fresh = self.classes[class].unused.pop()?;
        let room = if class == LARGEST {
            std::mem::replace(&mut self.incoming, fresh)
        } else {
            let (small, large) = self.classes.split_at_mut(LARGEST);
            small[class].bytes_mut(fresh)[..len].copy_from_slice(&large[0].bytes(self.incoming)[..len]);
            fresh
        };
        let kept = Kept { room, len, frame, owner, packets: u64::from(frame.packets().get()) };
        if let Some(number) = self.unused.pop() {
            self.frames[number as usize] = kept;
            return Some(FrameId(number));
        }
        let number = u32::try_from(self.frames.len()).ok().filter(|number| FrameId(*number) != FrameId::PHANTOM)?;
        self.frames.push(kept);
        Some(FrameId(number))
    }

    /// A frame, and its bytes with the header before them.
    pub(super) fn frame(&self, id: FrameId) -> (Frame, &[u8]) {
        let kept = &self.frames[id.0 as usize];
        (kept.frame, &self.classes[kept.room.class].bytes(kept.room)[..kept.len])
    }

    /// Packets of a frame are there once more.
    pub(super) fn add(&mut self, id: FrameId, packets: u32) {
        self.frames[id.0 as usize].packets += u64::from(packets);
    }

    /// Packets of a frame have ended.
    pub(super) fn end(&mut self, id: FrameId, packets: u32) {
        let kept = &mut self.frames[id.0 as usize];
        let left = kept.packets.checked_sub(u64::from(packets));
        assert!(left.is_some(), "each packet ends once");
        kept.packets = left.unwrap_or(0);
        if kept.packets == 0 {
            self.classes[kept.room.class].unused.push(kept.room);
            self.unused.push(id.0);
        }
    }

    /// How many packets of an owner are under way. It looks at every frame.
    pub(super) fn held_for(&self, owner: Owner) -> PacketCount {
        PacketCount::new(self.frames.iter().filter(|kept| kept.owner == owner).map(|kept| kept.packets).sum())
    }

    /// How many frames are under way.
    #[cfg(test)]
    pub(super) fn under_way(&self) -> usize {
        self.frames.len() - self.unused.len()
    }

    fn grow(&mut self, class: usize) {
        let grown = &mut self.classes[class];
        let chunk = grown.chunks.len();
        grown.chunks.push(vec![0; CHUNK].into_boxed_slice());
        let size = grown.size;
        grown.unused.extend((0..CHUNK / size).rev().map(|number| Room { class, chunk, start: number * size }));
        self.taken += ByteCount::new(CHUNK as u64);
    }
}

impl Class {
    fn bytes(&self, room: Room) -> &[u8] {
        &self.chunks[room.chunk][room.start..room.start + self.size]
    }

    fn bytes_mut(&mut self, room: Room) -> &mut [u8] {
        &mut self.chunks[room.chunk][room.start..room.start + self.size]
    }
}

/// Frames without segmentation offload on links of ordinary and of large packets, a millisecond of a slow link, and the
/// largest.
const SIZES: [usize; 4] = [2 << 10, 9_280, 20 << 10, 66 << 10];
const LARGEST: usize = SIZES.len() - 1;
const _: () = assert!(SIZES[LARGEST] > linux::tap::LONGEST, "the largest buffer holds every frame");

/// How much memory is taken at once: as much as a large page has.
const CHUNK: usize = 2 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relay::frame::samples;

    const OWNER: Owner = (3, 1);

    fn put(store: &mut Store, bytes: &[u8]) -> Option<FrameId> {
        store.incoming()[..bytes.len()].copy_from_slice(bytes);
        store.keep(bytes.len(), Frame::read(bytes).unwrap(), OWNER)
    }

    #[test]
    fn frames_lie_apart_until_their_last_packet_has_ended() {
        let mut store = Store::new(ByteCount::new(64 << 20));
        let kept: Vec<(Vec<u8>, FrameId)> = [0, 100, 1_500, 8_000, 9_500, 30_000, 60_000]
            .into_iter()
            .map(|len| samples::tcp4(len, 1_448))
            .map(|bytes| (bytes.clone(), put(&mut store, &bytes).unwrap()))
            .collect();
        for (bytes, id) in &kept {
            let (frame, found) = store.frame(*id);
            assert_eq!(found, bytes);
            store.add(*id, 1);
            store.end(*id, frame.packets().get());
        }
        assert_eq!(store.under_way(), kept.len());
        let left = [OWNER, (3, 0)].map(|owner| store.held_for(owner).get());
        assert_eq!(left, [kept.len() as u64, 0], "one packet of each frame, and all of one owner");
        kept.iter().for_each(|(_, id)| store.end(*id, 1));
        assert_eq!((store.under_way(), store.held_for(OWNER).get()), (0, 0));
    }

    #[test]
    fn full_store_takes_a_frame_again_when_one_has_ended() {
        let mut store = Store::new(ByteCount::new(3 * CHUNK as u64));
        let bytes = samples::tcp4(60_000, 1_448);
        let mut held: Vec<FrameId> = std::iter::from_fn(|| put(&mut store, &bytes)).collect();
        // Three chunks, and one buffer is for reading.
        assert_eq!(held.len(), 3 * (CHUNK / SIZES[LARGEST]) - 1);
        let (frame, _) = store.frame(held[0]);
        store.end(held.remove(0), frame.packets().get());
        assert!(put(&mut store, &bytes).is_some());
        assert!(put(&mut store, &bytes).is_none());
    }
}
