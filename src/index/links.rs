//! Walking the tree: paths, children, cycles. No recursion, no entry twice.

use super::{EntryIndex, Index, NONE, flag};
use crate::entry::timestamp::NO_TIME;

/// The whole tree in two arrays.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TreeOrder {
    /// Every entry once: the roots in file order, then the children of each entry in order of time.
    pub order: Vec<EntryIndex>,
    /// Parent of each entry, by number; [`NONE`] for roots.
    pub parents: Vec<EntryIndex>,
}

impl Index {
    /// Cuts the cycles that links to later entries may have closed.
    pub fn settle(&mut self) {
        if !std::mem::take(&mut self.unchecked) {
            return;
        }
        // 0: not seen, otherwise the number (plus one) of the walk that saw it.
        let mut seen = vec![0u32; self.entries.len()];
        for start in 0..self.entries.len() {
            let walk = start as u32 + 1;
            let mut at = start as u32;
            while at != NONE && seen[at as usize] == 0 {
                seen[at as usize] = walk;
                at = self.entries[at as usize].parent;
            }
            if at != NONE && seen[at as usize] == walk {
                self.cut_cycle(at);
            }
        }
    }

    fn cut_cycle(&mut self, member: EntryIndex) {
        let (mut first, mut at) = (member, self.entries[member as usize].parent);
        while at != member {
            first = first.min(at);
            at = self.entries[at as usize].parent;
        }
        let record = &mut self.entries[first as usize];
        record.parent = NONE;
        record.flags = (record.flags | flag::CYCLE) & !flag::REGULAR;
    }

    /// The entries from the root to `leaf`, both included.
    pub fn path(&self, leaf: EntryIndex) -> Vec<EntryIndex> {
        let mut path = Vec::new();
        let mut at = leaf;
        while let Some(record) = self.get(at) {
            path.push(at);
            at = record.parent;
        }
        path.reverse();
        path
    }

    /// Every entry with its children sorted by time; the sort is stable, and a time that cannot be
    /// read takes that of the sibling before it, so that such an entry stays where the file has it.
    pub fn tree_order(&self) -> TreeOrder {
        let count = self.entries.len();
        let parents: Vec<u32> = self.entries.iter().map(|record| record.parent).collect();
        let mut starts = vec![0u32; count + 2];
        let slot = |parent: u32| if parent == NONE { 0 } else { parent as usize + 1 };
        for parent in &parents {
            starts[slot(*parent) + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut order = vec![0u32; count];
        for (at, parent) in parents.iter().enumerate() {
            let place = &mut next[slot(*parent)];
            order[*place as usize] = at as u32;
            *place += 1;
        }
        let mut timed: Vec<(i64, u32)> = Vec::new();
        for family in starts[1..].windows(2) {
            let siblings = &mut order[family[0] as usize..family[1] as usize];
            if siblings.len() < 2 {
                continue;
            }
            timed.clear();
            let mut last = NO_TIME;
            for sibling in siblings.iter() {
                let time = self.entries[*sibling as usize].time;
                last = if time == NO_TIME { last } else { time };
                timed.push((last, *sibling));
            }
            timed.sort_by_key(|(time, _)| *time);
            for (place, (_, sibling)) in siblings.iter_mut().zip(&timed) {
                *place = *sibling;
            }
        }
        TreeOrder { order, parents }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Place, UNWRITTEN};
    use super::*;
    use crate::entry::facts::Facts;
    use proptest::prelude::*;

    fn index(links: &[(&str, Option<&str>)]) -> Index {
        let mut index = Index::default();
        for (id, parent) in links {
            let place = Place {
                offset: UNWRITTEN,
                length: 0,
                id: id.as_bytes(),
                parent: parent.map(str::as_bytes),
                parent_hint: None,
                flags: 0,
            };
            index.push(b"", &Facts { time: NO_TIME, ..Facts::default() }, place);
        }
        index.settle();
        index
    }

    fn parents(index: &Index) -> Vec<u32> {
        index.tree_order().parents
    }

    #[test]
    fn a_parent_is_the_nearest_earlier_entry_else_the_first_later_one() {
        let index =
            index(&[("a", None), ("a", Some("a")), ("b", Some("a")), ("c", Some("d")), ("d", None), ("d", None)]);
        assert_eq!(parents(&index), [NONE, 0, 1, 4, NONE, NONE]);
        assert_eq!(index.find(b"d"), Some(5));
    }

    #[test]
    fn a_self_reference_without_namesake_is_a_root() {
        assert_eq!(parents(&index(&[("a", Some("a")), ("b", Some("a"))])), [NONE, 0]);
    }

    #[test]
    fn the_first_entry_of_a_cycle_becomes_its_root() {
        let index = index(&[("x", Some("z")), ("y", Some("x")), ("z", Some("y")), ("tail", Some("z"))]);
        assert_eq!(parents(&index), [NONE, 0, 1, 2]);
        assert_eq!(index.path(3), [0, 1, 2, 3]);
    }

    #[test]
    fn an_orphan_is_a_root_until_its_parent_comes() {
        assert_eq!(parents(&index(&[("a", Some("gone"))])), [NONE]);
        assert_eq!(parents(&index(&[("a", Some("late")), ("late", None)])), [1, NONE]);
    }

    proptest! {
        #[test]
        fn every_walk_ends_and_the_tree_has_every_entry_once(links in proptest::collection::vec((0u8..12, proptest::option::of(0u8..12)), 0..40)) {
            let names: Vec<_> = links.iter().map(|(id, parent)| (id.to_string(), parent.map(|p| p.to_string()))).collect();
            let refs: Vec<_> = names.iter().map(|(id, parent)| (id.as_str(), parent.as_deref())).collect();
            let index = index(&refs);
            for leaf in 0..links.len() as u32 {
                let path = index.path(leaf);
                let unique: std::collections::HashSet<_> = path.iter().collect();
                prop_assert_eq!(unique.len(), path.len());
            }
            let mut order = index.tree_order().order;
            order.sort_unstable();
            prop_assert_eq!(order, (0..links.len() as u32).collect::<Vec<_>>());
        }
    }
}
