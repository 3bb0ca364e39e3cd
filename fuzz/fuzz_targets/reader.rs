//! Any bytes as a session file: every stretch of it is an entry, a header, or reported.
#![no_main]

use libfuzzer_sys::fuzz_target;
use omp_session::context;
use omp_session::error::Error;
use omp_session::index::NONE;
use omp_session::session::Session;
use std::path::Path;

/// White space, and the NULs that a crash leaves behind.
fn is_filler(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0)
}

fuzz_target!(|data: &[u8]| {
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
