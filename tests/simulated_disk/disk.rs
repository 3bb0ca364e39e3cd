//! A disk as a crash leaves it.

use super::recorder::{Inode, Op};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[derive(Debug, Default, Clone)]
pub struct Disk {
    names: BTreeMap<PathBuf, Inode>,
    lost_dirs: BTreeSet<PathBuf>,
    content: BTreeMap<Inode, Vec<u8>>,
}

impl Disk {
    /// Does to the disk what was done to the real one; of a write only the first `limit` bytes.
    pub fn apply(&mut self, op: &Op, limit: usize) {
        match op {
            Op::Create(path, inode) | Op::Link(path, inode) => {
                self.names.insert(path.clone(), *inode);
                self.content.entry(*inode).or_default();
            }
            Op::Write(inode, offset, bytes) => {
                let content = self.content.entry(*inode).or_default();
                let (start, bytes) = (*offset as usize, &bytes[..limit.min(bytes.len())]);
                if content.len() < start + bytes.len() {
                    // What was not written before the end of a file reads as zeros.
                    content.resize(start + bytes.len(), 0);
                }
                content[start..start + bytes.len()].copy_from_slice(bytes);
            }
            Op::Truncate(inode, size) => self.content.entry(*inode).or_default().truncate(*size as usize),
            Op::Rename(from, to, inode) => {
                self.names.remove(from);
                self.names.insert(to.clone(), *inode);
                self.content.entry(*inode).or_default();
            }
            Op::Remove(path) => {
                self.names.remove(path);
            }
            Op::CreateDir(_)
            | Op::Sync(_)
            | Op::SyncDir(_)
            | Op::Acknowledged(..)
            | Op::Flushed(_)
            | Op::BlobFlushed(_) => {}
        }
    }

    /// The disk when everything that no sync covers by the end of `ops` is lost.
    pub fn without_unsynced(ops: &[Op]) -> Disk {
        let open = unsynced(ops);
        let mut disk = Disk::default();
        for (at, op) in ops.iter().enumerate() {
            match (open.contains(&at), op) {
                (false, op) => disk.apply(op, usize::MAX),
                (true, Op::CreateDir(dir)) => disk.lose_dir(dir),
                (true, _) => {}
            }
        }
        disk
    }

    /// A directory that was created is not there, nor is anything in it.
    pub fn lose_dir(&mut self, dir: &Path) {
        self.lost_dirs.insert(dir.to_path_buf());
    }

    /// Makes real files of it below `to`; paths below `from` keep their place.
    pub fn materialize(&self, from: &Path, to: &Path) {
        for (path, inode) in &self.names {
            if path.ancestors().any(|dir| self.lost_dirs.contains(dir)) {
                continue;
            }
            let path = to.join(path.strip_prefix(from).expect("below the root"));
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            std::fs::write(path, &self.content[inode]).expect("written");
        }
    }
}

/// What may be lost in a power loss after `ops`: everything that no sync covers, by its number.
pub fn unsynced(ops: &[Op]) -> Vec<usize> {
    let mut open = Vec::new();
    for (at, op) in ops.iter().enumerate() {
        match op {
            Op::Write(..)
            | Op::Truncate(..)
            | Op::Create(..)
            | Op::Rename(..)
            | Op::Link(..)
            | Op::Remove(_)
            | Op::CreateDir(_) => open.push(at),
            Op::Sync(inode) => {
                open.retain(|at| !matches!(&ops[*at], Op::Write(of, ..) | Op::Truncate(of, _) if of == inode))
            }
            Op::SyncDir(dir) => open.retain(|at| match &ops[*at] {
                Op::Create(path, _)
                | Op::Link(path, _)
                | Op::Rename(_, path, _)
                | Op::Remove(path)
                | Op::CreateDir(path) => path.parent() != Some(dir),
                _ => true,
            }),
            _ => {}
        }
    }
    open
}
