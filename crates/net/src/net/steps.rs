//! A net step by step, for monitors and plays: what happens in each step, and the tokens that stand
//! where.

use super::{Net, Stop};
use crate::error::RunError;
use crate::heap::{Event, Kind};
use crate::node::typed;
use crate::slab::Slot;
use crate::time::Time;
use crate::token::Token;

/// One step of a net.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A transition fired.
    Fired {
        /// Its number, as in [`Structure`](crate::Structure).
        transition: u32,
        /// The copy of its page.
        copy: u32,
    },
    /// A future event came true: a token arrived, or a discipline did something.
    Event {
        /// The node's number, as in [`Structure`](crate::Structure).
        node: u32,
    },
    /// Nothing happened: the run ends.
    Ended(Stop),
}

/// A token inside a node.
#[derive(Clone, Copy, Debug)]
pub struct Standing<T> {
    /// The copy of its node.
    pub copy: u32,
    /// The token.
    pub token: T,
    /// True if a transition may take it; else it waits or is served.
    pub ready: bool,
}

/// A future event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Due {
    /// When it comes true.
    pub time: Time,
    /// The node's number.
    pub node: u32,
    /// The copy of the node.
    pub copy: u32,
}

impl Net {
    /// Does one thing: fires the transition whose turn it is, or lets the next event come true if
    /// it is due by `until`. A run of such steps is that of [`Net::run`]; it does not look for
    /// loops in an instant.
    ///
    /// # Errors
    /// A deadlock, or an error of the model's.
    pub fn step(&mut self, until: Time) -> Result<Step, RunError> {
        loop {
            if self.kernel.halt.is_some() {
                return self.halted().map(Step::Ended);
            }
            let Some(instance) = self.next_enabled() else {
                break;
            };
            let transition = self.owners[instance as usize];
            if self.fire(transition, instance) {
                return self.fired(transition, instance);
            }
        }
        let event = self.kernel.next_event();
        let timed = self.next_timed(event);
        if self.kernel.halt.is_some() {
            return self.halted().map(Step::Ended);
        }
        let timed_at = timed.map(|(time, _)| time);
        let Some(time) = timed_at.or(event.map(|event| event.time())) else {
            return self.quiet(until).map(Step::Ended);
        };
        if time > until {
            self.wait_until(until);
            return Ok(Step::Ended(Stop::Time));
        }
        if time > self.kernel.now() {
            self.advance(time);
        }
        if let Some((_, instance)) = timed {
            let transition = self.owners[instance as usize];
            self.fire(transition, instance);
            return self.fired(transition, instance);
        }
        let Some(event) = event else {
            return self.quiet(until).map(Step::Ended);
        };
        self.deliver(event);
        match self.kernel.halt {
            Some(_) => self.halted().map(Step::Ended),
            None => Ok(Step::Event { node: event.node }),
        }
    }

    fn fired(&mut self, transition: u32, instance: u32) -> Result<Step, RunError> {
        if self.kernel.halt.is_some() {
            return self.halted().map(Step::Ended);
        }
        let copy = instance - self.transitions[transition as usize].base;
        Ok(Step::Fired { transition, copy })
    }

    /// Returns the transitions whose inputs have enough tokens, with their copies, in the order in
    /// which they are asked. Guards may refuse them.
    pub fn may_fire(&self) -> Vec<(u32, u32)> {
        let instances = 0..self.owners.len() as u32;
        let enabled = instances.filter(|&instance| self.kernel.is_enabled(instance));
        let enabled = enabled.map(|instance| {
            let transition = self.owners[instance as usize];
            (
                transition,
                instance - self.transitions[transition as usize].base,
            )
        });
        enabled.collect()
    }

    /// Asks a copy of a transition to fire, whether or not it is its turn. Gives none if it has not
    /// enough tokens, or its action refuses; an action that only looks is asked in its turn again.
    ///
    /// # Errors
    /// An error of the model's.
    pub fn ask(&mut self, transition: u32, copy: u32) -> Result<Option<Step>, RunError> {
        let instance = self.transitions[transition as usize].base + copy;
        if !self.kernel.is_enabled(instance) {
            return Ok(None);
        }
        if self.fire(transition, instance) {
            return self.fired(transition, instance).map(Some);
        }
        self.kernel.restore(instance);
        match self.kernel.halt {
            Some(_) => self.halted().map(|_| None),
            None => Ok(None),
        }
    }

    /// Returns the next event, if there is one.
    pub fn next_due(&mut self) -> Option<Due> {
        let event = self.kernel.next_event()?;
        Some(Due {
            time: event.time(),
            node: event.node,
            copy: event.copy,
        })
    }

    /// Returns the number of tokens inside a node, all copies together.
    pub fn tokens_inside(&self, node: u32) -> u64 {
        let states = self.nodes[node as usize].states().iter();
        states.map(|state| u64::from(state.inside)).sum()
    }

