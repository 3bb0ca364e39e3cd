//! The index: one small record per entry, the table of ids, and nothing of the bodies.
//!
//! Entries are numbered in the order in which the session met them; numbers never change while the
//! session lives. A parent is the nearest earlier entry with that id, else the first later one; an
//! entry whose parent does not exist is a root of the tree, and so is the first entry of a cycle.
//! Nothing here does I/O.

mod ids;
pub mod intern;
mod links;

pub use links::TreeOrder;

use crate::entry::facts::{Facts, Field};
use crate::entry::id::{parse_hex, write_hex};
use crate::entry::kind::{Kind, Role};
use crate::json::string::decode;
use ids::IdTable;
use intern::Interner;
use std::collections::HashMap;

/// Number of an entry.
pub type EntryIndex = u32;

/// Stands for "no entry" and for an interned string that is not there.
pub const NONE: u32 = u32::MAX;

/// Properties of an entry, as bits.
pub mod flag {
    /// The id is 8 lower-case hex digits and kept as their value.
    pub const HEX_ID: u16 = 1;
    /// The line can be rebuilt from the index and the text of its `message`.
    pub const REGULAR: u16 = 1 << 1;
    /// This session wrote the line.
    pub const OWN: u16 = 1 << 2;
    /// The line on disk is of an older version: what is seen differs from what is stored.
    pub const MIGRATED: u16 = 1 << 3;
    /// A parent id is given, and no entry has it.
    pub const ORPHAN: u16 = 1 << 4;
    /// The parent was cut off because following it would never reach a root.
    pub const CYCLE: u16 = 1 << 5;
    /// `message` is an object.
    pub const OBJECT_MESSAGE: u16 = 1 << 6;
    /// The message says what it cost.
    pub const USAGE: u16 = 1 << 7;
}

/// What the index keeps of one entry.
#[derive(Debug, Clone, Copy)]
pub struct EntryRecord {
    /// Byte offset of the object in the file; [`u64::MAX`] while it is not written.
    pub offset: u64,
    /// Milliseconds since 1970 or [`crate::entry::timestamp::NO_TIME`].
    pub time: i64,
    /// Length of the object in bytes.
    pub length: u32,
    /// Value of a hex id, or the number of the interned one.
    pub id: u32,
    /// The parent entry or [`NONE`].
    pub parent: EntryIndex,
    /// Depends on the kind: the interned model, target of a label or first kept id.
    pub aux: u32,
    /// See [`flag`].
    pub flags: u16,
    /// Type of the entry.
    pub kind: Kind,
    /// Role of its message.
    pub role: Role,
}

impl EntryRecord {
    /// Whether a flag of [`flag`] is set.
    pub fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }
}

/// Offset of an entry that is not in the file yet.
pub const UNWRITTEN: u64 = u64::MAX;

/// The entries of a session.
#[derive(Debug, Default, Clone)]
pub struct Index {
    entries: Vec<EntryRecord>,
    ids: IdTable,
    strings: Interner,
    /// Children whose parent has not been met, by the parent's key.
    waiting: HashMap<(bool, u32), Vec<EntryIndex>>,
    /// A later entry became a parent: cycles are possible and looked for when the batch ends.
    unchecked: bool,
    /// Second string of model changes: the interned role, by entry.
    model_roles: HashMap<EntryIndex, u32>,
    /// Label text and its turn, by target: copies keep the order in which labels were set.
    labels: HashMap<(bool, u32), (u32, u64)>,
    label_turns: u64,
    /// The interned model of the last reply.
    last_model: Option<u32>,
}

impl Index {
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All records, by number.
    pub fn records(&self) -> &[EntryRecord] {
        &self.entries
    }

    /// The record of an entry.
    pub fn get(&self, index: EntryIndex) -> Option<&EntryRecord> {
        self.entries.get(index as usize)
    }

    /// The record of an entry, to be changed.
    pub fn get_mut(&mut self, index: EntryIndex) -> Option<&mut EntryRecord> {
        self.entries.get_mut(index as usize)
    }

    fn key_of(&self, record: &EntryRecord) -> (bool, u32) {
        (record.has(flag::HEX_ID), record.id)
    }

    fn key(&mut self, id: &[u8]) -> (bool, u32) {
        match parse_hex(id) {
            Some(value) => (true, value),
            None => (false, self.strings.add(id)),
        }
    }

    fn known_key(&self, id: &[u8]) -> Option<(bool, u32)> {
        match parse_hex(id) {
            Some(value) => Some((true, value)),
            None => self.strings.find(id).map(|number| (false, number)),
        }
    }

