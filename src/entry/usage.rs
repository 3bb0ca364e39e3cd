//! Tokens and cost of a message.

use super::facts::{Scan, name, number};
use crate::json::scan::Scanner;

/// Tokens and cost of one message. What a message does not say counts as 0.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Usage {
    /// Tokens sent.
    pub input: f64,
    /// Tokens received.
    pub output: f64,
    /// Tokens read from the provider's cache.
    pub cache_read: f64,
    /// Tokens written to the provider's cache.
    pub cache_write: f64,
    /// Premium requests.
    pub premium_requests: f64,
    /// Total cost, in the provider's currency.
    pub cost: f64,
}

impl Usage {
    /// Adds the parts of `other`. A sum that no number holds stays at the largest there is.
    pub fn add(&mut self, other: &Usage) {
        let add = |sum: &mut f64, part: f64| *sum = (*sum + part).clamp(f64::MIN, f64::MAX);
        add(&mut self.input, other.input);
        add(&mut self.output, other.output);
        add(&mut self.cache_read, other.cache_read);
        add(&mut self.cache_write, other.cache_write);
        add(&mut self.premium_requests, other.premium_requests);
        add(&mut self.cost, other.cost);
    }

    /// Reads the value at the scanner's position; `None` if it is no object.
    pub(super) fn read(scanner: &mut Scanner<'_>) -> Scan<Option<Usage>> {
        if scanner.peek() != Some(b'{') {
            scanner.skip_value()?;
            return Ok(None);
        }
        let text = scanner.text();
        let mut usage = Usage::default();
        scanner.object(|scanner, key| {
            let part = match name(text, key).as_ref() {
                b"input" => &mut usage.input,
                b"output" => &mut usage.output,
                b"cacheRead" => &mut usage.cache_read,
                b"cacheWrite" => &mut usage.cache_write,
                b"premiumRequests" => &mut usage.premium_requests,
                b"cost" if scanner.peek() == Some(b'{') => {
                    usage.cost = 0.0;
                    return scanner.object(|scanner, key| {
                        if name(text, key).as_ref() == b"total" {
                            usage.cost = number(scanner)?.unwrap_or_default();
                            return Ok(());
                        }
                        scanner.skip_value()
                    });
                }
                b"cost" => {
                    usage.cost = 0.0;
                    return scanner.skip_value();
                }
                _ => return scanner.skip_value(),
            };
            *part = number(scanner)?.unwrap_or_default();
            Ok(())
        })?;
        Ok(Some(usage))
    }
}
