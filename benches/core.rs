//! The hot paths of the core, each alone: `cargo bench --no-default-features`.
//!
//! The texts are made here and always the same: a session of turns with a question, an answer with a
//! tool call, and the tool's output, about 2 KB a line.

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use omp_session::context::plan;
use omp_session::entry::facts::Facts;
use omp_session::json::scan::{Scanner, is_json};
use omp_session::list;
use omp_session::session::Session;
use std::path::Path;

fn main() {
    divan::main();
}

/// A session of `turns` turns.
fn session_text(turns: usize) -> Vec<u8> {
    let mut text = String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/srv\"}\n");
    let output = "a line of the output of some tool, as long as such lines are\\n".repeat(60);
    let mut parent = "null".to_string();
    for number in 0..turns * 3 {
        let message = match number % 3 {
            0 => r#"{"role":"user","content":"What does this file do?","timestamp":1}"#.to_string(),
            1 => r#"{"role":"assistant","content":[{"type":"text","text":"I shall look."},{"type":"toolCall","id":"c","name":"bash","arguments":{"command":"cat file"}}],"provider":"p","model":"m","usage":{"input":100,"output":20,"cacheRead":0,"cacheWrite":0,"totalTokens":120,"cost":{"total":0.01}},"stopReason":"toolUse","timestamp":1}"#.to_string(),
            _ => format!(r#"{{"role":"toolResult","toolCallId":"c","toolName":"bash","content":[{{"type":"text","text":"{output}"}}],"timestamp":1}}"#),
        };
        text += &format!(
            "{{\"type\":\"message\",\"id\":\"{number:08x}\",\"parentId\":{parent},\"timestamp\":\"2024-12-03T14:00:00.000Z\",\"message\":{message}}}\n"
        );
        parent = format!("\"{number:08x}\"");
    }
    text.into_bytes()
}

fn session(turns: usize) -> Session {
    Session::from_text(session_text(turns), Path::new("made"), 1).expect("a session").expect("a header")
}

#[divan::bench]
fn scan(bencher: Bencher<'_, '_>) {
    let text = session_text(500);
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    bencher.counter(BytesCount::new(text.len())).bench(|| lines.iter().filter(|line| is_json(black_box(line))).count());
}

#[divan::bench]
fn facts(bencher: Bencher<'_, '_>) {
    let text = session_text(500);
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    bencher
        .counter(BytesCount::new(text.len()))
        .bench(|| lines.iter().filter(|line| Facts::scan(&mut Scanner::new(black_box(line), 0)).is_ok()).count());
}

#[divan::bench(args = [1_000, 10_000])]
fn index(bencher: Bencher<'_, '_>, turns: usize) {
    let text = session_text(turns);
    bencher
        .counter(BytesCount::new(text.len()))
        .with_inputs(|| text.clone())
        .bench_values(|text| Session::from_text(text, Path::new("made"), 1).expect("a session"));
}

#[divan::bench(args = [1_000, 10_000, 100_000])]
fn branch_path(bencher: Bencher<'_, '_>, turns: usize) {
    let session = session(turns);
    let leaf = session.leaf().expect("a leaf");
    bencher.counter(ItemsCount::new(3 * turns)).bench(|| session.index().path(black_box(leaf)));
}

#[divan::bench(args = [1_000, 10_000, 100_000])]
fn context_plan(bencher: Bencher<'_, '_>, turns: usize) {
    let session = session(turns);
    bencher.counter(ItemsCount::new(3 * turns)).bench(|| plan(session.index(), black_box(session.leaf())));
}

#[divan::bench]
fn summary(bencher: Bencher<'_, '_>) {
    let text = session_text(500);
    bencher
        .counter(BytesCount::new(text.len()))
        .bench(|| list::summarize(black_box(&text[..]), text.len() as u64).expect("memory cannot fail"));
}

#[divan::bench]
fn texts(bencher: Bencher<'_, '_>) {
    let text = session_text(500);
    let summary = list::summarize(&text[..], text.len() as u64).expect("memory cannot fail").expect("a session");
    bencher.bench(|| summary.texts.read(black_box(&text[..]), text.len() as u64).expect("memory cannot fail"));
}
