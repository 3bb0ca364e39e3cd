//! A list read in two steps, or helped by a cache of any content, shows what one reading shows.
#![no_main]

use libfuzzer_sys::fuzz_target;
use omp_session::list::{self, Memory, Scope, Summary};

fn summary(data: &[u8], cuts: &[usize]) -> Summary {
    let mut summary = Summary::default();
    for cut in cuts {
        summary.read_on(&data[..*cut], *cut as u64).expect("memory cannot fail");
    }
    summary.read_on(data, data.len() as u64).expect("memory cannot fail");
    summary
}

fuzz_target!(|data: &[u8]| {
    let whole = summary(data, &[]);
    let text = list::messages_text(data, data.len() as u64).expect("memory cannot fail");
    if whole.header.is_some() {
        assert_eq!(whole.texts.read(data, data.len() as u64).expect("read"), Some(text));
    }
    let ends: Vec<usize> = (0..data.len()).filter(|at| data[*at] == b'\n').map(|at| at + 1).collect();
    let steps = summary(data, &ends);
    assert_eq!((&whole.header, whole.message_count), (&steps.header, steps.message_count));
    assert_eq!((&whole.short_summary, &whole.texts), (&steps.short_summary, &steps.texts));

    let dir = tempfile::tempdir().expect("a directory");
    let sessions = dir.path().join("p");
    std::fs::create_dir(&sessions).expect("made");
    std::fs::write(sessions.join("one.jsonl"), data).expect("written");
    // A cache whose checksum is right, so that what is in it is looked at.
    let notes = data.get(data.len() / 2..).unwrap_or_default();
    let cache = [&b"omplist1"[..], &crc(notes).to_le_bytes(), notes].concat();
    std::fs::write(dir.path().join("listing"), cache).expect("written");
    let dirs = [sessions.to_string_lossy().into_owned()];
    let memory = Memory { path: dir.path().join("listing"), now: i64::MAX, unique: 1 };
    let shown = memory.summaries(list::files(&dirs, None), Scope { dirs: &dirs, root: None });
    assert_eq!(shown.len(), usize::from(whole.header.is_some()));
});

/// CRC-32 as the cache has it.
fn crc(bytes: &[u8]) -> u32 {
    bytes.iter().fold(!0u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| sum >> 1 ^ (0xedb8_8320 & (sum & 1).wrapping_neg()))
    }) ^ !0
}