    /// Calls `visit` with each token inside a node whose tokens have this colour. Ready tokens
    /// precede the others, in their order, copy after copy.
    pub fn each_token<T: Token>(&self, number: u32, visit: &mut dyn FnMut(Standing<T>)) {
        let node = typed::<T>(&*self.nodes[number as usize]);
        let slab = &node.core.slab;
        let mut seen = vec![false; slab.footprint().1];
        for event in self.coming(number) {
            seen[event.tag as usize] = true;
        }
        for copy in 0..node.core.copies.len() as u32 {
            for slot in node.line(copy) {
                seen[slot.0 as usize] = true;
                let token = *slab.get(slot);
                visit(Standing {
                    copy,
                    token,
                    ready: true,
                });
            }
        }
        for (slot, copy, token) in slab.all() {
            if !seen[slot.0 as usize] {
                visit(Standing {
                    copy,
                    token: *token,
                    ready: false,
                });
            }
        }
    }

    /// Events of tokens on their way to a node.
    fn coming(&self, node: u32) -> impl Iterator<Item = &Event> {
        let pending = self.kernel.heap().pending();
        pending.filter(move |event| event.node == node && event.kind == Kind::Token)
    }

    /// Calls `visit` with each token on its way to a node, put with a delay: copy, token, and the
    /// time when it arrives.
    pub fn each_coming<T: Token>(&self, node: u32, visit: &mut dyn FnMut(u32, T, Time)) {
        let slab = &typed::<T>(&*self.nodes[node as usize]).core.slab;
        let coming = self.coming(node);
        let coming = coming.map(|event| (event.time(), event.copy, event.tag));
        let mut coming: Vec<(Time, u32, u32)> = coming.collect();
        coming.sort_unstable();
        for (time, copy, slot) in coming {
            visit(copy, *slab.get(Slot(slot)), time);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Builder, Exponential, Fcfs, Infinite, Limits, Net, Span, Standing, Step, Stop, Time,
    };

    /// Four users think, then share a server; a guard looks for even ones.
    fn office() -> Net {
        let mut builder = Builder::new("office", 7);
        let mut page = builder.root();
        let thinking = page.station("thinking", Infinite(Exponential(Span::from_millis(5))));
        let server = page.station("server", Fcfs::new(1, Span::from_millis(1)));
        let done = page.bag::<u32>("done");
        page.connect(thinking, server);
        page.transition("end")
            .take(server)
            .puts(done)
            .fires(move |firing, user, ()| {
                firing.put_after(done, user, Span::from_millis(1));
            });
        page.transition("again")
            .take(done)
            .when(|user, ()| *user < 100)
            .puts(thinking)
            .fires(move |firing, user, ()| {
                firing.put(thinking, user);
            });
        page.tokens(thinking, |_| 0..4_u32);
        builder.compile().unwrap()
    }

    #[test]
    fn steps_are_those_of_a_run() {
        let mut run = office();
        let end = Time::from_seconds(0.5);
        let limits = Limits {
            until: end,
            ..Limits::default()
        };
        assert_eq!(run.run(&limits).unwrap(), Stop::Time);
        let mut steps = office();
        let (mut fired, mut events) = (0, 0);
        loop {
            match steps.step(end).unwrap() {
                Step::Fired { .. } => fired += 1,
                Step::Event { .. } => events += 1,
                Step::Ended(stop) => {
                    assert_eq!(stop, Stop::Time);
                    break;
                }
            }
        }
        assert!(fired > 100);
        assert_eq!((fired, events), (run.firings(), run.events()));
        assert_eq!(steps.reports(), run.reports());
    }

    #[test]
    fn every_token_is_seen_once() {
        let mut net = office();
        for _ in 0..500 {
            net.step(Time::NEVER).unwrap();
            let mut seen = Vec::new();
            for node in 0..3 {
                let before = seen.len();
                net.each_token::<u32>(node, &mut |it: Standing<u32>| seen.push(it.token));
                assert_eq!((seen.len() - before) as u64, net.tokens_inside(node));
                net.each_coming::<u32>(node, &mut |copy, token, time| {
                    assert!(copy == 0 && time >= net.now());
                    seen.push(token);
                });
            }
            seen.sort_unstable();
            assert_eq!(seen, [0, 1, 2, 3]);
        }
    }

    #[test]
    fn a_transition_is_asked_out_of_turn() {
        let mut net = office();
        while net.may_fire().is_empty() {
            net.step(Time::NEVER).unwrap();
        }
        let (transition, copy) = net.may_fire()[0];
        assert_eq!(
            net.ask(transition, copy).unwrap(),
            Some(Step::Fired { transition, copy })
        );
        assert_eq!(net.ask(transition, copy).unwrap(), None);
        assert!(net.next_due().is_some_and(|due| due.time > net.now()));
    }
}
