//! What sessions do, step by step. A step that fails is noted, and the next one is taken.

use super::recorder::{Op, Recorder};
use omp_session::blob::BlobStore;
use omp_session::error::Error;
use omp_session::repair::{HeaderDefaults, repair};
use omp_session::session::{Changes, HeaderEdit, Opened, Payload, Published, Session};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub const HEADER: &str =
    r#"{"type":"session","version":3,"id":"first","timestamp":"2024-12-03T14:00:00.000Z","cwd":"/srv"}"#;
const OTHER: &str =
    r#"{"type":"session","version":3,"id":"other","timestamp":"2024-12-03T14:00:00.000Z","cwd":"/srv"}"#;
const NOW: i64 = 1_733_234_400_000;

/// A run of a scenario.
pub struct Run {
    pub root: PathBuf,
    pub recorder: Rc<Recorder>,
    pub blobs: BlobStore,
    /// Errors of the steps.
    pub errors: RefCell<Vec<Error>>,
    /// Session and entry of every append that gave an id, also with an error.
    pub appended: RefCell<Vec<(String, String)>>,
}

pub type Scenario = fn(&Run) -> Option<Session>;

pub const SCENARIOS: [(&str, Scenario); 12] = [
    ("append", append_scenario),
    ("append behind a torn line", torn),
    ("create a file", create),
    ("fill a blank file", fill_blank),
    ("rename", rename),
    ("rename in the title line", rename_in_title_line),
    ("edit entries", edit),
    ("upgrade", upgrade),
    ("fork", fork),
    ("branch into a file", branch),
    ("images", images),
    ("repair of a torn line", repair_damaged),
];

impl Run {
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join("sessions/p").join(name)
    }

    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        std::fs::write(&path, text).expect("written");
        self.recorder.know(&path);
        path
    }

    fn note(&self, error: Error) {
        self.recorder.heal_lasting();
        self.errors.borrow_mut().push(error);
    }

    fn open(&self, path: &Path) -> Option<Session> {
        match Session::open(path, 7) {
            Ok(Opened::Session(session)) => Some(*session),
            Ok(other) => panic!("{other:?}"),
            Err(error) => {
                self.note(error);
                None
            }
        }
    }

    pub fn append(&self, session: &mut Session, text: &str) {
        let message = format!(r#"{{"role":"user","content":"{text}"}}"#);
        self.append_json(session, &message);
    }

    fn append_json(&self, session: &mut Session, message: &str) {
        let appended = session.append(Payload::Message(message.as_bytes()), NOW, &self.blobs).expect("JSON");
        let id = String::from_utf8(session.header().id.clone()).expect("UTF-8");
        self.appended.borrow_mut().push((id.clone(), appended.id.clone()));
        match appended.error {
            None if session.is_stored() => self.recorder.push(Op::Acknowledged(id, appended.id)),
            None => {}
            Some(error) => self.note(error),
        }
    }

    /// Acknowledges everything the session has.
    fn acknowledge_all(&self, session: &Session) {
        let id = String::from_utf8(session.header().id.clone()).expect("UTF-8");
        for at in 0..session.index().len() as u32 {
            let entry = String::from_utf8(session.index().id(at)).expect("UTF-8");
            self.recorder.push(Op::Acknowledged(id.clone(), entry));
        }
    }

    pub fn flush(&self, session: &mut Session) {
        let flushed = self.blobs.sync().and_then(|()| {
            let Some(unsynced) = session.flush(&self.blobs)? else { return Ok(()) };
            unsynced.sync().inspect_err(|_| session.sync_failed(&unsynced))
        });
        match flushed {
            Ok(()) => {
                self.acknowledge_all(session);
                let id = String::from_utf8(session.header().id.clone()).expect("UTF-8");
                self.recorder.push(Op::Flushed(id));
            }
            Err(error) => self.note(error),
        }
    }

    fn rewrite(&self, session: &mut Session, edit: &HeaderEdit, changes: &[(u32, Vec<u8>)]) {
        let (entries, texts) = changes.iter().cloned().unzip();
        let held = session.hold(entries, texts);
        let mut rewritten = || {
            let Some(mut rewrite) = session.plan_rewrite(None, edit, &held, &self.blobs)? else { return Ok(()) };
            rewrite.copy(11)?;
            session.publish(rewrite, &self.blobs).map(|_| ())
        };
        match rewritten() {
            // What a rewrite wrote it has synced, with the name.
            Ok(()) => {
                self.acknowledge_all(session);
                let id = String::from_utf8(session.header().id.clone()).expect("UTF-8");
                self.recorder.push(Op::Flushed(id));
            }
            Err(error) => self.note(error),
        }
    }
}

