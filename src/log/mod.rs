//! The file as lines: how bytes become records, and how records reach the disk.
//!
//! Only LF ends a line. A line holds one JSON object as a rule, but several complete objects on one
//! line all count, and a complete record behind a cut one is read. What cannot be read is reported
//! and stays where it is; nothing here ever removes bytes. This module knows lines, not meanings.

pub mod line;
pub mod read;
