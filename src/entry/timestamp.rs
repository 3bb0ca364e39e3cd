//! ISO 8601 text and milliseconds since 1970, as far as `Date` in JavaScript and this format agree.

/// Stands for a time that cannot be read.
pub const NO_TIME: i64 = i64::MIN;

/// Days from 1970-01-01 to the given day of the proleptic Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = (month_index + 2) % 12 + 1;
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn number(text: &[u8]) -> Option<i64> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    digits.then(|| text.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}

/// Milliseconds of exactly the form `2024-12-03T14:00:00.000Z`; `None` for every other text, also
/// for days that do not exist.
pub fn parse_canonical(text: &[u8]) -> Option<i64> {
    let text: &[u8; 24] = text.try_into().ok()?;
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (23, b'Z')];
    if separators.iter().any(|(at, byte)| text[*at] != *byte) {
        return None;
    }
    let digit = |at: usize| i64::from(text[at].wrapping_sub(b'0'));
    let mut digits = (0..23).filter(|at| !matches!(at, 4 | 7 | 10 | 13 | 16 | 19));
    if digits.any(|at| digit(at) > 9) {
        return None;
    }
    let two = |at: usize| digit(at) * 10 + digit(at + 1);
    let (year, month, day) = (two(0) * 100 + two(2), two(5), two(8));
    let (hour, minute, second, millis) = (two(11), two(14), two(17), two(20) * 10 + digit(22));
    let exists = (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
    let clock = hour < 24 && minute < 60 && second < 60;
    let days = days_from_civil(year, month, day);
    (exists && clock).then(|| days * 86_400_000 + ((hour * 60 + minute) * 60 + second) * 1000 + millis)
}

/// Milliseconds of an ISO 8601 time: a date, or a date and a time with `Z` or an offset, with any
/// number of decimals. A time without a zone is taken as UTC, since the core knows no local zone.
pub fn parse(text: &[u8]) -> Option<i64> {
    let date = text.get(..10)?;
    if date[4] != b'-' || date[7] != b'-' {
        return None;
    }
    let (year, month, day) = (number(&date[..4])?, number(&date[5..7])?, number(&date[8..])?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let midnight = days_from_civil(year, month, day) * 86_400_000;
    let rest = &text[10..];
    if rest.is_empty() {
        return Some(midnight);
    }
    if !matches!(rest[0], b'T' | b't' | b' ') {
        return None;
    }
    let zone = rest.iter().skip(1).position(|b| matches!(b, b'Z' | b'z' | b'+' | b'-'));
    let (clock, zone) = rest.split_at(zone.map_or(rest.len(), |at| at + 1));
    Some(midnight + parse_clock(&clock[1..])? - parse_zone(zone)?)
}

fn parse_clock(clock: &[u8]) -> Option<i64> {
    let (hour, minute) = (number(clock.get(..2)?)?, number(clock.get(3..5)?)?);
    if clock[2] != b':' || hour > 24 || minute > 59 {
        return None;
    }
    let (second, fraction) = match &clock[5..] {
        [] => (0, &[][..]),
        [b':', a, b] => (number(&[*a, *b])?, &[][..]),
        [b':', a, b, b'.' | b',', fraction @ ..] => (number(&[*a, *b])?, fraction),
        _ => return None,
    };
    if second > 59 || !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let millis = fraction.iter().chain(b"000").take(3).fold(0, |ms, d| ms * 10 + i64::from(d - b'0'));
    Some(((hour * 60 + minute) * 60 + second) * 1000 + millis)
}

fn parse_zone(zone: &[u8]) -> Option<i64> {
    match zone {
        [] | [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), digits @ ..] => {
            let (hours, minutes) = match digits {
                [a, b, b':', c, d] | [a, b, c, d] => (number(&[*a, *b])?, number(&[*c, *d])?),
                _ => return None,
            };
            let offset = (hours * 60 + minutes) * 60_000;
            Some(if *sign == b'-' { -offset } else { offset })
        }
        _ => None,
    }
}

/// The form that `Date.prototype.toISOString` gives, for the years 0 to 9999.
pub fn format(ms: i64) -> String {
    let (days, clock) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    let (year, month, day) = civil_from_days(days);
    let (seconds, millis) = (clock / 1000, clock % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let mut text = *b"0000-00-00T00:00:00.000Z";
    for (part, value) in [
        (0..4, year),
        (5..7, month),
        (8..10, day),
        (11..13, hour),
        (14..16, minute),
        (17..19, second),
        (20..23, millis),
    ] {
        let mut rest = value;
        for digit in text[part].iter_mut().rev() {
            *digit = b'0' + rest.rem_euclid(10) as u8;
            rest = rest.div_euclid(10);
        }
    }
    text.iter().map(|byte| char::from(*byte)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_times_are_read() {
        assert_eq!(parse_canonical(b"2024-12-03T14:00:00.000Z"), Some(1_733_234_400_000));
        assert_eq!(parse(b"1970-01-01"), Some(0));
        assert_eq!(parse(b"1970-01-01T01:00:00.5+01:00"), Some(500));
        assert_eq!(parse(b"2024-02-29T00:00:00Z"), Some(1_709_164_800_000));
    }

    #[test]
    fn other_forms_and_days_that_do_not_exist_are_not_canonical() {
        for text in [
            "2024-12-03T14:00:00Z",
            "2024-02-30T00:00:00.000Z",
            "2024-12-03 14:00:00.000Z",
            "",
            "not a time at all, no!!!",
        ] {
            assert_eq!(parse_canonical(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn writing_and_reading_a_time_gives_it_back(ms in -62_167_219_200_000i64..253_402_300_800_000) {
            prop_assert_eq!(parse_canonical(format(ms).as_bytes()), Some(ms));
        }

        #[test]
        fn no_text_makes_it_panic(text in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = parse(&text);
        }
    }
}
