//! Types of expressions, and their compilation.

use std::collections::BTreeMap;

use super::code::{Code, Draw, NO_PROBABILITY, NOTHING_BELOW, Operator};
use super::external::{Call, External};
use super::functions::{ALL, Group, OfReal};
use super::stores::StoreName;
use super::syntax::{Expression, ExpressionError, Syntax};
use crate::colour::{Colours, Kind};
use crate::error::did_you_mean;

/// The most words that the variables of a transition have together.
pub const FRAME: usize = 64;

/// A compiled expression: one operation tree for each word.
#[derive(Clone, PartialEq, Debug)]
pub struct Typed {
    /// Its type.
    pub kind: Kind,
    /// Its words.
    pub words: Vec<Code>,
}

/// A variable of a frame.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Kind,
    /// Its first word in the frame.
    pub word: usize,
}

/// Effects that an expression may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Allowed {
    /// None: a guard or a pattern.
    Nothing,
    /// The time and chance: an action.
    TimeAndChance,
    /// Chance only: a service time.
    Chance,
    /// The time only: a monitor.
    Time,
}

/// A step of binding a token.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// A word of the token becomes a word of the frame.
    Bind {
        /// Word of the token.
        word: usize,
        /// Word of the frame.
        to: usize,
    },
    /// A word of the token must have this value.
    Equal {
        /// Word of the token.
        word: usize,
        /// The value.
        code: Code,
    },
    /// This must be true.
    Test(Code),
}

/// Names that an expression can use.
pub struct Scope<'a> {
    /// Colours and texts.
    pub colours: &'a mut Colours,
    /// Values of the document.
    pub constants: &'a BTreeMap<String, Typed>,
    /// Variables so far.
    pub variables: Vec<Variable>,
    /// Words of the frame in use.
    pub words: usize,
    /// Words that the frame has.
    pub most_words: usize,
    /// Effects.
    pub allowed: Allowed,
    /// Words to evaluate first, in order.
    pub first: Vec<(usize, Code)>,
    /// Stores.
    pub stores: Vec<StoreName>,
    /// True within a part that a constant condition leaves out: it needs no value.
    unused: bool,
}

pub(super) type Checked<T> = Result<T, ExpressionError>;

pub(super) fn error<T>(at: &Expression, message: impl Into<String>) -> Checked<T> {
    Err(ExpressionError {
        column: at.column,
        message: message.into(),
    })
}

impl<'a> Scope<'a> {
    /// A scope without variables.
    pub fn new(
        colours: &'a mut Colours,
        constants: &'a BTreeMap<String, Typed>,
        allowed: Allowed,
    ) -> Self {
        Scope {
            colours,
            constants,
            variables: Vec::new(),
            words: 0,
            most_words: FRAME,
            allowed,
            first: Vec::new(),
            stores: Vec::new(),
            unused: false,
        }
    }

    /// Evaluates constant parts.
    fn fold(&self, at: &Expression, code: Code) -> Checked<Code> {
        match code.try_folded() {
            Ok(code) => Ok(code),
            Err((code, _)) if self.unused => Ok(code),
            Err((_, reason)) => error(at, reason),
        }
    }

    /// Adds a variable; gives its first word.
    ///
    /// # Errors
    /// There are too many.
    pub fn bind(&mut self, at: &Expression, name: &str, kind: Kind) -> Checked<usize> {
        let word = self.words;
        self.words += self.colours.words(kind);
        if self.words > self.most_words {
            return error(
                at,
                format!(
                    "expected variables of at most {} words in one transition",
                    self.most_words
                ),
            );
        }
        self.variables.push(Variable {
            name: name.to_owned(),
            kind,
            word,
        });
        Ok(word)
    }

