//! Whatever is promised holds on the disk as a crash leaves it: cut after any byte, with any unsynced
//! part lost, and after any call to the system failed.
#![cfg(unix)]

mod disk;
mod first_write;
mod others;
mod recorder;
mod scenarios;

use disk::{Disk, unsynced};
use omp_session::blob::BlobStore;
use omp_session::error::Error;
use omp_session::session::{Opened, Payload, Session};
use omp_session::store::Call;
use recorder::{Fault, Op, Recorder};
use scenarios::{Run, SCENARIOS, Scenario};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn run(scenario: Scenario, fault: Fault) -> (tempfile::TempDir, Run, Option<Session>) {
    let dir = tempfile::tempdir().expect("a directory");
    let root = dir.path().canonicalize().expect("a path");
    let recorder = Recorder::install(fault);
    let blobs = BlobStore::new(root.join("blobs"));
    let run = Run { root, recorder, blobs, errors: Default::default(), appended: Default::default() };
    let session = scenario(&run);
    (dir, run, session)
}

/// Session files below `dir`, as a listing finds them.
fn session_files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    entries
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .filter(|path| !path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")))
        .collect()
}

fn open(path: &Path) -> Result<Option<Session>, Error> {
    match Session::open(path, 99)? {
        Opened::Session(session) => Ok(Some(*session)),
        _ => Ok(None),
    }
}

/// Entries of every session that a file holds.
fn sessions_below(root: &Path) -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    for path in session_files(&root.join("sessions/p")) {
        let Ok(Some(session)) = open(&path) else { continue };
        let text = |wtf8: &[u8]| String::from_utf8_lossy(wtf8).into_owned();
        let ids = (0..session.index().len() as u32).map(|at| text(&session.index().id(at))).collect();
        let twin = found.insert(text(&session.header().id), ids);
        assert!(twin.is_none(), "two files hold one session: {}", path.display());
    }
    found
}

/// Every file that opens takes an append, keeps its bytes, and opens again; every other one stays as
/// it is.
fn every_file_goes_on(root: &Path, context: &str) {
    for path in session_files(&root.join("sessions/p")) {
        let before = std::fs::read(&path).expect("read");
        let Ok(Some(mut session)) = open(&path) else {
            assert_eq!(std::fs::read(&path).expect("read"), before, "{context}");
            let is_header = |line: &[u8]| {
                serde_json::from_slice::<serde_json::Value>(line).is_ok_and(|value| value["type"] == "session")
            };
            let header = before.split(|byte| *byte == b'\n').any(is_header);
            assert!(!header, "{context}: {} has a header and does not open", path.display());
            continue;
        };
        let (count, old) = (session.index().len(), session.header().version < 3.0);
        let blobs = BlobStore::new(root.join("blobs"));
        let appended =
            session.append(Payload::Message(br#"{"role":"user","content":"after"}"#), 1, &blobs).expect("JSON");
        assert!(appended.error.is_none(), "{context}: {:?}", appended.error);
        let after = std::fs::read(&path).expect("read");
        assert!(old || after.starts_with(&before), "{context}: bytes were changed");
        let again = open(&path).expect("a session").expect("a session");
        assert_eq!(again.index().len(), count + 1, "{context}");
    }
}

/// Each entry once, and those of a session in the order in which they were promised.
fn expect_once(found: &BTreeMap<String, Vec<String>>, promised: &[(String, String)], context: &str) {
    let mut last = BTreeMap::new();
    for (session, entry) in promised {
        let places: Vec<usize> =
            found.get(session).map_or(Vec::new(), |ids| (0..ids.len()).filter(|at| ids[*at] == *entry).collect());
        assert_eq!(places.len(), 1, "{context}: {entry} of {session} in {found:?}");
        let before = last.insert(session, places[0]);
        assert!(before.is_none_or(|before| before < places[0]), "{context}: {entry} of {session} in {found:?}");
    }
}

/// What had been acknowledged, in that order.
fn acknowledged(ops: &[Op]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for op in ops {
        if let Op::Acknowledged(session, entry) = op {
            let promise = (session.clone(), entry.clone());
            if !all.contains(&promise) {
                all.push(promise);
            }
        }
    }
    all
}

/// What had been flushed by the end of `ops`.
fn flushed(ops: &[Op]) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for (at, op) in ops.iter().enumerate() {
        if let Op::Flushed(session) = op {
            let own = acknowledged(&ops[..at]).into_iter().filter(|(of, _)| of == session);
            let new: Vec<_> = own.filter(|promise| !all.contains(promise)).collect();
            all.extend(new);
        }
    }
    all
}

/// Runs `check` for every scenario, each on a thread of its own, and prints the sum of what it counts.
/// Most of the time goes by in waiting for lines that somebody might still be writing.
fn for_every_scenario(what: &str, check: impl Fn(&str, Scenario) -> usize + Sync) {
    let count: usize = std::thread::scope(|scope| {
        let check = &check;
        let threads = SCENARIOS.map(|(name, scenario)| scope.spawn(move || check(name, scenario)));
        threads.into_iter().map(|thread| thread.join().expect("the check holds")).sum()
    });
    println!("{count} {what}");
}

#[test]
fn a_process_that_ends_after_any_byte_loses_nothing_it_acknowledged() {
    for_every_scenario("cuts", |name, scenario| {
        let mut cuts = 0;
        let (_dir, run, _session) = run(scenario, Fault::None);
        run.recorder.remove();
        assert!(run.errors.borrow().is_empty(), "{name}: {:?}", run.errors);
        let ops = run.recorder.ops.borrow();
        let mut disk = Disk::default();
        for (at, op) in ops.iter().enumerate() {
            let promised = acknowledged(&ops[..at]);
            let bytes = if let Op::Write(_, _, bytes) = op { bytes.len() } else { 0 };
            for limit in 0..=bytes {
                let mut crashed = disk.clone();
                crashed.apply(op, limit);
                let place = tempfile::tempdir().expect("a directory");
                crashed.materialize(&run.root, place.path());
                let context = format!("{name}, call {at}, byte {limit}");
                expect_once(&sessions_below(place.path()), &promised, &context);
                every_file_goes_on(place.path(), &context);
                expect_once(&sessions_below(place.path()), &promised, &context);
                cuts += 1;
            }
            disk.apply(op, usize::MAX);
        }
        cuts
    });
}

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}