    /// The entry with this id (WTF-8); of several the last.
    pub fn find(&self, id: &[u8]) -> Option<EntryIndex> {
        self.ids.find(self.known_key(id)?, &self.entries)
    }

    /// Whether `id` could be confused: an entry has it, or waits for a parent of that name.
    pub fn is_taken(&self, id: u32) -> bool {
        let key = (true, id);
        self.ids.find(key, &self.entries).is_some() || self.waiting.contains_key(&key)
    }

    fn key_text(&self, key: (bool, u32)) -> Vec<u8> {
        if !key.0 {
            return self.strings.get(key.1).to_vec();
        }
        let mut out = Vec::with_capacity(8);
        write_hex(&mut out, key.1);
        out
    }

    /// The id of an entry, in WTF-8.
    pub fn id(&self, index: EntryIndex) -> Vec<u8> {
        self.get(index).map(|record| self.key_text(self.key_of(record))).unwrap_or_default()
    }

    /// Whether an entry has this id (WTF-8).
    pub fn has_id(&self, index: EntryIndex, id: &[u8]) -> bool {
        self.get(index).is_some_and(|record| self.key_text_is(record, id))
    }

    /// An interned string.
    pub fn string(&self, number: u32) -> Option<&[u8]> {
        (number != NONE).then(|| self.strings.get(number))
    }

    /// Role of a model change (`None`: the default one).
    pub fn model_role(&self, index: EntryIndex) -> Option<&[u8]> {
        self.model_roles.get(&index).map(|number| self.strings.get(*number))
    }

    /// Adds an entry. `id` and `parent` are its envelope (a parent of `None` makes a root); `text`
    /// is what the offsets in `facts` refer to. Call [`Index::settle`] when a batch is complete.
    pub fn push(&mut self, text: &[u8], facts: &Facts, at: Place<'_>) -> EntryIndex {
        let index = self.entries.len() as EntryIndex;
        let key = self.key(at.id);
        let mut record = EntryRecord {
            offset: at.offset,
            time: facts.time,
            length: at.length,
            id: key.1,
            parent: NONE,
            aux: NONE,
            flags: at.flags | if key.0 { flag::HEX_ID } else { 0 },
            kind: facts.kind,
            role: facts.role,
        };
        self.describe(index, &mut record, text, facts);
        let mut awaited = None;
        // An empty parent id names nothing, as for JavaScript an empty string is false.
        if let Some(parent) = at.parent.filter(|parent| !parent.is_empty()) {
            let parent_key = match at.parent_hint.and_then(|hint| self.get(hint)) {
                Some(hint) if self.key_text_is(hint, parent) => self.key_of(hint),
                _ => self.key(parent),
            };
            match self.ids.find(parent_key, &self.entries) {
                Some(found) => record.parent = found,
                None if parent_key == key => record.flags |= flag::CYCLE,
                None => {
                    record.flags |= flag::ORPHAN;
                    awaited = Some(parent_key);
                }
            }
            if record.parent == NONE {
                record.flags &= !flag::REGULAR;
            }
        }
        self.entries.push(record);
        self.ids.insert(key, index, &self.entries);
        if let Some(parent_key) = awaited {
            self.waiting.entry(parent_key).or_default().push(index);
        }
        if !self.waiting.is_empty() {
            self.adopt(key, index);
        }
        index
    }

    fn key_text_is(&self, record: &EntryRecord, id: &[u8]) -> bool {
        match parse_hex(id) {
            Some(value) => record.has(flag::HEX_ID) && record.id == value,
            None => !record.has(flag::HEX_ID) && self.strings.get(record.id) == id,
        }
    }

    /// Gives the children that waited for an entry of this name their parent.
    fn adopt(&mut self, key: (bool, u32), parent: EntryIndex) {
        for child in self.waiting.remove(&key).unwrap_or_default() {
            if let Some(record) = self.entries.get_mut(child as usize) {
                record.parent = parent;
                record.flags &= !flag::ORPHAN;
                self.unchecked = true;
            }
        }
    }

