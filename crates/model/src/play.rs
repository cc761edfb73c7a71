//! A net that is played: firing by firing, with its marking at any time.
//!
//! A play fires the same transitions at the same times as a run with its seed, until a firing is
//! chosen by hand.

use std::ops::ControlFlow;
use std::sync::Arc;

use headrace_net::{Step, Time};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::expression::evaluate;
use crate::marking::{Tokens, copy_of, marking};
use crate::outcome::{Failure, Result as RunResult};
use crate::program::{Condition, Program, transition_of};
use crate::seen::{Request, binding};
use crate::session::{Moved, Session, at_step, refuse_endless};

/// A firing.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Fired {
    /// Path of the transition.
    pub transition: String,
    /// The copy of its page; none if there is only one.
    pub copy: Option<u32>,
    /// Simulated time, in seconds.
    pub time: f64,
    /// Values of its variables.
    pub binding: Map<String, Value>,
    /// Tokens that it took.
    pub taken: Vec<Tokens>,
    /// Tokens that it put.
    pub put: Vec<Tokens>,
}

/// A transition that can fire now.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Enabled {
    /// Its path.
    pub transition: String,
    /// The copy of its page; none if there is only one.
    pub copy: Option<u32>,
    /// Its priority.
    pub priority: i32,
    /// False if a transition of higher priority must fire first.
    pub may_fire: bool,
    /// Values of its variables, for each selection of tokens; the first is the net's own choice.
    pub bindings: Vec<Map<String, Value>>,
}

/// The next event.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Pending {
    /// When, in seconds.
    pub time: f64,
    /// The place or station where a token arrives or a service ends.
    pub place: String,
    /// The copy of its page; none if there is only one.
    pub copy: Option<u32>,
}

/// Bindings of a transition that are looked for.
const MOST_BINDINGS: usize = 100;

/// A net that is played.
pub struct Play {
    session: Session<'static, Arc<Program>>,
    seed: u64,
}

impl Play {
    /// A play from the first marking.
    ///
    /// # Errors
    /// The kernel does not accept the net.
    pub fn new(program: Arc<Program>, seed: u64) -> Result<Play, Failure> {
        refuse_endless(&program)?;
        let session = Session::new(program, seed, Time::NEVER, true, Vec::new())?;
        Ok(Play { session, seed })
    }

    /// Returns to the first marking.
    ///
    /// # Errors
    /// As [`Play::new`].
    pub fn reset(&mut self) -> Result<(), Failure> {
        *self = Play::new(Arc::clone(&self.session.program), self.seed)?;
        Ok(())
    }

    /// Simulated time, in seconds.
    pub fn time(&self) -> f64 {
        self.session.built.net.now().as_seconds()
    }

