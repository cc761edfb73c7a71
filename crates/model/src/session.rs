//! A net that goes step by step, observed by its monitors.

use std::ops::{ControlFlow, Deref};

use headrace_net::{Limits, Net, Step, Stop, Time};
use serde_json::Value;

use crate::build::{Built, build_seen, suits};
use crate::colour::Kind;
use crate::expression::{Code, Pure, Typed, World, evaluate};
use crate::figures::{Column, Figures, MonitorReport, Series};
use crate::marking::{Tokens, each_token, marking};
use crate::outcome::{Failure, Result as RunResult, figures, stopped};
use crate::program::{Monitor, Program, Term, Transition, Watch};
use crate::seen::{Seen, value_of};

/// The result of a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Moved {
    /// A transition of the program fired in a copy of its page.
    Fired(usize, u32),
    /// Something became due.
    Event,
    /// The run ends: "time", "quiet", "deadlock" or "breakpoint".
    Ended(&'static str),
}

/// The verdict of a caller's own monitor on a firing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Verdict {
    /// Nothing.
    Nothing,
    /// A figure to record.
    Figure(f64),
    /// The run shall end.
    Stop,
    /// The monitor failed.
    Failed,
}

/// A firing, as monitors of the caller's own see it.
pub struct Occurrence<'a> {
    /// The net.
    pub program: &'a Program,
    pub(crate) net: &'a Net,
    pub(crate) numbers: &'a [u32],
    /// The transition's number in the program.
    pub transition: usize,
    /// The copy of its page.
    pub copy: u32,
    pub(crate) frame: &'a [i64],
}

impl Occurrence<'_> {
    /// Simulated time, in seconds.
    pub fn time(&self) -> f64 {
        self.net.now().as_seconds()
    }

    /// Its variables.
    pub fn binding(&self) -> serde_json::Map<String, Value> {
        let of = &self.program.transitions[self.transition];
        crate::seen::binding(self.program, of, self.frame)
    }

    /// The number of tokens in each place and station, in the order of [`Program::nodes`].
    pub fn tokens(&self) -> Vec<u64> {
        let numbers = self.numbers.iter();
        numbers.map(|it| self.net.tokens_inside(*it)).collect()
    }

    /// The tokens of each place and station, by copy.
    pub fn marking(&self) -> Vec<Tokens> {
        marking(self.program, self.net, self.numbers)
    }
}

/// A monitor of the caller's own.
pub struct OwnMonitor<'a> {
    /// Its name.
    pub name: String,
    /// The transition whose firings it sees; none for all.
    pub transition: Option<usize>,
    /// Looks at a firing.
    pub look: Box<dyn FnMut(&Occurrence<'_>) -> Verdict + Send + 'a>,
}

/// A monitor at work.
#[derive(Default)]
struct State {
    figures: Figures,
    /// Value of a marking, or truth of a breakpoint's condition.
    value: f64,
    /// Sum of the values, or their integral over time, since the start of the run.
    sum: f64,
    /// Number of the values since the start of the run.
    number: u64,
    /// Words of the rows, the time of each before them.
    rows: Vec<i64>,
    left_out: u64,
}

/// Refuses transitions that would fire for ever.
pub(crate) fn refuse_endless(program: &Program) -> Result<(), Failure> {
    let mut transitions = program.transitions.iter();
    let Some(index) = transitions.position(Transition::is_endless) else {
        return Ok(());
    };
    let path = program.transition_path(index);
    Err(Failure::Run(format!(
        "{path}: this transition takes nothing and would fire forever in a run: add a take, a \
         rate, a delay, an inhibit or a when on a store; a state space has it as it is"
    )))
}

