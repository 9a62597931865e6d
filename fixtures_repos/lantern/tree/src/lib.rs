//! The engine of Lantern: words in, moves out, a world that changes.

pub mod command;
pub mod lexer;
pub mod parser;
pub mod save;
pub mod world;

/// The longest line that a player may type; longer ones are cut.
pub const MAX_LINE: usize = 200;
