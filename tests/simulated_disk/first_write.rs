//! A first write that fails stands in nobody's way.

use super::recorder::{Fault, Recorder};
use super::scenarios::HEADER;
use omp_session::blob::BlobStore;
use omp_session::session::{Payload, Session};
use omp_session::store::{Call, Tap, set_tap};
use std::io::Write;
use std::rc::Rc;

/// A session of one entry that is not stored, and its line.
fn unstored(blobs: &BlobStore) -> (Session, String) {
    let mut session = Session::new(HEADER.as_bytes(), 3).expect("a header");
    let message = r#"{"role":"user","content":"one"}"#;
    let appended = session.append(Payload::Message(message.as_bytes()), 1, blobs).expect("JSON");
    let line = format!(
        r#"{{"type":"message","id":"{}","parentId":null,"timestamp":"1970-01-01T00:00:00.001Z","message":{message}}}"#,
        appended.id
    );
    (session, line)
}

#[test]
fn a_new_file_whose_first_write_failed_and_that_could_not_be_removed_is_written_when_the_cause_is_gone() {
    for fault in [Fault::Errno(2, libc::EIO), Fault::From(2, libc::EIO), Fault::Short(2, libc::ENOSPC)] {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("new.jsonl");
        let blobs = BlobStore::new(dir.path().join("blobs"));
        let (mut session, line) = unstored(&blobs);
        let recorder = Recorder::install(fault);
        let error = session.create_file(&path, false, line.as_bytes(), &blobs).expect_err("the write fails");
        assert!(matches!(error.code(), "EIO" | "ENOSPC"), "{error}");
        recorder.heal();
        session.create_file(&path, false, line.as_bytes(), &blobs).expect("the cause is gone");
        recorder.remove();
        let text = std::fs::read_to_string(&path).expect("read");
        assert_eq!(text, format!("{}\n{line}\n", HEADER), "{fault:?}");
    }
}

#[test]
fn a_blank_file_is_blank_again_after_a_part_of_the_first_write_got_there() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("blank.jsonl");
    std::fs::write(&path, " \n ").expect("written");
    let blobs = BlobStore::new(dir.path().join("blobs"));
    let (mut session, line) = unstored(&blobs);
    let first = Recorder::install(Fault::None);
    let mut twin = unstored(&blobs).0;
    let probe = dir.path().join("probe.jsonl");
    std::fs::write(&probe, " \n ").expect("written");
    twin.create_file(&probe, true, line.as_bytes(), &blobs).expect("no fault");
    let append = first.calls() - 1;
    first.remove();
    let recorder = Recorder::install(Fault::Short(append, libc::ENOSPC));
    let error = session.create_file(&path, true, line.as_bytes(), &blobs).expect_err("the disk is full");
    assert_eq!(error.code(), "ENOSPC");
    assert_eq!(std::fs::read_to_string(&path).expect("read"), " \n ");
    session.create_file(&path, true, line.as_bytes(), &blobs).expect("the cause is gone");
    recorder.remove();
    assert_eq!(std::fs::read_to_string(&path).expect("read"), format!(" \n \n{}\n{line}\n", HEADER));
}

#[test]
fn what_somebody_else_wrote_behind_a_failed_first_write_is_not_taken_away() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("new.jsonl");
    let blobs = BlobStore::new(dir.path().join("blobs"));
    let (mut session, line) = unstored(&blobs);
    let recorder = Recorder::install(Fault::From(3, libc::EIO));
    // Half of the bytes get there, and everything after that fails.
    struct Half(Rc<Recorder>);
    impl Tap for Half {
        fn before(&self, call: &Call<'_>) -> std::io::Result<()> {
            self.0.before(call)
        }
        fn permitted(&self, length: usize) -> usize {
            length / 2
        }
        fn after(&self, call: &Call<'_>) {
            self.0.after(call);
        }
    }
    set_tap(Some(Rc::new(Half(recorder.clone()))));
    session.create_file(&path, false, line.as_bytes(), &blobs).expect_err("the write fails");
    recorder.heal();
    std::fs::File::options().append(true).open(&path).expect("opened").write_all(b"\ntheirs\n").expect("written");
    let before = std::fs::read(&path).expect("read");
    let error = session.create_file(&path, false, line.as_bytes(), &blobs).expect_err("somebody else's file");
    set_tap(None);
    assert_eq!(error.code(), "ERR_SESSION_CONFLICT");
    assert_eq!(std::fs::read(&path).expect("read"), before);
}
