//! Where tests stand between the core and the operating system. Only built with the feature `tap`.

use std::fs::File;
use std::io::Result;
use std::path::Path;

/// A call that is about to be made.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
#[cfg_attr(not(feature = "tap"), allow(dead_code))]
pub enum Call<'a> {
    Open { path: &'a Path },
    Create { path: &'a Path },
    Append { file: &'a File, bytes: &'a [u8] },
    WriteAt { file: &'a File, bytes: &'a [u8], offset: u64 },
    Truncate { file: &'a File, size: u64 },
    ReadAt { file: &'a File },
    Position { file: &'a File },
    Stat { path: &'a Path },
    StatOpen { file: &'a File },
    SetPermissions { file: &'a File },
    Lock { file: &'a File },
    Sync { file: &'a File },
    SyncDir { path: &'a Path },
    Rename { from: &'a Path, to: &'a Path },
    Link { from: &'a Path, to: &'a Path },
    Remove { path: &'a Path },
    CreateDir { path: &'a Path },
    Canonicalize { path: &'a Path },
}

#[cfg(not(feature = "tap"))]
mod off {
    use super::{Call, Result};

    /// How many bytes of an append are handed to the system.
    #[inline(always)]
    pub(in crate::store) fn permitted(length: usize) -> usize {
        length
    }

    #[inline(always)]
    pub(in crate::store) fn tapped<T>(_: &Call<'_>, act: impl FnOnce() -> Result<T>) -> Result<T> {
        act()
    }
}

#[cfg(not(feature = "tap"))]
pub(super) use off::{permitted, tapped};

#[cfg(feature = "tap")]
mod on {
    use super::{Call, Result};
    use std::cell::RefCell;
    use std::rc::Rc;

    /// Sees every call of a thread.
    pub trait Tap {
        /// Before the call. An error is what the core gets instead of it.
        fn before(&self, call: &Call<'_>) -> Result<()>;

        /// How many of these bytes the next append may hand to the system.
        fn permitted(&self, length: usize) -> usize {
            length
        }

        /// After a call that succeeded. Appends on a real file system get all their bytes through.
        fn after(&self, call: &Call<'_>);
    }

    thread_local! {
        static TAP: RefCell<Option<Rc<dyn Tap>>> = const { RefCell::new(None) };
    }

    /// Puts a tap in front of the calls of this thread, or takes it away.
    pub fn set_tap(tap: Option<Rc<dyn Tap>>) {
        TAP.with(|place| *place.borrow_mut() = tap);
    }

    fn tap() -> Option<Rc<dyn Tap>> {
        TAP.with(|place| place.borrow().clone())
    }

    pub(in crate::store) fn permitted(length: usize) -> usize {
        tap().map_or(length, |tap| tap.permitted(length).min(length))
    }

    pub(in crate::store) fn tapped<T>(call: &Call<'_>, act: impl FnOnce() -> Result<T>) -> Result<T> {
        let Some(tap) = tap() else { return act() };
        tap.before(call)?;
        let done = act()?;
        tap.after(call);
        Ok(done)
    }
}

#[cfg(feature = "tap")]
pub use on::{Tap, set_tap};
#[cfg(feature = "tap")]
pub(super) use on::{permitted, tapped};
