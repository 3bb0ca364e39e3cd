//! Is a file still the one that was read?

use serde::{Deserialize, Serialize};
use std::fs::Metadata;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What the file system says of a file. Equal identities mean equal bytes, unless the file was
/// changed again within the resolution of its times: see [`FileIdentity::is_settled`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileIdentity {
    device: u64,
    inode: u64,
    size: u64,
    /// Times in nanoseconds since 1970; 0 where the system does not know one.
    born: i64,
    modified: i64,
    changed: i64,
}

/// Longest step of a file system's clock (FAT), and time enough for a write that is under way.
const UNSETTLED: Duration = Duration::from_secs(2);

/// Milliseconds since 1970 with decimals; before it negative. Seconds and their rest are added last:
/// nanoseconds since 1970 in one number have more digits than an `f64` keeps, and a file of a whole
/// millisecond would seem younger than it is.
pub fn milliseconds(time: SystemTime) -> f64 {
    let of = |length: Duration| length.as_secs() as f64 * 1e3 + f64::from(length.subsec_nanos()) / 1e6;
    time.duration_since(UNIX_EPOCH).map_or_else(|before| -of(before.duration()), of)
}

/// Nanoseconds since 1970; 0 for times that do not fit.
pub fn nanoseconds(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or_default(),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(0, |nanos| -nanos),
    }
}

impl FileIdentity {
    /// The identity of what `metadata` describes.
    pub fn of(metadata: &Metadata) -> FileIdentity {
        #[cfg(unix)]
        let (device, inode, changed) = {
            use std::os::unix::fs::MetadataExt;
            let changed = metadata.ctime().saturating_mul(1_000_000_000).saturating_add(metadata.ctime_nsec());
            (metadata.dev(), metadata.ino(), changed)
        };
        #[cfg(windows)]
        let (device, inode, changed) = (0, 0, 0);
        FileIdentity {
            device,
            inode,
            size: metadata.len(),
            born: metadata.created().map_or(0, nanoseconds),
            modified: metadata.modified().map_or(0, nanoseconds),
            changed,
        }
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether a later change is certain to show, seen from `now` (nanoseconds since 1970).
    pub fn is_settled(&self, now: i64) -> bool {
        now.saturating_sub(self.modified.max(self.changed)) > UNSETTLED.as_nanos() as i64
    }

    /// Whether this may be the file of `earlier` with something appended. Inode numbers are used
    /// again after a deletion, so without a time of birth nothing is certain. With the same size it was
    /// changed in place.
    pub fn continues(&self, earlier: &FileIdentity) -> bool {
        let file = |identity: &FileIdentity| (identity.device, identity.inode, identity.born);
        self.born != 0 && file(self) == file(earlier) && self.size > earlier.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_millisecond_stays_whole() {
        for ms in [1_796_120_913_910, 1_796_120_914_286, 1_700_000_000_001, 1] {
            assert_eq!(milliseconds(UNIX_EPOCH + Duration::from_millis(ms)), ms as f64);
        }
    }

    #[test]
    fn a_time_before_1970_is_negative() {
        assert_eq!(milliseconds(UNIX_EPOCH - Duration::from_millis(1500)), -1500.0);
        assert_eq!(nanoseconds(UNIX_EPOCH - Duration::from_millis(1500)), -1_500_000_000);
    }

    #[test]
    fn every_change_shows_and_a_replacement_is_no_continuation() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("one");
        let identity = || FileIdentity::of(&std::fs::metadata(&path).expect("metadata"));
        std::fs::write(&path, "one\n").expect("written");
        let first = identity();
        assert_eq!(first, identity());
        assert!(!first.is_settled(first.modified + 1_000_000_000));
        assert!(first.is_settled(first.modified + 3_000_000_000));
        let file = std::fs::File::options().append(true).open(&path).expect("opened");
        std::io::Write::write_all(&mut &file, b"two\n").expect("written");
        let grown = identity();
        assert_ne!(grown, first);
        assert!(!first.continues(&grown));
        assert_eq!(grown.continues(&first), grown.born != 0);
        std::fs::write(dir.path().join("other"), "one\ntwo\nthree\n").expect("written");
        std::fs::rename(dir.path().join("other"), &path).expect("renamed");
        assert!(!identity().continues(&grown));
    }
}
