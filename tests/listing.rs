//! A listing that remembers shows the same as one that reads every file.

use omp_session::list::{self, FoundFile, Memory, Scope, Summary};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A store of sessions, large enough that remembering it is worth a write.
struct Store {
    dir: tempfile::TempDir,
}

const SECOND: i64 = 1_000_000_000;

fn header(id: &str) -> String {
    format!(r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2024-12-03T14:00:00.000Z","cwd":"/srv/{id}"}}"#)
}

fn message(role: &str, text: &str) -> String {
    format!(
        r#"{{"type":"message","id":"a0000001","parentId":null,"timestamp":"2024-12-03T14:00:00.000Z","message":{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}]}}}}"#
    )
}

impl Store {
    fn new() -> Store {
        let store = Store { dir: tempfile::tempdir().expect("a directory") };
        std::fs::create_dir_all(store.root().join("p")).expect("made");
        store.put("large", &[header("large"), message("user", &"x".repeat(1 << 20)), message("assistant", "y")]);
        store.put("small", &[header("small"), message("user", "hello"), message("assistant", "there")]);
        std::fs::write(store.root().join("p/other.jsonl"), "no session\n".repeat(1000)).expect("written");
        store
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("sessions")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root().join(format!("p/{name}.jsonl"))
    }

    fn put(&self, name: &str, lines: &[String]) {
        std::fs::write(self.path(name), lines.join("\n") + "\n").expect("written");
    }

    fn cache(&self) -> PathBuf {
        self.dir.path().join("omp-session/listing-1")
    }

    /// The list as somebody sees it `later` seconds from now.
    fn list(&self, later: i64) -> Vec<Row> {
        let root = self.root().to_string_lossy().into_owned();
        let now = list::nanoseconds(SystemTime::now()) + later * SECOND;
        let memory = Memory { path: self.cache(), now, unique: 7 };
        rows(memory.summaries(list::files(&[], Some(&root)), Scope { dirs: &[], root: Some(&root) }))
    }

    /// The list, whatever is remembered.
    fn fresh(&self) -> Vec<Row> {
        let root = self.root().to_string_lossy().into_owned();
        let memory = Memory { path: self.dir.path().join("none/none"), now: 0, unique: 7 };
        rows(memory.summaries(list::files(&[], Some(&root)), Scope { dirs: &[], root: None }))
    }
}

#[derive(Debug, PartialEq)]
struct Row {
    path: PathBuf,
    id: Vec<u8>,
    cwd: Option<Vec<u8>>,
    first_prompt: Option<Vec<u8>>,
    short_summary: Option<Vec<u8>>,
    message_count: u64,
    texts: Option<Vec<u8>>,
}

fn rows(found: Vec<(FoundFile, Summary)>) -> Vec<Row> {
    let row = |(file, summary): (FoundFile, Summary)| {
        let open = File::open(&file.path).expect("opened");
        let source = omp_session::log::read::FileSource { file: &open, path: &file.path };
        let header = summary.header.expect("only sessions are listed");
        Row {
            texts: summary.texts.read(&source, file.size).expect("read"),
            path: file.path,
            id: header.id,
            cwd: header.cwd,
            first_prompt: header.first_prompt,
            short_summary: summary.short_summary,
            message_count: summary.message_count,
        }
    };
    found.into_iter().map(row).collect()
}

fn append(path: &Path, text: &str) {
    let mut file = File::options().append(true).open(path).expect("opened");
    file.write_all(text.as_bytes()).expect("written");
}

#[test]
fn a_list_from_memory_is_the_list_from_the_files() {
    let store = Store::new();
    let first = store.list(10);
    assert_eq!(first, store.fresh());
    assert!(store.cache().exists());
    assert_eq!(store.list(20), first);
}

#[test]
fn a_file_that_may_still_change_within_its_time_stamp_is_not_remembered() {
    let store = Store::new();
    store.list(0);
    assert!(!store.cache().exists());
}

#[test]
fn what_is_appended_counts_and_texts_stay_complete() {
    let store = Store::new();
    store.list(10);
    append(&store.path("small"), &(message("user", "more") + "\n"));
    let line = r#"{"type":"compaction","id":"a0000002","shortSummary":"brief"}"#;
    append(&store.path("small"), line);
    let list = store.list(20);
    assert_eq!(list, store.fresh());
    // The last line had no end when it was seen: what follows belongs to it.
    append(&store.path("small"), &format!("\n{}\n", message("assistant", "end")));
    let small = store.list(30).into_iter().find(|row| row.id == b"small").expect("listed");
    assert_eq!((small.message_count, small.texts.as_deref()), (4, Some(&b"hello there more end"[..])));
    assert_eq!(small.short_summary.as_deref(), Some(&b"brief"[..]));
}

#[test]
fn a_large_session_that_grows_is_remembered_up_to_its_old_end() {
    let store = Store::new();
    store.list(10);
    append(&store.path("large"), &(message("user", &"z".repeat(1 << 20)) + "\n"));
    assert_eq!(store.list(20), store.fresh());
    assert_eq!(store.list(30), store.fresh());
}

#[test]
fn a_file_with_other_bytes_of_the_same_length_and_time_is_read_again() {
    let store = Store::new();
    let time = std::fs::metadata(store.path("small")).and_then(|metadata| metadata.modified()).expect("a time");
    store.list(10);
    let other = std::fs::read_to_string(store.path("small")).expect("read").replace("hello", "olleh");
    std::fs::write(store.path("small"), other).expect("written");
    File::options().append(true).open(store.path("small")).and_then(|file| file.set_modified(time)).expect("set");
    let list = store.list(20);
    assert_eq!(list, store.fresh());
    assert!(list.iter().any(|row| row.first_prompt.as_deref() == Some(b"olleh")));
}

#[test]
fn a_longer_file_that_begins_otherwise_is_read_from_its_start() {
    let store = Store::new();
    store.list(10);
    let mut file = File::options().write(true).open(store.path("small")).expect("opened");
    let text = [header("other"), message("user", "a"), message("user", "b"), message("user", "c")].join("\n") + "\n";
    file.write_all(text.as_bytes()).expect("written in place");
    let list = store.list(20);
    assert_eq!(list, store.fresh());
    assert!(list.iter().any(|row| row.id == b"other"));
}

#[test]
fn deleted_and_replaced_files_are_not_listed_from_memory() {
    let store = Store::new();
    store.list(10);
    std::fs::remove_file(store.path("large")).expect("removed");
    std::fs::remove_file(store.path("small")).expect("removed");
    store.put("small", &[header("new"), message("user", "new")]);
    let list = store.list(20);
    assert_eq!(list.iter().map(|row| &row.id[..]).collect::<Vec<_>>(), [b"new"]);
}

#[test]
fn a_cache_damaged_anywhere_is_as_good_as_none() {
    let store = Store::new();
    store.list(10);
    let good = std::fs::read(store.cache()).expect("read");
    std::fs::remove_file(store.path("large")).expect("removed");
    let list = store.fresh();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 0x55;
        std::fs::write(store.cache(), &bad).expect("written");
        assert_eq!(store.list(0), list, "byte {at}");
        std::fs::write(store.cache(), &good[..at]).expect("written");
        assert_eq!(store.list(0), list, "cut at {at}");
    }
    store.put("large", &[header("large"), message("user", &"x".repeat(1 << 20))]);
    let list = store.list(10);
    assert_eq!(list, store.fresh());
    assert_eq!(&std::fs::read(store.cache()).expect("read")[..8], &good[..8]);
}

#[test]
fn a_list_elsewhere_makes_no_agent_directory_and_needs_no_cache() {
    let store = Store::new();
    let list = store.fresh();
    assert_eq!(list.len(), 2);
    assert!(!store.dir.path().join("none").exists());
    std::fs::create_dir_all(store.cache().join("in the way")).expect("made");
    assert_eq!(store.list(10), list);
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_the_memory_is_not_waited_for() {
    let store = Store::new();
    let cache = store.cache();
    std::fs::create_dir_all(cache.parent().expect("a directory")).expect("made");
    assert!(std::process::Command::new("mkfifo").arg(&cache).status().expect("mkfifo").success());
    assert_eq!(store.list(10), store.fresh());
}
