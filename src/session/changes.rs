//! Changes of entries on their way into the file. The session may renumber its entries before they are
//! written, when somebody else has replaced the file: the changes follow.

use super::{Session, identity};
use crate::index::{EntryIndex, NONE};
use parking_lot::Mutex;
use std::sync::{Arc, Weak};

/// New JSON texts of entries.
#[derive(Debug, Default)]
pub struct Changes {
    numbers: Arc<Mutex<Vec<EntryIndex>>>,
    texts: Vec<Vec<u8>>,
}

impl Changes {
    /// The changes by the present numbers; those of entries that are gone are left out.
    pub(super) fn now(&self) -> Vec<(EntryIndex, Vec<u8>)> {
        let numbers = self.numbers.lock();
        let known = numbers.iter().zip(&self.texts).filter(|(at, _)| **at != NONE);
        known.map(|(at, text)| (*at, text.clone())).collect()
    }
}

/// The numbers of all changes that somebody holds.
#[derive(Debug, Default)]
pub(super) struct Held(Vec<Weak<Mutex<Vec<EntryIndex>>>>);

impl Held {
    /// The entries have other numbers now; see [`Session::take_remap`].
    pub fn renumber(&mut self, remap: &[u32]) {
        self.0.retain(|held| match held.upgrade() {
            Some(numbers) => {
                follow(&mut numbers.lock(), remap);
                true
            }
            None => false,
        });
    }
}

fn follow(numbers: &mut [EntryIndex], remap: &[u32]) {
    for at in numbers {
        *at = match remap.get(*at as usize) {
            Some(now) if *now != NONE => now & !identity::CHANGED,
            _ => NONE,
        };
    }
}

impl Session {
    /// Takes changes of entries. The numbers are those before what [`Session::take_remap`] has yet to
    /// tell.
    pub fn hold(&mut self, entries: Vec<EntryIndex>, texts: Vec<Vec<u8>>) -> Changes {
        let mut numbers = entries;
        if let Some(remap) = &self.remap {
            follow(&mut numbers, remap);
        }
        let numbers = Arc::new(Mutex::new(numbers));
        self.held.0.retain(|held| held.strong_count() > 0);
        self.held.0.push(Arc::downgrade(&numbers));
        Changes { numbers, texts }
    }
}
