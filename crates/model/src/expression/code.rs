//! Compiled expressions: a tree of operations on words, and its evaluation.

use std::borrow::Cow;

use super::check::FRAME;
use super::external::Call;
use super::functions::{Distribution, OfReal};

/// Why an expression has no value.
pub type Reason = Cow<'static, str>;

/// The functions and state that an expression may use beside variables.
pub trait World {
    /// The time, in picoseconds.
    fn now(&mut self) -> i64;
    /// The copy of the page.
    fn copy(&mut self) -> i64;
    /// A random number in [0, 1).
    fn uniform(&mut self) -> f64;
    /// A random number in {0, …, bound − 1}.
    fn below(&mut self, bound: u64) -> u64;
    /// True with this probability.
    fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }
    /// A word of a store, by its number in the transition.
    fn stored(&mut self, store: usize, word: usize) -> i64;
    /// The expression has no value.
    fn fail(&mut self, reason: Reason);
}

/// A function that reads a word of a store, by the store's number in the transition.
pub type ReadStore<'s> = &'s dyn Fn(usize, usize) -> i64;

/// A world without chance. Time and copy are 0 unless they are given.
#[derive(Default)]
pub struct Pure<'s> {
    now: i64,
    copy: i64,
    /// Why an expression had no value.
    pub failure: Option<Reason>,
    stores: Option<ReadStore<'s>>,
}

impl<'s> Pure<'s> {
    /// A world with stores.
    pub fn with_stores(stores: ReadStore<'s>) -> Pure<'s> {
        Pure {
            stores: Some(stores),
            ..Pure::default()
        }
    }

    /// A world at a time, in picoseconds, in a copy of the page.
    pub fn at(now: i64, copy: u32) -> Pure<'s> {
        Pure {
            now,
            copy: i64::from(copy),
            ..Pure::default()
        }
    }
}

impl World for Pure<'_> {
    fn now(&mut self) -> i64 {
        self.now
    }
    fn copy(&mut self) -> i64 {
        self.copy
    }
    fn uniform(&mut self) -> f64 {
        self.fail("chance is not allowed here".into());
        0.0
    }
    fn below(&mut self, _: u64) -> u64 {
        self.fail("chance is not allowed here".into());
        0
    }
    fn stored(&mut self, store: usize, word: usize) -> i64 {
        match self.stores {
            Some(read) => read(store, word),
            None => {
                self.fail("stores are not allowed here".into());
                0
            }
        }
    }
    fn fail(&mut self, reason: Reason) {
        self.failure.get_or_insert(reason);
    }
}

/// An operation with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    FloorDivide,
    Remainder,
    Minimum,
    Maximum,
    Equal,
    Unequal,
    Less,
    LessEqual,
}

/// An operation on words. Real numbers are words by their bits, truths are 0 and 1.
#[derive(Clone, PartialEq, Debug)]
pub enum Code {
    Constant(i64),
    /// A word of the frame.
    Word(usize),
    /// Compares a word of the frame with a constant.
    WordIs(usize, i64),
    Int(Operator, Box<[Code; 2]>),
    Real(Operator, Box<[Code; 2]>),
    /// Division of real numbers, with its text.
    Divide(Box<([Code; 2], String)>),
    And(Box<[Code; 2]>),
    Or(Box<[Code; 2]>),
    Not(Box<Code>),
    NegateInt(Box<Code>),
    NegateReal(Box<Code>),
    If(Box<[Code; 3]>),
    IntToReal(Box<Code>),
    /// Seconds as picoseconds, rounded, with its text.
    SecondsToTime(Box<(Code, String)>),
    /// Picoseconds as a whole number of them, truncated, with its text.
    RealToTime(Box<(Code, String)>),
    /// Applies a function to a real number.
    Apply(OfReal, Box<Code>),
    RealToInt(Box<Code>),
    AbsoluteInt(Box<Code>),
    Draw(Box<Draw>),
    /// A random whole number below this, with its text.
    Below(Box<(Code, String)>),
    /// True with this probability, with its text.
    Chance(Box<(Code, String)>),
    Now,
    Copy,
    /// A function from outside the document.
    External(Box<Call>),
    /// A word of a store.
    Stored(u32, u32),
    /// A word of an element of an array in a store.
    StoredAt(Box<Element>),
}

/// A value of a continuous distribution.
#[derive(Clone, PartialEq, Debug)]
pub struct Draw {
    pub distribution: Distribution,
    pub parameters: Vec<Code>,
    /// Its text.
    pub text: String,
}

