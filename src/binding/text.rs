//! Bytes as JavaScript strings.

use crate::json::string::{lossy, to_utf16};
use napi::bindgen_prelude::JsValue;
use napi::{Env, Error, JsString, Result, Status};

/// Length of the ASCII at the beginning of `bytes`.
fn ascii_length(bytes: &[u8]) -> usize {
    let mut length = 0;
    while let Some(block) = bytes.get(length..).and_then(|rest| rest.first_chunk::<16>()) {
        let high = u128::from_le_bytes(*block) & 0x8080_8080_8080_8080_8080_8080_8080_8080;
        if high != 0 {
            return length + high.trailing_zeros() as usize / 8;
        }
        length += 16;
    }
    let rest = &bytes[length..];
    length + rest.iter().position(|byte| *byte >= 0x80).unwrap_or(rest.len())
}

/// UTF-8 whose characters all are below U+0100, as one byte each; `None` for other bytes.
fn to_latin1(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        let plain = ascii_length(rest);
        out.extend_from_slice(&rest[..plain]);
        match &rest[plain..] {
            [] => return Some(out),
            [lead @ 0xc2..=0xc3, next @ 0x80..=0xbf, after @ ..] => {
                out.push((lead & 0x03) << 6 | (next & 0x3f));
                rest = after;
            }
            _ => return None,
        }
    }
}

/// A string from JSON text or WTF-8. Text that fits in one byte a character, by far the most common,
/// crosses so, which is also what engines parse fastest; all else crosses as UTF-16, where half
/// surrogates survive.
pub fn js_string<'a>(env: &'a Env, wtf8: &[u8]) -> Result<JsString<'a>> {
    create_string(env, wtf8, to_utf16)
}

/// The same for bytes of a file: what is not UTF-8 becomes U+FFFD, surrogates included.
pub fn js_string_of_file<'a>(env: &'a Env, bytes: &[u8]) -> Result<JsString<'a>> {
    create_string(env, bytes, |bytes| lossy(bytes).encode_utf16().collect())
}

fn create_string<'a>(env: &'a Env, bytes: &[u8], utf16: impl Fn(&[u8]) -> Vec<u16>) -> Result<JsString<'a>> {
    let made = if bytes.is_ascii() {
        env.create_string_latin1(bytes)
    } else if let Some(latin1) = to_latin1(bytes) {
        env.create_string_latin1(latin1)
    } else {
        env.create_string_utf16(utf16(bytes))
    };
    made.map_err(|failure| too_long(env, bytes.len()).unwrap_or(failure))
}

/// The only way in which an engine refuses a string. It gives no words for it; the code is Node's.
fn too_long(env: &Env, length: usize) -> Result<Error> {
    let reason = format!(
        "{} MB of text are more than a string can hold in this JavaScript engine. Nothing was changed",
        length / 1_000_000
    );
    let mut error = env.create_error(Error::new(Status::GenericFailure, reason))?;
    error.set("code", "ERR_STRING_TOO_LONG")?;
    Ok(Error::from(error.to_unknown()))
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
