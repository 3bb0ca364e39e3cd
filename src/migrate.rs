//! Older formats, as edits of single lines.
//!
//! Version 1 has no ids: entries get one from content and position and hang on the entry before
//! them. Version 2 calls the role of extension messages `hookMessage`. Every line that needs a
//! change is edited as text, so that all else in it keeps its bytes.

use crate::entry::kind::{Kind, Role};
use crate::index::{EntryRecord, Index};
use crate::json::edit::{Member, member, set_members};
use crate::json::string;
use std::borrow::Cow;

/// The version this package writes.
pub const CURRENT_VERSION: f64 = 3.0;

fn literal(wtf8: &[u8]) -> Option<Cow<'static, [u8]>> {
    let mut out = Vec::new();
    string::write(&mut out, wtf8);
    Some(Cow::Owned(out))
}

/// What an upgraded line gets, taken from the index.
#[derive(Debug, Clone, Default)]
pub struct Upgrade {
    /// New id and parent id, for version 1.
    envelope: Option<(Vec<u8>, Option<Vec<u8>>)>,
    /// First kept id, for a version 1 compaction.
    first_kept: Option<Vec<u8>>,
    compaction: bool,
    hook_message: bool,
}

impl Upgrade {
    /// The upgrade of an entry of a file of this version.
    pub fn of(index: &Index, at: u32, record: &EntryRecord, version: f64) -> Upgrade {
        let parent = index.get(record.parent).map(|_| index.id(record.parent));
        Upgrade {
            envelope: (version < 2.0).then(|| (index.id(at), parent)),
            first_kept: index.string(record.aux).filter(|_| record.kind == Kind::Compaction).map(<[u8]>::to_vec),
            compaction: version < 2.0 && record.kind == Kind::Compaction,
            hook_message: record.kind == Kind::Message && record.role == Role::HookMessage,
        }
    }

    /// The upgraded line.
    pub fn apply(&self, line: &[u8]) -> Vec<u8> {
        let mut members: Vec<Member<'_>> = Vec::new();
        if let Some((id, parent)) = &self.envelope {
            let parent = parent.as_ref().map_or(Some(Cow::Borrowed(&b"null"[..])), |parent| literal(parent));
            members.push(("id", literal(id)));
            members.push(("parentId", parent));
        }
        let indexed = self.compaction && member(line, "firstKeptEntryIndex").is_some_and(is_number);
        if indexed {
            members.push(("firstKeptEntryIndex", None));
            members.push(("firstKeptEntryId", self.first_kept.as_deref().and_then(literal)));
        }
        if self.hook_message {
            let renamed =
                member(line, "message").and_then(|message| set_members(message, &[("role", literal(b"custom"))]));
            members.extend(renamed.map(|message| ("message", Some(Cow::Owned(message)))));
        }
        set_members(line, &members).unwrap_or_else(|| line.to_vec())
    }
}

fn is_number(value: &[u8]) -> bool {
    matches!(value.first(), Some(b'-' | b'0'..=b'9'))
}

/// The header with the current version in it; one of a newer version stays as it is.
pub fn upgrade_header(header: &[u8], version: f64) -> Vec<u8> {
    if version >= CURRENT_VERSION {
        return header.to_vec();
    }
    set_members(header, &[("version", Some(Cow::Borrowed(b"3")))]).unwrap_or_else(|| header.to_vec())
}
