//! Reading a file line by line through one buffer, so that memory does not grow with the file.

use crate::error::{Error, Result};
use std::fs::File;
use std::path::Path;

/// Bytes read at once: enough that a read costs little, few enough that what the kernel copied is
/// still in the processor's cache when it is scanned.
const CHUNK_BYTES: usize = 1 << 17;

/// Something with bytes at positions.
pub trait Source {
    /// Reads at `offset` into `buffer`; returns the count, 0 at the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize>;

    /// Reads exactly `length` bytes.
    fn read_exact_at(&self, offset: u64, length: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.fill_exact_at(offset, &mut bytes)?;
        Ok(bytes)
    }

    /// Fills `bytes`.
    fn fill_exact_at(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            match self.read_at(&mut bytes[done..], offset + done as u64)? {
                0 => return Err(self.ended(offset + done as u64)),
                count => done += count,
            }
        }
        Ok(())
    }

    /// The error for a source that has become shorter than it was.
    fn ended(&self, offset: u64) -> Error;
}

/// An open file and the name to report failures under.
#[derive(Debug, Clone, Copy)]
pub struct FileSource<'a> {
    /// The open file; its position is neither used nor moved.
    pub file: &'a File,
    /// Where it was opened.
    pub path: &'a Path,
}

impl Source for FileSource<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        loop {
            match crate::store::read_at(self.file, buffer, offset) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io("read", self.path, error)),
                Ok(count) => return Ok(count),
            }
        }
    }

    fn ended(&self, offset: u64) -> Error {
        Error::Conflict {
            path: self.path.to_path_buf(),
            reason: format!("the file ends at byte {offset}, before lines that were in it"),
        }
    }
}

impl Source for [u8] {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn ended(&self, offset: u64) -> Error {
        Error::InvalidArgument { reason: format!("the text ends at byte {offset}") }
    }
}

/// A line as it lies in the source.
#[derive(Debug)]
pub struct Line<'a> {
    /// The bytes without the LF.
    pub bytes: &'a [u8],
    /// Where they start.
    pub offset: u64,
    /// Whether an LF follows.
    pub ended: bool,
}

/// Hands out the lines of `source` from `from` up to `end`. The last one may lack its LF. A visitor
/// that returns `false` stops the reading.
pub fn lines<S: Source + ?Sized>(
    source: &S,
    from: u64,
    end: u64,
    mut visit: impl FnMut(Line<'_>) -> Result<bool>,
) -> Result<()> {
    let span = usize::try_from(end.saturating_sub(from)).unwrap_or(usize::MAX);
    let mut buffer = vec![0u8; span.min(CHUNK_BYTES)];
    // The buffer holds the bytes from `base` on; `filled` of them are valid, `seen` were searched.
    let (mut base, mut filled, mut seen) = (from, 0usize, 0usize);
    loop {
        let left = end.saturating_sub(base + filled as u64);
        let room = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len() - filled);
        let count =
            if room == 0 { 0 } else { source.read_at(&mut buffer[filled..filled + room], base + filled as u64)? };
        filled += count;
        let mut start = 0;
        while let Some(at) = memchr::memchr(b'\n', &buffer[seen..filled]) {
            let line = Line { bytes: &buffer[start..seen + at], offset: base + start as u64, ended: true };
            if !visit(line)? {
                return Ok(());
            }
            start = seen + at + 1;
            seen = start;
        }
        seen = filled;
        if count == 0 && (left == 0 || room > 0) {
            if start < filled {
                visit(Line { bytes: &buffer[start..filled], offset: base + start as u64, ended: false })?;
            }
            return Ok(());
        }
        buffer.copy_within(start..filled, 0);
        (base, filled, seen) = (base + start as u64, filled - start, seen - start);
        if filled == buffer.len() {
            let more = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            buffer.resize(buffer.len() + more.max(1), 0);
        } else if filled < CHUNK_BYTES && buffer.len() > 4 * CHUNK_BYTES {
            // One very long line must not keep its memory for the rest of the file.
            buffer.truncate(CHUNK_BYTES);
            buffer.shrink_to_fit();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives at most three bytes a call.
    struct Trickle<'a>(&'a [u8]);

    impl Source for Trickle<'_> {
        fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
            let room = buffer.len().min(3);
            self.0.read_at(&mut buffer[..room], offset)
        }
        fn ended(&self, offset: u64) -> Error {
            self.0.ended(offset)
        }
    }

    fn all<S: Source + ?Sized>(source: &S, from: u64, end: u64) -> Vec<(String, u64, bool)> {
        let mut out = Vec::new();
        lines(source, from, end, |line| {
            out.push((String::from_utf8_lossy(line.bytes).into_owned(), line.offset, line.ended));
            Ok(true)
        })
        .expect("memory cannot fail");
        out
    }

    #[test]
    fn lines_come_with_their_offsets_however_short_the_reads_are() {
        let text = b"one\n\nthree, which is longer\nfour";
        let expected = vec![
            ("one".to_string(), 0, true),
            (String::new(), 4, true),
            ("three, which is longer".to_string(), 5, true),
            ("four".to_string(), 28, false),
        ];
        assert_eq!(all(&text[..], 0, text.len() as u64), expected);
        assert_eq!(all(&Trickle(text), 0, text.len() as u64), expected);
        assert_eq!(all(&Trickle(text), 5, 28), expected[2..3]);
    }

    #[test]
    fn a_line_longer_than_the_buffer_is_whole() {
        let mut text = vec![b'x'; 3 * CHUNK_BYTES + 7];
        text.push(b'\n');
        text.extend_from_slice(b"end\n");
        let lengths: Vec<_> = all(&text[..], 0, text.len() as u64).iter().map(|l| l.0.len()).collect();
        assert_eq!(lengths, [3 * CHUNK_BYTES + 7, 3]);
    }

    #[test]
    fn a_source_that_ends_early_gives_what_there_is() {
        assert_eq!(all(&b"one\ntwo"[..], 0, 100), vec![("one".into(), 0, true), ("two".into(), 4, false)]);
    }
}
