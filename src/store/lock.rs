//! The lock that keeps the appends and rewrites of several processes apart.

use super::system;
use crate::error::{Error, Result};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest wait for a lock.
const PATIENCE: Duration = Duration::from_secs(5);
/// Wait of the calls that follow a failed one, so that a stuck process does not stop the caller for
/// seconds at every append.
const SHORT_PATIENCE: Duration = Duration::from_millis(50);

/// How long this session may still wait for its lock.
#[derive(Debug, Default, Clone, Copy)]
pub struct LockBudget {
    exhausted: bool,
}

/// An exclusive lock on an open file, given back when dropped.
#[derive(Debug)]
pub struct FileLock {
    file: Arc<File>,
}

impl FileLock {
    /// Takes the lock, trying for a bounded time.
    pub fn take(file: &Arc<File>, path: &Path, budget: &mut LockBudget) -> Result<FileLock> {
        let patience = if budget.exhausted { SHORT_PATIENCE } else { PATIENCE };
        let mut started = None;
        let mut pause = Duration::from_micros(50);
        loop {
            match system::try_lock(file) {
                Ok(true) => {
                    budget.exhausted = false;
                    return Ok(FileLock { file: Arc::clone(file) });
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io("flock", path, error)),
                Ok(false) => {
                    let waited = started.get_or_insert_with(Instant::now).elapsed();
                    if waited >= patience {
                        budget.exhausted = true;
                        return Err(Error::Locked { path: path.to_path_buf(), waited_ms: waited.as_millis() as u64 });
                    }
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(5));
                }
            }
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // A failure leaves the lock to the closing of the descriptor.
        let _ = self.file.unlock();
    }
}
