//! Saved games: the lines that were typed, one per line, with a checksum on top.

use std::fs;
use std::io;
use std::path::Path;

/// A saved game that cannot be used.
#[derive(Debug)]
pub enum LoadError {
    Io(io::Error),
    /// Somebody edited the file, or the disk lost some of it.
    ChecksumMismatch { expected: u64, found: u64 },
    NoHeader,
}

impl From<io::Error> for LoadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Writes the moves of a game.
pub fn save_moves(path: &Path, moves: &[String]) -> io::Result<()> {
    let body = moves.join("\n");
    fs::write(path, format!("lantern {:016x}\n{body}", checksum(&body)))
}

/// Reads the moves back, refusing a file whose checksum does not fit.
pub fn load_moves(path: &Path) -> Result<Vec<String>, LoadError> {
    let text = fs::read_to_string(path)?;
    let (header, body) = text.split_once('\n').ok_or(LoadError::NoHeader)?;
    let digits = header.strip_prefix("lantern ").ok_or(LoadError::NoHeader)?;
    let expected = u64::from_str_radix(digits, 16).map_err(|_| LoadError::NoHeader)?;
    let found = checksum(body);
    if found != expected {
        return Err(LoadError::ChecksumMismatch { expected, found });
    }
    Ok(body.lines().map(str::to_string).collect())
}

/// FNV-1a: short, and good enough against accidents; no protection against cheating.
fn checksum(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
