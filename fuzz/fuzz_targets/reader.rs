//! Any bytes as a session file: every stretch of it is an entry, a header, or reported.
#![no_main]

use libfuzzer_sys::fuzz_target;
use omp_session::context;
use omp_session::error::Error;
use omp_session::index::NONE;
use omp_session::log::line::{Piece, pieces};
use omp_session::log::read::{Source, lines};
use omp_session::session::Session;
use std::path::Path;

/// White space, and the NULs that a crash leaves behind.
fn is_filler(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0)
}

/// Gives a few bytes at a time.
struct Trickle<'a>(&'a [u8]);

impl Source for Trickle<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> omp_session::error::Result<usize> {
        let room = buffer.len().min(1 + offset as usize % 7);
        self.0.read_at(&mut buffer[..room], offset)
    }
    fn ended(&self, offset: u64) -> Error {
        self.0.ended(offset)
    }
}

/// Lines put together again are the file, and between the pieces of a line there is only filler.
fn nothing_is_left_out(data: &[u8]) {
    let mut copy = Vec::new();
    lines(&Trickle(data), 0, data.len() as u64, |line| {
        assert_eq!(line.offset, copy.len() as u64);
        copy.extend_from_slice(line.bytes);
        copy.extend(line.ended.then_some(b'\n'));
        let mark = line.offset == 0 && line.bytes.starts_with(b"\xef\xbb\xbf");
        let mut at = if mark { 3 } else { 0 };
        pieces(line.bytes, line.offset == 0, |piece| {
            let span = match piece {
                Piece::Record(facts) => facts.span,
                Piece::Bad { start, end, .. } => start..end,
            };
            assert!(line.bytes[at..span.start].iter().all(is_filler), "bytes before {span:?} are left out");
            assert!(span.end > at);
            at = span.end;
        });
        assert!(line.bytes[at..].iter().all(is_filler), "the end of a line is left out");
        Ok(true)
    })
    .expect("memory cannot fail");
    assert_eq!(copy, data);
}

fuzz_target!(|data: &[u8]| {
    nothing_is_left_out(data);
    let session = match Session::from_text(data.to_vec(), Path::new("fuzzed"), 1) {
        Ok(Some(session)) => session,
        Ok(None) => {
            let text = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
            assert!(text.iter().all(u8::is_ascii_whitespace), "not blank, and yet no session");
            return;
        }
        Err(Error::Corrupt { offset, .. }) => return assert!(offset <= data.len() as u64),
        Err(other) => panic!("{other:?}"),
    };
    let (index, report) = (session.index(), session.report());
    let mut places = vec![session.header().span.start];
    places.extend(session.title_line().map(|line| line.offset));
    places.extend(index.records().iter().map(|record| record.offset));
    places.extend(report.skipped.iter().map(|skipped| skipped.offset));
    places.extend(report.torn_tail);
    if report.skipped_count == report.skipped.len() as u64 {
        let mut start = 0;
        for line in data.split(|byte| *byte == b'\n') {
            let end = start + line.len() as u64;
            let text = if start == 0 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
            if !text.iter().all(is_filler) {
                assert!(places.iter().any(|at| (start..=end).contains(at)), "line at {start} is not accounted for");
            }
            start = end + 1;
        }
    }
    for (at, record) in index.records().iter().enumerate() {
        let text = &data[record.offset as usize..record.offset as usize + record.length as usize];
        assert!(text.starts_with(b"{") && text.ends_with(b"}"));
        assert!(record.parent == NONE || (record.parent as usize) < index.len());
        let path = index.path(at as u32);
        assert_eq!(path.last(), Some(&(at as u32)));
        assert!(path.len() <= index.len());
        let found = index.find(&index.id(at as u32)).expect("an entry has its id");
        assert!(found >= at as u32);
    }
    let tree = index.tree_order();
    assert_eq!((tree.order.len(), tree.parents.len()), (index.len(), index.len()));
    context::plan(index, session.leaf());
});