    /// Goes on to the next firing until a time in seconds; else tells why there is none: "time",
    /// "quiet" or "deadlock". Breakpoints end no step.
    ///
    /// # Errors
    /// The net fails.
    pub fn step(&mut self, until: Option<f64>) -> Result<Result<Fired, &'static str>, Failure> {
        let until = until.map_or(Time::NEVER, Time::from_seconds);
        loop {
            let firings = self.session.built.net.firings();
            match self.session.step(until)? {
                Moved::Fired(transition, copy) => return Ok(Ok(self.fired(transition, copy))),
                Moved::Event => {}
                Moved::Ended("breakpoint") if self.session.built.net.firings() > firings => {
                    if let Some((transition, copy)) = self.session.last {
                        return Ok(Ok(self.fired(transition, copy)));
                    }
                }
                Moved::Ended("breakpoint") => {}
                Moved::Ended(stop) => return Ok(Err(stop)),
            }
        }
    }

    /// Runs to a time in seconds, or until a condition holds after a step, a breakpoint of the net
    /// ends it, or nothing can happen. Tells which: "time", "condition", "breakpoint", "quiet" or
    /// "deadlock".
    ///
    /// # Errors
    /// The condition is none, the net fails, or `watch` ends the run.
    pub fn run(
        &mut self,
        until: Option<f64>,
        condition: Option<&str>,
        watch: &mut dyn FnMut(f64) -> ControlFlow<()>,
    ) -> Result<&'static str, Failure> {
        let until = until.map_or(Time::NEVER, Time::from_seconds);
        let Some(text) = condition else {
            return self.session.run(until, watch);
        };
        let condition =
            Condition::compile(&self.session.program, text).map_err(Failure::Document)?;
        let mut frame = Vec::new();
        for step in 1_u64.. {
            if step & 0xFFF == 0 && watch(self.time()).is_break() {
                return Err(Failure::Interrupted);
            }
            if let Moved::Ended(stop) = self.session.step(until)? {
                return Ok(stop);
            }
            frame.clear();
            self.session.count(&condition.terms, &mut frame);
            let mut world = at_step(&self.session.built.net, 0);
            let holds = evaluate(&condition.code, &frame, &mut world) != 0;
            if let Some(failure) = world.failure {
                return Err(Failure::Run(format!("{text}: {failure}")));
            }
            if holds {
                return Ok("condition");
            }
        }
        Ok("time")
    }

    /// The transitions that can fire now, in the order of their turns.
    ///
    /// # Errors
    /// A guard fails.
    pub fn enabled(&mut self) -> Result<Vec<Enabled>, Failure> {
        let mut enabled: Vec<Enabled> = Vec::new();
        let mut first = None;
        for (number, copy) in self.session.built.net.may_fire() {
            let bindings = self.bindings(number, copy)?;
            if bindings.is_empty() {
                continue;
            }
            let index = self.session.transition(number);
            let program = &self.session.program;
            let of = &program.transitions[index];
            let first = *first.get_or_insert(of.rank());
            // Values computed in a firing are not known before.
            let known = |frame: &[i64]| {
                let mut binding = binding(program, of, frame);
                for (name, _, word) in &of.variables {
                    if of.lets.iter().any(|(computed, _)| computed == word) {
                        binding.remove(name);
                    }
                }
                binding
            };
            enabled.push(Enabled {
                transition: program.transition_path(index),
                copy: copy_of(program, of.page, copy),
                priority: of.priority,
                may_fire: first == of.rank(),
                bindings: bindings.iter().map(|(_, it)| known(it)).collect(),
            });
        }
        Ok(enabled)
    }

    /// The different bindings of a transition of the kernel, each with its number among all.
    fn bindings(&mut self, number: u32, copy: u32) -> Result<Vec<(usize, Vec<i64>)>, Failure> {
        let mut found: Vec<(usize, Vec<i64>)> = Vec::new();
        for choice in 0..10 * MOST_BINDINGS {
            self.session.seen.last().request = Request::Look(choice);
            let asked = self.session.built.net.ask(number, copy);
            let mut last = self.session.seen.last();
            last.request = Request::Fire;
            let is_found = std::mem::take(&mut last.found);
            let frame = last.frame.clone();
            drop(last);
            asked.map_err(|error| Failure::Run(error.to_string()))?;
            if !is_found {
                break;
            }
            if found.iter().all(|(_, other)| *other != frame) {
                found.push((choice, frame));
            }
            if found.len() == MOST_BINDINGS {
                break;
            }
        }
        Ok(found)
    }

    /// Fires a transition by hand, with one of its bindings by the number that [`Play::enabled`]
    /// gives it.
    ///
    /// # Errors
    /// It cannot fire now, or one of higher priority must fire first.
    pub fn fire(&mut self, path: &str, copy: u32, choice: usize) -> Result<Fired, Failure> {
        let refused = |message: String| Err(Failure::Run(message));
        let program = Arc::clone(&self.session.program);
        let index = transition_of(&program, path).map_err(Failure::Run)?;
        let path = program.transition_path(index);
        let rank = program.transitions[index].rank();
        for (number, of_copy) in self.session.built.net.may_fire() {
            let bindings = self.bindings(number, of_copy)?;
            let other = self.session.transition(number);
            if (other, of_copy) == (index, copy) {
                let Some((number_of_binding, _)) = bindings.get(choice) else {
                    break;
                };
                return self.fire_now(number, of_copy, *number_of_binding);
            }
            if !bindings.is_empty() && program.transitions[other].rank() < rank {
                let first = program.transition_path(other);
                return refused(format!(
                    "{path} cannot fire yet: {first} has higher priority, or no time"
                ));
            }
        }
        let copies = program.pages[program.transitions[index].page].total;
        if copy >= copies {
            return refused(format!(
                "{path} has {copies} copies: expected less than {copies}"
            ));
        }
        refused(match choice {
            0 => format!("{path} cannot fire now: its tokens are not there"),
            _ => format!("{path} has no binding number {choice} now"),
        })
    }

    fn fire_now(&mut self, number: u32, copy: u32, choice: usize) -> Result<Fired, Failure> {
        self.session.seen.last().request = Request::Choose(choice);
        let asked = self.session.built.net.ask(number, copy);
        self.session.seen.last().request = Request::Fire;
        let step = asked.map_err(|error| Failure::Run(error.to_string()))?;
        let index = self.session.transition(number);
        self.session.notice(step.unwrap_or(Step::Fired {
            transition: number,
            copy,
        }))?;
        Ok(self.fired(index, copy))
    }

    /// The last firing in words and tokens.
    fn fired(&self, index: usize, copy: u32) -> Fired {
        let program = &self.session.program;
        let of = &program.transitions[index];
        let now = self.session.built.net.now();
        let last = self.session.seen.last();
        let total = |page: usize| program.pages[page].total;
        let taken = of.inputs.iter().zip(&last.taken).map(|(input, words)| {
            let ratio = total(of.page) / total(program.nodes[input.node].page);
            Tokens::of(program, input.node, copy / ratio, words, true, None)
        });
        let put = last.put.iter().map(|put| {
            let node = of.outputs[put.output].node;
            let (folded, ratio) = program.way(of.page, program.nodes[node].page);
            let levels = folded.iter().map(|&page| program.pages[page].copies);
            let to = levels
                .zip(&put.given)
                .fold(copy / ratio, |to, (copies, given)| to * copies + given);
            let arrives = (put.delay > 0).then(|| now.as_seconds() + put.delay as f64 / 1e12);
            Tokens::of(program, node, to, &put.words, arrives.is_none(), arrives)
        });
        Fired {
            transition: program.transition_path(index),
            copy: copy_of(program, of.page, copy),
            time: now.as_seconds(),
            binding: binding(program, of, &last.frame),
            taken: taken.collect(),
            put: put.collect(),
        }
    }

    /// The marking: tokens of each place and station, by copy; equal ones are counted together.
    pub fn marking(&self) -> Vec<Tokens> {
        let session = &self.session;
        marking(&session.program, &session.built.net, &session.numbers)
    }

    /// The next event, if there is one.
    pub fn pending(&mut self) -> Option<Pending> {
        let due = self.session.built.net.next_due()?;
        let program = &self.session.program;
        let node = self.session.numbers.iter().position(|&it| it == due.node)?;
        Some(Pending {
            time: due.time.as_seconds(),
            place: program.node_path(node),
            copy: copy_of(program, program.nodes[node].page, due.copy),
        })
    }

    /// Tokens, tokens that wait for a server, and servers at work of each place and station, by
    /// its number in drawings.
    pub fn counts(&self) -> Vec<(u64, u64, u64)> {
        let nodes = self.session.built.net.node_frames().into_iter();
        nodes.map(|it| (it.tokens, it.queue, it.busy)).collect()
    }

    /// All figures so far.
    pub fn figures(&self) -> RunResult {
        RunResult {
            seed: self.seed,
            ..self.session.figures()
        }
    }
}