/// A net with its monitors.
pub(crate) struct Session<'a, P> {
    pub program: P,
    pub built: Built,
    pub seen: Seen,
    /// Kernel's numbers of the program's nodes.
    pub numbers: Vec<u32>,
    /// Program's numbers of the kernel's transitions.
    transitions: Vec<usize>,
    own: Vec<OwnMonitor<'a>>,
    /// Monitors, then those of the caller's own.
    states: Vec<State>,
    /// Monitors of firings, by transition of the program.
    of_firings: Vec<Vec<usize>>,
    /// Monitors of markings that a transition of the program may change.
    of_changes: Vec<Vec<usize>>,
    /// Monitors of markings, by node of the kernel.
    of_nodes: Vec<Vec<usize>>,
    /// Monitors of markings that use the time: it changes in any step.
    of_steps: Vec<usize>,
    series: Series,
    /// Steps since the time advanced.
    in_this_instant: u64,
    steps: u64,
    /// The last firing: transition of the program, and copy.
    pub last: Option<(usize, u32)>,
    /// Memory for frames.
    frame: Vec<i64>,
    /// Places that hold tokens in a deadlock.
    pub standing: Vec<(String, u64)>,
    /// The monitor that ended the run.
    pub stopped_by: Option<String>,
}

impl<'a, P: Deref<Target = Program>> Session<'a, P> {
    pub fn new(
        program: P,
        seed: u64,
        until: Time,
        in_detail: bool,
        own: Vec<OwnMonitor<'a>>,
    ) -> Result<Self, Failure> {
        let seen = Seen::new(in_detail);
        let all = in_detail || own.iter().any(|it| it.transition.is_none());
        let noted = (0..program.transitions.len()).map(|index| {
            let monitors = program.monitors.iter().map(|it| it.transition);
            let mut watched = monitors.chain(own.iter().map(|it| it.transition));
            all || watched.any(|it| it == Some(index))
        });
        let noted: Vec<bool> = noted.collect();
        let built = build_seen(&program, seed, Some((&seen, &noted))).map_err(Failure::Document)?;
        let mut session = Session {
            numbers: numbers(&program, &built.net),
            transitions: transitions(&program, &built.net),
            states: Vec::new(),
            of_firings: vec![Vec::new(); program.transitions.len()],
            of_changes: vec![Vec::new(); program.transitions.len()],
            of_nodes: vec![Vec::new(); program.nodes.len()],
            of_steps: Vec::new(),
            series: Series::new(until),
            in_this_instant: 0,
            steps: 0,
            last: None,
            frame: Vec::new(),
            standing: Vec::new(),
            stopped_by: None,
            program,
            built,
            seen,
            own,
        };
        session.watch()?;
        Ok(session)
    }

    /// Connects monitors with their nodes and transitions.
    fn watch(&mut self) -> Result<(), Failure> {
        let program = &*self.program;
        for (index, monitor) in program.monitors.iter().enumerate() {
            if let Some(transition) = monitor.transition {
                self.of_firings[transition].push(index);
                continue;
            }
            if monitor.uses_time() {
                self.of_steps.push(index);
                continue;
            }
            for (node, number) in self.numbers.iter().enumerate() {
                if !monitor.terms.iter().any(|term| term.node == node) {
                    continue;
                }
                self.of_nodes[*number as usize].push(index);
                for (transition, changed) in program.transitions.iter().zip(&mut self.of_changes) {
                    let inputs = transition.inputs.iter().map(|it| it.node);
                    let inputs = inputs.chain(transition.resets.iter().copied());
                    let mut nodes = inputs.chain(transition.outputs.iter().map(|it| it.node));
                    if nodes.any(|it| it == node) && !changed.contains(&index) {
                        changed.push(index);
                    }
                }
            }
        }
        for (offset, own) in self.own.iter().enumerate() {
            let index = program.monitors.len() + offset;
            for (transition, monitors) in self.of_firings.iter_mut().enumerate() {
                if own.transition.is_none_or(|it| it == transition) {
                    monitors.push(index);
                }
            }
        }
        let number = program.monitors.len() + self.own.len();
        self.states = (0..number).map(|_| State::default()).collect();
        for index in 0..self.program.monitors.len() {
            if let Watch::Marking(_) = self.program.monitors[index].watch {
                self.look_at_marking(index)?;
            }
        }
        Ok(())
    }

    /// The program's number of a transition of the kernel.
    pub fn transition(&self, number: u32) -> usize {
        self.transitions[number as usize]
    }

    /// Goes on by one step.
    pub fn step(&mut self, until: Time) -> Result<Moved, Failure> {
        let before = self.built.net.now();
        let step = self.built.net.step(until);
        let now = self.built.net.now();
        if now > before {
            self.in_this_instant = 0;
            self.pass(before, now);
        }
        let step = match stopped(step, &mut self.standing)? {
            Ok(step) => step,
            Err(stop) => return Ok(Moved::Ended(stop)),
        };
        self.in_this_instant += 1;
        if self.in_this_instant > Limits::default().firings_in_an_instant {
            return Err(self.endless());
        }
        self.notice(step)
    }

