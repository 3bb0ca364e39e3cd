//! What earlier listings saw, in one file: of a file that is still the same, nothing is read again.
//!
//! The cache never stands above the files. An entry counts only for the very identity it was made
//! of; what is appended to a file is read, and a file whose times may still be the same after
//! another write is not noted at all. A damaged or unknown cache is as good as none, and whatever
//! fails while it is written only makes the next listing slower. Two processes may write it at the
//! same time: it is replaced as a whole, and what one of them noted the other reads again.

use super::identity::FileIdentity;
use super::summary::{HeaderInfo, Summary};
use super::text::content_text;
use super::texts::Texts;
use super::{FoundFile, each};
use crate::error::{Error, Result};
use crate::log::read::{FileSource, Source};
use crate::store::{self, TempFile};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};

/// How the file begins; another layout gets another number. The checksum of the rest follows.
const MAGIC: &[u8; 8] = b"omplist1";

/// Bytes that have to have been read before noting them is worth a write.
const WORTH_BYTES: u64 = 1 << 20;

/// Longest prompt that is kept; of a longer one only the place is.
const PROMPT_BYTES: usize = 4096;

/// Bytes at both ends of what was read that have to be the same when a file has grown.
const ENDS_BYTES: u64 = 4096;

/// Most files noted.
const MOST_FILES: usize = 200_000;

/// One file, as it was.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Noted<'a> {
    path: &'a [u8],
    identity: FileIdentity,
    /// Nothing if it is no session.
    #[serde(borrow)]
    session: Option<NotedSession<'a>>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct NotedSession<'a> {
    id: &'a [u8],
    cwd: Option<&'a [u8]>,
    title: Option<&'a [u8]>,
    parent_session: Option<&'a [u8]>,
    timestamp: Option<&'a [u8]>,
    first_prompt: Option<&'a [u8]>,
    prompt_place: Option<(u64, u64)>,
    short_summary: Option<&'a [u8]>,
    message_count: u64,
    /// See [`Texts::stored`].
    #[serde(borrow)]
    texts: Option<(&'a [u8], u64)>,
    /// Checksum of both ends of the file, if lines that are appended can be read on their own.
    ends: Option<u32>,
}

/// The directories that were looked through.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// Directories of session files.
    pub dirs: &'a [String],
    /// A directory of such directories.
    pub root: Option<&'a str>,
}

impl Scope<'_> {
    fn holds(&self, path: &Path) -> bool {
        let Some(parent) = path.parent() else { return false };
        let below_root = self.root.is_some_and(|root| parent.parent() == Some(Path::new(root)));
        below_root || self.dirs.iter().any(|dir| parent == Path::new(dir))
    }
}

/// The cache file, and what a listing needs to use it.
#[derive(Debug, Clone)]
pub struct Memory {
    /// The cache file. The directory above its own has to exist.
    pub path: PathBuf,
    /// Nanoseconds since 1970.
    pub now: i64,
    /// A number that no other process uses for its temporary file.
    pub unique: u64,
}

/// A file's summary and whether it may be noted.
struct Seen {
    summary: Option<Summary>,
    identity: Option<FileIdentity>,
    ends: Option<u32>,
    bytes: u64,
}

impl Memory {
    /// The summaries of `files` that are sessions, in their order.
    pub fn summaries(&self, files: Vec<FoundFile>, scope: Scope<'_>) -> Vec<(FoundFile, Summary)> {
        let cache = match store::require_regular(&self.path) {
            Ok(()) => std::fs::read(&self.path).unwrap_or_default(),
            Err(_) => Vec::new(),
        };
        let noted: Vec<Noted<'_>> =
            payload(&cache).and_then(|notes| postcard::from_bytes(notes).ok()).unwrap_or_default();
        let by_path: HashMap<&[u8], &Noted<'_>> = noted.iter().map(|noted| (noted.path, noted)).collect();
        let known = |file: &FoundFile| by_path.get(file.path.as_os_str().as_encoded_bytes()).copied();
        let (mut kept, mut open) = (Vec::new(), Vec::new());
        for (at, file) in files.iter().enumerate() {
            match known(file).filter(|noted| Some(noted.identity) == file.identity) {
                Some(noted) => match noted.summary(file) {
                    Ok(summary) => kept.push((at, Some(noted), summary)),
                    Err(_) => open.push((at, file)),
                },
                None => open.push((at, file)),
            }
        }
        let read: Vec<FoundFile> = open.iter().map(|(_, file)| (*file).clone()).collect();
        let seen = each(&read, |file| Ok(Some((file.path.clone(), look(file, known(file))?))));
        let mut seen: HashMap<PathBuf, Seen> = seen.into_iter().collect();
        self.note(&noted, &kept, &seen, &files, scope);
        let mut all: Vec<Option<Summary>> = files.iter().map(|_| None).collect();
        for (at, file) in open {
            all[at] = seen.remove(&file.path).and_then(|seen| seen.summary);
        }
        for (at, _, summary) in kept {
            all[at] = summary;
        }
        files.into_iter().zip(all).filter_map(|(file, summary)| Some((file, summary?))).collect()
    }

