//! Sees the calls of the core: writes down what they do to the disk, and makes one of them fail.

use omp_session::store::{Call, Tap, set_tap};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs::File;
use std::io::{Error, Result};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A file, whatever its names.
pub type Inode = usize;

/// Something that happened to the disk, or a promise that was made.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    Create(PathBuf, Inode),
    Write(Inode, u64, Vec<u8>),
    Truncate(Inode, u64),
    Sync(Inode),
    SyncDir(PathBuf),
    Rename(PathBuf, PathBuf, Inode),
    Link(PathBuf, Inode),
    Remove(PathBuf),
    CreateDir(PathBuf),
    /// The entry of this session was acknowledged: it survives the end of the process.
    Acknowledged(String, String),
    /// All acknowledged entries of this session survive a power loss.
    Flushed(String),
    /// The blob of this name survives a power loss.
    BlobFlushed(PathBuf),
}

/// What one call in a run shall meet instead of success.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    None,
    /// The call with this number fails.
    Errno(usize, i32),
    /// The append with this number gets half of its bytes through, and the next call fails.
    Short(usize, i32),
    /// Every call from this number on fails, until a step says so.
    From(usize, i32),
    /// Every call of a kind fails.
    Kind(fn(&Call<'_>) -> bool, i32),
}

pub struct Recorder {
    pub ops: RefCell<Vec<Op>>,
    fault: Cell<Fault>,
    calls: Cell<usize>,
    inodes: RefCell<HashMap<(u64, u64), Inode>>,
    /// Keeps every file open, so that no inode number is used for another one.
    kept: RefCell<Vec<File>>,
    /// Directories that the call under way is about to create, the outermost first.
    new_dirs: RefCell<Vec<PathBuf>>,
}

impl Recorder {
    /// In front of all calls of this thread until [`Recorder::remove`].
    pub fn install(fault: Fault) -> Rc<Recorder> {
        let recorder = Rc::new(Recorder {
            ops: RefCell::default(),
            fault: Cell::new(fault),
            calls: Cell::new(0),
            inodes: RefCell::default(),
            kept: RefCell::default(),
            new_dirs: RefCell::default(),
        });
        set_tap(Some(recorder.clone()));
        recorder
    }

    pub fn remove(&self) {
        set_tap(None);
    }

    /// How many calls there were.
    pub fn calls(&self) -> usize {
        self.calls.get()
    }

    /// The cause of the fault is gone.
    pub fn heal(&self) {
        self.fault.set(Fault::None);
    }

    /// A step said that it failed. A fault that lasts until then is gone.
    pub fn heal_lasting(&self) {
        if matches!(self.fault.get(), Fault::From(..)) {
            self.heal();
        }
    }

    pub fn push(&self, op: Op) {
        self.ops.borrow_mut().push(op);
    }

    fn inode(&self, file: &File) -> Inode {
        let metadata = file.metadata().expect("metadata");
        let next = self.inodes.borrow().len();
        *self.inodes.borrow_mut().entry((metadata.dev(), metadata.ino())).or_insert_with(|| {
            self.kept.borrow_mut().push(file.try_clone().expect("a descriptor"));
            next
        })
    }

    fn inode_at(&self, path: &Path) -> Inode {
        self.inode(&File::open(path).expect("a file"))
    }

    /// A file that is on the disk, durably, before anything happens.
    pub fn know(&self, path: &Path) {
        let inode = self.inode_at(path);
        let parent = path.parent().expect("a directory").to_path_buf();
        self.push(Op::Create(path.to_path_buf(), inode));
        self.push(Op::Write(inode, 0, std::fs::read(path).expect("read")));
        self.push(Op::Sync(inode));
        self.push(Op::SyncDir(parent));
    }
}

impl Tap for Recorder {
    fn before(&self, call: &Call<'_>) -> Result<()> {
        if let Call::CreateDir { path } = call {
            let mut missing: Vec<_> = path.ancestors().filter(|dir| !dir.exists()).map(Path::to_path_buf).collect();
            missing.reverse();
            *self.new_dirs.borrow_mut() = missing;
        }
        let number = self.calls.get();
        self.calls.set(number + 1);
        match self.fault.get() {
            Fault::Errno(at, errno) if at == number => Err(Error::from_raw_os_error(errno)),
            Fault::Short(at, errno) if at < number && matches!(call, Call::Append { .. }) => {
                self.fault.set(Fault::None);
                Err(Error::from_raw_os_error(errno))
            }
            Fault::From(at, errno) if at <= number => Err(Error::from_raw_os_error(errno)),
            Fault::Kind(is, errno) if is(call) => Err(Error::from_raw_os_error(errno)),
            _ => Ok(()),
        }
    }

    fn permitted(&self, length: usize) -> usize {
        match self.fault.get() {
            Fault::Short(at, _) if at == self.calls.get() => length.div_ceil(2),
            _ => length,
        }
    }

    fn after(&self, call: &Call<'_>) {
        match *call {
            Call::Create { path } => self.push(Op::Create(path.to_path_buf(), self.inode_at(path))),
            Call::Append { file, bytes } => {
                let end = file.metadata().expect("metadata").len();
                self.push(Op::Write(self.inode(file), end - bytes.len() as u64, bytes.to_vec()));
            }
            Call::WriteAt { file, bytes, offset } => self.push(Op::Write(self.inode(file), offset, bytes.to_vec())),
            Call::Truncate { file, size } => self.push(Op::Truncate(self.inode(file), size)),
            Call::Sync { file } => self.push(Op::Sync(self.inode(file))),
            Call::SyncDir { path } => self.push(Op::SyncDir(path.to_path_buf())),
            Call::Rename { from, to } => {
                self.push(Op::Rename(from.to_path_buf(), to.to_path_buf(), self.inode_at(to)));
            }
            Call::Link { to, .. } => self.push(Op::Link(to.to_path_buf(), self.inode_at(to))),
            Call::Remove { path } => self.push(Op::Remove(path.to_path_buf())),
            Call::CreateDir { .. } => self.new_dirs.take().into_iter().for_each(|dir| self.push(Op::CreateDir(dir))),
            _ => {}
        }
    }
}
