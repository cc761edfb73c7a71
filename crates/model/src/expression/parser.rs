//! From text to the tree of an expression.
//!
//! ```text
//! expression = "if" expression "then" expression "else" expression | or
//! or         = and { "or" and }
//! and        = not { "and" not }
//! not        = "not" not | comparison
//! comparison = sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=") sum ]
//! sum        = product { ("+" | "-") product }
//! product    = sign { ("*" | "/" | "//" | "%") sign }
//! sign       = "-" sign | part
//! part       = atom { "." name | "[" expression "]" | "with" "(" name "=" expression { "," … } ")" }
//! atom       = number [ unit ] | text | name [ "(" arguments ")" ] | "(" [ expression { "," … } ] ")"
//! unit       = "ps" | "ns" | "us" | "ms" | "s" | "min" | "h"
//! ```

use super::syntax::{Expression, ExpressionError, Syntax};

#[derive(Clone, PartialEq, Debug)]
enum Token {
    Int(i64),
    Real(f64),
    Text(String),
    Name(String),
    Mark(&'static str),
    End,
}

const MARKS: [&str; 20] = [
    "==", "!=", "<=", ">=", "//", "<", ">", "+", "-", "*", "/", "%", "(", ")", "[", "]", ",", ".",
    "=", "?",
];

const WORDS: [&str; 7] = ["if", "then", "else", "and", "or", "not", "with"];

/// Units of time, in picoseconds.
const UNITS: [(&str, f64); 7] = [
    ("ps", 1.0),
    ("ns", 1e3),
    ("us", 1e6),
    ("ms", 1e9),
    ("s", 1e12),
    ("min", 60e12),
    ("h", 3600e12),
];

/// Expressions within each other; more would overflow the stack.
const DEEPEST: usize = 100;

/// Operators with two operands in one expression; each is a level of the tree.
const MOST_OPERATORS: usize = 500;

fn error<T>(column: usize, message: impl Into<String>) -> Result<T, ExpressionError> {
    Err(ExpressionError {
        column,
        message: message.into(),
    })
}

/// Parses an expression.
///
/// # Errors
/// The place of the first error, and the text expected there.
pub fn parse(text: &str) -> Result<Expression, ExpressionError> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
        operators: 0,
    };
    let expression = parser.expression()?;
    match parser.peek() {
        Token::End => Ok(expression),
        _ => parser.unexpected("an operator or the end"),
    }
}

/// Parses `target = value`.
///
/// # Errors
/// The place of the first error, and the text expected there.
pub fn parse_assignment(text: &str) -> Result<(Expression, Expression), ExpressionError> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
        operators: 0,
    };
    let target = parser.part()?;
    parser.expect_mark("=")?;
    let value = parser.expression()?;
    match parser.peek() {
        Token::End => Ok((target, value)),
        _ => parser.unexpected("an operator or the end"),
    }
}

fn tokens(text: &str) -> Result<Vec<(usize, Token)>, ExpressionError> {
    let characters: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&character) = characters.get(at) {
        let start = at;
        let rest = &characters[at..];
        let run = |of: fn(&char) -> bool| rest.iter().take_while(|&it| of(it)).count();
        if character.is_whitespace() {
            at += 1;
            continue;
        }
        let token = if character.is_ascii_digit() {
            let (length, token) = number(rest, start)?;
            at += length;
            token
        } else if character.is_alphabetic() || character == '_' {
            at += run(|it| it.is_alphanumeric() || *it == '_');
            Token::Name(characters[start..at].iter().collect())
        } else if character == '"' || character == '\'' {
            let length = rest[1..].iter().position(|it| *it == character);
            let Some(length) = length else {
                return error(start, "this text has no closing quotation mark");
            };
            at += length + 2;
            Token::Text(rest[1..=length].iter().collect())
        } else {
            let mark = MARKS
                .iter()
                .find(|mark| rest.starts_with(&mark.chars().collect::<Vec<_>>()));
            let Some(mark) = mark.filter(|mark| **mark != "?") else {
                return error(start, format!("{character:?} is not part of an expression"));
            };
            at += mark.len();
            Token::Mark(mark)
        };
        tokens.push((start, token));
    }
    tokens.push((characters.len(), Token::End));
    Ok(tokens)
}

