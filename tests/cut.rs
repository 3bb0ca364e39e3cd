//! A file cut at any byte, as a crash may leave it: what is whole is read, and the next append is safe.
//! And a lock that somebody keeps: nothing is lost, and all is written when it is free.

use omp_session::error::{Error, Result};
use omp_session::persist::BlobSink;
use omp_session::session::{Opened, Payload, Session};
use std::fs::File;
use std::path::{Path, PathBuf};

struct NoImages;

impl BlobSink for NoImages {
    fn put(&self, _bytes: &[u8]) -> Result<String> {
        Err(Error::InvalidArgument { reason: "no images are expected here".into() })
    }
}

const HEADER: &str = r#"{"type":"session","version":3,"id":"cut","timestamp":"2024-12-03T14:00:00.000Z","cwd":"/srv"}"#;

fn open(path: &Path) -> Result<Session> {
    match Session::open(path, 7)? {
        Opened::Session(session) => Ok(*session),
        other => panic!("{}: {other:?}", path.display()),
    }
}

fn ids(session: &Session) -> Vec<String> {
    let index = session.index();
    (0..index.len() as u32).map(|at| String::from_utf8_lossy(&index.id(at)).into_owned()).collect()
}

fn append(session: &mut Session, text: &str) -> (String, Option<Error>) {
    let message = format!(r#"{{"role":"user","content":"{text} é \\ud83d"}}"#);
    let appended = session.append(Payload::Message(message.as_bytes()), 1_733_234_400_000, &NoImages).expect("JSON");
    (appended.id, appended.error)
}

fn session_file(dir: &Path, entries: usize) -> (PathBuf, Vec<String>) {
    let path = dir.join("one.jsonl");
    std::fs::write(&path, format!("{HEADER}\n")).expect("written");
    let mut session = open(&path).expect("a session");
    let ids = (0..entries).map(|number| append(&mut session, &number.to_string()).0).collect();
    (path, ids)
}

#[test]
fn a_file_cut_at_any_byte_opens_with_what_is_whole_and_takes_the_next_append() {
    let dir = tempfile::tempdir().expect("a directory");
    let (path, all) = session_file(dir.path(), 4);
    let whole = std::fs::read(&path).expect("read");
    let cut_path = dir.path().join("cut.jsonl");
    for cut in 0..=whole.len() {
        std::fs::write(&cut_path, &whole[..cut]).expect("written");
        let opened = Session::open(&cut_path, 9);
        if cut < HEADER.len() {
            let refused = matches!(opened, Err(Error::Corrupt { .. })) || matches!(opened, Ok(Opened::Empty));
            assert!(refused, "cut at {cut}");
            continue;
        }
        let mut session = open(&cut_path).expect("a session");
        let before = ids(&session);
        // Every entry of which all bytes are there, whether or not its LF is.
        let ends = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
        let complete = ends.filter(|end| *end <= cut).count().saturating_sub(1);
        assert_eq!(before, all[..complete], "cut at {cut}");
        let (id, error) = append(&mut session, "after");
        assert!(error.is_none(), "cut at {cut}: {error:?}");
        let now = std::fs::read(&cut_path).expect("read");
        assert!(now.starts_with(&whole[..cut]), "cut at {cut}");
        // Other agents read line by line: behind the fragment of another one ours would be lost to them.
        let line = now.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        assert_eq!(serde_json::from_slice::<serde_json::Value>(line).expect("a line of its own")["id"], id);
        let again = ids(&open(&cut_path).expect("a session"));
        assert_eq!(again, [&before[..], &[id]].concat(), "cut at {cut}");
    }
}

#[test]
fn a_file_cut_at_any_byte_under_an_open_session_is_not_written_to() {
    let dir = tempfile::tempdir().expect("a directory");
    let (path, _) = session_file(dir.path(), 2);
    let whole = std::fs::read(&path).expect("read");
    for cut in [0, 10, HEADER.len(), whole.len() - 1] {
        std::fs::write(&path, &whole).expect("written");
        let mut session = open(&path).expect("a session");
        File::options().write(true).open(&path).expect("opened").set_len(cut as u64).expect("cut");
        let (_, error) = append(&mut session, "lost?");
        assert_eq!(error.map(|error| error.code()), Some("ERR_SESSION_CONFLICT"), "cut at {cut}");
        assert_eq!(std::fs::read(&path).expect("read"), whole[..cut]);
    }
}

#[test]
fn while_somebody_keeps_the_lock_nothing_is_lost_and_all_is_written_when_it_is_free() {
    let dir = tempfile::tempdir().expect("a directory");
    let (path, mut all) = session_file(dir.path(), 1);
    let mut session = open(&path).expect("a session");
    let holder = File::open(&path).expect("opened");
    holder.lock().expect("locked");
    for number in 0..3 {
        let (id, error) = append(&mut session, &number.to_string());
        assert_eq!(error.map(|error| error.code()), Some("ERR_SESSION_LOCKED"));
        all.push(id);
    }
    assert_eq!(ids(&session), all);
    assert_eq!(ids(&open(&path).expect("a session")), all[..1]);
    holder.unlock().expect("unlocked");
    let (id, error) = append(&mut session, "free");
    assert!(error.is_none(), "{error:?}");
    all.push(id);
    assert_eq!(ids(&open(&path).expect("a session")), all);
}