#[test]
fn a_power_loss_takes_nothing_that_was_flushed_whatever_else_it_takes() {
    let number = |name: &str, otherwise| std::env::var(name).map_or(otherwise, |text| text.parse().expect("a number"));
    let (most, seed) = (number("REORDERINGS", 256u64), number("SEED", 1));
    for_every_scenario("power losses", |name, scenario| {
        let mut losses = 0;
        let (_dir, run, _session) = run(scenario, Fault::None);
        run.recorder.remove();
        let ops = run.recorder.ops.borrow();
        for end in 0..=ops.len() {
            let open = unsynced(&ops[..end]);
            let promised = flushed(&ops[..end]);
            let all = 1u64.checked_shl(open.len() as u32).filter(|all| *all <= most);
            let mut random = Random(seed << 32 | end as u64);
            for number in 0..all.unwrap_or(most) {
                let is_lost = |bit: usize, random: &mut Random| match all {
                    Some(_) => number >> bit & 1 == 1,
                    None => random.next() & 1 == 1,
                };
                let lost: Vec<usize> =
                    (0..open.len()).filter(|bit| is_lost(*bit, &mut random)).map(|bit| open[bit]).collect();
                let mut disk = Disk::default();
                for (at, op) in ops[..end].iter().enumerate() {
                    match (lost.contains(&at), op) {
                        (false, op) => disk.apply(op, usize::MAX),
                        // Of a lost write a part may have come through, or only the new size of the file.
                        (true, Op::Write(inode, offset, bytes)) => match random.next() % 3 {
                            0 => disk.apply(op, random.next() as usize % (bytes.len() + 1)),
                            1 => disk.apply(&Op::Write(*inode, *offset, vec![0; bytes.len()]), usize::MAX),
                            _ => {}
                        },
                        (true, Op::CreateDir(dir)) => disk.lose_dir(dir),
                        (true, _) => {}
                    }
                }
                let place = tempfile::tempdir().expect("a directory");
                disk.materialize(&run.root, place.path());
                let context = format!("{name}, SEED {seed}, after {end}, number {number}, without {lost:?}");
                expect_once(&sessions_below(place.path()), &promised, &context);
                for op in &ops[..end] {
                    if let Op::BlobFlushed(path) = op {
                        let blob = place.path().join(path.strip_prefix(&run.root).expect("below the root"));
                        let (blob, whole) = (std::fs::read(blob), std::fs::read(path).expect("read"));
                        assert_eq!(blob.expect("flushed"), whole, "{context}");
                    }
                }
                every_file_goes_on(place.path(), &context);
                losses += 1;
            }
        }
        losses
    });
}