/// A number at the start of the characters: its length and value.
fn number(rest: &[char], column: usize) -> Result<(usize, Token), ExpressionError> {
    let digits = |from: usize| {
        let digits = rest[from..].iter();
        digits
            .take_while(|it| it.is_ascii_digit() || **it == '_')
            .count()
    };
    let mut length = digits(0);
    let mut real = false;
    if rest.get(length) == Some(&'.') && rest.get(length + 1).is_some_and(char::is_ascii_digit) {
        real = true;
        length += 1 + digits(length + 1);
    }
    if matches!(rest.get(length), Some('e' | 'E')) {
        let sign = usize::from(matches!(rest.get(length + 1), Some('+' | '-')));
        if rest
            .get(length + 1 + sign)
            .is_some_and(char::is_ascii_digit)
        {
            real = true;
            length += 1 + sign + digits(length + 1 + sign);
        }
    }
    let text: String = rest[..length].iter().filter(|it| **it != '_').collect();
    let token = match real {
        true => text
            .parse()
            .ok()
            .filter(|it: &f64| it.is_finite())
            .map(Token::Real),
        false => text.parse().ok().map(Token::Int),
    };
    match token {
        Some(token) => Ok((length, token)),
        None => error(column, format!("{text} does not fit into 64 bits")),
    }
}

