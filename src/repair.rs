//! Makes of a damaged file one that every agent can open. Only on request, and never without keeping
//! the original.

use crate::entry::kind::Kind;
use crate::entry::timestamp;
use crate::error::{Error, Result};
use crate::index::{Index, flag};
use crate::json::edit::set_members;
use crate::json::string;
use crate::log::line::{Piece, pieces};
use crate::log::read::{FileSource, Source, lines};
use crate::migrate::{Upgrade, upgrade_header};
use crate::store::{self, FileLock, LockBudget, TempFile};
use crate::verify::{Reading, read_everything};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a new header gets where the old one does not say.
#[derive(Debug, Clone)]
pub struct HeaderDefaults {
    /// Session id.
    pub id: String,
    /// Working directory.
    pub cwd: String,
    /// Milliseconds since 1970.
    pub now: i64,
}

/// What a repair did, or would do.
#[derive(Debug, Default)]
pub struct Repair {
    /// Whether the file is another one than before.
    pub changed: bool,
    /// Where the original is kept.
    pub backup: Option<PathBuf>,
    /// Entries in the repaired file.
    pub entries: usize,
    /// Stretches that are left out of it: they cannot be read, or are headers after the first.
    pub left_out: u64,
    /// Entries that hang on the entry before them now.
    pub reconnected: u64,
    /// Whether a header was made.
    pub new_header: bool,
}

fn literal(wtf8: &[u8]) -> Cow<'static, [u8]> {
    let mut out = Vec::new();
    string::write(&mut out, wtf8);
    Cow::Owned(out)
}

/// The value of a complete `"key":"value"` in bytes that are no JSON as a whole.
fn rescued(bytes: &[u8], key: &str) -> Option<Vec<u8>> {
    let needle = format!("\"{key}\":");
    let at = memchr::memmem::find(bytes, needle.as_bytes())? + needle.len();
    let mut scanner = crate::json::scan::Scanner::new(bytes, at);
    let value = scanner.string().ok()?;
    Some(string::decode(bytes, value).into_owned())
}

/// The header of the repaired file: the one that is there, or one put together from what is left of
/// it.
fn header_text(reading: &Reading, source: &dyn Source, size: u64, defaults: &HeaderDefaults) -> Result<Vec<u8>> {
    if let Some(header) = &reading.header {
        let text = upgrade_header(&header.text, header.version);
        let title = reading.title.as_ref().map(|title| ("title", Some(literal(title))));
        return Ok(title.and_then(|title| set_members(&text, &[title])).unwrap_or(text));
    }
    let mut cut = Vec::new();
    lines(source, 0, size, |line| {
        if memchr::memmem::find(line.bytes, b"\"session\"").is_some() {
            cut = line.bytes.to_vec();
        }
        Ok(cut.is_empty() && line.offset < 1 << 20)
    })?;
    let first_time = reading.index.records().iter().map(|record| record.time).find(|time| *time != timestamp::NO_TIME);
    let time = timestamp::format(first_time.unwrap_or(defaults.now)).into_bytes();
    let known = |key: &str, otherwise: Vec<u8>| literal(&rescued(&cut, key).unwrap_or(otherwise));
    let members = [
        ("type", Some(Cow::Borrowed(&b"\"session\""[..]))),
        ("version", Some(Cow::Borrowed(&b"3"[..]))),
        ("id", Some(known("id", defaults.id.clone().into_bytes()))),
        ("timestamp", Some(known("timestamp", time))),
        ("cwd", Some(known("cwd", defaults.cwd.clone().into_bytes()))),
        ("title", rescued(&cut, "title").map(|title| literal(&title))),
    ];
    Ok(set_members(b"{}", &members).unwrap_or_default())
}

/// Writes the repaired lines.
fn write_lines(
    reading: &Reading,
    source: &dyn Source,
    size: u64,
    temp: &mut TempFile,
    repair: &mut Repair,
) -> Result<()> {
    let (mut at, mut headers) = (0u32, 0u64);
    let parents = new_parents(&reading.index);
    lines(source, 0, size, |line| {
        let mut failure = None;
        pieces(line.bytes, line.offset == 0, |piece| {
            let Piece::Record(facts) = piece else {
                repair.left_out += 1;
                return;
            };
            let text = &line.bytes[facts.span.clone()];
            // What is an entry the reading has decided, which has them in the order of the file.
            let place = line.offset + facts.span.start as u64;
            let written = if reading.index.get(at).is_some_and(|record| record.offset == place) {
                at += 1;
                temp.write(&mended(reading, &parents, at - 1, text, repair))
            } else if matches!(facts.kind, Kind::Session | Kind::Title) {
                headers += u64::from(facts.kind == Kind::Session);
                return;
            } else {
                temp.write(text)
            };
            failure = failure.take().or(written.and_then(|()| temp.write(b"\n")).err());
        });
        failure.map_or(Ok(true), Err)
    })?;
    repair.left_out += headers.saturating_sub(u64::from(reading.header.is_some()));
    Ok(())
}

