//! Rooms, things and the player; what commands do to them.

use std::collections::{BTreeMap, BTreeSet};

use crate::command::{Command, CostsTime, Direction};

/// How much a player can carry.
pub const CARRY_LIMIT: usize = 6;

/// A place with exits and things in it.
#[derive(Debug, Clone, Default)]
pub struct Room {
    pub title: String,
    pub dark: bool,
    exits: Vec<(Direction, usize)>,
    things: BTreeSet<String>,
}

impl Room {
    /// Where an exit leads, if there is one.
    pub fn exit(&self, direction: Direction) -> Option<usize> {
        self.exits
            .iter()
            .find(|(way, _)| *way == direction)
            .map(|(_, room)| *room)
    }
}

/// The whole state of a game.
#[derive(Debug, Default)]
pub struct World {
    rooms: Vec<Room>,
    here: usize,
    carried: BTreeSet<String>,
    inside: BTreeMap<String, BTreeSet<String>>,
    clock: u32,
    lamp_lit: bool,
}

impl World {
    /// Adds a room and returns its number.
    pub fn add_room(&mut self, title: &str, dark: bool) -> usize {
        self.rooms.push(Room {
            title: title.to_string(),
            dark,
            ..Room::default()
        });
        self.rooms.len() - 1
    }

    /// Connects two rooms in both directions.
    pub fn connect(&mut self, from: usize, direction: Direction, to: usize) {
        self.rooms[from].exits.push((direction, to));
        self.rooms[to].exits.push((direction.opposite(), from));
    }

    /// Puts a thing into a room.
    pub fn place(&mut self, thing: &str, room: usize) {
        self.rooms[room].things.insert(thing.to_string());
    }

    /// Carries out a command and says what happened.
    pub fn apply(&mut self, command: &Command) -> String {
        self.clock += command.minutes();
        match command {
            Command::Look => self.describe(),
            Command::Go(direction) => self.walk(*direction),
            Command::Take(thing) => self.take(thing),
            Command::Drop(thing) => self.drop_thing(thing),
            Command::Put { thing, container } => self.put_into(thing, container),
            Command::Examine(thing) => format!("Nothing special about the {thing}."),
            Command::Inventory => self.list_carried(),
            Command::Save(name) => format!("Saved as {name}."),
            Command::Quit => "Goodbye.".to_string(),
        }
    }

    /// What the player sees; in a dark room without a lit lamp, nothing.
    fn describe(&self) -> String {
        let room = &self.rooms[self.here];
        if room.dark && !self.lamp_lit {
            return "It is pitch dark.".to_string();
        }
        let things: Vec<&str> = room.things.iter().map(String::as_str).collect();
        format!("{}. You see: {}", room.title, things.join(", "))
    }

    fn walk(&mut self, direction: Direction) -> String {
        match self.rooms[self.here].exit(direction) {
            Some(room) => {
                self.here = room;
                self.describe()
            }
            None => "There is no way.".to_string(),
        }
    }

    fn take(&mut self, thing: &str) -> String {
        if self.carried.len() >= CARRY_LIMIT {
            return "Your arms are full.".to_string();
        }
        if !self.rooms[self.here].things.remove(thing) {
            return format!("There is no {thing} here.");
        }
        self.carried.insert(thing.to_string());
        "Taken.".to_string()
    }

    fn drop_thing(&mut self, thing: &str) -> String {
        if !self.carried.remove(thing) {
            return format!("You carry no {thing}.");
        }
        self.place(thing, self.here);
        "Dropped.".to_string()
    }

    /// Moves a carried thing into a container, refusing to put a box into itself.
    fn put_into(&mut self, thing: &str, container: &str) -> String {
        if thing == container {
            return "That would tie space into a knot.".to_string();
        }
        if !self.carried.remove(thing) {
            return format!("You carry no {thing}.");
        }
        self.inside
            .entry(container.to_string())
            .or_default()
            .insert(thing.to_string());
        "Done.".to_string()
    }

    fn list_carried(&self) -> String {
        if self.carried.is_empty() {
            return "Your hands are empty.".to_string();
        }
        let things: Vec<&str> = self.carried.iter().map(String::as_str).collect();
        format!("You carry: {}", things.join(", "))
    }
}
