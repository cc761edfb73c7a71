//! Functions of expressions, and the distributions of random ones.

use super::code::World;

/// A continuous distribution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Distribution {
    Exponential,
    Uniform,
    Erlang,
    Normal,
    Lognormal,
    Weibull,
    Pareto,
}

/// The most stages of an Erlang distribution.
const MOST_STAGES: f64 = 10_000.0;

impl Distribution {
    /// The fault of its parameters, as far as they are known.
    pub fn problem(self, [a, b]: [Option<f64>; 2]) -> Option<&'static str> {
        let least = |value: Option<f64>| value.is_none_or(|it| it >= 0.0 && it.is_finite());
        let more = |value: Option<f64>| value.is_none_or(|it| it > 0.0 && it.is_finite());
        let finite = |value: Option<f64>| value.is_none_or(f64::is_finite);
        let stages = |it: f64| it.fract() == 0.0 && (1.0..=MOST_STAGES).contains(&it);
        match self {
            Distribution::Exponential if !least(a) => Some("expected a mean of 0 or more"),
            Distribution::Uniform if !finite(a) || !finite(b) => Some("expected finite bounds"),
            Distribution::Uniform if a.zip(b).is_some_and(|(a, b)| a > b) => {
                Some("expected the lower bound first")
            }
            Distribution::Erlang if !a.is_none_or(stages) => {
                Some("expected a whole number of stages from 1 to 10000")
            }
            Distribution::Erlang if !least(b) => Some("expected a mean of 0 or more"),
            Distribution::Normal if !finite(a) => Some("expected a finite mean"),
            Distribution::Lognormal if !finite(a) => Some("expected a finite mu"),
            Distribution::Normal if !least(b) => Some("expected a deviation of 0 or more"),
            Distribution::Lognormal if !least(b) => Some("expected a sigma of 0 or more"),
            Distribution::Weibull | Distribution::Pareto if !more(a) => {
                Some("expected a shape of more than 0")
            }
            Distribution::Weibull if !least(b) => Some("expected a scale of 0 or more"),
            Distribution::Pareto if !least(b) => Some("expected a least value of 0 or more"),
            _ => None,
        }
    }

    /// Draws a value.
    pub fn draw<W: World + ?Sized>(self, [a, b]: [f64; 2], world: &mut W) -> f64 {
        // 1 − u lies in (0, 1], so the logarithm is finite.
        let mut positive = || 1.0 - world.uniform();
        match self {
            Distribution::Exponential => -a * libm::log(positive()),
            Distribution::Uniform => a + (b - a) * (1.0 - positive()),
            Distribution::Erlang => {
                let stages = a.clamp(1.0, MOST_STAGES) as u32;
                let sum: f64 = (0..stages).map(|_| -libm::log(positive())).sum();
                sum * b / f64::from(stages)
            }
            Distribution::Normal => a + b * normal(&mut positive),
            Distribution::Lognormal => libm::exp(a + b * normal(&mut positive)),
            Distribution::Weibull => b * libm::pow(-libm::log(positive()), 1.0 / a),
            Distribution::Pareto => b * libm::pow(positive(), -1.0 / a),
        }
    }
}

/// A standard normal number (Box and Muller 1958), from two draws.
fn normal(positive: &mut impl FnMut() -> f64) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(positive()));
    radius * libm::cos(std::f64::consts::TAU * positive())
}

/// A function of one real number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OfReal {
    Absolute,
    Floor,
    Ceiling,
    Round,
    Root,
    Exponential,
    Logarithm,
}

impl OfReal {
    /// Its value.
    pub fn apply(self, of: f64) -> f64 {
        match self {
            OfReal::Absolute => of.abs(),
            OfReal::Floor => of.floor(),
            OfReal::Ceiling => of.ceil(),
            OfReal::Round => of.round(),
            OfReal::Root => libm::sqrt(of),
            OfReal::Exponential => libm::exp(of),
            OfReal::Logarithm => libm::log(of),
        }
    }
}

/// Effect of a function: the types of its arguments and result.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Group {
    /// A distribution whose last arguments have the result's type, a real number or a time; the
    /// number is that of the others, which are real.
    Continuous(Distribution, usize),
    /// True with a probability.
    Bernoulli,
    /// A whole number from the first argument to the second.
    Discrete,
    /// A whole number from 0 to below the argument.
    Below,
    /// The least or the greatest of two.
    Least,
    Greatest,
    /// The absolute value.
    Absolute,
    /// A function of real numbers.
    Real(OfReal),
    /// The same, with a whole result.
    Whole(OfReal),
    /// A real number.
    ToReal,
    /// Time given as a number of seconds.
    Seconds,
    /// The seconds of a time.
    InSeconds,
    /// The time.
    Now,
    /// The copy of the page.
    Copy,
}

/// A function of expressions.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// Its arguments, for messages.
    pub arguments: &'static [&'static str],
    /// Its types.
    pub group: Group,
}

macro_rules! functions {
    ($($name:ident($($argument:ident),*) = $group:expr;)*) => {
        /// All functions.
        pub const ALL: &[Function] = &[$(Function {
            name: stringify!($name),
            arguments: &[$(stringify!($argument)),*],
            group: $group,
        }),*];
    };
}

functions! {
    exponential(mean) = Group::Continuous(Distribution::Exponential, 0);
    uniform(low, high) = Group::Continuous(Distribution::Uniform, 0);
    erlang(stages, mean) = Group::Continuous(Distribution::Erlang, 1);
    normal(mean, deviation) = Group::Continuous(Distribution::Normal, 0);
    lognormal(mu, sigma) = Group::Continuous(Distribution::Lognormal, 2);
    weibull(shape, scale) = Group::Continuous(Distribution::Weibull, 1);
    pareto(shape, least) = Group::Continuous(Distribution::Pareto, 1);
    bernoulli(probability) = Group::Bernoulli;
    discrete(low, high) = Group::Discrete;
    below(bound) = Group::Below;
    min(a, b) = Group::Least;
    max(a, b) = Group::Greatest;
    abs(a) = Group::Absolute;
    floor(a) = Group::Whole(OfReal::Floor);
    ceil(a) = Group::Whole(OfReal::Ceiling);
    round(a) = Group::Whole(OfReal::Round);
    sqrt(a) = Group::Real(OfReal::Root);
    exp(a) = Group::Real(OfReal::Exponential);
    log(a) = Group::Real(OfReal::Logarithm);
    to_real(a) = Group::ToReal;
    seconds(a) = Group::Seconds;
    in_seconds(time) = Group::InSeconds;
    now() = Group::Now;
    copy() = Group::Copy;
}
