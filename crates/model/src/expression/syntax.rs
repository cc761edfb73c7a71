//! The tree of an expression as it was written.

/// An error in an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExpressionError {
    /// Characters before the place.
    pub column: usize,
    /// What is wrong, and what was expected.
    pub message: String,
}

/// An expression, with its place in the text.
#[derive(Clone, PartialEq, Debug)]
pub struct Expression {
    /// Characters before it.
    pub column: usize,
    /// What it is.
    pub node: Syntax,
}

/// Kinds of expressions.
#[derive(Clone, PartialEq, Debug)]
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