    /// Tells the monitors of a step.
    pub fn notice(&mut self, step: Step) -> Result<Moved, Failure> {
        self.steps += 1;
        let mut ends = false;
        let moved = match step {
            Step::Ended(Stop::Quiet) => return Ok(Moved::Ended("quiet")),
            Step::Ended(_) => return Ok(Moved::Ended("time")),
            Step::Event { node } => {
                for at in 0..self.of_nodes[node as usize].len() {
                    ends |= self.look_at_marking(self.of_nodes[node as usize][at])?;
                }
                Moved::Event
            }
            Step::Fired { transition, copy } => {
                let transition = self.transitions[transition as usize];
                self.last = Some((transition, copy));
                for at in 0..self.of_firings[transition].len() {
                    let index = self.of_firings[transition][at];
                    ends |= self.look_at_firing(index, transition, copy)?;
                }
                for at in 0..self.of_changes[transition].len() {
                    ends |= self.look_at_marking(self.of_changes[transition][at])?;
                }
                Moved::Fired(transition, copy)
            }
        };
        for at in 0..self.of_steps.len() {
            ends |= self.look_at_marking(self.of_steps[at])?;
        }
        if self.steps == 1 {
            // A condition may hold from the start.
            for index in 0..self.program.monitors.len() {
                let monitor = &self.program.monitors[index];
                if monitor.transition.is_none() && matches!(monitor.watch, Watch::Breakpoint(_)) {
                    ends |= self.look_at_marking(index)?;
                }
            }
        }
        Ok(if ends {
            Moved::Ended("breakpoint")
        } else {
            moved
        })
    }

