//! An entry appended behind any bytes: they stay, and both can be read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use omp_session::error::Result;
use omp_session::log::line::{Piece, pieces};
use omp_session::persist::BlobSink;
use omp_session::session::{Opened, Payload, Session};
use std::path::Path;

struct NoImages;

impl BlobSink for NoImages {
    fn put(&self, _: &[u8]) -> Result<String> {
        Ok("0".repeat(64))
    }
}

fn open(path: &Path) -> Option<Session> {
    match Session::open(path, 7) {
        Ok(Opened::Session(session)) => Some(*session),
        _ => None,
    }
}

fn ids(session: &Session) -> Vec<Vec<u8>> {
    (0..session.index().len() as u32).map(|at| session.index().id(at)).collect()
}

/// Every record of a file in order, as its bytes.
fn records(data: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in data.split(|byte| *byte == b'\n') {
        pieces(line, start == 0, |piece| {
            if let Piece::Record(facts) = piece {
                found.push(&line[facts.span]);
            }
        });
        start += line.len() + 1;
    }
    found
}

fuzz_target!(|data: &[u8]| {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), data).expect("written");
    let Some(mut session) = open(file.path()) else { return };
    let before = ids(&session);
    let old = session.header().version < 3.0;
    let appended = session
        .append(Payload::Message(br#"{"role":"user","content":"appended"}"#), 1_733_234_400_000, &NoImages)
        .expect("JSON");
    assert!(appended.error.is_none(), "{:?}", appended.error);
    let mut expected = before.clone();
    expected.push(appended.id.clone().into_bytes());
    assert_eq!(ids(&session), expected);
    let now = std::fs::read(file.path()).expect("read");
    if !old {
        assert!(now.starts_with(data), "bytes of the file were changed");
        let (all, first) = (records(&now), records(data));
        assert!(all.len() == first.len() + 1 && all.starts_with(&first), "a record was broken or made");
    }
    let again = open(file.path()).expect("it was a session");
    assert_eq!(ids(&again), expected);
    let last = now.strip_suffix(b"\n").expect("the line is ended");
    let line = &last[last.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)..];
    let value: serde_json::Value = serde_json::from_slice(line).expect("a line of its own");
    assert_eq!(value["id"], serde_json::json!(appended.id));
});
