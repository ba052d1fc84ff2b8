//! Acknowledgements on their way.

use crate::receiver::Acknowledgement;

/// Each in a slot, by whose number its packet is named.
#[derive(Debug, Default)]
pub(super) struct Slots {
    /// Each with how many of it are under way.
    said: Vec<(Acknowledgement, u32)>,
    free: Vec<u32>,
}

impl Slots {
    pub(super) fn keep(&mut self, ack: Acknowledgement) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.said[slot as usize] = (ack, 1);
            return slot;
        }
        self.said.push((ack, 1));
        // Room for all of them, so that none costs an allocation when it is taken.
        self.free.reserve(self.said.len());
        u32::try_from(self.said.len() - 1).unwrap_or(u32::MAX)
    }

    /// The path has made another of it.
    pub(super) fn doubled(&mut self, slot: u32) {
        self.said[slot as usize].1 += 1;
    }

    /// What was said; one less is under way.
    pub(super) fn take(&mut self, slot: u32) -> Acknowledgement {
        let (ack, copies) = &mut self.said[slot as usize];
        *copies -= 1;
        if *copies == 0 {
            self.free.push(slot);
        }
        *ack
    }
}