    /// Runs to a time, or until it ends before.
    pub fn run(
        &mut self,
        until: Time,
        watch: &mut dyn FnMut(f64) -> ControlFlow<()>,
    ) -> Result<&'static str, Failure> {
        loop {
            if self.steps & 0xFF == 0 && watch(self.built.net.now().as_seconds()).is_break() {
                return Err(Failure::Interrupted);
            }
            if let Moved::Ended(stop) = self.step(until)? {
                return Ok(stop);
            }
        }
    }

    /// Lets the net find the loop, and name it.
    fn endless(&mut self) -> Failure {
        let limits = Limits {
            firings_in_an_instant: 10_000,
            ..Limits::default()
        };
        match self.built.net.run(&limits) {
            Err(error) => Failure::Run(error.to_string()),
            Ok(_) => Failure::Run("endless loop: time stands still".to_owned()),
        }
    }

    /// Time passes with the marking as it is.
    fn pass(&mut self, from: Time, to: Time) {
        let mut last = from;
        self.series.make_room(to);
        while self.series.next() <= to {
            let next = self.series.next();
            let since = next.since(last).as_seconds();
            last = next;
            self.add_area(since);
            let sums = self.states.iter().map(|it| (it.sum, it.number));
            self.series.push(sums.collect());
        }
        self.add_area(to.since(last).as_seconds());
        let seconds = to.since(from).as_seconds();
        for (monitor, state) in self.program.monitors.iter().zip(&mut self.states) {
            if let Watch::Marking(_) = monitor.watch {
                state.figures.add(state.value, seconds);
            }
        }
    }

    fn add_area(&mut self, seconds: f64) {
        for (monitor, state) in self.program.monitors.iter().zip(&mut self.states) {
            if let Watch::Marking(_) = monitor.watch {
                state.sum += state.value * seconds;
            }
        }
    }

    /// Resets the statistics of the warm-up.
    pub fn reset_statistics(&mut self) {
        self.built.net.reset_statistics();
        for state in &mut self.states {
            state.figures = Figures::default();
            state.rows.clear();
            state.left_out = 0;
        }
    }

    /// Returns true if the run shall end.
    fn look_at_marking(&mut self, index: usize) -> Result<bool, Failure> {
        let mut frame = std::mem::take(&mut self.frame);
        frame.clear();
        let monitor = &self.program.monitors[index];
        let mut world = at_step(&self.built.net, 0);
        self.count(&monitor.terms, &mut frame);
        let state = &mut self.states[index];
        let mut ends = false;
        match (&monitor.watch, &monitor.when) {
            (Watch::Marking(code), _) => state.value = real(code, &frame, &mut world),
            (Watch::Breakpoint(count), Some(when)) => {
                let holds = evaluate(when, &frame, &mut world) != 0;
                let before = std::mem::replace(&mut state.value, f64::from(u8::from(holds)));
                if holds && before == 0.0 {
                    state.figures.count += 1;
                    ends = state.figures.count >= *count;
                }
            }
            _ => {}
        }
        self.frame = frame;
        checked(world, monitor)?;
        if ends {
            self.stopped_by = Some(monitor.name.clone());
        }
        Ok(ends)
    }

    /// Returns true if the run shall end.
    fn look_at_firing(
        &mut self,
        index: usize,
        transition: usize,
        copy: u32,
    ) -> Result<bool, Failure> {
        if index >= self.program.monitors.len() {
            return self.ask_own(index, transition, copy);
        }
        let mut frame = std::mem::take(&mut self.frame);
        frame.clone_from(&self.seen.last().frame);
        let monitor = &self.program.monitors[index];
        let mut world = at_step(&self.built.net, copy);
        self.count(&monitor.terms, &mut frame);
        let when = monitor.when.as_ref();
        let holds = when.is_none_or(|when| evaluate(when, &frame, &mut world) != 0);
        let state = &mut self.states[index];
        let mut ends = false;
        if holds {
            state.number += 1;
            match &monitor.watch {
                Watch::Observation(code) => {
                    let value = real(code, &frame, &mut world);
                    state.figures.add(value, 1.0);
                    state.sum += value;
                }
                Watch::Collector(_, limit) if state.figures.count >= *limit as u64 => {
                    state.left_out += 1;
                }
                Watch::Collector(columns, _) => {
                    state.figures.count += 1;
                    state.rows.push(world.now());
                    let words = columns.iter().flat_map(|(_, typed)| &typed.words);
                    for code in words {
                        state.rows.push(evaluate(code, &frame, &mut world));
                    }
                }
                Watch::Breakpoint(count) => {
                    state.figures.count += 1;
                    ends = state.figures.count >= *count;
                }
                Watch::Counter | Watch::Marking(_) => state.figures.count += 1,
            }
        }
        self.frame = frame;
        checked(world, monitor)?;
        if ends {
            self.stopped_by = Some(monitor.name.clone());
        }
        Ok(ends)
    }

    fn ask_own(&mut self, index: usize, transition: usize, copy: u32) -> Result<bool, Failure> {
        let last = self.seen.last();
        let occurrence = Occurrence {
            program: &self.program,
            net: &self.built.net,
            numbers: &self.numbers,
            transition,
            copy,
            frame: &last.frame,
        };
        let own = &mut self.own[index - self.program.monitors.len()];
        let verdict = (own.look)(&occurrence);
        let state = &mut self.states[index];
        match verdict {
            Verdict::Nothing => {}
            Verdict::Figure(value) => {
                state.figures.add(value, 1.0);
                state.sum += value;
                state.number += 1;
            }
            Verdict::Stop => {
                self.stopped_by = Some(own.name.clone());
                return Ok(true);
            }
            Verdict::Failed => return Err(Failure::Interrupted),
        }
        Ok(false)
    }

    /// Appends numbers of tokens to a frame.
    pub fn count(&self, terms: &[Term], frame: &mut Vec<i64>) {
        for term in terms {
            let number = self.numbers[term.node];
            if term.steps.is_empty() {
                frame.push(self.built.net.tokens_inside(number) as i64);
                continue;
            }
            let colour = self.program.nodes[term.node].colour;
            let words = self.program.colours.words(colour);
            let (mut count, mut bound) = (0, [0; 64]);
            let mut pure = Pure::default();
            each_token(
                &self.program,
                &self.built.net,
                number,
                &mut |_, token, _| {
                    let token = &token[..words];
                    count += i64::from(suits(&term.steps, token, &mut bound, &mut pure));
                },
            );
            frame.push(count);
        }
    }

    /// All figures so far.
    pub fn figures(&self) -> RunResult {
        RunResult {
            stopped_by: self.stopped_by.clone(),
            standing: self.standing.clone(),
            monitors: self.reports(),
            interval: (!self.states.is_empty()).then(|| self.series.interval()),
            ..figures(&self.program, &self.built)
        }
    }

    /// Figures of all monitors, those of the caller's own at the end.
    fn reports(&self) -> Vec<MonitorReport> {
        let measured = self.built.net.measured().as_seconds();
        let own = self.own.iter().map(|it| (&it.name, None));
        let monitors = self.program.monitors.iter();
        let monitors = monitors.map(|it| (&it.name, Some(&it.watch)));
        let all = monitors.chain(own).zip(&self.states).enumerate();
        let reports = all.map(|(index, ((name, watch), state))| {
            let kind = watch.map_or("own", Watch::kind);
            let mut report = MonitorReport::new(name, kind, &state.figures);
            let changes = self.series.changes(index);
            let interval = self.series.interval();
            match watch {
                Some(Watch::Counter) => {
                    report.rate = (measured > 0.0).then(|| report.count as f64 / measured);
                    let rates = changes.map(|(_, number)| Some(number as f64 / interval));
                    report.means = rates.collect();
                }
                Some(Watch::Marking(_)) => {
                    report.last = Some(state.value);
                    report.means = changes.map(|(area, _)| Some(area / interval)).collect();
                }
                Some(Watch::Observation(_)) | None => {
                    let changes = changes.map(|(sum, number)| {
                        let mean = (number > 0).then(|| sum / number as f64);
                        (mean, number)
                    });
                    (report.means, report.numbers) = changes.unzip();
                }
                Some(Watch::Collector(columns, _)) => {
                    report.left_out = state.left_out;
                    report.columns = self.columns(columns, &state.rows);
                }
                Some(Watch::Breakpoint(_)) => {}
            }
            report
        });
        reports.collect()
    }

    fn columns(&self, columns: &[(String, Typed)], rows: &[i64]) -> Vec<Column> {
        let colours = &self.program.colours;
        let width = 1 + columns.iter().map(|(_, it)| it.words.len()).sum::<usize>();
        let mut at = 1;
        let time = ("time_s", Kind::Time, 0, 1);
        let columns = columns.iter().map(|(name, typed)| {
            at += typed.words.len();
            (&**name, typed.kind, at - typed.words.len(), at)
        });
        let columns = std::iter::once(time).chain(columns);
        let columns = columns.map(|(name, kind, from, to)| Column {
            name: name.to_owned(),
            colour: colours.name(kind).to_owned(),
            values: rows
                .chunks_exact(width)
                .map(|row| value_of(colours, kind, &row[from..to]))
                .collect(),
        });
        columns.collect()
    }
}