/// A word of an element of an array.
#[derive(Clone, PartialEq, Debug)]
pub struct Element {
    pub store: usize,
    pub array: Array,
    /// The element's word.
    pub word: usize,
    /// The element.
    pub index: Code,
}

/// Where an array lies in a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Array {
    /// Its first word.
    pub first: usize,
    /// Words of an element.
    pub stride: usize,
    /// Number of elements.
    pub length: usize,
}

impl Array {
    /// The first word of an element; none if it has no such element.
    pub fn at(&self, index: i64) -> Option<usize> {
        let index = usize::try_from(index).ok();
        let index = index.filter(|it| *it < self.length)?;
        Some(self.first + index * self.stride)
    }
}

/// An element that an array does not have.
pub const NO_ELEMENT: &str = "an index is less than 0 or not less than the length of its array";

impl Code {
    pub(crate) fn parts(&self) -> &[Code] {
        match self {
            Code::Constant(_) | Code::Word(_) | Code::WordIs(..) | Code::Now | Code::Copy => &[],
            Code::Stored(..) => &[],
            Code::StoredAt(element) => std::slice::from_ref(&element.index),
            Code::Int(_, parts) | Code::Real(_, parts) => &parts[..],
            Code::Divide(division) => &division.0,
            Code::And(parts) | Code::Or(parts) => &parts[..],
            Code::If(parts) => &parts[..],
            Code::Draw(draw) => &draw.parameters,
            Code::External(call) => &call.arguments,
            Code::Not(part)
            | Code::NegateInt(part)
            | Code::NegateReal(part)
            | Code::IntToReal(part)
            | Code::Apply(_, part)
            | Code::RealToInt(part)
            | Code::AbsoluteInt(part) => std::slice::from_ref(part),
            Code::SecondsToTime(part)
            | Code::RealToTime(part)
            | Code::Below(part)
            | Code::Chance(part) => std::slice::from_ref(&part.0),
        }
    }

    /// Returns true if this or a part of it passes a test.
    pub fn any(&self, test: &dyn Fn(&Code) -> bool) -> bool {
        test(self) || self.parts().iter().any(|part| part.any(test))
    }

    /// Returns true if its value depends on chance, as that of a function from outside may.
    pub fn is_random(&self) -> bool {
        let draws = |code: &Code| matches!(code, Code::Draw(..) | Code::Below(_) | Code::Chance(_));
        self.any(&|code| draws(code) || matches!(code, Code::External(_)))
    }

    /// Returns true if it reads stores.
    pub fn uses_stores(&self) -> bool {
        self.any(&|code| matches!(code, Code::Stored(..) | Code::StoredAt(_)))
    }

    /// Returns true if it draws from a continuous distribution.
    pub fn is_continuous(&self) -> bool {
        self.any(&|code| matches!(code, Code::Draw(..)))
    }

    /// A service time or delay: negative values of normal distributions count as 0.
    pub fn truncated(self) -> Code {
        let normal = |code: &Code| matches!(code, Code::Draw(draw) if draw.distribution == Distribution::Normal);
        match self.any(&normal) {
            true => Code::Int(Operator::Maximum, Box::new([self, Code::Constant(0)])),
            false => self,
        }
    }