    fn note(
        &self,
        noted: &[Noted<'_>],
        kept: &[(usize, Option<&Noted<'_>>, Option<Summary>)],
        seen: &HashMap<PathBuf, Seen>,
        files: &[FoundFile],
        scope: Scope<'_>,
    ) {
        let fresh: Vec<(&PathBuf, &Seen, FileIdentity)> = seen
            .iter()
            .filter_map(|(path, seen)| Some((path, seen, seen.identity.filter(|at| at.is_settled(self.now))?)))
            .collect();
        if fresh.iter().map(|(_, seen, _)| seen.bytes).sum::<u64>() < WORTH_BYTES {
            return;
        }
        let mut all: Vec<Noted<'_>> = kept.iter().filter_map(|(_, noted, _)| noted.copied()).collect();
        all.extend(fresh.iter().map(|(path, seen, identity)| Noted::of(path, *identity, seen)));
        let found: HashSet<&[u8]> = files.iter().map(|file| file.path.as_os_str().as_encoded_bytes()).collect();
        let elsewhere = noted.iter().filter(|noted| !found.contains(noted.path));
        all.extend(elsewhere.filter(|noted| !noted.path().is_none_or(|path| scope.holds(path))));
        all.truncate(MOST_FILES);
        // Without the cache the next listing reads all files again, which is no loss to anybody.
        let _ = self.save(&all);
    }

    fn save(&self, all: &[Noted<'_>]) -> Result<()> {
        let failed = |reason: &str| Error::InvalidArgument { reason: reason.to_string() };
        let payload = postcard::to_allocvec(all).map_err(|_| failed("the cache cannot be encoded"))?;
        let dir = self.path.parent().ok_or_else(|| failed("the cache needs a directory"))?;
        if !dir.parent().is_some_and(Path::is_dir) {
            return Ok(());
        }
        store::create_dir_all(dir)?;
        store::remove_abandoned(&self.path);
        let mut temp = TempFile::beside(&self.path, self.unique)?;
        temp.write(MAGIC)?;
        temp.write(&crc32fast::hash(&payload).to_le_bytes())?;
        temp.write(&payload)?;
        temp.replace(&self.path).map(|_| ())
    }
}

/// What stands behind the head of a cache file that is whole.
fn payload(cache: &[u8]) -> Option<&[u8]> {
    let (magic, rest) = cache.split_first_chunk::<8>()?;
    let (sum, payload) = rest.split_first_chunk::<4>()?;
    (magic == MAGIC && crc32fast::hash(payload) == u32::from_le_bytes(*sum)).then_some(payload)
}

impl<'a> Noted<'a> {
    fn of(path: &'a Path, identity: FileIdentity, seen: &'a Seen) -> Noted<'a> {
        let session = seen.summary.as_ref().and_then(|summary| {
            let header = summary.header.as_ref()?;
            let short = header.first_prompt.as_deref().filter(|prompt| prompt.len() <= PROMPT_BYTES);
            Some(NotedSession {
                id: &header.id,
                cwd: header.cwd.as_deref(),
                title: header.title.as_deref(),
                parent_session: header.parent_session.as_deref(),
                timestamp: header.timestamp.as_deref(),
                first_prompt: short,
                prompt_place: summary.prompt_place.filter(|_| short.is_none()),
                short_summary: summary.short_summary.as_deref(),
                message_count: summary.message_count,
                texts: summary.texts.stored(),
                ends: seen.ends,
            })
        });
        Noted { path: path.as_os_str().as_encoded_bytes(), identity, session }
    }

    fn path(&self) -> Option<&Path> {
        std::str::from_utf8(self.path).ok().map(Path::new)
    }

    /// The summary of the file this was made of; nothing if that is no session.
    fn summary(&self, file: &FoundFile) -> Result<Option<Summary>> {
        let Some(session) = self.session else { return Ok(None) };
        let owned = |bytes: Option<&[u8]>| bytes.map(<[u8]>::to_vec);
        let first_prompt = match (session.first_prompt, session.prompt_place) {
            (None, Some((offset, length))) if offset.saturating_add(length) <= self.identity.size() => {
                let (open, path) = (open(&file.path)?, &file.path);
                let content = FileSource { file: &open, path }.read_exact_at(offset, length as usize)?;
                Some(content_text(&content, 0..content.len()))
            }
            (prompt, _) => owned(prompt),
        };
        Ok(Some(Summary {
            header: Some(HeaderInfo {
                id: session.id.to_vec(),
                cwd: owned(session.cwd),
                title: owned(session.title),
                parent_session: owned(session.parent_session),
                timestamp: owned(session.timestamp),
                first_prompt,
            }),
            short_summary: owned(session.short_summary),
            message_count: session.message_count,
            texts: session.texts.map_or_else(Texts::unknown, Texts::from_stored),
            prompt_place: session.prompt_place,
            read: self.identity.size(),
            ..Summary::default()
        }))
    }
}

fn open(path: &Path) -> Result<File> {
    File::open(path).map_err(|error| Error::io("open", path, error))
}

/// Checksum of the first and the last bytes of the first `size`.
fn ends(source: &FileSource<'_>, size: u64) -> Result<u32> {
    let length = size.min(ENDS_BYTES);
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&source.read_exact_at(0, length as usize)?);
    hasher.update(&source.read_exact_at(size - length, length as usize)?);
    Ok(hasher.finalize())
}

/// Reads a file, or only what was appended to it since it was noted.
fn look(found: &FoundFile, noted: Option<&Noted<'_>>) -> Result<Seen> {
    let file = open(&found.path)?;
    let identity = FileIdentity::of(&store::stat_open(&file, &found.path)?);
    let source = FileSource { file: &file, path: &found.path };
    let mut summary = Summary::default();
    if let Some(noted) = noted.filter(|noted| identity.continues(&noted.identity))
        && let Some(before) = noted.session.and_then(|session| session.ends)
        && before == ends(&source, noted.identity.size())?
    {
        summary = noted.summary(found)?.unwrap_or_default();
    }
    let from = summary.read;
    summary.read_on(&source, identity.size())?;
    let ends = (!summary.open && summary.read > 0).then(|| ends(&source, summary.read)).transpose()?;
    // A file that changed while it was read is read again by the next listing.
    let same = FileIdentity::of(&store::stat_open(&file, &found.path)?) == identity && summary.read == identity.size();
    let bytes = summary.read - from;
    let summary = Some(summary).filter(|summary| summary.header.is_some());
    Ok(Seen { summary, identity: same.then_some(identity), ends, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_file_that_is_still_the_same_the_memory_is_shown() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("one.jsonl");
        std::fs::write(&path, "{\"type\":\"session\",\"id\":\"one\"}\n").expect("written");
        let found = super::super::files(&[dir.path().to_string_lossy().into_owned()], None);
        let identity = found[0].identity.expect("a file");
        let memory = Memory { path: dir.path().join("cache/listing"), now: 0, unique: 7 };
        let session = NotedSession {
            id: b"from memory",
            cwd: None,
            title: None,
            parent_session: None,
            timestamp: None,
            first_prompt: None,
            prompt_place: None,
            short_summary: None,
            message_count: 3,
            texts: None,
            ends: None,
        };
        let noted = Noted { path: path.as_os_str().as_encoded_bytes(), identity, session: Some(session) };
        memory.save(&[noted]).expect("saved");
        let scope = Scope { dirs: &[], root: None };
        let shown = memory.summaries(found.clone(), scope);
        assert_eq!(shown[0].1.header.as_ref().map(|header| &header.id[..]), Some(&b"from memory"[..]));
        std::fs::File::options().append(true).open(&path).and_then(|file| file.set_len(20)).expect("cut");
        assert!(
            memory.summaries(super::super::files(&[dir.path().to_string_lossy().into_owned()], None), scope).is_empty()
        );
    }

    #[test]
    fn a_file_changed_in_the_middle_without_growing_is_read_again() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("one.jsonl");
        let filler = "w".repeat(WORTH_BYTES as usize);
        let write = |prompt: &str, modified: u64| {
            let custom = format!("{{\"type\":\"custom\",\"id\":\"two\",\"data\":\"{filler}\"}}\n");
            let message = format!(
                "{{\"type\":\"message\",\"id\":\"one\",\"message\":{{\"role\":\"user\",\"content\":\"{prompt}\"}}}}\n"
            );
            let header = "{\"type\":\"session\",\"id\":\"one\"}\n";
            std::fs::write(&path, [header, &custom, &message, &custom].concat()).expect("written");
            let file = std::fs::File::options().append(true).open(&path).expect("opened");
            file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(modified)).expect("set");
        };
        let memory = Memory { path: dir.path().join("cache/listing"), now: i64::MAX, unique: 7 };
        let prompt = || {
            let files = super::super::files(&[dir.path().to_string_lossy().into_owned()], None);
            let (_, summary) = memory.summaries(files, Scope { dirs: &[], root: None }).remove(0);
            summary.header.and_then(|header| header.first_prompt).expect("a prompt")
        };
        write("beans", 1);
        assert_eq!(prompt(), b"beans");
        assert!(memory.path.exists());
        write("BEANS", 2);
        assert_eq!(prompt(), b"BEANS");
    }
}
