//! Turns tokens into a command, with a question back when a word is missing or misspelt.

use crate::command::{Command, Direction};
use crate::lexer::{edit_distance, tokenize, Token};
use crate::MAX_LINE;

/// The verbs, for suggestions.
const VERBS: [&str; 9] = [
    "look", "go", "take", "drop", "examine", "put", "inventory", "save", "quit",
];

/// Why a line was not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParseError {
    Empty,
    /// No such verb; the nearest one, if any is near.
    UnknownVerb { word: String, suggestion: Option<String> },
    /// The verb wants something that the line does not name.
    MissingObject(&'static str),
    BadDirection(String),
}

/// Builds an error for a verb that lacks its object.
macro_rules! missing {
    ($verb:literal) => {
        Err(ParseError::MissingObject($verb))
    };
}

/// Understands lines and remembers what `it` stands for.
#[derive(Debug, Default)]
pub struct Parser {
    last_named: Option<String>,
}

impl Parser {
    /// A parser that has heard nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Understands one line.
    pub fn parse(&mut self, line: &str) -> Result<Command, ParseError> {
        let short: String = line.chars().take(MAX_LINE).collect();
        let tokens = tokenize(&short);
        let (verb, rest) = tokens.split_first().ok_or(ParseError::Empty)?;
        match verb.word.as_str() {
            "look" => Ok(Command::Look),
            "inventory" | "i" => Ok(Command::Inventory),
            "quit" => Ok(Command::Quit),
            "go" => Self::parse_direction(rest).map(Command::Go),
            "take" => self.object(rest, "take").map(Command::Take),
            "drop" => self.object(rest, "drop").map(Command::Drop),
            "examine" => self.object(rest, "examine").map(Command::Examine),
            "save" => self.object(rest, "save").map(Command::Save),
            "put" => self.parse_put(rest),
            word => word
                .parse::<Direction>()
                .map(Command::Go)
                .map_err(|_| unknown_verb(word)),
        }
    }

    fn parse_direction(tokens: &[Token]) -> Result<Direction, ParseError> {
        match tokens.first() {
            Some(token) => token
                .word
                .parse()
                .map_err(|_| ParseError::BadDirection(token.word.clone())),
            None => missing!("go"),
        }
    }

    /// Splits `put X into Y` at its preposition.
    fn parse_put(&mut self, tokens: &[Token]) -> Result<Command, ParseError> {
        let Some(middle) = tokens.iter().position(|token| token.word == "into") else {
            return missing!("put");
        };
        let thing = self.object(&tokens[..middle], "put")?;
        let container = self.object(&tokens[middle + 1..], "put")?;
        Ok(Command::Put { thing, container })
    }

    /// Joins adjectives and noun to one name, resolving the pronoun `it` to what was named last.
    fn object(&mut self, tokens: &[Token], verb: &'static str) -> Result<String, ParseError> {
        let words: Vec<&str> = tokens.iter().map(|token| token.word.as_str()).collect();
        let name = match words.as_slice() {
            [] => return Err(ParseError::MissingObject(verb)),
            ["it"] => match &self.last_named {
                Some(name) => name.clone(),
                None => return Err(ParseError::MissingObject(verb)),
            },
            names => names.join(" "),
        };
        self.last_named = Some(name.clone());
        Ok(name)
    }
}

/// Suggests the verb that is spelt most alike, when at most two letters differ.
fn unknown_verb(word: &str) -> ParseError {
    let suggestion = VERBS
        .iter()
        .map(|verb| (edit_distance(word, verb), *verb))
        .filter(|(distance, _)| *distance <= 2)
        .min()
        .map(|(_, verb)| verb.to_string());
    ParseError::UnknownVerb {
        word: word.to_string(),
        suggestion,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_means_the_last_thing_named() {
        let mut parser = Parser::new();
        parser.parse("take the brass key").unwrap();
        assert_eq!(parser.parse("drop it"), Ok(Command::Drop("brass key".into())));
    }

    #[test]
    fn misspelt_verbs_get_a_suggestion() {
        let error = Parser::new().parse("loook").unwrap_err();
        assert_eq!(
            error,
            ParseError::UnknownVerb { word: "loook".into(), suggestion: Some("look".into()) }
        );
    }
}
