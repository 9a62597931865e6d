//! What a player can ask for, once it has been understood.

use std::str::FromStr;

/// A compass direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    North,
    South,
    East,
    West,
    Up,
    Down,
}

impl Direction {
    /// The way back.
    pub fn opposite(self) -> Self {
        match self {
            Self::North => Self::South,
            Self::South => Self::North,
            Self::East => Self::West,
            Self::West => Self::East,
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }
}

impl FromStr for Direction {
    type Err = String;

    /// Reads a full name or its first letter.
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "north" | "n" => Ok(Self::North),
            "south" | "s" => Ok(Self::South),
            "east" | "e" => Ok(Self::East),
            "west" | "w" => Ok(Self::West),
            "up" | "u" => Ok(Self::Up),
            "down" | "d" => Ok(Self::Down),
            other => Err(format!("{other} is no direction")),
        }
    }
}

/// A line that the parser has understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Look,
    Go(Direction),
    Take(String),
    Drop(String),
    Examine(String),
    /// The thing and the container that it goes into.
    Put { thing: String, container: String },
    Inventory,
    Save(String),
    Quit,
}

/// Tells whether the clock advances: looking around costs no time.
pub trait CostsTime {
    /// Minutes that pass on the lighthouse clock.
    fn minutes(&self) -> u32;
}

impl CostsTime for Command {
    fn minutes(&self) -> u32 {
        match self {
            Self::Go(Direction::Up | Direction::Down) => 5,
            Self::Go(_) => 2,
            Self::Take(_) | Self::Drop(_) | Self::Put { .. } => 1,
            Self::Look | Self::Examine(_) | Self::Inventory | Self::Save(_) | Self::Quit => 0,
        }
    }
}
