use lantern::parser::Parser;
use lantern::world::World;

#[test]
fn a_taken_thing_is_carried() {
    let mut world = World::default();
    let hall = world.add_room("Hall", false);
    world.place("key", hall);
    let mut parser = Parser::new();
    let answers: Vec<String> = ["grab the key", "inventory"]
        .iter()
        .map(|line| world.apply(&parser.parse(line).unwrap()))
        .collect();
    assert_eq!(answers, ["Taken.", "You carry: key"]);
}

#[test]
fn a_dark_room_shows_nothing() {
    let mut world = World::default();
    world.add_room("Cellar", true);
    let command = Parser::new().parse("look").unwrap();
    assert_eq!(world.apply(&command), "It is pitch dark.");
}
