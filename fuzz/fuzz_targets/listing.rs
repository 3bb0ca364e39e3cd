//! A list read in two steps, or helped by a cache of any content, shows what one reading shows.
#![no_main]

use libfuzzer_sys::fuzz_target;
use omp_session::list::{self, FoundFile, HeaderInfo, Memory, Scope, Summary};
use std::path::PathBuf;

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

    through_the_cache(data);
});

type Row = (PathBuf, Option<HeaderInfo>, Option<Vec<u8>>, u64, Option<Vec<u8>>);

fn rows(memory: &Memory, dirs: &[String]) -> Vec<Row> {
    let row = |(file, summary): (FoundFile, Summary)| {
        let bytes = std::fs::read(&file.path).expect("read");
        let texts = summary.texts.read(&bytes[..], file.size).unwrap_or_default();
        (file.path, summary.header, summary.short_summary, summary.message_count, texts)
    };
    memory.summaries(list::files(dirs, None), Scope { dirs, root: None }).into_iter().map(row).collect()
}

/// The file is listed, grows, and is listed again; then with a cache of which any byte may be another.
fn through_the_cache(data: &[u8]) {
    let dir = tempfile::tempdir().expect("a directory");
    let at = |name: &str| dir.path().join(name);
    // Without a large file there is not enough to note.
    for made in ["p", "large"] {
        std::fs::create_dir(at(made)).expect("made");
    }
    let large = format!("{{\"type\":\"session\",\"id\":\"large\",\"x\":\"{}\"}}\n", "x".repeat(1 << 20));
    std::fs::write(at("large/large.jsonl"), large).expect("written");
    let path = at("p/one.jsonl");
    let cut = data.iter().map(|byte| usize::from(*byte)).sum::<usize>() % (data.len() + 1);
    std::fs::write(&path, &data[..cut]).expect("written");
    let dirs = ["p", "large"].map(|name| at(name).to_string_lossy().into_owned());
    let memory = Memory { path: at("cache/listing"), now: i64::MAX, unique: 1 };
    let none = Memory { path: at("none/none/none"), now: 0, unique: 1 };
    let fresh = || rows(&none, &dirs[..1]);
    let first: Vec<Row> = rows(&memory, &dirs).into_iter().filter(|row| row.0 == path).collect();
    assert_eq!(first, fresh());
    let cache = std::fs::read(&memory.path).expect("noted");
    assert_eq!(rows(&memory, &dirs[..1]), first, "from the cache");

    let mut file = std::fs::File::options().append(true).open(&path).expect("opened");
    std::io::Write::write_all(&mut file, &data[cut..]).expect("appended");
    assert_eq!(rows(&memory, &dirs[..1]), fresh(), "after {cut} of {} bytes", data.len());

    // A cache whose checksum is right, so that what is in it is looked at, must do no harm.
    let mut notes = cache[12..].to_vec();
    for change in data.chunks_exact(3).take(8) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % notes.len();
        notes[at] = change[2];
    }
    for notes in [&notes[..], data] {
        let cache = [&cache[..8], &crc(notes).to_le_bytes(), notes].concat();
        std::fs::write(&memory.path, cache).expect("written");
        assert!(rows(&memory, &dirs[..1]).len() <= 1);
    }
}

/// CRC-32 as the cache has it.
fn crc(bytes: &[u8]) -> u32 {
    bytes.iter().fold(!0u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| sum >> 1 ^ (0xedb8_8320 & (sum & 1).wrapping_neg()))
    }) ^ !0
}
