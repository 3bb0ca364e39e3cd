//! What others do to the file between our calls.

use super::disk::unsynced;
use super::recorder::{Fault, Op};
use super::scenarios::{self, Run, SCENARIOS};
use super::{entry_ids, open, run};
use omp_session::blob::BlobStore;
use omp_session::session::{Changes, HeaderEdit, Payload, Session};
use omp_session::store::{Call, Tap, set_tap};
use std::cell::Cell;
use std::io::{Error, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

const THEIRS: &str =
    "{\"type\":\"custom\",\"id\":\"theirs\",\"parentId\":null,\"timestamp\":\"t\",\"customType\":\"x\"}\n";

fn add_theirs(path: &Path) {
    let mut file = std::fs::File::options().append(true).open(path).expect("opened");
    file.write_all(THEIRS.as_bytes()).expect("written");
}

fn flushed_session() -> (tempfile::TempDir, Run, Session) {
    let (_, append) = SCENARIOS[0];
    let (dir, run, session) = run(append, Fault::None);
    (dir, run, session.expect("a session"))
}

/// What a power loss could still take of the file's bytes and of its name.
fn open_ops(run: &Run) -> Vec<Op> {
    let ops = run.recorder.ops.borrow();
    let open = unsynced(&ops).into_iter().map(|at| ops[at].clone());
    open.filter(|op| matches!(op, Op::Write(..) | Op::Create(..) | Op::Link(..) | Op::Rename(..))).collect()
}

#[test]
fn a_deleted_file_that_is_written_again_is_durable_once_it_is_flushed() {
    let (_dir, run, mut session) = flushed_session();
    std::fs::remove_file(run.path("one.jsonl")).expect("deleted");
    run.append(&mut session, "again");
    assert!(!open_ops(&run).is_empty());
    run.flush(&mut session);
    run.recorder.remove();
    assert_eq!(open_ops(&run), []);
}

#[test]
fn the_name_of_a_file_that_somebody_put_in_place_of_ours_is_durable_once_it_is_flushed() {
    let (_dir, run, mut session) = flushed_session();
    let path = run.path("one.jsonl");
    std::fs::copy(&path, run.path("copy")).expect("copied");
    std::fs::rename(run.path("copy"), &path).expect("replaced");
    let before = run.recorder.ops.borrow().len();
    run.append(&mut session, "in theirs");
    run.flush(&mut session);
    run.recorder.remove();
    let dir = path.parent().expect("a directory").to_path_buf();
    assert!(run.recorder.ops.borrow()[before..].contains(&Op::SyncDir(dir)));
}

#[test]
fn what_was_flushed_while_a_rewrite_was_copied_stays_durable_in_the_new_file() {
    let (_dir, run, mut session) = flushed_session();
    let edit = HeaderEdit { text: None, members: vec![("title".into(), b"\"A name\"".to_vec())] };
    let planned = session.plan_rewrite(None, &edit, &Changes::default(), &run.blobs).expect("planned");
    let mut rewrite = planned.expect("the title is new");
    rewrite.copy(11).expect("copied");
    run.append(&mut session, "meanwhile");
    run.flush(&mut session);
    session.publish(rewrite, &run.blobs).expect("published");
    run.recorder.remove();
    assert_eq!(open_ops(&run), []);
}

/// Lets half of our first write through. What follows then is up to `then`.
struct Half {
    path: PathBuf,
    writes: Cell<usize>,
    then: fn(&Path) -> std::io::Result<()>,
}

impl Tap for Half {
    fn before(&self, call: &Call<'_>) -> std::io::Result<()> {
        if matches!(call, Call::Append { .. }) && self.writes.replace(self.writes.get() + 1) == 1 {
            return (self.then)(&self.path);
        }
        Ok(())
    }

    fn permitted(&self, length: usize) -> usize {
        if self.writes.get() == 0 { length.div_ceil(2) } else { length }
    }

    fn after(&self, _: &Call<'_>) {}
}

fn append(session: &mut Session, blobs: &BlobStore) -> (String, Option<String>) {
    let message = Payload::Message(br#"{"role":"user","content":"ours"}"#);
    let appended = session.append(message, 1, blobs).expect("JSON");
    (appended.id, appended.error.map(|error| error.code().to_string()))
}

/// A session whose first write got half way, and what `then` did.
fn half_written(then: fn(&Path) -> std::io::Result<()>) -> (tempfile::TempDir, PathBuf, BlobStore, Session) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("one.jsonl");
    std::fs::write(&path, format!("{}\n", scenarios::HEADER)).expect("written");
    let session = open(&path).expect("opened").expect("a session");
    set_tap(Some(Rc::new(Half { path: path.clone(), writes: Cell::new(0), then })));
    let blobs = BlobStore::new(dir.path().join("blobs"));
    (dir, path, blobs, session)
}

#[test]
fn a_line_of_somebody_else_between_two_parts_of_ours_leaves_both_whole() {
    let then = |path: &Path| {
        add_theirs(path);
        Ok(())
    };
    let (_dir, path, blobs, mut session) = half_written(then);
    let (ours, error) = append(&mut session, &blobs);
    set_tap(None);
    assert_eq!(error, None);
    assert_eq!(entry_ids(&path), ["theirs", &ours]);
    let (next, _) = append(&mut session, &blobs);
    assert_eq!(entry_ids(&path), ["theirs", &ours, &next]);
}

#[test]
fn half_a_line_behind_which_somebody_else_wrote_is_not_continued() {
    let (_dir, path, blobs, mut session) = half_written(|_| Err(Error::from_raw_os_error(libc::ENOSPC)));
    let (first, error) = append(&mut session, &blobs);
    set_tap(None);
    assert_eq!(error.as_deref(), Some("ENOSPC"));
    add_theirs(&path);
    let (second, error) = append(&mut session, &blobs);
    assert_eq!(error, None);
    assert_eq!(entry_ids(&path), ["theirs", &first, &second]);
}

/// A program without lock that appends a line right before each of our writes.
struct Intruder {
    path: PathBuf,
    lines: Cell<usize>,
}

impl Tap for Intruder {
    fn before(&self, call: &Call<'_>) -> std::io::Result<()> {
        if matches!(call, Call::Append { .. }) {
            let number = self.lines.replace(self.lines.get() + 1);
            let line =
                format!("{{\"type\":\"custom\",\"id\":\"theirs{number}\",\"parentId\":null,\"customType\":\"x\"}}\n");
            let mut file = std::fs::File::options().append(true).open(&self.path)?;
            file.write_all(line.as_bytes())?;
        }
        Ok(())
    }

    fn after(&self, _: &Call<'_>) {}
}

#[test]
fn a_line_that_comes_between_the_look_at_the_size_and_our_write_moves_no_entry() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("one.jsonl");
    std::fs::write(&path, format!("{}\n", scenarios::HEADER)).expect("written");
    let blobs = BlobStore::new(dir.path().join("blobs"));
    let mut session = open(&path).expect("opened").expect("a session");
    set_tap(Some(Rc::new(Intruder { path: path.clone(), lines: Cell::new(0) })));
    for text in ["one", "a longer two", "three"] {
        let message = format!(r#"{{"role":"user","content":"{text}"}}"#);
        let appended = session.append(Payload::Message(message.as_bytes()), 1, &blobs).expect("JSON");
        assert!(appended.error.is_none());
    }
    set_tap(None);
    let index = session.index().clone();
    let entries: Vec<u32> = (0..index.len() as u32).collect();
    assert_eq!(entries.len(), 6);
    let mut ids = Vec::new();
    session
        .texts(&entries, |at, _, text| {
            let value: serde_json::Value = serde_json::from_slice(text).expect("the entry's own line");
            assert_eq!(value["id"].as_str().map(str::as_bytes), Some(&index.id(at)[..]));
            ids.push(index.id(at));
        })
        .expect("read");
    let mut again: Vec<_> = entry_ids(&path).into_iter().map(String::into_bytes).collect();
    ids.sort();
    again.sort();
    assert_eq!(ids, again);
}
