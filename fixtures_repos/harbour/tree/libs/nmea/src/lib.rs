//! Reads the text sentences that positioning devices send over a serial line.

use std::fmt;

/// Why a sentence was refused.
#[derive(Debug, PartialEq, Eq)]
pub enum SentenceError {
    NoDollar,
    BadChecksum { sent: u8, computed: u8 },
    Truncated,
}

impl fmt::Display for SentenceError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDollar => write!(out, "a sentence starts with $"),
            Self::BadChecksum { sent, computed } => write!(out, "checksum {sent:02X}, not {computed:02X}"),
            Self::Truncated => write!(out, "the sentence ends too early"),
        }
    }
}

/// Degrees, north and east positive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Position {
    pub latitude: f64,
    pub longitude: f64,
}

/// Checks a sentence and cuts it into fields.
pub fn split_sentence(line: &str) -> Result<Vec<&str>, SentenceError> {
    let rest = line.trim().strip_prefix('$').ok_or(SentenceError::NoDollar)?;
    let (body, digits) = rest.split_once('*').ok_or(SentenceError::Truncated)?;
    let sent = u8::from_str_radix(digits, 16).map_err(|_| SentenceError::Truncated)?;
    let computed = xor_checksum(body);
    if sent != computed {
        return Err(SentenceError::BadChecksum { sent, computed });
    }
    Ok(body.split(',').collect())
}

/// All bytes combined by exclusive or.
fn xor_checksum(body: &str) -> u8 {
    body.bytes().fold(0, |sum, byte| sum ^ byte)
}

/// Degrees and minutes such as `5333.12` with a hemisphere letter, as decimal degrees.
pub fn parse_coordinate(digits: &str, hemisphere: &str) -> Option<f64> {
    let value: f64 = digits.parse().ok()?;
    let degrees = (value / 100.0).trunc();
    let decimal = degrees + (value - degrees * 100.0) / 60.0;
    match hemisphere {
        "N" | "E" => Some(decimal),
        "S" | "W" => Some(-decimal),
        _ => None,
    }
}

impl Position {
    /// Distance in nautical miles along a great circle (haversine).
    pub fn distance(self, other: Position) -> f64 {
        let (a, b) = (self.latitude.to_radians(), other.latitude.to_radians());
        let half = |angle: f64| (angle / 2.0).sin().powi(2);
        let h = half(b - a)
            + a.cos() * b.cos() * half((other.longitude - self.longitude).to_radians());
        2.0 * 3440.065 * h.sqrt().asin()
    }
}