struct Parser {
    tokens: Vec<(usize, Token)>,
    at: usize,
    depth: usize,
    operators: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].1
    }

    fn column(&self) -> usize {
        self.tokens[self.at].0
    }

    fn step(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    fn unexpected<T>(&self, expected: &str) -> Result<T, ExpressionError> {
        let found = match self.peek() {
            Token::End => "the end".to_owned(),
            Token::Int(number) => number.to_string(),
            Token::Real(number) => number.to_string(),
            Token::Text(text) => format!("{text:?}"),
            Token::Name(name) => name.clone(),
            Token::Mark(mark) => format!("{mark:?}"),
        };
        error(self.column(), format!("expected {expected}, not {found}"))
    }

    fn mark(&mut self, marks: &[&'static str]) -> Option<&'static str> {
        let Token::Mark(found) = *self.peek() else {
            return None;
        };
        let mark = marks.iter().find(|mark| **mark == found)?;
        self.step();
        Some(mark)
    }

    fn word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Name(name) if name == word);
        if found {
            self.step();
        }
        found
    }

    fn expect_mark(&mut self, mark: &'static str) -> Result<(), ExpressionError> {
        match self.mark(&[mark]) {
            Some(_) => Ok(()),
            None => self.unexpected(&format!("{mark:?}")),
        }
    }

    fn expect_word(&mut self, word: &str) -> Result<(), ExpressionError> {
        match self.word(word) {
            true => Ok(()),
            false => self.unexpected(word),
        }
    }

    fn expression(&mut self) -> Result<Expression, ExpressionError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return error(
                self.column(),
                format!("expected at most {DEEPEST} expressions within each other"),
            );
        }
        let column = self.column();
        let expression = if self.word("if") {
            let condition = self.expression()?;
            self.expect_word("then")?;
            let then = self.expression()?;
            self.expect_word("else")?;
            let otherwise = self.expression()?;
            Expression {
                column,
                node: Syntax::If(Box::new([condition, then, otherwise])),
            }
        } else {
            self.or()?
        };
        self.depth -= 1;
        Ok(expression)
    }

    fn or(&mut self) -> Result<Expression, ExpressionError> {
        let mut left = self.and()?;
        loop {
            let column = self.column();
            if !self.word("or") {
                return Ok(left);
            }
            let right = self.and()?;
            left = self.binary(column, "or", left, right)?;
        }
    }

    fn and(&mut self) -> Result<Expression, ExpressionError> {
        let mut left = self.not()?;
        loop {
            let column = self.column();
            if !self.word("and") {
                return Ok(left);
            }
            let right = self.not()?;
            left = self.binary(column, "and", left, right)?;
        }
    }

    fn not(&mut self) -> Result<Expression, ExpressionError> {
        let column = self.column();
        if self.word("not") {
            return self.unary(column, "not", Parser::not);
        }
        let left = self.sum()?;
        let column = self.column();
        match self.mark(&["==", "!=", "<=", ">=", "<", ">"]) {
            None => Ok(left),
            Some(mark) => {
                let right = self.sum()?;
                self.binary(column, mark, left, right)
            }
        }
    }

    fn binary(
        &mut self,
        column: usize,
        operator: &'static str,
        a: Expression,
        b: Expression,
    ) -> Result<Expression, ExpressionError> {
        self.operators += 1;
        if self.operators > MOST_OPERATORS {
            return error(
                column,
                format!("expected at most {MOST_OPERATORS} operators in one expression"),
            );
        }
        Ok(Expression {
            column,
            node: Syntax::Binary(operator, Box::new(a), Box::new(b)),
        })
    }

    fn unary(
        &mut self,
        column: usize,
        operator: &'static str,
        of: fn(&mut Parser) -> Result<Expression, ExpressionError>,
    ) -> Result<Expression, ExpressionError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return error(
                column,
                format!("expected at most {DEEPEST} operators within each other"),
            );
        }
        let of = of(self)?;
        self.depth -= 1;
        Ok(Expression {
            column,
            node: Syntax::Unary(operator, Box::new(of)),
        })
    }

    fn sum(&mut self) -> Result<Expression, ExpressionError> {
        let mut left = self.product()?;
        loop {
            let column = self.column();
            let Some(mark) = self.mark(&["+", "-"]) else {
                return Ok(left);
            };
            let right = self.product()?;
            left = self.binary(column, mark, left, right)?;
        }
    }

    fn product(&mut self) -> Result<Expression, ExpressionError> {
        let mut left = self.sign()?;
        loop {
            let column = self.column();
            let Some(mark) = self.mark(&["*", "//", "/", "%"]) else {
                return Ok(left);
            };
            let right = self.sign()?;
            left = self.binary(column, mark, left, right)?;
        }
    }

    fn sign(&mut self) -> Result<Expression, ExpressionError> {
        let column = self.column();
        match self.mark(&["-"]) {
            Some(_) => self.unary(column, "-", Parser::sign),
            None => self.part(),
        }
    }

    fn part(&mut self) -> Result<Expression, ExpressionError> {
        let mut of = self.atom()?;
        for _ in 0..DEEPEST {
            let column = self.column();
            if self.mark(&["."]).is_some() {
                let name = self.name("the name of a field")?;
                of = Expression {
                    column: of.column,
                    node: Syntax::Field(Box::new(of), name),
                };
            } else if self.mark(&["["]).is_some() {
                let index = self.expression()?;
                self.expect_mark("]")?;
                of = Expression {
                    column: of.column,
                    node: Syntax::Element(Box::new([of, index])),
                };
            } else if self.word("with") {
                self.expect_mark("(")?;
                let mut fields = Vec::new();
                loop {
                    let name = self.name("the name of a field")?;
                    self.expect_mark("=")?;
                    fields.push((name, self.expression()?));
                    if self.mark(&[","]).is_none() {
                        break;
                    }
                }
                self.expect_mark(")")?;
                of = Expression {
                    column,
                    node: Syntax::With(Box::new(of), fields),
                };
            } else {
                return Ok(of);
            }
        }
        error(
            self.column(),
            format!("expected at most {DEEPEST} fields of fields"),
        )
    }

    fn name(&mut self, expected: &str) -> Result<String, ExpressionError> {
        match self.peek().clone() {
            Token::Name(name) if !WORDS.contains(&&*name) => {
                self.step();
                Ok(name)
            }
            _ => self.unexpected(expected),
        }
    }

    fn atom(&mut self) -> Result<Expression, ExpressionError> {
        let column = self.column();
        let node = match self.peek().clone() {
            Token::Int(number) => {
                self.step();
                match self.unit(number as f64)? {
                    Some(time) => Syntax::Time(time),
                    None => Syntax::Int(number),
                }
            }
            Token::Real(number) => {
                self.step();
                match self.unit(number)? {
                    Some(time) => Syntax::Time(time),
                    None => Syntax::Real(number),
                }
            }
            Token::Text(text) => {
                self.step();
                Syntax::Text(text)
            }
            Token::Name(_) => {
                let name = self.name("a value")?;
                match self.mark(&["("]) {
                    None => Syntax::Name(name),
                    Some(_) => Syntax::Call(name, self.arguments()?),
                }
            }
            Token::Mark("(") => {
                self.step();
                let mut arguments = self.arguments()?;
                if let Some((Some(name), _)) = arguments.iter().find(|(name, _)| name.is_some()) {
                    return error(column, format!("{name} = … has no place in parentheses"));
                }
                match arguments.len() {
                    1 => return Ok(arguments.remove(0).1),
                    _ => Syntax::Tuple(arguments.into_iter().map(|(_, it)| it).collect()),
                }
            }
            Token::Mark(_) | Token::End => return self.unexpected("a value"),
        };
        Ok(Expression { column, node })
    }

    /// Arguments up to the closing parenthesis.
    fn arguments(&mut self) -> Result<Vec<(Option<String>, Expression)>, ExpressionError> {
        let mut arguments = Vec::new();
        if self.mark(&[")"]).is_some() {
            return Ok(arguments);
        }
        loop {
            let named = match (self.peek(), self.tokens.get(self.at + 1)) {
                (Token::Name(name), Some((_, Token::Mark("=")))) => Some(name.clone()),
                _ => None,
            };
            if named.is_some() {
                self.step();
                self.step();
            }
            arguments.push((named, self.expression()?));
            if self.mark(&[","]).is_none() {
                break;
            }
        }
        self.expect_mark(")")?;
        Ok(arguments)
    }

    /// A unit after a number: the time in picoseconds.
    fn unit(&mut self, number: f64) -> Result<Option<i64>, ExpressionError> {
        let Token::Name(name) = self.peek() else {
            return Ok(None);
        };
        let Some((_, factor)) = UNITS.iter().find(|(unit, _)| unit == name) else {
            return Ok(None);
        };
        let time = (number * factor).round();
        if time > 9e18 {
            return error(self.column(), "expected a time of at most 104 days");
        }
        self.step();
        Ok(Some(time as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_their_column() {
        let cases = [
            ("p.number = 3", 9, "expected an operator or the end"),
            ("1 +", 3, "expected a value, not the end"),
            ("a == $", 5, "is not part of an expression"),
            ("if a then b", 11, "expected else"),
            ("f(1", 3, "expected \")\""),
            ("\"text", 0, "closing quotation mark"),
            ("99999999999999999999", 0, "64 bits"),
        ];
        for (text, column, message) in cases {
            let error = parse(text).unwrap_err();
            assert_eq!(error.column, column, "{text}: {error:?}");
            assert!(error.message.contains(message), "{text}: {error:?}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error() {
        assert!(parse(&"(".repeat(10_000)).is_err());
        assert!(parse(&"-".repeat(10_000)).is_err());
        assert!(parse(&"not ".repeat(10_000)).is_err());
        assert!(parse(&"1 + ".repeat(10_000)).is_err());
    }

    #[test]
    fn an_expression_is_shown_as_it_can_be_read() {
        for text in [
            "a + b * (c - d) - (e - f)",
            "-(a + b) % 2 == 5 ms and not (x or y)",
            "if a < 1.5 then p with (n = 1, m = q.r[2 + i].s) else f(1, k = \"t\")",
            "(a == b) == (c < d)",
            "(if a then b else c) + ()",
            "3 ps + 1000000 s",
        ] {
            let tree = parse(text).unwrap();
            assert_eq!(tree.to_string(), text);
        }
    }

    #[test]
    fn operators_bind_as_in_python() {
        let left = parse("a or b and not c == 1 + 2 * -d.e").unwrap();
        let right = parse("a or (b and (not (c == (1 + (2 * (-(d.e)))))))").unwrap();
        let bare = |expression: &Expression| {
            let mut shape = Vec::new();
            expression.walk(&mut |it| {
                shape.push(match &it.node {
                    Syntax::Binary(operator, ..) | Syntax::Unary(operator, _) => {
                        (*operator).to_owned()
                    }
                    other => format!("{other:?}").chars().take(5).collect(),
                });
            });
            shape
        };
        assert_eq!(bare(&left), bare(&right));
        assert_eq!(parse("5 ms").unwrap().node, Syntax::Time(5_000_000_000));
    }
}
