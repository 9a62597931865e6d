//! Plays Lantern on a terminal.

use std::io::{self, BufRead, Write};

use lantern::command::{Command, Direction};
use lantern::parser::{ParseError, Parser};
use lantern::world::World;

/// The lighthouse: cellar, hall and lamp room.
fn build_lighthouse() -> World {
    let mut world = World::default();
    let hall = world.add_room("The round hall", false);
    let cellar = world.add_room("The cellar", true);
    let lamp_room = world.add_room("The lamp room", false);
    world.connect(hall, Direction::Down, cellar);
    world.connect(hall, Direction::Up, lamp_room);
    world.place("brass key", hall);
    world.place("wooden box", cellar);
    world
}

/// What to tell a player whose line was not understood.
fn explain(error: &ParseError) -> String {
    match error {
        ParseError::Empty => "Say something.".to_string(),
        ParseError::UnknownVerb { word, suggestion: Some(verb) } => {
            format!("I do not know how to {word}. Did you mean {verb}?")
        }
        ParseError::UnknownVerb { word, suggestion: None } => format!("I do not know how to {word}."),
        ParseError::MissingObject(verb) => format!("What do you want to {verb}?"),
        ParseError::BadDirection(word) => format!("Which way is {word}?"),
    }
}

fn main() -> io::Result<()> {
    let mut world = build_lighthouse();
    let mut parser = Parser::new();
    for line in io::stdin().lock().lines() {
        match parser.parse(&line?) {
            Ok(command) => {
                println!("{}", world.apply(&command));
                if command == Command::Quit {
                    break;
                }
            }
            Err(error) => println!("{}", explain(&error)),
        }
        io::stdout().flush()?;
    }
    Ok(())
}
