//! Strings that occur often, each kept once: models, foreign ids, label targets.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Numbers strings from 0 on. Bytes are WTF-8 and compared as bytes.
#[derive(Debug, Default, Clone)]
pub struct Interner {
    bytes: Vec<u8>,
    /// End of each string in `bytes`.
    ends: Vec<usize>,
    /// Numbers plus one, by hash; 0 is empty.
    slots: Vec<u32>,
    hasher: RandomState,
}

impl Interner {
    /// The string with this number; empty for a number that was never given.
    pub fn get(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = if number == 0 { 0 } else { self.ends.get(number - 1).copied().unwrap_or_default() };
        self.ends.get(number).and_then(|end| self.bytes.get(start..*end)).unwrap_or_default()
    }

    fn probe(&self, string: &[u8]) -> usize {
        let mask = self.slots.len() - 1;
        let mut hasher = self.hasher.build_hasher();
        hasher.write(string);
        let mut at = hasher.finish() as usize & mask;
        while self.slots[at] != 0 && self.get(self.slots[at] - 1) != string {
            at = (at + 1) & mask;
        }
        at
    }

    /// The number of a string, if it has one.
    pub fn find(&self, string: &[u8]) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        self.slots[self.probe(string)].checked_sub(1)
    }

    /// The number of a string, given now if it has none yet.
    pub fn add(&mut self, string: &[u8]) -> u32 {
        if self.slots.len() < 2 * (self.ends.len() + 1) {
            let old = std::mem::take(&mut self.slots);
            self.slots = vec![0; (old.len() * 2).max(16)];
            for slot in old.into_iter().filter(|slot| *slot != 0) {
                let at = self.probe(self.get(slot - 1));
                self.slots[at] = slot;
            }
        }
        let at = self.probe(string);
        if self.slots[at] == 0 {
            self.bytes.extend_from_slice(string);
            self.ends.push(self.bytes.len());
            self.slots[at] = self.ends.len() as u32;
        }
        self.slots[at] - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_share_a_number_and_others_do_not() {
        let mut interner = Interner::default();
        assert_eq!(interner.find(b""), None);
        let numbers: Vec<_> = (0..1000u32).map(|n| interner.add(n.to_string().as_bytes())).collect();
        for (n, number) in numbers.iter().enumerate() {
            assert_eq!(interner.get(*number), n.to_string().as_bytes());
            assert_eq!(interner.find(n.to_string().as_bytes()), Some(*number));
            assert_eq!(interner.add(n.to_string().as_bytes()), *number);
        }
        let empty = interner.add(b"");
        assert_eq!((interner.get(empty), interner.find(b"")), (&b""[..], Some(empty)));
    }
}
