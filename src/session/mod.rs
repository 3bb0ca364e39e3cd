//! A session: header, entries, leaf, labels, usage, and the place where its bytes are.
//!
//! The session knows which lines exist and what they mean for the tree; the bodies stay where they
//! are: in the file, in the text of another storage, or (as long as nothing is stored) with the
//! caller. It reads no environment, no clock and no random source: time, seed and places come in as
//! arguments. No method keeps a lock while the caller's code runs.

mod append;
mod branch;
mod changes;
mod create;
mod disk;
mod edited_copy;
mod first_write;
mod flush;
mod identity;
mod load;
mod read;
mod rescue;
mod rewrite;
mod title_line;

pub use append::{Appended, Payload};
pub use branch::Branched;
pub use changes::Changes;
pub use create::Opened;
pub use disk::DiskLog;
pub use flush::Unsynced;
pub use identity::CHANGED;
pub use load::{LoadReport, Loaded, NO_ID, Skipped};
pub use rewrite::{HeaderEdit, Published, Rewrite};
pub use title_line::TitleLine;

use crate::entry::id::IdSource;
use crate::entry::usage::Usage;
use crate::error::{Error, Result};
use crate::index::{EntryIndex, Index, NONE, UNWRITTEN, flag};
use std::ops::Range;
use std::sync::Arc;

/// The first line: metadata, not part of the tree.
#[derive(Debug, Clone, Default)]
pub struct Header {
    /// The JSON object as it is stored, or will be.
    pub text: Vec<u8>,
    /// The session id, in WTF-8.
    pub id: Vec<u8>,
    /// Where the object lies in the file.
    pub span: Range<u64>,
    /// Format version; 1 if the file names none.
    pub version: f64,
}

/// Where the bytes of the entries are.
#[derive(Debug)]
pub enum Body {
    /// With the caller: nothing is stored (yet).
    Detached,
    /// In the text of a storage that the caller manages.
    Text(Vec<u8>),
    /// In a file.
    Disk(Box<DiskLog>),
}

/// An open session.
#[derive(Debug)]
pub struct Session {
    header: Header,
    title_line: Option<TitleLine>,
    index: Arc<Index>,
    leaf: EntryIndex,
    usage: Usage,
    body: Body,
    report: LoadReport,
    ids: IdSource,
    /// The stored lines are of an older version and are written anew with the next change.
    outdated: bool,
    /// Where each entry of the former index went, after the file was replaced by somebody else.
    remap: Option<Vec<u32>>,
    /// Counts the moves of entries to other places in the file.
    moves: u64,
    /// Counts the changes of the entries' numbers.
    renumberings: u64,
    /// Changes that are being written.
    held: changes::Held,
    /// A first write that failed and whose beginning is still in the file.
    unfinished: Option<Box<first_write::FirstWrite>>,
    /// Memory for reading spans, kept from one reading to the next.
    buffer: Vec<u8>,
}

/// What a session looked like at one moment.
#[derive(Debug, Clone)]
pub struct Snapshot {
    index: Arc<Index>,
    usage: Usage,
    report: LoadReport,
    indexed: u64,
    moves: u64,
    renumberings: u64,
}

impl Session {
    /// A session without a file. `header` is its header as JSON text.
    pub fn new(header: &[u8], seed: u64) -> Result<Session> {
        let header = load::parse_header(header).ok_or_else(|| Error::InvalidArgument {
            reason: "the header must be a JSON object of type \"session\" with an id".into(),
        })?;
        Ok(Session {
            header,
            title_line: None,
            index: Arc::default(),
            leaf: NONE,
            usage: Usage::default(),
            body: Body::Detached,
            report: LoadReport::default(),
            ids: IdSource::new(seed),
            outdated: false,
            remap: None,
            moves: 0,
            renumberings: 0,
            held: changes::Held::default(),
            unfinished: None,
            buffer: Vec::new(),
        })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The title line before the header, if there is one.
    pub fn title_line(&self) -> Option<&TitleLine> {
        self.title_line.as_ref()
    }

    /// The entries.
    pub fn index(&self) -> &Arc<Index> {
        &self.index
    }

    /// Where the bytes are.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// Whether the lines are in a file or a storage's text.
    pub fn is_stored(&self) -> bool {
        !matches!(self.body, Body::Detached)
    }

    /// What reading the file showed.
    pub fn report(&self) -> &LoadReport {
        &self.report
    }

    /// Sums over the messages.
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    /// The current position: the parent of the next entry.
    pub fn leaf(&self) -> Option<EntryIndex> {
        (self.leaf != NONE).then_some(self.leaf)
    }

    /// Moves the leaf to the entry with this id (WTF-8), or before the first entry.
    pub fn branch(&mut self, id: Option<&[u8]>) -> Result<()> {
        self.leaf = match id {
            None => NONE,
            Some(id) => self.require(id)?,
        };
        Ok(())
    }

    /// The entry with this id.
    pub fn require(&self, id: &[u8]) -> Result<EntryIndex> {
        self.index.find(id).ok_or_else(|| Error::EntryNotFound { id: String::from_utf8_lossy(id).into_owned() })
    }

    /// Where the entries went when the file was replaced by somebody else: for each number of the
    /// former index the new one or [`NONE`]. Given once.
    pub fn take_remap(&mut self) -> Option<Vec<u32>> {
        self.remap.take()
    }

    /// Whether [`Session::take_remap`] has something to tell.
    pub fn has_remap(&self) -> bool {
        self.remap.is_some()
    }

    /// How often the entries' numbers changed. Copies of a session with the same count have the same
    /// numbers.
    pub fn renumberings(&self) -> u64 {
        self.renumberings
    }

    /// Remembers the present state. Cheap: entries are copied only if the session changes.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            index: Arc::clone(&self.index),
            usage: self.usage,
            report: self.report.clone(),
            indexed: match &self.body {
                Body::Disk(disk) => disk.indexed(),
                Body::Text(text) => text.len() as u64,
                Body::Detached => 0,
            },
            moves: self.moves,
            renumberings: self.renumberings,
        }
    }

    /// Goes back to a remembered state with the leaf on its last entry. What was appended since is
    /// still in the file and is read again by a refresh.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        let mut indexed = snapshot.indexed;
        let mut index = Arc::clone(&snapshot.index);
        if self.moves != snapshot.moves {
            indexed = self.follow_moves(Arc::make_mut(&mut index), snapshot.renumberings);
        }
        self.index = index;
        self.usage = snapshot.usage;
        self.report = snapshot.report.clone();
        self.leaf = (self.index.len() as u32).checked_sub(1).unwrap_or(NONE);
        if let Body::Disk(disk) = &mut self.body {
            disk.rewind(indexed, self.index.len() as u32);
        }
    }

    /// Brings a remembered index to where the entries are now. Returns the end of the last of them.
    fn follow_moves(&self, index: &mut Index, renumberings: u64) -> u64 {
        let mut end = self.header.span.end;
        for at in 0..index.len() as u32 {
            let now = match renumberings == self.renumberings {
                true => Some(at),
                false => self.index.find(&index.id(at)),
            };
            let present = now.and_then(|now| self.index.get(now)).copied();
            if let (Some(record), Some(present)) = (index.get_mut(at), present) {
                record.offset = present.offset;
                record.length = present.length;
                record.flags = (record.flags & !flag::MIGRATED) | (present.flags & flag::MIGRATED);
                if present.offset != UNWRITTEN {
                    end = end.max(present.offset + u64::from(present.length));
                }
            }
        }
        end
    }
}
