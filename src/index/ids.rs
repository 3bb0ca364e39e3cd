//! From id to entry: open addressing over 8-byte slots, so that a million ids cost 16 MB.

use super::{EntryIndex, EntryRecord, flag};

/// Slots hold the id's number in the high half and the entry's number plus one in the low half.
#[derive(Debug, Default, Clone)]
pub(super) struct IdTable {
    slots: Vec<u64>,
    used: usize,
}

fn hash(key: (bool, u32)) -> usize {
    let seed = u64::from(key.1) << 1 | u64::from(key.0);
    (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24) as usize
}

impl IdTable {
    fn is_at(&self, slot: u64, key: (bool, u32), entries: &[EntryRecord]) -> bool {
        let entry = entries.get((slot as u32 as usize).wrapping_sub(1));
        (slot >> 32) as u32 == key.1 && entry.is_some_and(|entry| entry.has(flag::HEX_ID) == key.0)
    }

    /// Slot of `key`, or the empty slot where it belongs. There always is an empty one.
    fn probe(&self, key: (bool, u32), entries: &[EntryRecord]) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = hash(key) & mask;
        while self.slots[at] != 0 && !self.is_at(self.slots[at], key, entries) {
            at = (at + 1) & mask;
        }
        at
    }

    pub(super) fn find(&self, key: (bool, u32), entries: &[EntryRecord]) -> Option<EntryIndex> {
        if self.slots.is_empty() {
            return None;
        }
        (self.slots[self.probe(key, entries)] as u32).checked_sub(1)
    }

    /// Makes `index` the entry of `key`; a namesake before it is no longer found.
    pub(super) fn insert(&mut self, key: (bool, u32), index: EntryIndex, entries: &[EntryRecord]) {
        if self.slots.len() < 2 * (self.used + 1) {
            let old = std::mem::take(&mut self.slots);
            self.slots = vec![0; (old.len() * 2).max(64)];
            for slot in old.into_iter().filter(|slot| *slot != 0) {
                let hex = entries[slot as u32 as usize - 1].has(flag::HEX_ID);
                let at = self.probe((hex, (slot >> 32) as u32), entries);
                self.slots[at] = slot;
            }
        }
        let at = self.probe(key, entries);
        if self.slots[at] == 0 {
            self.used += 1;
        }
        self.slots[at] = u64::from(key.1) << 32 | u64::from(index + 1);
    }
}
