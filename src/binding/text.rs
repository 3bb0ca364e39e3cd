//! Bytes as JavaScript strings.

use crate::json::string::{lossy, to_utf16};
use napi::{Env, JsString, Result};

/// A string from JSON text or WTF-8. ASCII, by far the most common, is copied as one-byte
/// characters; everything else crosses as UTF-16, where half surrogates survive.
pub fn js_string<'a>(env: &'a Env, wtf8: &[u8]) -> Result<JsString<'a>> {
    if wtf8.is_ascii() {
        return env.create_string_latin1(wtf8);
    }
    env.create_string_utf16(to_utf16(wtf8))
}

/// The same for bytes of a file: what is not UTF-8 becomes U+FFFD, surrogates included.
pub fn js_string_of_file<'a>(env: &'a Env, bytes: &[u8]) -> Result<JsString<'a>> {
    if bytes.is_ascii() {
        return env.create_string_latin1(bytes);
    }
    let units: Vec<u16> = lossy(bytes).encode_utf16().collect();
    env.create_string_utf16(units)
}

/// An id as it comes from JavaScript: either the text itself or, if it could be ambiguous, a JSON
/// string literal (which keeps half surrogates).
pub fn id_from_js(id: &str) -> Vec<u8> {
    if id.starts_with('"')
        && let Some(decoded) = crate::json::string::parse_literal(id.as_bytes())
    {
        return decoded;
    }
    id.as_bytes().to_vec()
}