/// Kernel's numbers of the program's nodes.
fn numbers(program: &Program, net: &Net) -> Vec<u32> {
    let reports = net.reports();
    let number = |node: usize| {
        let path = program.node_path(node);
        let found = reports.iter().find(|report| report.path == path);
        found.map_or(0, |report| report.id)
    };
    (0..program.nodes.len()).map(number).collect()
}

/// Program's numbers of the kernel's transitions, which are in the order of their turns.
fn transitions(program: &Program, net: &Net) -> Vec<usize> {
    let paths: Vec<String> = (0..program.transitions.len())
        .map(|index| program.transition_path(index))
        .collect();
    let numbers = net.transition_firings().map(|(path, _)| {
        let found = paths.iter().position(|it| it == path);
        found.unwrap_or(0)
    });
    numbers.collect()
}

fn real<W: World>(code: &Code, frame: &[i64], world: &mut W) -> f64 {
    f64::from_bits(evaluate(code, frame, world) as u64)
}

/// The context of expressions of monitors: time and copy are known, and random draws would change
/// the run.
pub(crate) fn at_step(net: &Net, copy: u32) -> Pure<'static> {
    Pure::at(net.now().0.min(i64::MAX as u64) as i64, copy)
}

fn checked(world: Pure<'_>, monitor: &Monitor) -> Result<(), Failure> {
    match world.failure {
        None => Ok(()),
        Some(failure) => Err(Failure::Run(format!(
            "monitors.{}: {failure}",
            monitor.name
        ))),
    }
}
