//! A repaired file opens without complaint and has every entry that could be read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use omp_session::blob::BlobStore;
use omp_session::entry::kind::Kind;
use omp_session::json::string::decode;
use omp_session::log::line::{Piece, pieces};
use omp_session::log::read::lines;
use omp_session::repair::{HeaderDefaults, repair};
use omp_session::session::{Opened, Session};
use omp_session::verify::verify;
use std::path::PathBuf;

/// Ids of the records that are entries from version 2 on, in order.
fn ids(data: &[u8]) -> Vec<Vec<u8>> {
    let mut ids = Vec::new();
    lines(data, 0, data.len() as u64, |line| {
        pieces(line.bytes, line.offset == 0, |piece| {
            if let Piece::Record(facts) = piece
                && !matches!(facts.kind, Kind::Session | Kind::Title)
            {
                ids.extend(facts.id.text().map(|id| decode(line.bytes, id).into_owned()));
            }
        });
        Ok(true)
    })
    .expect("memory cannot fail");
    ids
}

fuzz_target!(|data: &[u8]| {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("one.jsonl");
    std::fs::write(&path, data).expect("written");
    let blobs = BlobStore::new(PathBuf::from("/nowhere"));
    let before = verify(&path, &blobs).expect("a file");
    assert_eq!(std::fs::read(&path).expect("read"), data, "verify changed the file");
    let defaults = HeaderDefaults { id: "made".into(), cwd: "/srv".into(), now: 1_733_234_400_000 };
    let planned = repair(&path, &defaults, true);
    assert_eq!(std::fs::read(&path).expect("read"), data, "a dry run changed the file");
    let done = match (planned, repair(&path, &defaults, false)) {
        (Ok(planned), Ok(done)) => {
            assert_eq!(
                (planned.changed, planned.entries, planned.left_out),
                (done.changed, done.entries, done.left_out)
            );
            done
        }
        (Err(planned), Err(error)) => {
            assert_eq!(planned.code(), error.code());
            assert_eq!(std::fs::read(&path).expect("read"), data);
            return;
        }
        (planned, done) => panic!("planned {planned:?}, did {done:?}"),
    };
    match &done.backup {
        Some(backup) => assert_eq!(std::fs::read(backup).expect("read"), data),
        None => assert_eq!(std::fs::read(&path).expect("read"), data),
    }
    let after = verify(&path, &blobs).expect("a file");
    assert!(after.is_ok(), "{after:?}");
    assert!(after.entries >= before.entries, "{} of {} entries", after.entries, before.entries);
    assert_eq!(after.entries, done.entries);
    if before.has_header && before.version >= 2.0 {
        assert_eq!(ids(&std::fs::read(&path).expect("read")), ids(data), "an entry was lost or made");
    }
    let Ok(Opened::Session(session)) = Session::open(&path, 1) else { panic!("a repaired file does not open") };
    assert_eq!(session.index().len(), done.entries);
    assert!(!repair(&path, &defaults, false).expect("repaired once more").changed);
});
