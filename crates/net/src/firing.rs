//! Operations of a transition while it fires.

use std::any::Any;

use crate::accounts::{Account, Held, WaitId};
#[cfg(debug_assertions)]
use crate::arc::How;
use crate::arc::{Arcs, candidates, copy_around, line};
use crate::discipline::Station;
use crate::handles::{Choose, EndId, Node, TallyId, To};
use crate::kernel::{By, Halt, Kernel};
use crate::node::{AnyNode, typed, typed_mut};
use crate::random::Random;
use crate::slab::Slot;
use crate::tally::Tally;
use crate::time::{Span, Time};
use crate::token::{News, Token};

/// One firing of a transition: puts tokens, draws random numbers, records.
pub struct Firing<'a> {
    pub(crate) nodes: &'a mut [Box<dyn AnyNode>],
    pub(crate) kernel: &'a mut Kernel,
    pub(crate) tallies: &'a mut [Tally],
    pub(crate) arcs: &'a Arcs,
    pub(crate) transition: u32,
    pub(crate) copy: u32,
    pub(crate) key: u64,
    pub(crate) draws: &'a mut u64,
    /// Tokens put so far, by output arc, for the check against the declaration.
    #[cfg(debug_assertions)]
    pub(crate) put: Vec<u32>,
    #[cfg(debug_assertions)]
    pub(crate) node_paths: &'a [String],
}