fn started(run: &Run) -> Option<Session> {
    let path = run.put("one.jsonl", &format!("{HEADER}\n"));
    let mut session = run.open(&path)?;
    run.append(&mut session, "one");
    run.append(&mut session, "two é \\ud83d");
    Some(session)
}

fn append_scenario(run: &Run) -> Option<Session> {
    let mut session = started(run)?;
    run.flush(&mut session);
    run.append(&mut session, "three");
    session.release();
    run.append(&mut session, "four");
    run.flush(&mut session);
    Some(session)
}

fn torn(run: &Run) -> Option<Session> {
    let path = run.put("one.jsonl", &format!("{HEADER}\n{{\"type\":\"message\",\"id\":\"cut"));
    let mut session = run.open(&path)?;
    run.append(&mut session, "one");
    run.append(&mut session, "two");
    run.flush(&mut session);
    Some(session)
}

fn create(run: &Run) -> Option<Session> {
    create_at(run, &run.path("new.jsonl"), false)
}

fn fill_blank(run: &Run) -> Option<Session> {
    let path = run.put("blank.jsonl", " \n ");
    create_at(run, &path, true)
}

fn create_at(run: &Run, path: &Path, blank: bool) -> Option<Session> {
    let mut session = Session::new(HEADER.as_bytes(), 3).expect("a header");
    let mut entries = Vec::new();
    for text in ["one", "two"] {
        let message = format!(r#"{{"role":"user","content":"{text}"}}"#);
        let appended = session.append(Payload::Message(message.as_bytes()), NOW, &run.blobs).expect("JSON");
        let at = appended.index;
        let parent = at
            .checked_sub(1)
            .map_or("null".into(), |at| format!("\"{}\"", String::from_utf8(session.index().id(at)).expect("UTF-8")));
        let id = appended.id;
        entries.extend_from_slice(
            format!(
                "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2024-12-03T14:00:00.000Z\",\"message\":{message}}}\n"
            )
            .as_bytes(),
        );
        run.appended.borrow_mut().push(("first".into(), id));
    }
    let mut result = session.create_file(path, blank, &entries, &run.blobs);
    if let Err(error) = result {
        run.note(error);
        // The session is not in a file yet: the next answer tries again.
        run.recorder.heal();
        result = session.create_file(path, blank, &entries, &run.blobs);
    }
    result.expect("the cause is gone");
    run.acknowledge_all(&session);
    run.append(&mut session, "three");
    run.flush(&mut session);
    Some(session)
}

fn named(name: &str) -> HeaderEdit {
    HeaderEdit { text: None, members: vec![("title".into(), format!("\"{name}\"").into_bytes())] }
}

fn rename(run: &Run) -> Option<Session> {
    let mut session = started(run)?;
    run.flush(&mut session);
    run.rewrite(&mut session, &named("A name"), &[]);
    run.append(&mut session, "three");
    run.rewrite(&mut session, &named("Another, longer name"), &[]);
    run.flush(&mut session);
    Some(session)
}

fn rename_in_title_line(run: &Run) -> Option<Session> {
    let mut session = renamed_in_title_line(run)?;
    run.append(&mut session, "two");
    run.flush(&mut session);
    Some(session)
}

/// A flushed session whose title was overwritten in its line, and nothing else since.
pub fn renamed_in_title_line(run: &Run) -> Option<Session> {
    let title = r#"{"type":"title","v":1,"title":"Old","source":"user","updatedAt":"2024-12-03T14:00:00.000Z","pad":""#;
    let line = format!("{title}{}\"}}", " ".repeat(255 - title.len() - 2));
    let path = run.put("one.jsonl", &format!("{line}\n{HEADER}\n"));
    let mut session = run.open(&path)?;
    run.append(&mut session, "one");
    run.flush(&mut session);
    if let Err(error) = session.write_title_line(b"New", "2024-12-03T14:00:01.000Z", &run.blobs) {
        run.note(error);
    }
    Some(session)
}

fn edit(run: &Run) -> Option<Session> {
    let mut session = started(run)?;
    let id = String::from_utf8(session.index().id(0)).expect("UTF-8");
    let text = format!(
        r#"{{"type":"message","id":"{id}","parentId":null,"timestamp":"2024-12-03T14:00:00.000Z","message":{{"role":"user","content":"edited"}}}}"#
    );
    run.rewrite(&mut session, &HeaderEdit::default(), &[(0, text.into_bytes())]);
    run.append(&mut session, "three");
    run.flush(&mut session);
    Some(session)
}

fn upgrade(run: &Run) -> Option<Session> {
    let old = r#"{"type":"session","id":"first","timestamp":"2024-12-03T14:00:00.000Z","cwd":"/srv"}"#;
    let entry = r#"{"type":"message","timestamp":"2024-12-03T14:00:00.000Z","message":{"role":"user","content":"v1"}}"#;
    let path = run.put("one.jsonl", &format!("{old}\n{entry}\n{entry}\n"));
    let mut session = run.open(&path)?;
    run.acknowledge_all(&session);
    run.append(&mut session, "one");
    run.append(&mut session, "two");
    run.flush(&mut session);
    Some(session)
}

fn fork(run: &Run) -> Option<Session> {
    fork_to(run, &run.path("fork.jsonl"))
}

/// A fork into a directory that is made for it.
pub fn fork_into_a_new_directory(run: &Run) -> Option<Session> {
    let dir = run.root.join("sessions/new");
    omp_session::store::create_dir_all(&dir).expect("made");
    fork_to(run, &dir.join("fork.jsonl"))
}

fn fork_to(run: &Run, target: &Path) -> Option<Session> {
    let mut session = started(run)?;
    let edit = HeaderEdit { text: Some(OTHER.into()), members: Vec::new() };
    let mut forked = || {
        let rewrite = session.plan_rewrite(Some(target), &edit, &Changes::default(), &run.blobs)?;
        let mut rewrite = rewrite.expect("a copy is always made");
        rewrite.copy(12)?;
        session.publish(rewrite, &run.blobs)
    };
    match forked() {
        Ok(Published::Copy(mut other)) => {
            run.acknowledge_all(&other);
            run.append(&mut other, "in the fork");
            run.flush(&mut other);
        }
        Ok(other) => panic!("{other:?}"),
        Err(error) => {
            assert!(!target.exists(), "a failed fork left a session: {error:?}");
            run.note(error);
        }
    }
    run.append(&mut session, "in the first");
    run.flush(&mut session);
    Some(session)
}

fn branch(run: &Run) -> Option<Session> {
    let mut session = started(run)?;
    let target = run.path("branch.jsonl");
    match session.branched(0, OTHER.as_bytes(), Some(&target), &[], NOW, &run.blobs) {
        Ok(mut made) => {
            run.acknowledge_all(&made.session);
            run.append(&mut made.session, "in the branch");
            run.flush(&mut made.session);
        }
        Err(error) => run.note(error),
    }
    run.append(&mut session, "in the first");
    run.flush(&mut session);
    Some(session)
}

fn images(run: &Run) -> Option<Session> {
    let mut session = started(run)?;
    let data = "QUJD".repeat(300);
    let image = format!(r#"{{"role":"user","content":[{{"type":"image","mimeType":"image/png","data":"{data}"}}]}}"#);
    run.append_json(&mut session, &image);
    run.flush(&mut session);
    let dir = run.root.join("blobs");
    for blob in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
        if blob.file_name().len() == 64 && run.errors.borrow().is_empty() {
            run.recorder.push(Op::BlobFlushed(blob.path()));
        }
    }
    run.append(&mut session, "after");
    run.flush(&mut session);
    Some(session)
}

fn repair_damaged(run: &Run) -> Option<Session> {
    let entry = |id: &str, parent: &str| {
        let message = r#"{"role":"user","content":"kept"}"#;
        format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2024-12-03T14:00:00.000Z","message":{message}}}"#
        )
    };
    let (one, two) = (entry("0000000a", "gone"), entry("0000000b", "gone too"));
    let path = run.put("one.jsonl", &format!("{HEADER}\n{one}\n{two}\n{{\"type\":\"mess"));
    let session = run.open(&path)?;
    run.acknowledge_all(&session);
    drop(session);
    let defaults = HeaderDefaults { id: "unused".into(), cwd: "/srv".into(), now: NOW };
    match repair(&path, &defaults, false) {
        Ok(done) => assert_eq!((done.changed, done.entries), (true, 2)),
        Err(error) => run.note(error),
    }
    let mut session = run.open(&path)?;
    run.append(&mut session, "after");
    run.flush(&mut session);
    Some(session)
}