    /// The mean of a time that is exponential, in picoseconds; none for others.
    pub fn mean_of_exponential(&self) -> Option<Code> {
        match self {
            Code::RealToTime(part) => match &part.0 {
                Code::Draw(draw) if draw.distribution == Distribution::Exponential => {
                    Some(draw.parameters[0].clone())
                }
                _ => None,
            },
            Code::SecondsToTime(part) => match &part.0 {
                Code::Draw(draw) if draw.distribution == Distribution::Exponential => {
                    let picoseconds = Code::Constant(word(1e12));
                    let parts = [draw.parameters[0].clone(), picoseconds];
                    Some(Code::Real(Operator::Multiply, Box::new(parts)).folded())
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The last word of the frame that it uses, plus one.
    pub fn extent(&self) -> usize {
        let own = match self {
            Code::Word(word) | Code::WordIs(word, _) => word + 1,
            _ => 0,
        };
        let parts = self.parts().iter().map(Code::extent);
        parts.max().unwrap_or(0).max(own)
    }

    /// The same with all that is constant evaluated; the whole if it then has no value.
    pub(crate) fn folded(self) -> Code {
        self.try_folded().unwrap_or_else(|(code, _)| code)
    }

    /// The same with all that is constant evaluated.
    ///
    /// # Errors
    /// It is constant and has no value: itself and the reason.
    pub(crate) fn try_folded(self) -> Result<Code, (Code, Reason)> {
        if let Code::Int(Operator::Equal, parts) = &self
            && let (Code::Word(word), Code::Constant(value))
            | (Code::Constant(value), Code::Word(word)) = (&parts[0], &parts[1])
        {
            return Ok(Code::WordIs(*word, *value));
        }
        let constant = |code: &Code| matches!(code, Code::Constant(_));
        let leaf = self.parts().is_empty() || self.is_random() || self.uses_stores();
        if leaf || !self.parts().iter().all(constant) {
            return Ok(self);
        }
        let mut world = Pure::default();
        let value = evaluate(&self, &[], &mut world);
        match world.failure {
            Some(reason) => Err((self, reason)),
            None => Ok(Code::Constant(value)),
        }
    }
}

const OVERFLOW: &str = "a whole number does not fit into 64 bits";
const ZERO: &str = "division by zero";
/// A random whole number that has no possible value.
pub(crate) const NOTHING_BELOW: &str = "expected one or more values to choose from";
/// A probability that is none.
pub(crate) const NO_PROBABILITY: &str = "expected a probability from 0 to 1";
const NO_TIME: &str = "expected a time of at most 104 days";

#[cold]
fn explain(text: &str, reason: &str) -> Reason {
    format!("{text}: {reason}").into()
}

fn real(word: i64) -> f64 {
    f64::from_bits(word as u64)
}

fn word(real: f64) -> i64 {
    real.to_bits() as i64
}

/// Evaluates an expression over the words of a frame.
#[inline]
pub fn evaluate<W: World + ?Sized>(code: &Code, frame: &[i64], world: &mut W) -> i64 {
    // Most expressions are one word.
    match code {
        Code::Constant(value) => *value,
        Code::Word(index) => frame[*index],
        _ => compute(code, frame, world),
    }
}

fn compute<W: World + ?Sized>(code: &Code, frame: &[i64], world: &mut W) -> i64 {
    match code {
        Code::Constant(value) => *value,
        Code::Word(index) => frame[*index],
        Code::WordIs(index, value) => i64::from(frame[*index] == *value),
        Code::Int(operator, parts) => {
            let a = evaluate(&parts[0], frame, world);
            let b = evaluate(&parts[1], frame, world);
            int(*operator, a, b, world)
        }
        Code::Real(operator, parts) => {
            let a = real(evaluate(&parts[0], frame, world));
            let b = real(evaluate(&parts[1], frame, world));
            of_reals(*operator, a, b, world)
        }
        Code::Divide(division) => {
            let (parts, text) = &**division;
            let a = real(evaluate(&parts[0], frame, world));
            let b = real(evaluate(&parts[1], frame, world));
            if b == 0.0 {
                world.fail(explain(text, ZERO));
            }
            word(a / b)
        }
        Code::And(parts) => match evaluate(&parts[0], frame, world) {
            0 => 0,
            _ => evaluate(&parts[1], frame, world),
        },
        Code::Or(parts) => match evaluate(&parts[0], frame, world) {
            0 => evaluate(&parts[1], frame, world),
            _ => 1,
        },
        Code::Not(part) => i64::from(evaluate(part, frame, world) == 0),
        Code::NegateInt(part) => {
            let value = evaluate(part, frame, world);
            checked(value.checked_neg(), world)
        }
        Code::NegateReal(part) => word(-real(evaluate(part, frame, world))),
        Code::If(parts) => match evaluate(&parts[0], frame, world) {
            0 => evaluate(&parts[2], frame, world),
            _ => evaluate(&parts[1], frame, world),
        },
        Code::IntToReal(part) => word(evaluate(part, frame, world) as f64),
        Code::SecondsToTime(part) => {
            let seconds = real(evaluate(&part.0, frame, world));
            to_time((seconds * 1e12).round(), &part.1, world)
        }
        Code::RealToTime(part) => {
            let ticks = real(evaluate(&part.0, frame, world));
            to_time(ticks, &part.1, world)
        }
        Code::Apply(function, part) => word(function.apply(real(evaluate(part, frame, world)))),
        Code::RealToInt(part) => {
            let value = real(evaluate(part, frame, world));
            to_int(value, world)
        }
        Code::AbsoluteInt(part) => {
            let value = evaluate(part, frame, world);
            checked(value.checked_abs(), world)
        }
        Code::Draw(draw) => {
            let mut parameters = [0.0; 2];
            for (parameter, part) in parameters.iter_mut().zip(&draw.parameters) {
                *parameter = real(evaluate(part, frame, world));
            }
            if let Some(problem) = draw.distribution.problem(parameters.map(Some)) {
                world.fail(explain(&draw.text, problem));
                return word(0.0);
            }
            word(draw.distribution.draw(parameters, world))
        }
        Code::Below(part) => {
            let bound = evaluate(&part.0, frame, world);
            if bound < 1 {
                world.fail(explain(&part.1, NOTHING_BELOW));
                return 0;
            }
            world.below(bound as u64) as i64
        }
        Code::Chance(part) => {
            let probability = real(evaluate(&part.0, frame, world));
            if !(0.0..=1.0).contains(&probability) {
                world.fail(explain(&part.1, NO_PROBABILITY));
                return 0;
            }
            i64::from(world.chance(probability))
        }
        Code::Now => world.now(),
        Code::Copy => world.copy(),
        Code::External(call) => external(call, frame, world),
        Code::Stored(store, word) => world.stored(*store as usize, *word as usize),
        Code::StoredAt(element) => {
            let index = evaluate(&element.index, frame, world);
            match element.array.at(index) {
                Some(first) => world.stored(element.store, first + element.word),
                None => {
                    world.fail(NO_ELEMENT.into());
                    0
                }
            }
        }
    }
}

/// Apart, so that the frame of other expressions stays small.
#[inline(never)]
fn external<W: World + ?Sized>(call: &Call, frame: &[i64], world: &mut W) -> i64 {
    // The variables of a transition, the time and the copy.
    let mut words = [0; FRAME + 2];
    for (word, code) in words.iter_mut().zip(&call.arguments) {
        *word = evaluate(code, frame, world);
    }
    let arguments = &words[..call.arguments.len().min(FRAME + 2)];
    let function = &call.external.function;
    function
        .word(&call.kinds, arguments, call.word)
        .unwrap_or_else(|| {
            world.fail("a function failed".into());
            0
        })
}

fn checked<W: World + ?Sized>(value: Option<i64>, world: &mut W) -> i64 {
    value.unwrap_or_else(|| {
        world.fail(OVERFLOW.into());
        0
    })
}

/// Truncates. The bounds are the powers of two at the ends of the range.
fn to_int<W: World + ?Sized>(value: f64, world: &mut W) -> i64 {
    if !(-9.3e18..9.2e18).contains(&value) {
        world.fail(OVERFLOW.into());
        return 0;
    }
    value as i64
}

fn to_time<W: World + ?Sized>(ticks: f64, text: &str, world: &mut W) -> i64 {
    if !(-9.2e18..9.2e18).contains(&ticks) {
        world.fail(explain(text, NO_TIME));
        return 0;
    }
    ticks as i64
}

fn int<W: World + ?Sized>(operator: Operator, a: i64, b: i64, world: &mut W) -> i64 {
    match operator {
        Operator::Add => checked(a.checked_add(b), world),
        Operator::Subtract => checked(a.checked_sub(b), world),
        Operator::Multiply => checked(a.checked_mul(b), world),
        Operator::FloorDivide | Operator::Remainder if b == 0 => {
            world.fail(ZERO.into());
            0
        }
        Operator::FloorDivide => {
            let Some(quotient) = a.checked_div(b) else {
                return checked(None, world);
            };
            quotient - i64::from(quotient * b != a && (a < 0) != (b < 0))
        }
        Operator::Remainder => match b {
            -1 => 0,
            _ => {
                let rest = a % b;
                if rest != 0 && (rest < 0) != (b < 0) {
                    rest + b
                } else {
                    rest
                }
            }
        },
        Operator::Minimum => a.min(b),
        Operator::Maximum => a.max(b),
        Operator::Equal => i64::from(a == b),
        Operator::Unequal => i64::from(a != b),
        Operator::Less => i64::from(a < b),
        Operator::LessEqual => i64::from(a <= b),
    }
}

fn of_reals<W: World + ?Sized>(operator: Operator, a: f64, b: f64, world: &mut W) -> i64 {
    match operator {
        Operator::Add => word(a + b),
        Operator::Subtract => word(a - b),
        Operator::Multiply => word(a * b),
        Operator::FloorDivide | Operator::Remainder => {
            if b == 0.0 {
                world.fail(ZERO.into());
            }
            let quotient = (a / b).floor();
            match operator {
                Operator::FloorDivide => word(quotient),
                _ => word(a - quotient * b),
            }
        }
        Operator::Minimum => word(a.min(b)),
        Operator::Maximum => word(a.max(b)),
        Operator::Equal => i64::from(a == b),
        Operator::Unequal => i64::from(a != b),
        Operator::Less => i64::from(a < b),
        Operator::LessEqual => i64::from(a <= b),
    }
}
