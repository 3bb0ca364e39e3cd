//! The rules once more, plainly and slowly, to compare the fast ways with. Also used by the fuzz
//! targets; each user needs a part.
#![allow(dead_code)]

pub mod context;
pub mod persist;
