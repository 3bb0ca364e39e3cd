//! Trees of any shape: parents, paths and contexts are those of the plain rules.
#![no_main]

#[path = "../../tests/reference/mod.rs"]
mod reference;

use libfuzzer_sys::fuzz_target;
use reference::context::{compare, from_bytes};

fuzz_target!(|data: &[u8]| compare(&from_bytes(data)));
