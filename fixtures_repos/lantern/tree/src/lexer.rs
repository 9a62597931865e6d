//! Splits a typed line into words and folds synonyms. Knows nothing of the world.

use std::fmt;

/// One word of a line, with the place where it stood, for error messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub word: String,
    pub column: usize,
}

impl fmt::Display for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}@{}", self.word, self.column)
    }
}

/// Words that carry no meaning for us.
const ARTICLES: [&str; 5] = ["a", "an", "the", "some", "my"];

/// Pairs of a synonym and the word that the parser knows.
const SYNONYMS: [(&str, &str); 8] = [
    ("grab", "take"),
    ("get", "take"),
    ("pick", "take"),
    ("walk", "go"),
    ("run", "go"),
    ("l", "look"),
    ("x", "examine"),
    ("within", "into"),
];

/// Cuts a line into lower-case tokens without articles.
pub fn tokenize(line: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut column = 0;
    for piece in line.split(' ') {
        let word = piece
            .trim_matches(|letter: char| !letter.is_alphanumeric())
            .to_lowercase();
        if !word.is_empty() && !ARTICLES.contains(&word.as_str()) {
            tokens.push(Token {
                word: fold_synonym(&word).to_string(),
                column,
            });
        }
        column += piece.chars().count() + 1;
    }
    tokens
}

/// The canonical word for a synonym, or the word itself.
pub fn fold_synonym(word: &str) -> &str {
    SYNONYMS
        .iter()
        .find(|(synonym, _)| *synonym == word)
        .map_or(word, |(_, canonical)| canonical)
}

/// How many letters must change to turn one word into the other (Levenshtein).
pub fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut previous: Vec<usize> = (0..=right.len()).collect();

    for (row, a) in left.chars().enumerate() {
        let mut current = vec![row + 1];
        for (column, b) in right.iter().enumerate() {
            let substitution = previous[column] + usize::from(a != *b);
            let cheapest = substitution
                .min(previous[column + 1] + 1)
                .min(current[column] + 1);
            current.push(cheapest);
        }
        previous = current;
    }

    previous[right.len()]
}
