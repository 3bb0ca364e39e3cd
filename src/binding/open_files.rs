//! Bounds the descriptors that sessions keep open. A program may have thousands of managers, and the
//! collector of its runtime does not know that each holds a descriptor.

use crate::session::Session;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::{Arc, LazyLock, Weak};

/// Most sessions with an open file at a time; the common limit for a process is 1,024 descriptors.
const MOST_OPEN: usize = 100;

static OPEN: LazyLock<Mutex<VecDeque<Weak<Mutex<Session>>>>> = LazyLock::new(Mutex::default);

/// Works on a session and takes note if that opened its file.
pub fn with<T>(session: &Arc<Mutex<Session>>, work: impl FnOnce(&mut Session) -> T) -> T {
    let mut locked = session.lock();
    let result = work(&mut locked);
    let opened = locked.newly_open();
    drop(locked);
    if opened {
        note(session);
    }
    result
}

/// Notes that a session has its file open. Of too many, those that opened theirs first let go; they
/// open it again when they need it. One that is at work, or has something to write, keeps it.
fn note(session: &Arc<Mutex<Session>>) {
    let mut open = OPEN.lock();
    open.push_back(Arc::downgrade(session));
    let mut kept = Vec::new();
    while open.len() > MOST_OPEN {
        let Some(oldest) = open.pop_front() else { break };
        let Some(oldest) = oldest.upgrade() else { continue };
        let busy = oldest.try_lock().is_none_or(|mut session| {
            session.release();
            session.is_open()
        });
        if busy {
            kept.push(Arc::downgrade(&oldest));
        }
    }
    open.extend(kept);
}
