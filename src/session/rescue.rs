//! Lines that somebody who takes no lock still appends to a file that was replaced.

use super::Session;
use crate::error::{Error, Result};
use crate::index::UNWRITTEN;
use crate::json::string::decode;
use crate::log::line::{Piece, pieces};
use crate::log::read::{FileSource, Source};
use crate::store;
use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

impl Session {
    /// Copies whole lines from files that were replaced to ours, which is taken in up to `size` and
    /// locked. Returns the size after it.
    pub(super) fn rescue_orphaned_lines(&mut self, file: &Arc<File>, mut size: u64) -> Result<u64> {
        if self.disk()?.previous.is_empty() {
            return Ok(size);
        }
        let path = self.disk()?.path.clone();
        for at in 0..self.disk()?.previous.len() {
            let disk = self.disk()?;
            let (old, seen) = (Arc::clone(&disk.previous[at].file), disk.previous[at].seen);
            let length = store::stat_open(&old, &path)?.len();
            if length <= seen {
                continue;
            }
            let bytes = FileSource { file: &old, path: &path }.read_exact_at(seen, (length - seen) as usize)?;
            let Some(last) = memchr::memrchr(b'\n', &bytes) else { continue };
            let lines = self.lines_that_lack(&FileSource { file, path: &path }, &bytes[..=last])?;
            if !lines.is_empty() {
                self.disk()?.write(file, &lines, size)?;
            }
            let previous = &mut self.disk()?.previous[at];
            previous.seen = seen + last as u64 + 1;
            previous.grown = Instant::now();
            size = self.take_in(file)?;
        }
        Ok(size)
    }

    /// The lines that are not in the file yet: every process that had the replaced file open sees
    /// them, and the first that writes copies them.
    fn lines_that_lack(&self, source: &FileSource<'_>, lines: &[u8]) -> Result<Vec<u8>> {
        let mut lacking = Vec::new();
        for line in lines.split_inclusive(|byte| *byte == b'\n').filter(|line| *line != b"\n") {
            if !self.has_line(source, line.strip_suffix(b"\n").unwrap_or(line))? {
                lacking.extend_from_slice(line);
            }
        }
        Ok(lacking)
    }

    /// Whether each entry on a line is in the file with the same bytes.
    fn has_line(&self, source: &FileSource<'_>, line: &[u8]) -> Result<bool> {
        let mut places = Vec::new();
        pieces(line, false, |piece| {
            let Piece::Record(facts) = piece else { return places.push(None) };
            let record = facts.id.text().and_then(|id| self.index.get(self.index.find(&decode(line, id))?));
            let same_length = record.filter(|record| record.length as usize == facts.span.len());
            places.push(
                same_length.filter(|record| record.offset != UNWRITTEN).map(|record| (record.offset, facts.span)),
            );
        });
        for place in &places {
            let Some((offset, span)) = place else { return Ok(false) };
            if source.read_exact_at(*offset, span.len())? != line[span.clone()] {
                return Ok(false);
            }
        }
        Ok(!places.is_empty())
    }
}

/// Most bytes of a line that is not ended which are looked at to find its beginning.
const LONGEST_TAIL: u64 = 1 << 30;

/// Size of a file that is going to be replaced, and where the last line of it begins that somebody may
/// still be writing; its end, if all lines are whole. A system shows a line growing while it is
/// written, so it gets a moment to end.
pub(super) fn settled_end(source: &FileSource<'_>) -> Result<(u64, u64)> {
    let size = || Ok::<_, Error>(store::stat_open(source.file, source.path)?.len());
    let ends = |size: u64| Ok::<_, Error>(size == 0 || source.read_exact_at(size - 1, 1)? == b"\n");
    let mut end = size()?;
    for _ in 0..5 {
        if ends(end)? {
            return Ok((end, end));
        }
        std::thread::sleep(Duration::from_millis(1));
        end = size()?;
    }
    let mut start = end;
    while start > 0 && end - start < LONGEST_TAIL {
        let block = start.min(1 << 16);
        let bytes = source.read_exact_at(start - block, block as usize)?;
        if let Some(last) = memchr::memrchr(b'\n', &bytes) {
            return Ok((end, start - block + last as u64 + 1));
        }
        start -= block;
    }
    Ok((end, start))
}
