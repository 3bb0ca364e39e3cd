//! Entry ids: 8 lower-case hex digits for those made here, any string for those that are read.

/// Value of each hex digit; everything else has bits above the low four.
const NIBBLES: [u8; 256] = {
    let mut table = [0xff; 256];
    let mut value = 0;
    while value < 16 {
        table[b"0123456789abcdef"[value] as usize] = value as u8;
        value += 1;
    }
    table
};

/// Reads an id of exactly 8 lower-case hex digits.
pub fn parse_hex(id: &[u8]) -> Option<u32> {
    let id: &[u8; 8] = id.try_into().ok()?;
    let (mut value, mut seen) = (0u32, 0u8);
    for digit in id {
        let nibble = NIBBLES[usize::from(*digit)];
        seen |= nibble;
        value = value << 4 | u32::from(nibble & 0xf);
    }
    (seen < 16).then_some(value)
}

/// Writes such an id.
pub fn write_hex(out: &mut Vec<u8>, value: u32) {
    for shift in (0..8).rev() {
        out.push(b"0123456789abcdef"[(value >> (shift * 4) & 0xf) as usize]);
    }
}

/// A source of ids that look random. The seed comes from the caller, so the core needs no entropy.
#[derive(Debug, Clone)]
pub struct IdSource(u64);

impl IdSource {
    /// A source that repeats itself for the same seed.
    pub fn new(seed: u64) -> Self {
        IdSource(seed)
    }

    /// The next candidate (splitmix64: every seed has a full period and well-mixed output).
    pub fn next_id(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 32) as u32
    }
}

/// Hash of an entry of a version 1 file, from which its id is made: the same content at the same
/// position gives the same id in every process (FNV-1a).
pub fn content_hash(position: u64, line: &[u8]) -> u32 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in position.to_le_bytes().iter().chain(line) {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (hash >> 32) as u32 ^ hash as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_eight_lower_case_hex_digits_are_hex() {
        assert_eq!(parse_hex(b"0000000a"), Some(10));
        for id in [&b"0000000A"[..], b"000000a", b"00000000a", b"g0000000", b""] {
            assert_eq!(parse_hex(id), None);
        }
        let mut out = Vec::new();
        write_hex(&mut out, 0xdead_beef);
        assert_eq!(out, b"deadbeef");
    }
}