    pub(super) fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|it| it.name == name)
    }

    /// Compiles an expression that must have this type.
    ///
    /// # Errors
    /// It has another type, or none.
    pub fn compile(&mut self, of: &Expression, kind: Kind) -> Checked<Typed> {
        let typed = self.infer(of, Some(kind))?;
        self.convert(of, typed, kind)
    }

    /// Compiles a condition.
    ///
    /// # Errors
    /// It is none.
    pub fn condition(&mut self, of: &Expression) -> Checked<Code> {
        Ok(self.compile(of, Kind::Bool)?.words.remove(0))
    }

    fn convert(&self, at: &Expression, typed: Typed, kind: Kind) -> Checked<Typed> {
        if typed.kind == kind {
            return Ok(typed);
        }
        let mut words = typed.words;
        let one = |words: &mut Vec<Code>| Box::new(words.remove(0));
        let code = match (typed.kind, kind) {
            (Kind::Int, Kind::Real) => Code::IntToReal(one(&mut words)),
            (Kind::Real, Kind::Time) => {
                Code::SecondsToTime(Box::new((words.remove(0), at.to_string())))
            }
            (Kind::Int, Kind::Time) => {
                let real = Code::IntToReal(one(&mut words)).folded();
                Code::SecondsToTime(Box::new((real, at.to_string())))
            }
            _ => {
                let (found, expected) = (self.colours.name(typed.kind), self.colours.name(kind));
                return error(at, format!("expected {expected}, not {found}"));
            }
        };
        Ok(Typed {
            kind,
            words: vec![self.fold(at, code)?],
        })
    }

    /// Compiles an expression; a type that is expected chooses among members of enumerations.
    ///
    /// # Errors
    /// It has no type.
    pub fn infer(&mut self, of: &Expression, expected: Option<Kind>) -> Checked<Typed> {
        let single = |kind, code: Code| {
            Ok(Typed {
                kind,
                words: vec![code.folded()],
            })
        };
        match &of.node {
            Syntax::Int(value) => single(Kind::Int, Code::Constant(*value)),
            Syntax::Real(value) => single(Kind::Real, Code::Constant(value.to_bits() as i64)),
            Syntax::Time(value) => single(Kind::Time, Code::Constant(*value)),
            Syntax::Text(text) => {
                let number = self.colours.text(text);
                single(Kind::Text, Code::Constant(number))
            }
            Syntax::Name(name) => self.name(of, name, expected),
            Syntax::Field(record, field) => self.field(of, record, field),
            Syntax::Element(_) => self.read(of),
            Syntax::Call(name, arguments) => self.call(of, name, arguments, expected),
            Syntax::Tuple(parts) => match expected {
                _ if parts.is_empty() => Ok(Typed {
                    kind: Kind::Unit,
                    words: Vec::new(),
                }),
                Some(Kind::Record(record)) => {
                    let arguments = parts.iter().map(|part| (None, part.clone()));
                    self.record(of, record, &arguments.collect::<Vec<_>>())
                }
                _ => error(
                    of,
                    "a list in parentheses stands only where a record is expected",
                ),
            },
            Syntax::Unary(operator, part) => {
                if *operator == "not" {
                    let code = self.condition(part)?;
                    return single(Kind::Bool, Code::Not(Box::new(code)));
                }
                let mut typed = self.infer(part, expected)?;
                let code = Box::new(typed.words.pop().unwrap_or(Code::Constant(0)));
                match typed.kind {
                    Kind::Int | Kind::Time => {
                        single(typed.kind, self.fold(of, Code::NegateInt(code))?)
                    }
                    Kind::Real => single(Kind::Real, Code::NegateReal(code)),
                    other => self.no_number(part, other),
                }
            }
            Syntax::Binary(operator, a, b) => self.binary(of, operator, a, b),
            Syntax::If(parts) => self.choice(parts, expected),
            Syntax::With(record, fields) => self.with(record, fields, expected),
        }
    }

    fn no_number<T>(&self, at: &Expression, kind: Kind) -> Checked<T> {
        let name = self.colours.name(kind);
        error(at, format!("expected a number or a time, not {name}"))
    }

    fn name(&mut self, at: &Expression, name: &str, expected: Option<Kind>) -> Checked<Typed> {
        if let Some(variable) = self.variable(name) {
            let (kind, first) = (variable.kind, variable.word);
            let words = first..first + self.colours.words(kind);
            return Ok(Typed {
                kind,
                words: words.map(Code::Word).collect(),
            });
        }
        if let Some(typed) = self.constants.get(name) {
            return Ok(typed.clone());
        }
        if let "true" | "false" = name {
            return Ok(Typed {
                kind: Kind::Bool,
                words: vec![Code::Constant(i64::from(name == "true"))],
            });
        }
        if let Some((kind, word)) = self.member(name, expected) {
            return Ok(Typed {
                kind,
                words: vec![Code::Constant(word)],
            });
        }
        if self.stores.iter().any(|it| it.name == name) {
            return error(
                at,
                format!("{name} is a store: write one of its fields, {name}.…"),
            );
        }
        let mut of_enums = self.colours.enums.iter();
        if of_enums.any(|it| it.members.iter().any(|member| member == name)) {
            return error(at, format!("{name} is a member of two enumerations"));
        }
        let variables = self.variables.iter().map(|it| &*it.name);
        let members = self.colours.enums.iter().flat_map(|it| &it.members);
        let known = variables
            .chain(self.stores.iter().map(|it| &*it.name))
            .chain(self.constants.keys().map(String::as_str))
            .chain(members.map(String::as_str));
        let near = did_you_mean(name, known);
        error(at, format!("nothing here is called {name}{near}"))
    }

    fn member(&self, name: &str, expected: Option<Kind>) -> Option<(Kind, i64)> {
        if let Some(Kind::Enum(index)) = expected {
            let members = &self.colours.enums[index].members;
            if let Some(word) = members.iter().position(|member| member == name) {
                return Some((Kind::Enum(index), word as i64));
            }
        }
        self.colours.member(name)
    }

    /// A field of a record: its kind, and its words within it.
    pub(super) fn place(
        &self,
        at: &Expression,
        kind: Kind,
        field: &str,
    ) -> Checked<(Kind, usize, usize)> {
        let Kind::Record(record) = kind else {
            let name = self.colours.name(kind);
            return error(at, format!("{name} has no fields, so no .{field}"));
        };
        let record = &self.colours.records[record];
        let mut word = 0;
        for (name, kind) in &record.fields {
            let words = self.colours.words(*kind);
            if name == field {
                return Ok((*kind, word, words));
            }
            word += words;
        }
        let near = did_you_mean(field, record.fields.iter().map(|(name, _)| &**name));
        error(at, format!("{} has no field {field}{near}", record.name))
    }

    fn field(&mut self, at: &Expression, record: &Expression, field: &str) -> Checked<Typed> {
        // `Kind.data` names a member of an enumeration.
        if let Syntax::Name(name) = &record.node
            && self.variable(name).is_none()
            && let Some(&Kind::Enum(index)) = self.colours.names.get(name)
        {
            let members = &self.colours.enums[index].members;
            let Some(word) = members.iter().position(|member| member == field) else {
                let near = did_you_mean(field, members.iter().map(String::as_str));
                return error(at, format!("{name} has no member {field}{near}"));
            };
            return Ok(Typed {
                kind: Kind::Enum(index),
                words: vec![Code::Constant(word as i64)],
            });
        }
        if self.store(record).is_some() {
            return self.read(at);
        }
        let mut typed = self.infer(record, None)?;
        let (kind, first, words) = self.place(at, typed.kind, field)?;
        typed.words.truncate(first + words);
        Ok(Typed {
            kind,
            words: typed.words.split_off(first),
        })
    }

    fn record(
        &mut self,
        at: &Expression,
        record: usize,
        arguments: &[(Option<String>, Expression)],
    ) -> Checked<Typed> {
        let fields = self.colours.records[record].fields.clone();
        let given = self.arguments(at, record, arguments)?;
        let mut words = Vec::new();
        for ((name, kind), argument) in fields.iter().zip(given) {
            let Some(argument) = argument else {
                let record = &self.colours.records[record].name;
                return error(at, format!("{record} needs its field {name}"));
            };
            words.extend(self.compile(argument, *kind)?.words);
        }
        Ok(Typed {
            kind: Kind::Record(record),
            words,
        })
    }

    /// Arguments in the order of a record's fields.
    fn arguments<'e>(
        &self,
        at: &Expression,
        record: usize,
        arguments: &'e [(Option<String>, Expression)],
    ) -> Checked<Vec<Option<&'e Expression>>> {
        let record = &self.colours.records[record];
        let mut given: Vec<Option<&Expression>> = vec![None; record.fields.len()];
        for (position, (name, argument)) in arguments.iter().enumerate() {
            let index = match name {
                None => position,
                Some(name) => {
                    let mut fields = record.fields.iter();
                    let Some(index) = fields.position(|(field, _)| field == name) else {
                        let fields = record.fields.iter().map(|(field, _)| &**field);
                        let near = did_you_mean(name, fields);
                        let message = format!("{} has no field {name}{near}", record.name);
                        return error(argument, message);
                    };
                    index
                }
            };
            match given.get_mut(index) {
                Some(place @ None) => *place = Some(argument),
                Some(Some(_)) => return error(argument, "this field is given twice"),
                None => {
                    let fields = record.fields.len();
                    let message = format!("{} has {fields} fields, not more", record.name);
                    return error(at, message);
                }
            }
        }
        Ok(given)
    }

    fn with(
        &mut self,
        record: &Expression,
        fields: &[(String, Expression)],
        expected: Option<Kind>,
    ) -> Checked<Typed> {
        let mut typed = self.infer(record, expected)?;
        for (name, value) in fields {
            let (kind, first, words) = self.place(value, typed.kind, name)?;
            let value = self.compile(value, kind)?;
            typed.words.splice(first..first + words, value.words);
        }
        Ok(typed)
    }

    fn choice(&mut self, parts: &[Expression; 3], expected: Option<Kind>) -> Checked<Typed> {
        let [condition, then, otherwise] = parts;
        let mut condition = self.condition(condition)?;
        let outer = self.unused;
        self.unused = outer || condition == Code::Constant(0);
        let mut a = self.infer(then, expected)?;
        self.unused = outer || matches!(condition, Code::Constant(1..));
        let mut b = self.infer(otherwise, expected.or(Some(a.kind)))?;
        self.unused = outer;
        if a.kind != b.kind {
            let wider = expected.unwrap_or(if a.kind == Kind::Int { b.kind } else { a.kind });
            a = self.convert(then, a, wider)?;
            b = self.convert(otherwise, b, wider)?;
        }
        if a.words.len() > 1 && condition.is_random() {
            // Drawn once for all words.
            let word = self.bind(then, "", Kind::Bool)?;
            self.first.push((word, condition));
            condition = Code::Word(word);
        }
        let words = a.words.into_iter().zip(b.words);
        let words = words.map(|(a, b)| match condition {
            Code::Constant(0) => b,
            Code::Constant(_) => a,
            _ => Code::If(Box::new([condition.clone(), a, b])),
        });
        Ok(Typed {
            kind: a.kind,
            words: words.collect(),
        })
    }

    fn binary(
        &mut self,
        at: &Expression,
        operator: &str,
        a: &Expression,
        b: &Expression,
    ) -> Checked<Typed> {
        let truth = |code: Code| {
            Ok(Typed {
                kind: Kind::Bool,
                words: vec![code.folded()],
            })
        };
        match operator {
            "and" | "or" => {
                let first = self.condition(a)?;
                let outer = self.unused;
                self.unused |= first == Code::Constant(i64::from(operator == "or"));
                let second = self.condition(b)?;
                self.unused = outer;
                let parts = Box::new([first, second]);
                truth(match operator {
                    "and" => Code::And(parts),
                    _ => Code::Or(parts),
                })
            }
            "==" | "!=" => {
                // Either side can say which enumeration is meant.
                let (left, right) = match self.infer(a, None) {
                    Ok(left) => {
                        let kind = left.kind;
                        (left, self.infer(b, Some(kind))?)
                    }
                    Err(error) => {
                        let right = self.infer(b, None).map_err(|_| error)?;
                        (self.infer(a, Some(right.kind))?, right)
                    }
                };
                let (left, right) = self.alike(at, b, left, right)?;
                let reals = self.reals(left.kind);
                let pairs = left.words.into_iter().zip(right.words).zip(reals);
                let equal = pairs.map(|((a, b), real)| match real {
                    true => Code::Real(Operator::Equal, Box::new([a, b])).folded(),
                    false => Code::Int(Operator::Equal, Box::new([a, b])).folded(),
                });
                let equal = equal.reduce(|a, b| Code::And(Box::new([a, b])));
                let equal = equal.unwrap_or(Code::Constant(1));
                truth(match operator {
                    "==" => equal,
                    _ => Code::Not(Box::new(equal)),
                })
            }
            "<" | "<=" | ">" | ">=" => {
                let (left, right) = (self.infer(a, None)?, self.infer(b, None)?);
                let (left, right) = self.alike(at, b, left, right)?;
                let kind = left.kind;
                if !matches!(kind, Kind::Int | Kind::Real | Kind::Time | Kind::Enum(_)) {
                    return self.no_number(at, kind);
                }
                let mut parts = [left.words, right.words].map(|mut it| it.remove(0));
                if let ">" | ">=" = operator {
                    parts.reverse();
                }
                let operation = match operator {
                    "<" | ">" => Operator::Less,
                    _ => Operator::LessEqual,
                };
                truth(of_kind(kind, operation, parts))
            }
            _ => self.arithmetic(at, operator, a, b),
        }
    }

    /// Returns the words of a kind that are real numbers.
    fn reals(&self, kind: Kind) -> Vec<bool> {
        match kind {
            Kind::Unit => Vec::new(),
            Kind::Record(record) => {
                let fields = self.colours.records[record].fields.iter();
                fields.flat_map(|(_, kind)| self.reals(*kind)).collect()
            }
            _ => vec![kind == Kind::Real],
        }
    }

    /// Two operands of one type.
    fn alike(
        &self,
        at: &Expression,
        b: &Expression,
        left: Typed,
        right: Typed,
    ) -> Checked<(Typed, Typed)> {
        let kind = match (left.kind, right.kind) {
            (a, b) if a == b => a,
            (Kind::Int, Kind::Real) | (Kind::Real, Kind::Int) => Kind::Real,
            (Kind::Time, Kind::Int | Kind::Real) | (Kind::Int | Kind::Real, Kind::Time) => {
                Kind::Time
            }
            (x, y) => {
                let (x, y) = (self.colours.name(x), self.colours.name(y));
                return error(at, format!("{x} and {y} do not go together here"));
            }
        };
        Ok((self.convert(at, left, kind)?, self.convert(b, right, kind)?))
    }

    fn arithmetic(
        &mut self,
        at: &Expression,
        operator: &str,
        a: &Expression,
        b: &Expression,
    ) -> Checked<Typed> {
        let (left, right) = (self.infer(a, None)?, self.infer(b, None)?);
        for (part, kind) in [(a, left.kind), (b, right.kind)] {
            if !matches!(kind, Kind::Int | Kind::Real | Kind::Time) {
                return self.no_number(part, kind);
            }
        }
        let times = (left.kind == Kind::Time, right.kind == Kind::Time);
        let real_of = |this: &Self, part: &Expression, typed: Typed| -> Checked<Code> {
            if typed.kind == Kind::Time {
                let mut words = typed.words;
                return Ok(Code::IntToReal(Box::new(words.remove(0))).folded());
            }
            Ok(this.convert(part, typed, Kind::Real)?.words.remove(0))
        };
        let (kind, code) = match (operator, times) {
            ("*", (true, true)) => return error(at, "a time times a time is no time"),
            // Whole multiples of a time are exact.
            ("*", (true, false) | (false, true))
                if left.kind == Kind::Int || right.kind == Kind::Int =>
            {
                let parts = [left.words, right.words].map(|mut it| it.remove(0));
                (Kind::Time, Code::Int(Operator::Multiply, Box::new(parts)))
            }
            ("*", (true, false) | (false, true)) => {
                let parts = [real_of(self, a, left)?, real_of(self, b, right)?];
                let product = Code::Real(Operator::Multiply, Box::new(parts)).folded();
                (
                    Kind::Time,
                    Code::RealToTime(Box::new((product, at.to_string()))),
                )
            }
            ("/", (is_time, by_time)) => {
                if by_time && !is_time {
                    return error(at, "a number divided by a time is no quantity here");
                }
                let parts = [real_of(self, a, left)?, real_of(self, b, right)?];
                let quotient = Code::Divide(Box::new((parts, at.to_string())));
                let quotient = self.fold(at, quotient)?;
                match is_time && !by_time {
                    true => {
                        let time = Code::RealToTime(Box::new((quotient, at.to_string())));
                        (Kind::Time, time)
                    }
                    false => (Kind::Real, quotient),
                }
            }
            _ => {
                let operation = match operator {
                    "+" => Operator::Add,
                    "-" => Operator::Subtract,
                    "*" => Operator::Multiply,
                    "//" => Operator::FloorDivide,
                    _ => Operator::Remainder,
                };
                let (left, right) = self.alike(at, b, left, right)?;
                // How many times one time contains another is a number.
                let kind = match (operator, left.kind) {
                    ("//", Kind::Time) => Kind::Int,
                    (_, kind) => kind,
                };
                let of = left.kind;
                let parts = [left.words, right.words].map(|mut it| it.remove(0));
                (kind, of_kind(of, operation, parts))
            }
        };
        Ok(Typed {
            kind,
            words: vec![self.fold(at, code)?],
        })
    }

    fn call(
        &mut self,
        at: &Expression,
        name: &str,
        arguments: &[(Option<String>, Expression)],
        expected: Option<Kind>,
    ) -> Checked<Typed> {
        if let Some(&Kind::Record(record)) = self.colours.names.get(name) {
            return self.record(at, record, arguments);
        }
        if let Some(Typed { kind, words }) = self.constants.get(name)
            && let Some(Code::External(call)) = words.first()
        {
            return self.external(call.external.clone(), *kind, words.len(), arguments);
        }
        let Some(function) = ALL.iter().find(|function| function.name == name) else {
            let records = self.colours.records.iter().map(|it| &*it.name);
            let near = did_you_mean(name, ALL.iter().map(|it| it.name).chain(records));
            return error(at, format!("there is no function or record {name}{near}"));
        };
        if arguments.len() != function.arguments.len() {
            let list = function.arguments.join(", ");
            let given = arguments.len();
            return error(
                at,
                format!("expected {name}({list}), not {given} arguments"),
            );
        }
        let mut values = Vec::new();
        for (position, (given, value)) in arguments.iter().enumerate() {
            if let Some(given) = given
                && given != function.arguments[position]
            {
                let list = function.arguments.join(", ");
                return error(value, format!("expected {name}({list}), in this order"));
            }
            values.push(value);
        }
        let allowed = match function.group {
            Group::Continuous(..) | Group::Bernoulli | Group::Discrete | Group::Below => {
                !matches!(self.allowed, Allowed::Nothing | Allowed::Time)
            }
            Group::Now => matches!(self.allowed, Allowed::TimeAndChance | Allowed::Time),
            _ => true,
        };
        if !allowed && self.allowed == Allowed::Time {
            return error(
                at,
                format!("{name} is not allowed here: a monitor changes nothing"),
            );
        }
        if !allowed {
            return error(
                at,
                format!(
                    "{name} is not allowed here: guards and patterns depend on tokens only; use a \
                     let"
                ),
            );
        }
        self.apply(at, function.group, &values, expected)
    }

    /// A call of a function from outside the document.
    fn external(
        &mut self,
        external: External,
        kind: Kind,
        words: usize,
        arguments: &[(Option<String>, Expression)],
    ) -> Checked<Typed> {
        let mut call = Call {
            external,
            kinds: Vec::new(),
            arguments: Vec::new(),
            word: 0,
        };
        for (_, argument) in arguments {
            let typed = self.infer(argument, None)?;
            call.kinds.push(typed.kind);
            call.arguments.extend(typed.words);
        }
        let later = Call {
            kinds: Vec::new(),
            arguments: Vec::new(),
            ..call.clone()
        };
        let later = (1..words).map(|word| Call {
            word,
            ..later.clone()
        });
        let calls = std::iter::once(call).chain(later);
        Ok(Typed {
            kind,
            words: calls.map(|call| Code::External(Box::new(call))).collect(),
        })
    }

    fn apply(
        &mut self,
        at: &Expression,
        group: Group,
        values: &[&Expression],
        expected: Option<Kind>,
    ) -> Checked<Typed> {
        let (kind, code) = match group {
            Group::Continuous(distribution, plain) => {
                let mut typed = Vec::new();
                for (position, value) in values.iter().enumerate() {
                    typed.push(match position < plain {
                        true => self.compile(value, Kind::Real)?,
                        false => self.infer(value, expected)?,
                    });
                }
                let is_time = typed.iter().any(|it| it.kind == Kind::Time);
                let mut parts = Vec::new();
                for (position, (value, typed)) in values.iter().zip(typed).enumerate() {
                    parts.push(if is_time && position >= plain {
                        let mut time = self.convert(value, typed, Kind::Time)?;
                        Code::IntToReal(Box::new(time.words.remove(0))).folded()
                    } else {
                        self.convert(value, typed, Kind::Real)?.words.remove(0)
                    });
                }
                let known = |index: usize| match parts.get(index) {
                    Some(Code::Constant(word)) => Some(f64::from_bits(*word as u64)),
                    _ => None,
                };
                if let Some(problem) = distribution.problem([known(0), known(1)])
                    && !self.unused
                {
                    return error(at, format!("{at}: {problem}"));
                }
                let draw = Code::Draw(Box::new(Draw {
                    distribution,
                    parameters: parts,
                    text: at.to_string(),
                }));
                match is_time {
                    true => {
                        let time = Code::RealToTime(Box::new((draw, at.to_string())));
                        (Kind::Time, time)
                    }
                    false => (Kind::Real, draw),
                }
            }
            Group::Bernoulli => {
                let probability = self.compile(values[0], Kind::Real)?.words.remove(0);
                if let Code::Constant(word) = probability
                    && !(0.0..=1.0).contains(&f64::from_bits(word as u64))
                    && !self.unused
                {
                    return error(at, format!("{at}: {NO_PROBABILITY}"));
                }
                let chance = Code::Chance(Box::new((probability, at.to_string())));
                (Kind::Bool, chance)
            }
            Group::Below => {
                let bound = self.compile(values[0], Kind::Int)?.words.remove(0);
                (Kind::Int, self.below(at, bound)?)
            }
            Group::Discrete => {
                let low = self.compile(values[0], Kind::Int)?.words.remove(0);
                let high = self.compile(values[1], Kind::Int)?.words.remove(0);
                let span = Code::Int(Operator::Subtract, Box::new([high, low.clone()])).folded();
                let one = Code::Constant(1);
                let bound = Code::Int(Operator::Add, Box::new([span, one])).folded();
                let draw = self.below(at, bound)?;
                (Kind::Int, Code::Int(Operator::Add, Box::new([low, draw])))
            }
            Group::Least | Group::Greatest => {
                let (a, b) = (
                    self.infer(values[0], expected)?,
                    self.infer(values[1], expected)?,
                );
                let (a, b) = self.alike(at, values[1], a, b)?;
                let kind = a.kind;
                if !matches!(kind, Kind::Int | Kind::Real | Kind::Time) {
                    return self.no_number(at, kind);
                }
                let parts = [a.words, b.words].map(|mut it| it.remove(0));
                let operation = match group {
                    Group::Least => Operator::Minimum,
                    _ => Operator::Maximum,
                };
                (kind, of_kind(kind, operation, parts))
            }
            Group::Absolute => {
                let mut typed = self.infer(values[0], expected)?;
                let code = Box::new(typed.words.pop().unwrap_or(Code::Constant(0)));
                match typed.kind {
                    Kind::Real => (Kind::Real, Code::Apply(OfReal::Absolute, code)),
                    Kind::Int | Kind::Time => (typed.kind, Code::AbsoluteInt(code)),
                    other => return self.no_number(values[0], other),
                }
            }
            Group::Real(function) => {
                let of = self.compile(values[0], Kind::Real)?.words.remove(0);
                (Kind::Real, Code::Apply(function, Box::new(of)))
            }
            Group::Whole(function) => {
                let of = self.compile(values[0], Kind::Real)?.words.remove(0);
                let whole = Code::Apply(function, Box::new(of)).folded();
                (Kind::Int, Code::RealToInt(Box::new(whole)))
            }
            Group::ToReal => return self.compile(values[0], Kind::Real),
            Group::Seconds => return self.compile(values[0], Kind::Time),
            Group::InSeconds => {
                let time = self.compile(values[0], Kind::Time)?.words.remove(0);
                let ticks = Code::IntToReal(Box::new(time)).folded();
                let second = Code::Constant(1e12_f64.to_bits() as i64);
                let seconds = Code::Divide(Box::new(([ticks, second], at.to_string())));
                (Kind::Real, seconds)
            }
            Group::Now => (Kind::Time, Code::Now),
            Group::Copy => (Kind::Int, Code::Copy),
        };
        Ok(Typed {
            kind,
            words: vec![self.fold(at, code)?],
        })
    }

    fn below(&self, at: &Expression, bound: Code) -> Checked<Code> {
        match bound {
            Code::Constant(..1) if !self.unused => error(at, format!("{at}: {NOTHING_BELOW}")),
            bound => Ok(Code::Below(Box::new((bound, at.to_string())))),
        }
    }

    /// Compiles the pattern of a token: its bindings and tests. Names that are new become
    /// variables.
    ///
    /// # Errors
    /// It does not fit the colour.
    pub fn pattern(&mut self, of: &Expression, kind: Kind) -> Checked<Vec<Step>> {
        let mut steps = Vec::new();
        self.pattern_at(of, kind, 0, &mut steps)?;
        Ok(steps)
    }

    fn pattern_at(
        &mut self,
        of: &Expression,
        kind: Kind,
        word: usize,
        steps: &mut Vec<Step>,
    ) -> Checked<()> {
        match (&of.node, kind) {
            (Syntax::Name(name), _) if name == "_" => Ok(()),
            (Syntax::Name(name), _) if self.is_new(name, kind) => {
                if name == "empty" {
                    return error(of, "empty stands only for tokens that are put");
                }
                let words = self.colours.words(kind);
                let to = self.bind(of, name, kind)?;
                steps.extend((0..words).map(|offset| Step::Bind {
                    word: word + offset,
                    to: to + offset,
                }));
                Ok(())
            }
            (Syntax::Tuple(parts), Kind::Record(record)) => {
                let arguments = parts.iter().map(|part| (None, part.clone()));
                self.fields(of, record, &arguments.collect::<Vec<_>>(), word, steps)
            }
            (Syntax::Call(name, arguments), Kind::Record(record))
                if self.colours.names.get(name) == Some(&kind) =>
            {
                self.fields(of, record, arguments, word, steps)
            }
            _ => {
                let value = self.compile(of, kind)?;
                let words = value.words.into_iter().enumerate();
                steps.extend(words.map(|(offset, code)| Step::Equal {
                    word: word + offset,
                    code,
                }));
                Ok(())
            }
        }
    }

    fn is_new(&self, name: &str, kind: Kind) -> bool {
        self.variable(name).is_none()
            && !self.stores.iter().any(|it| it.name == name)
            && !self.constants.contains_key(name)
            && !matches!(name, "true" | "false")
            && self
                .member(name, Some(kind))
                .is_none_or(|(of, _)| of != kind)
    }

    fn fields(
        &mut self,
        at: &Expression,
        record: usize,
        arguments: &[(Option<String>, Expression)],
        mut word: usize,
        steps: &mut Vec<Step>,
    ) -> Checked<()> {
        let fields = self.colours.records[record].fields.clone();
        let named = arguments.iter().any(|(name, _)| name.is_some());
        if !named && arguments.len() != fields.len() {
            let message = format!(
                "{} has {} fields, not {}; a pattern with names may leave some out",
                self.colours.records[record].name,
                fields.len(),
                arguments.len()
            );
            return error(at, message);
        }
        let given = self.arguments(at, record, arguments)?;
        for ((_, kind), pattern) in fields.iter().zip(given) {
            if let Some(pattern) = pattern {
                self.pattern_at(pattern, *kind, word, steps)?;
            }
            word += self.colours.words(*kind);
        }
        Ok(())
    }
}

fn of_kind(kind: Kind, operator: Operator, parts: [Code; 2]) -> Code {
    match kind {
        Kind::Real => Code::Real(operator, Box::new(parts)),
        _ => Code::Int(operator, Box::new(parts)),
    }
}
