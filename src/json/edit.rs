//! Changing members of one object as splices into its text.

use super::scan::Scanner;
use super::string::decode;
use std::borrow::Cow;

/// One member that shall have another value. `None` removes it.
pub type Member<'a> = (&'a str, Option<Cow<'a, [u8]>>);

/// The object in `text` with `members` set to the given JSON values.
///
/// A member that is there keeps its place (of repeated keys all but the last go, as only the last
/// counts in JavaScript); one that is not is added after the others. Everything else keeps its
/// bytes. `None` if `text` is not an object.
pub fn set_members(text: &[u8], members: &[Member<'_>]) -> Option<Vec<u8>> {
    let found = list(text)?;
    let name = |at: &Found| members.iter().position(|(key, _)| key.as_bytes() == at.key.as_ref());
    let mut out = Vec::with_capacity(text.len() + 64);
    let mut written = vec![false; members.len()];
    let open = found.first().map_or(text.len() - 1, |first| first.start);
    out.extend_from_slice(text.get(..open)?);
    let mut any = false;
    for (at, member) in found.iter().enumerate() {
        let edit = name(member);
        if let Some(edit) = edit {
            let again = found[at + 1..].iter().any(|later| later.key == member.key);
            if again || members[edit].1.is_none() {
                continue;
            }
        }
        if any {
            out.push(b',');
        }
        any = true;
        match edit.and_then(|edit| members[edit].1.as_ref().map(|value| (edit, value))) {
            Some((edit, value)) => {
                written[edit] = true;
                out.extend_from_slice(&text[member.start..member.value]);
                out.extend_from_slice(value);
            }
            None => out.extend_from_slice(&text[member.start..member.end]),
        }
    }
    for (edit, (key, value)) in members.iter().enumerate() {
        if let (false, Some(value)) = (written[edit], value) {
            if any {
                out.push(b',');
            }
            any = true;
            super::string::write(&mut out, key.as_bytes());
            out.push(b':');
            out.extend_from_slice(value);
        }
    }
    out.extend_from_slice(&text[found.last().map_or(open, |last| last.end)..]);
    Some(out)
}

/// The bytes of the value of `key` in the object `text`; of repeated keys the last.
pub fn member<'a>(text: &'a [u8], key: &str) -> Option<&'a [u8]> {
    let found = list(text)?;
    let last = found.iter().rev().find(|member| member.key.as_ref() == key.as_bytes())?;
    text.get(last.value..last.end)
}

struct Found<'a> {
    key: Cow<'a, [u8]>,
    start: usize,
    value: usize,
    end: usize,
}

fn list(text: &[u8]) -> Option<Vec<Found<'_>>> {
    let mut found = Vec::new();
    let mut scanner = Scanner::new(text, 0);
    scanner.skip_space();
    scanner
        .object(|scanner, key| {
            let value = scanner.pos();
            scanner.skip_value()?;
            let (start, end) = (key.start() - 1, scanner.pos());
            found.push(Found { key: decode(scanner.text(), key), start, value, end });
            Ok(())
        })
        .ok()?;
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str, members: &[Member<'_>]) -> String {
        String::from_utf8(set_members(text.as_bytes(), members).expect("an object")).expect("UTF-8")
    }

    fn to(value: &str) -> Option<Cow<'_, [u8]>> {
        Some(Cow::Borrowed(value.as_bytes()))
    }

    #[test]
    fn a_present_member_keeps_its_place_and_others_their_bytes() {
        assert_eq!(set(r#"{ "a" : 1.0 , "b":2}"#, &[("b", to("3"))]), r#"{ "a" : 1.0,"b":3}"#);
        assert_eq!(set(r#"{"\u0061":1,"b":20}"#, &[("a", to("3"))]), r#"{"\u0061":3,"b":20}"#);
    }

    #[test]
    fn absent_members_are_added_and_removed_ones_take_their_comma_along() {
        assert_eq!(set("{}", &[("a", to("1"))]), r#"{"a":1}"#);
        assert_eq!(set(r#"{"x":1,"a":2,"y":3}"#, &[("a", None)]), r#"{"x":1,"y":3}"#);
        assert_eq!(set(r#"{"a":2}"#, &[("a", None)]), "{}");
        assert_eq!(set(r#"{"a":1,"a":2}"#, &[("a", to("9")), ("b", to("8"))]), r#"{"a":9,"b":8}"#);
    }

    #[test]
    fn of_repeated_keys_the_last_is_read() {
        assert_eq!(member(br#"{"a":1,"a":{"b":2}}"#, "a"), Some(&br#"{"b":2}"#[..]));
        assert_eq!(member(b"[1]", "a"), None);
    }
}