impl Firing<'_> {
    /// The time now.
    #[inline]
    pub fn now(&self) -> Time {
        self.kernel.now()
    }

    /// Returns the copy of the page in which the transition fires.
    pub fn copy(&self) -> u32 {
        self.copy
    }

    /// The random stream of this transition and copy.
    pub fn random(&mut self) -> Random<'_> {
        Random::of_copy(self.key, self.copy, self.draws)
    }

    /// Puts a token into a declared target; gives its slot there.
    #[inline]
    pub fn put<T: Token>(&mut self, to: impl Into<To<T>>, token: T) -> Slot {
        match self.locate(to.into().end, &token) {
            Some((node, copy)) => {
                let node = typed_mut::<T>(&mut *self.nodes[node as usize]);
                node.arrive(copy, token, self.kernel)
            }
            None => Slot(u32::MAX),
        }
    }

    /// Puts a token that arrives after a delay.
    #[inline]
    pub fn put_after<T: Token>(&mut self, to: impl Into<To<T>>, token: T, delay: Span) -> Slot {
        self.put_later(to.into(), token, delay, None)
    }

    /// Puts a token that arrives after a delay, which is booked on a wait.
    #[inline]
    pub fn put_after_in<T: Token>(
        &mut self,
        to: impl Into<To<T>>,
        token: T,
        delay: Span,
        wait: WaitId,
    ) -> Slot {
        self.put_later(to.into(), token, delay, Some(wait))
    }

    #[inline]
    fn put_later<T: Token>(
        &mut self,
        to: To<T>,
        token: T,
        delay: Span,
        wait: Option<WaitId>,
    ) -> Slot {
        let time = self.now() + delay;
        match self.locate(to.end, &token) {
            Some((node, copy)) => {
                let node = typed_mut::<T>(&mut *self.nodes[node as usize]);
                node.arrive_at(time, copy, token, wait, self.kernel)
            }
            None => Slot(u32::MAX),
        }
    }

    /// Puts a token into the given copies of the folded pages on the way to a target. The target
    /// was declared with [`To::in_given_copies`]; the token arrives at once or after a delay.
    pub fn put_in_copies<T: Token>(
        &mut self,
        to: impl Into<To<T>>,
        copies: &[u32],
        token: T,
        delay: Span,
    ) {
        let Some((node, copy)) = self.locate_given(to.into().end, copies) else {
            return;
        };
        let time = self.now() + delay;
        let node = typed_mut::<T>(&mut *self.nodes[node as usize]);
        if delay == Span::ZERO {
            node.arrive(copy, token, self.kernel);
        } else {
            node.arrive_at(time, copy, token, None, self.kernel);
        }
    }

    /// Opens an account: what this firing puts from now on is for it.
    pub fn open_account(&mut self) {
        let now = self.now();
        self.kernel.accounts.open(now);
    }

    /// Closes this firing's account.
    pub fn close_account(&mut self) {
        let now = self.now();
        self.kernel.accounts.close(now);
    }

    /// Returns the account of this firing's output: that of the first input with one, or of the
    /// last token taken by slot.
    #[inline]
    pub fn account(&self) -> Account {
        self.kernel.accounts.current
    }

    /// Charges tokens that this firing puts from now on to an account.
    #[inline]
    pub fn charge(&mut self, account: Account) {
        self.kernel.accounts.current = account;
    }

    /// A token of this firing's account begins to wait in a store.
    pub fn hold(&mut self, wait: WaitId) -> Held {
        let (account, now) = (self.account(), self.now());
        self.kernel.accounts.hold(account, wait, now)
    }

    /// It waits there no more: what this firing puts from now on is for its account, which
    /// is given.
    pub fn let_go(&mut self, held: Held) -> Account {
        let now = self.now();
        let account = self.kernel.accounts.let_go(held, now);
        self.charge(account);
        account
    }

    /// Charges tokens that this firing puts from now on to the account of a token in a bag
    /// declared with `may_take`.
    pub fn charge_as<T: Token>(&mut self, bag: Node<T>, slot: Slot) {
        let node = typed::<T>(&*self.nodes[bag.node as usize]);
        let account = node.core.marks.account(slot);
        self.charge(account);
    }

    /// From now on, time in which this firing's account has no token in a counted node is booked on
    /// a wait, until [`Firing::end_gap_wait`]. If several are named at once, the last counts.
    pub fn begin_gap_wait(&mut self, wait: WaitId) {
        let (account, now) = (self.account(), self.now());
        self.kernel.accounts.begin_gap(account, wait, now);
    }

    /// Ends a wait of [`Firing::begin_gap_wait`] of this firing's account.
    pub fn end_gap_wait(&mut self) {
        let (account, now) = (self.account(), self.now());
        self.kernel.accounts.end_gap(account, now);
    }

    /// Reports a token to the discipline of a declared station.
    pub fn signal<T: Token>(&mut self, to: impl Into<To<T>>, token: &T) {
        let Some((node, copy)) = self.locate(to.into().end, token) else {
            return;
        };
        let node = typed_mut::<T>(&mut *self.nodes[node as usize]);
        if let Some(bank) = &mut node.bank {
            bank.signal(token, &mut Station::new(&mut node.core, copy, self.kernel));
        }
    }

    /// Announces something to the disciplines of all copies of a station declared with
    /// `signals`.
    pub fn announce<T: Token>(&mut self, to: impl Into<To<T>>, news: &News) {
        let end = to.into().end;
        let Some(arc) = self.arcs.outputs.iter().find(|arc| arc.end == end) else {
            self.undeclared();
            return;
        };
        let node = typed_mut::<T>(&mut *self.nodes[arc.node as usize]);
        if let Some(bank) = &mut node.bank {
            for copy in 0..node.core.copies.len() as u32 {
                bank.news(news, &mut Station::new(&mut node.core, copy, self.kernel));
            }
        }
    }

    /// Number of events that are due later.
    pub fn events_ahead(&self) -> usize {
        self.kernel.heap().len()
    }

    /// A token of a bag declared with `may_take`, to look at or change. Only
    /// for slots that `put` gave and whose token is still there.
    #[inline]
    pub fn token_mut<T: Token>(&mut self, bag: Node<T>, slot: Slot) -> &mut T {
        let node = typed_mut::<T>(&mut *self.nodes[bag.node as usize]);
        node.core.slab.get_mut(slot)
    }

    /// Takes a token of a bag declared with `may_take`, by its slot. None (and
    /// the run fails) if it was not declared.
    #[inline]
    pub fn take<T: Token>(&mut self, bag: Node<T>, slot: Slot) -> Option<T> {
        let mut bags = self.arcs.may_take.iter();
        let reach = bags.find(|reach| reach.index == bag.node);
        let Some(reach) = reach else {
            self.undeclared();
            return None;
        };
        let node = typed_mut::<T>(&mut *self.nodes[bag.node as usize]);
        node.take(reach.copy(self.copy), Some(slot), self.kernel)
    }

    /// Takes all ready tokens of a node declared with [`resets`](crate::TransitionBuilder::resets).
    pub fn take_all<T: Token>(&mut self, node: Node<T>) {
        let mut nodes = self.arcs.may_take.iter();
        let Some(&reach) = nodes.find(|reach| reach.index == node.node) else {
            self.undeclared();
            return;
        };
        let node = typed_mut::<T>(&mut *self.nodes[node.node as usize]);
        while node
            .take(reach.copy(self.copy), None, self.kernel)
            .is_some()
        {}
    }

    /// Records a figure.
    pub fn record(&mut self, tally: TallyId, value: f64) {
        self.tallies[tally.0 as usize].record(value);
    }

    /// Ends the run after this firing.
    pub fn stop(&mut self) {
        self.kernel.halt(Halt::Asked);
    }

    /// Ends the run with an error of the model's.
    pub fn fail(&mut self, message: impl Into<String>) {
        self.kernel.halt(Halt::Failed {
            by: By::Transition(self.transition),
            message: message.into(),
        });
    }

    /// Returns the ready tokens of an input of a [`Rule`](crate::Rule), first to last. Only those
    /// of a bag may be taken out of order.
    #[inline]
    pub fn ready<T: Token>(&self, input: usize) -> impl Iterator<Item = (Slot, &T)> + '_ {
        let reach = self.arcs.inputs[input];
        let node = typed::<T>(&*self.nodes[reach.index as usize]);
        node.line(reach.copy(self.copy))
            .map(|slot| (slot, node.core.slab.get(slot)))
    }

    /// Returns the ready tokens of a node that inhibits this transition, by its position.
    pub fn inhibiting<T: Token>(&self, position: usize) -> impl Iterator<Item = &T> + '_ {
        let reach = self.arcs.inhibitors[position];
        let node = typed::<T>(&*self.nodes[reach.index as usize]);
        node.line(reach.copy(self.copy))
            .map(|slot| node.core.slab.get(slot))
    }

    /// Takes a ready token of an input of a [`Rule`](crate::Rule): that in the slot, or the first.
    #[inline]
    pub fn take_ready<T: Token>(&mut self, input: usize, slot: Option<Slot>) -> Option<T> {
        self.take_input(input, slot)
    }

    pub(crate) fn candidates<T: Token>(
        &self,
        input: usize,
    ) -> impl Iterator<Item = (Slot, T)> + '_ {
        candidates(self.nodes, self.arcs.inputs[input], self.copy)
    }

    /// Returns true if two inputs take from one node.
    pub(crate) fn same(&self, input: usize, other: usize) -> bool {
        self.arcs.inputs[input].index == self.arcs.inputs[other].index
    }

    /// Returns the token of a later input, if the first takes the token in `slot` and `before`
    /// others take from the same node.
    pub(crate) fn next_in_line<T: Token>(
        &self,
        input: usize,
        slot: Slot,
        before: usize,
    ) -> Option<T> {
        let shared = self.same(0, input);
        let mut tokens = line::<T>(self.nodes, self.arcs.inputs[input], self.copy)
            .filter(|&(other, _)| !(shared && other == slot));
        tokens.nth(before).map(|(_, token)| token)
    }

    #[inline(always)]
    pub(crate) fn take_input<T: Token>(&mut self, input: usize, slot: Option<Slot>) -> Option<T> {
        let reach = self.arcs.inputs[input];
        let account = self.account();
        let node = typed_mut::<T>(&mut *self.nodes[reach.index as usize]);
        let slot = node.take_out(reach.copy(self.copy), slot, self.kernel)?;
        // Its other tokens, such as a free thread, may be of an earlier one.
        if account.is_somebody() {
            self.kernel.accounts.current = account;
        }
        Some(node.core.slab.remove(slot))
    }

    fn undeclared(&mut self) {
        self.fail(
            "takes from or puts into a node that it did not declare with may_take, puts, \
             may_put, puts_many, puts_one_of or signals",
        );
    }

    /// The node and copy where a token put into `end` goes.
    #[inline(always)]
    fn locate<T: Token>(&mut self, end: EndId, token: &T) -> Option<(u32, u32)> {
        let outputs = &self.arcs.outputs;
        let Some(arc) = outputs.iter().find(|arc| arc.end == end) else {
            self.undeclared();
            return None;
        };
        #[cfg(debug_assertions)]
        if let Some(index) = outputs.iter().position(|arc| arc.end == end) {
            self.put[index] += 1;
        }
        let mut copy = copy_around(self.copy, arc.ratio);
        for (copies, selector) in &arc.levels {
            let selector: &dyn Any = &**selector;
            let Choose::<T>(choose) = selector.downcast_ref().expect("targets carry their colour");
            let asked = choose(token);
            if asked >= *copies {
                if let Some(union) = &arc.union
                    && let Some((node, copies, asked)) = union.at(asked)
                {
                    return Some((node, copy * copies + asked));
                }
                self.kernel.halt(Halt::NoSuchCopy {
                    node: arc.node,
                    asked,
                    copies: arc.union.as_ref().map_or(*copies, |it| it.copies()),
                });
                return None;
            }
            copy = copy * copies + asked;
        }
        Some((arc.node, copy))
    }

    /// The node and copy of `end` in the given copies of the pages on the way.
    fn locate_given(&mut self, end: EndId, given: &[u32]) -> Option<(u32, u32)> {
        let outputs = &self.arcs.outputs;
        let Some(index) = outputs.iter().position(|arc| arc.end == end) else {
            self.undeclared();
            return None;
        };
        #[cfg(debug_assertions)]
        {
            self.put[index] += 1;
        }
        let arc = &outputs[index];
        if arc.levels.len() != given.len() {
            self.undeclared();
            return None;
        }
        let mut copy = copy_around(self.copy, arc.ratio);
        for ((copies, _), &asked) in arc.levels.iter().zip(given) {
            if asked >= *copies {
                self.kernel.halt(Halt::NoSuchCopy {
                    node: arc.node,
                    asked,
                    copies: *copies,
                });
                return None;
            }
            copy = copy * copies + asked;
        }
        Some((arc.node, copy))
    }

    /// Checks the put tokens of this firing against its declaration.
    #[cfg(debug_assertions)]
    pub(crate) fn check_declared(&mut self) {
        if self.kernel.halt.is_some() {
            return;
        }
        let mut wrong = None;
        for (arc, &put) in self.arcs.outputs.iter().zip(&self.put) {
            let node = &self.node_paths[arc.node as usize];
            match arc.how {
                How::One if put != 1 => {
                    wrong = Some(format!(
                        "put {put} tokens into {node} where it declared exactly one"
                    ));
                }
                How::Exactly(tokens) if put != tokens => {
                    wrong = Some(format!(
                        "put {put} tokens into {node} where it declared {tokens}"
                    ));
                }
                How::Maybe if put > 1 => {
                    wrong = Some(format!(
                        "put {put} tokens into {node} where it declared one at most"
                    ));
                }
                How::Either(group) => {
                    let of_group = self.arcs.outputs.iter().zip(&self.put);
                    let sum: u32 = of_group
                        .filter(|(other, _)| other.how == How::Either(group))
                        .map(|(_, put)| put)
                        .sum();
                    if sum != 1 {
                        wrong.get_or_insert(format!(
                            "put {sum} tokens into {node} and its alternatives where it declared \
                             exactly one"
                        ));
                    }
                }
                How::One | How::Exactly(_) | How::Maybe | How::Many | How::Signal => {}
            }
        }
        if let Some(message) = wrong {
            self.fail(message);
        }
    }
}
