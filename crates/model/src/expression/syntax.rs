//! The tree of an expression as it was written.

use std::fmt;

use serde::Serialize;

/// An error in an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExpressionError {
    /// Characters before the place.
    pub column: usize,
    /// The fault, and the expected text.
    pub message: String,
}

/// An expression, with its place in the text.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Expression {
    /// Characters before it.
    pub column: usize,
    /// The kind of the node.
    pub node: Syntax,
}

/// Kinds of expressions.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub enum Syntax {
    /// `12`
    Int(i64),
    /// `1.5`
    Real(f64),
    /// `5 ms`, in picoseconds.
    Time(i64),
    /// `"text"`
    Text(String),
    /// `p`, `data`, `true`, `empty`, `_`
    Name(String),
    /// `p.number`
    Field(Box<Expression>, String),
    /// `cache.tags[3]`
    Element(Box<[Expression; 2]>),
    /// `Packet(1, kind = data)`: arguments with their names.
    Call(String, Vec<(Option<String>, Expression)>),
    /// `(n, d)`; without parts `()`.
    Tuple(Vec<Expression>),
    /// `not a`, `-a`
    Unary(&'static str, Box<Expression>),
    /// `a + b`
    Binary(&'static str, Box<Expression>, Box<Expression>),
    /// `if c then a else b`
    If(Box<[Expression; 3]>),
    /// `p with (number = 3)`
    With(Box<Expression>, Vec<(String, Expression)>),
}

impl Expression {
    /// Calls `visit` with this expression and all within it.
    pub fn walk(&self, visit: &mut dyn FnMut(&Expression)) {
        visit(self);
        match &self.node {
            Syntax::Int(_) | Syntax::Real(_) | Syntax::Time(_) => {}
            Syntax::Text(_) | Syntax::Name(_) => {}
            Syntax::Field(of, _) | Syntax::Unary(_, of) => of.walk(visit),
            Syntax::Call(_, arguments) => arguments.iter().for_each(|(_, it)| it.walk(visit)),
            Syntax::Tuple(parts) => parts.iter().for_each(|it| it.walk(visit)),
            Syntax::Element(parts) => parts.iter().for_each(|it| it.walk(visit)),
            Syntax::Binary(_, a, b) => [a, b].iter().for_each(|it| it.walk(visit)),
            Syntax::If(parts) => parts.iter().for_each(|it| it.walk(visit)),
            Syntax::With(of, fields) => {
                of.walk(visit);
                fields.iter().for_each(|(_, it)| it.walk(visit));
            }
        }
    }
}

/// How tightly operators bind, from a choice to a part that needs no parentheses.
fn binds(of: &Expression) -> u8 {
    match &of.node {
        Syntax::If(_) => 0,
        Syntax::Binary("or", ..) => 1,
        Syntax::Binary("and", ..) => 2,
        Syntax::Unary("not", _) => 3,
        Syntax::Binary("==" | "!=" | "<" | "<=" | ">" | ">=", ..) => 4,
        Syntax::Binary("+" | "-", ..) => 5,
        Syntax::Binary(..) => 6,
        Syntax::Unary(..) => 7,
        _ => 8,
    }
}

/// An operand, in parentheses if it binds less than this.
struct Within<'e>(&'e Expression, u8);

impl fmt::Display for Within<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match binds(self.0) < self.1 {
            true => write!(out, "({})", self.0),
            false => write!(out, "{}", self.0),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = binds(self);
        let list = |parts: &mut dyn Iterator<Item = String>| {
            let parts: Vec<String> = parts.collect();
            parts.join(", ")
        };
        match &self.node {
            Syntax::Int(value) => write!(out, "{value}"),
            Syntax::Real(value) => write!(out, "{value:?}"),
            Syntax::Time(value) => match *value {
                value if value % 1_000_000_000_000 == 0 => {
                    write!(out, "{} s", value / 1_000_000_000_000)
                }
                value if value % 1_000_000_000 == 0 => write!(out, "{} ms", value / 1_000_000_000),
                value if value % 1_000_000 == 0 => write!(out, "{} us", value / 1_000_000),
                value if value % 1_000 == 0 => write!(out, "{} ns", value / 1_000),
                value => write!(out, "{value} ps"),
            },
            Syntax::Text(text) if text.contains('"') => write!(out, "'{text}'"),
            Syntax::Text(text) => write!(out, "\"{text}\""),
            Syntax::Name(name) => out.write_str(name),
            Syntax::Field(of, name) => write!(out, "{}.{name}", Within(of, 8)),
            Syntax::Element(parts) => write!(out, "{}[{}]", Within(&parts[0], 8), parts[1]),
            Syntax::Call(name, arguments) => {
                let mut arguments = arguments.iter().map(|(name, value)| match name {
                    Some(name) => format!("{name} = {value}"),
                    None => value.to_string(),
                });
                write!(out, "{name}({})", list(&mut arguments))
            }
            Syntax::Tuple(parts) => {
                write!(
                    out,
                    "({})",
                    list(&mut parts.iter().map(ToString::to_string))
                )
            }
            Syntax::Unary("not", of) => write!(out, "not {}", Within(of, own)),
            Syntax::Unary(operator, of) => write!(out, "{operator}{}", Within(of, own)),
            Syntax::Binary(operator, a, b) => {
                // Operators group from the left; comparisons do not group.
                let left = own + u8::from(own == 4);
                write!(out, "{} {operator} {}", Within(a, left), Within(b, own + 1))
            }
            Syntax::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                write!(
                    out,
                    "if {} then {} else {otherwise}",
                    Within(condition, 1),
                    Within(then, 1)
                )
            }
            Syntax::With(of, fields) => {
                let mut fields = fields
                    .iter()
                    .map(|(name, value)| format!("{name} = {value}"));
                write!(out, "{} with ({})", Within(of, 8), list(&mut fields))
            }
        }
    }
}