    /// Takes over what an entry of this kind decides. Called again when an entry was changed.
    pub fn describe(&mut self, index: EntryIndex, record: &mut EntryRecord, text: &[u8], facts: &Facts) {
        record.kind = facts.kind;
        record.role = facts.role;
        record.flags &= !(flag::REGULAR | flag::OBJECT_MESSAGE | flag::USAGE);
        if facts.regular {
            record.flags |= flag::REGULAR;
        }
        if facts.message_is_object {
            record.flags |= flag::OBJECT_MESSAGE;
        }
        if facts.usage.is_some() {
            record.flags |= flag::USAGE;
        }
        record.aux = NONE;
        let value = |field: Field| field.text().map(|string| decode(text, string));
        match facts.kind {
            Kind::Message if facts.role == Role::Assistant => {
                if let (Some(provider), Some(model)) = (value(facts.provider), value(facts.model)) {
                    record.aux = self.model(&provider, &model);
                }
            }
            Kind::ModelChange => {
                if let Some(model) = value(facts.model).filter(|model| !model.is_empty()) {
                    record.aux = self.strings.add(&model);
                }
                match value(facts.model_role) {
                    Some(role) => self.model_roles.insert(index, self.strings.add(&role)),
                    None => self.model_roles.remove(&index),
                };
            }
            Kind::Label => {
                let target = value(facts.target_id).unwrap_or_default();
                record.aux = self.strings.add(&target);
                let key = self.key(&target);
                match value(facts.label).filter(|label| !label.is_empty()) {
                    Some(label) => {
                        let label = self.strings.add(&label);
                        self.set_label(key, label);
                    }
                    None => {
                        self.labels.remove(&key);
                    }
                }
            }
            Kind::Compaction => {
                if let Some(first_kept) = value(facts.first_kept) {
                    record.aux = self.strings.add(&first_kept);
                }
            }
            _ => {}
        }
    }

    /// The number of `provider/model`. A session seldom changes it, so the last one is compared first.
    fn model(&mut self, provider: &[u8], model: &[u8]) -> u32 {
        if let Some(last) = self.last_model {
            let known = self.strings.get(last).strip_prefix(provider).and_then(|rest| rest.strip_prefix(b"/"));
            if known == Some(model) {
                return last;
            }
        }
        let number = self.strings.add(&[provider, b"/", model].concat());
        self.last_model = Some(number);
        number
    }

    fn set_label(&mut self, target: (bool, u32), label: u32) {
        self.label_turns += 1;
        let turn = self.label_turns;
        self.labels.entry(target).or_insert((label, turn)).0 = label;
    }

    /// The label in force on an entry.
    pub fn label(&self, id: &[u8]) -> Option<&[u8]> {
        self.labels.get(&self.known_key(id)?).map(|(label, _)| self.strings.get(*label))
    }

    /// Number of a string, given now if it has none yet.
    pub fn intern(&mut self, string: &[u8]) -> u32 {
        self.strings.add(string)
    }

    /// A new index of the entries of `path` (root first), each the child of the one before it.
    pub fn extract(&self, path: &[EntryIndex]) -> Index {
        let mut extract = Index::default();
        for (at, index) in path.iter().enumerate() {
            let Some(record) = self.get(*index).copied() else { continue };
            let key = extract.key(&self.id(*index));
            let mut copy = EntryRecord { id: key.1, ..record };
            copy.parent = (at as u32).checked_sub(1).unwrap_or(NONE);
            copy.flags &= !(flag::HEX_ID | flag::ORPHAN | flag::CYCLE);
            copy.flags |= if key.0 { flag::HEX_ID } else { 0 };
            copy.aux = self.string(record.aux).map_or(NONE, |string| extract.strings.add(string));
            if let Some(role) = self.model_role(*index) {
                let role = extract.strings.add(role);
                extract.model_roles.insert(at as u32, role);
            }
            extract.entries.push(copy);
            extract.ids.insert(key, at as u32, &extract.entries);
        }
        extract
    }

    /// All labels in force: id of the target and text, in the order in which they were set first.
    pub fn labels(&self) -> Vec<(Vec<u8>, &[u8])> {
        let mut in_force: Vec<_> = self.labels.iter().collect();
        in_force.sort_by_key(|(_, (_, turn))| *turn);
        in_force.iter().map(|(key, (label, _))| (self.key_text(**key), self.strings.get(*label))).collect()
    }
}

/// Where an entry stands and what its envelope says.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Byte offset of the object, or [`UNWRITTEN`].
    pub offset: u64,
    /// Its length in bytes.
    pub length: u32,
    /// Its id, in WTF-8.
    pub id: &'a [u8],
    /// Id of its parent.
    pub parent: Option<&'a [u8]>,
    /// An entry that probably is the parent: most lines continue the one before.
    pub parent_hint: Option<EntryIndex>,
    /// Flags to start with.
    pub flags: u16,
}