#[test]
fn after_any_failed_call_nothing_is_lost_and_everything_goes_on() {
    let errors = [libc::ENOSPC, libc::EIO, libc::EDQUOT, libc::EACCES, libc::EMFILE, libc::EINTR];
    for_every_scenario("injected errors", |name, scenario| {
        let mut injected = 0;
        let (_dir, whole, _session) = run(scenario, Fault::None);
        whole.recorder.remove();
        let calls = whole.recorder.calls();
        for at in 0..calls {
            let faults = errors.iter().map(|errno| Fault::Errno(at, *errno)).chain([
                Fault::Short(at, libc::ENOSPC),
                Fault::From(at, libc::ENOSPC),
                Fault::From(at, libc::EIO),
            ]);
            for fault in faults {
                let context = format!("{name}, {fault:?}");
                let (_dir, run, session) = run(scenario, fault);
                run.recorder.heal();
                let (Fault::Errno(_, errno) | Fault::Short(_, errno) | Fault::From(_, errno)) = fault else {
                    unreachable!("only these")
                };
                for error in run.errors.borrow().iter() {
                    // A call that the first one made impossible may say more than the code of the system.
                    let code = Error::io("call", "/", std::io::Error::from_raw_os_error(errno)).code();
                    assert_eq!(error.code(), code, "{context}: {error:?}");
                    // The directories above are synced too.
                    let Error::Io { path, .. } = error else { panic!("{context}: {error:?}") };
                    assert!(path.starts_with(&run.root) || run.root.starts_with(path), "{context}: {error:?}");
                }
                if let Some(mut session) = session {
                    let before = run.errors.borrow().len();
                    run.append(&mut session, "after the cause is gone");
                    run.flush(&mut session);
                    assert_eq!(run.errors.borrow().len(), before, "{context}: {:?}", run.errors);
                    let own = String::from_utf8(session.header().id.clone()).expect("UTF-8");
                    let mut promised = run.appended.borrow().clone();
                    promised.retain(|(of, _)| *of == own);
                    run.recorder.remove();
                    expect_once(&sessions_below(&run.root), &promised, &context);
                }
                run.recorder.remove();
                // One that failed first was written last of all: by their order they are compared above.
                for promise in acknowledged(&run.recorder.ops.borrow()) {
                    expect_once(&sessions_below(&run.root), &[promise], &context);
                }
                // A line of which a part got through is finished where it stands.
                for path in session_files(&run.root.join("sessions/p")) {
                    let skipped = open(&path).ok().flatten().map_or(0, |session| session.report().skipped_count);
                    assert!(skipped <= u64::from(name.contains("torn")), "{context}: {}", path.display());
                }
                injected += 1;
            }
        }
        injected
    });
}

#[test]
fn what_was_flushed_after_a_failed_call_survives_a_power_loss() {
    for_every_scenario("power losses after a failed call", |name, scenario| {
        let mut losses = 0;
        let (_dir, whole, _session) = run(scenario, Fault::None);
        whole.recorder.remove();
        for at in 0..whole.recorder.calls() {
            for fault in [Fault::Errno(at, libc::EIO), Fault::From(at, libc::EIO), Fault::Short(at, libc::ENOSPC)] {
                let (_dir, run, session) = run(scenario, fault);
                run.recorder.heal();
                if let Some(mut session) = session {
                    run.append(&mut session, "after the cause is gone");
                    run.flush(&mut session);
                }
                run.recorder.remove();
                let ops = run.recorder.ops.borrow();
                let ends = (0..ops.len()).filter(|at| matches!(ops[*at], Op::Flushed(_)));
                for end in ends {
                    let place = tempfile::tempdir().expect("a directory");
                    Disk::without_unsynced(&ops[..=end]).materialize(&run.root, place.path());
                    let context = format!("{name}, {fault:?}, after {end}");
                    let found = sessions_below(place.path());
                    for promise in flushed(&ops[..=end]) {
                        expect_once(&found, &[promise], &context);
                    }
                    losses += 1;
                }
            }
        }
        losses
    });
}

