//! JSON as text: validation, lookup of members, strings, splices. Never a tree of values.
//!
//! What is accepted is exactly what `JSON.parse` accepts for the same text, at any depth and without
//! recursion. Nothing is converted on the way: numbers, escapes and repeated keys keep their bytes,
//! because a value that passed through a generic tree would not be what the user wrote (64-bit
//! integers, half surrogate pairs, `1.0`).

pub mod edit;
pub mod scan;
mod str;
pub mod string;