/// Parents of the entries that get another one; nothing for a root.
type Parents = HashMap<u32, Option<u32>>;

/// The root of an entry's part of the tree, with shortcuts for the next question.
fn root_of(roots: &mut [u32], at: u32) -> u32 {
    let mut root = at;
    while roots[root as usize] != root {
        root = roots[root as usize];
    }
    let mut step = at;
    while roots[step as usize] != root {
        step = std::mem::replace(&mut roots[step as usize], root);
    }
    root
}

/// Hangs orphans on the entry before them, unless that entry hangs on them: then, and where a circle
/// was cut, the entry becomes a root.
fn new_parents(index: &Index) -> Parents {
    let mut roots: Vec<u32> = (0..)
        .zip(index.records())
        .map(|(at, record)| match index.get(record.parent) {
            Some(_) => record.parent,
            None => at,
        })
        .collect();
    let mut parents = Parents::new();
    for (at, record) in (0u32..).zip(index.records()) {
        if record.has(flag::CYCLE) {
            parents.insert(at, None);
        } else if record.has(flag::ORPHAN) {
            let before = at.checked_sub(1).filter(|before| root_of(&mut roots, *before) != at);
            if let Some(before) = before {
                roots[at as usize] = before;
            }
            parents.insert(at, before);
        }
    }
    parents
}

/// An entry's line as it is to be: upgraded, with a parent that leads to a root.
fn mended(reading: &Reading, parents: &Parents, at: u32, text: &[u8], repair: &mut Repair) -> Vec<u8> {
    let index = &reading.index;
    let Some(record) = index.get(at) else { return text.to_vec() };
    let mut line = text.to_vec();
    if record.has(flag::MIGRATED) {
        line = Upgrade::of(index, at, record, reading.version).apply(text);
    }
    let Some(parent) = parents.get(&at) else { return line };
    let parent = parent.map_or(Cow::Borrowed(&b"null"[..]), |parent| literal(&index.id(parent)));
    repair.reconnected += 1;
    set_members(&line, &[("parentId", Some(parent))]).unwrap_or(line)
}

/// Repairs the file at `path`. With `dry_run` it only says what it would do.
pub fn repair(path: &Path, defaults: &HeaderDefaults, dry_run: bool) -> Result<Repair> {
    let target = store::canonicalize(path).map_err(|error| Error::io("realpath", path, error))?;
    let file = Arc::new(match dry_run {
        true => store::open(&target)?.0,
        false => store::open_to_append(&target)?,
    });
    let _lock = match dry_run {
        true => None,
        false => Some(FileLock::take(&file, &target, &mut LockBudget::default())?),
    };
    let size = store::stat_open(&file, &target)?.len();
    let source = FileSource { file: &file, path: &target };
    let reading = read_everything(&source, size)?;
    let mut result = Repair { entries: reading.index.len(), new_header: reading.header.is_none(), ..Repair::default() };
    if reading.header.is_none() && reading.index.is_empty() {
        return Err(Error::NothingToSalvage { path: path.to_path_buf() });
    }
    let mut temp = TempFile::beside(&target, defaults.now as u64)?;
    temp.copy_mode(&file)?;
    temp.write(&header_text(&reading, &source, size, defaults)?)?;
    temp.write(b"\n")?;
    write_lines(&reading, &source, size, &mut temp, &mut result)?;
    result.changed = !temp.is_same_as(&source, size)?;
    if dry_run || !result.changed {
        return Ok(result);
    }
    temp.sync()?;
    let mut name = target.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".bak-{}", timestamp::format(defaults.now).replace([':', '.'], "-")));
    let backup = target.with_file_name(name);
    store::hard_link(&target, &backup).or_else(|_| copy_new(&source, size, &backup))?;
    temp.replace(&target)?;
    store::sync_dir(&target)?;
    result.backup = Some(backup);
    Ok(result)
}

/// For file systems without hard links. What fails to be copied leaves nothing.
fn copy_new(source: &FileSource<'_>, size: u64, to: &Path) -> Result<()> {
    let file = store::create_new(to)?;
    let copied = copy_to(&file, source, size, to);
    if copied.is_err() {
        let _ = store::remove_file(to);
    }
    copied
}

fn copy_to(file: &File, source: &FileSource<'_>, size: u64, to: &Path) -> Result<()> {
    let mut at = 0;
    while at < size {
        let length = (size - at).min(1 << 20) as usize;
        let bytes = source.read_exact_at(at, length)?;
        store::append_all(file, &bytes).map_err(|error| Error::io("write", to, error))?;
        at += length as u64;
    }
    store::sync(file, to)
}