#[test]
fn a_line_whose_position_cannot_be_asked_for_is_not_written_twice() {
    let (_, append) = SCENARIOS[0];
    let (_dir, run, _session) = run(append, Fault::Kind(|call| matches!(call, Call::Position { .. }), libc::EIO));
    run.recorder.remove();
    assert!(run.errors.borrow().is_empty(), "{:?}", run.errors);
    expect_once(&sessions_below(&run.root), &run.appended.borrow(), "no position");
}

#[test]
fn a_sync_that_failed_is_tried_again_by_the_next_flush() {
    let (_, append) = SCENARIOS[0];
    let (_dir, run, session) = run(append, Fault::Kind(|call| matches!(call, Call::Sync { .. }), libc::EIO));
    assert!(!run.errors.borrow().is_empty());
    run.recorder.heal();
    run.flush(&mut session.expect("a session"));
    run.recorder.remove();
    let ops = run.recorder.ops.borrow();
    assert!(!unsynced(&ops).iter().any(|at| matches!(ops[*at], Op::Write(..))));
}

#[test]
fn the_directories_made_for_a_new_session_are_durable_once_it_is_flushed() {
    let (_, create) = SCENARIOS[2];
    let (_dir, run, _session) = run(create, Fault::None);
    run.recorder.remove();
    let ops = run.recorder.ops.borrow();
    let flushed = ops.iter().rposition(|op| matches!(op, Op::Flushed(_))).expect("flushed");
    assert!(ops.iter().any(|op| matches!(op, Op::CreateDir(_))));
    let open = unsynced(&ops[..flushed]);
    assert!(!open.iter().any(|at| matches!(ops[*at], Op::CreateDir(_))), "{open:?}");
}

#[test]
fn a_fork_into_a_new_directory_is_durable_with_that_directory_once_it_resolved() {
    let (_dir, run, _session) = run(scenarios::fork_into_a_new_directory, Fault::None);
    run.recorder.remove();
    assert!(run.errors.borrow().is_empty(), "{:?}", run.errors);
    let ops = run.recorder.ops.borrow();
    assert!(ops.iter().any(|op| matches!(op, Op::CreateDir(_))));
    let in_the_fork = |op: &Op| matches!(op, Op::Acknowledged(session, _) if session == "other");
    let resolved = ops.iter().position(in_the_fork).expect("forked");
    let open: Vec<&Op> = unsynced(&ops[..resolved]).into_iter().map(|at| &ops[at]).collect();
    let below = run.root.join("sessions/new");
    let lost = |op: &&&Op| match op {
        Op::CreateDir(path) | Op::Create(path, _) | Op::Link(path, _) => path.starts_with(&below),
        _ => false,
    };
    assert_eq!(open.iter().filter(lost).count(), 0, "{open:?}");
}

#[test]
fn a_title_overwritten_in_its_line_is_durable_once_it_is_flushed() {
    let (_dir, run, session) = run(scenarios::renamed_in_title_line, Fault::None);
    let is_write = |at: &usize| matches!(run.recorder.ops.borrow()[*at], Op::Write(..));
    let open = unsynced(&run.recorder.ops.borrow());
    assert_eq!(open.iter().filter(|at| is_write(at)).count(), 1, "only the title is not durable yet");
    run.flush(&mut session.expect("a session"));
    run.recorder.remove();
    let open = unsynced(&run.recorder.ops.borrow());
    assert_eq!(open.iter().filter(|at| is_write(at)).count(), 0);
}

/// Ids of the entries that a fresh reading of the file finds.
fn entry_ids(path: &Path) -> Vec<String> {
    let session = open(path).expect("opened").expect("a session");
    (0..session.index().len() as u32).map(|at| String::from_utf8_lossy(&session.index().id(at)).into_owned()).collect()
}
