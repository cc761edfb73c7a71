//! State shared by all nodes and transitions during a run: the clock, the future events, and the
//! enabled transitions.

use crate::accounts::Accounts;
use crate::bits::BitSet;
use crate::heap::{Event, EventHeap, Kind};
use crate::slab::Slab;
use crate::time::Time;
use crate::token::Message;

/// A transition that takes from a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Consumer {
    /// The transition's first instance (one instance a copy).
    pub base: u32,
    /// Instances that share one copy of the node.
    pub ratio: u32,
    /// Tokens it takes in one firing.
    pub weight: u32,
    /// True if a guard must be asked again when the first in line changes.
    pub guarded: bool,
    /// It takes one token of its own copy and nothing else, and no guard looks at which: it may
    /// fire whenever there is a token.
    pub sole: bool,
}

/// Why a run had to end early, found inside a firing.
#[derive(Clone, Debug)]
pub(crate) enum Halt {
    /// A transition or discipline asked for the end.
    Asked,
    /// A selector named a copy that is not there.
    NoSuchCopy { node: u32, asked: u32, copies: u32 },
    /// Something that the model calls an error.
    Failed { by: By, message: String },
}

/// Origin of an error.
#[derive(Clone, Copy, Debug)]
pub(crate) enum By {
    Node(u32),
    Transition(u32),
}

#[derive(Default)]
pub(crate) struct Kernel {
    now: Time,
    heap: EventHeap,
    /// Inputs still missing, by transition instance.
    missing: Vec<u8>,
    enabled: BitSet,
    pub messages: Slab<(u32, Message)>,
    pub accounts: Accounts,
    pub halt: Option<Halt>,
}

impl Default for Slab<(u32, Message)> {
    fn default() -> Self {
        Slab::new(false)
    }
}

impl Kernel {
    /// A kernel whose n-th transition instance has `inputs[n]` inputs.
    pub fn new(inputs: Vec<u8>) -> Kernel {
        let mut enabled = BitSet::new(inputs.len());
        let sources = inputs.iter().zip(0..).filter(|(inputs, _)| **inputs == 0);
        sources.for_each(|(_, instance)| enabled.insert(instance));
        Kernel {
            enabled,
            missing: inputs,
            ..Kernel::default()
        }
    }

    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    #[inline]
    pub fn advance(&mut self, time: Time) {
        self.now = time;
    }

    pub fn heap(&self) -> &EventHeap {
        &self.heap
    }

    /// Returns the next event and leaves it there.
    #[inline]
    pub fn next_event(&mut self) -> Option<Event> {
        self.heap.next()
    }

    /// Takes the event that [`Kernel::next_event`] has just returned.
    #[inline]
    pub fn take_next_event(&mut self) {
        self.heap.take_next();
    }

    #[inline]
    pub fn schedule(&mut self, time: Time, node: u32, copy: u32, tag: u32, kind: Kind) {
        if time == Time::NEVER {
            self.halt(Halt::Failed {
                by: By::Node(node),
                message: "a token would have to wait for longer than 213 days, the most that \
                          simulated time can hold"
                    .to_owned(),
            });
            return;
        }
        self.heap.push(time, node, copy, tag, kind);
    }

    /// The first reason to stop is retained.
    pub fn halt(&mut self, why: Halt) {
        self.halt.get_or_insert(why);
    }

    /// The first transition instance that may fire.
    #[inline]
    pub fn first_enabled(&mut self) -> Option<u32> {
        self.enabled.first()
    }

    /// Calls `visit` with every transition instance that may fire, in order.
    pub fn each_enabled(&self, visit: impl FnMut(u32)) {
        self.enabled.each(visit);
    }

    /// A guard said no: ask again when something it looks at changes.
    pub fn refuse(&mut self, instance: u32) {
        self.enabled.remove(instance);
    }

    /// Returns true if a transition instance may fire, as far as is known.
    pub fn is_enabled(&self, instance: u32) -> bool {
        self.enabled.contains(instance)
    }

    /// A transition instance was refused for another reason than its guard.
    pub fn restore(&mut self, instance: u32) {
        self.enabled.insert(instance);
    }

    /// Something a guard looks at has changed.
    pub fn reconsider(&mut self, instance: u32) {
        if self.missing[instance as usize] == 0 {
            self.enabled.insert(instance);
        }
    }

    /// A copy of a node has one more ready token, `len` in all.
    #[inline]
    pub fn grew(&mut self, consumers: &[Consumer], copy: u32, len: u32, bag: bool) {
        // Mostly one transition takes one token at a time, and nothing else.
        if let [consumer] = consumers
            && consumer.sole
        {
            if len == 1 {
                self.enabled.insert(consumer.base + copy);
            }
            return;
        }
        self.grew_for_many(consumers, copy, len, bag);
    }

    #[inline]
    fn one_input_more(&mut self, instance: u32) {
        let missing = &mut self.missing[instance as usize];
        *missing -= 1;
        if *missing == 0 {
            self.enabled.insert(instance);
        }
    }

    #[inline]
    fn one_input_fewer(&mut self, instance: u32) {
        let missing = &mut self.missing[instance as usize];
        if *missing == 0 {
            self.enabled.remove(instance);
        }
        *missing += 1;
    }

    fn grew_for_many(&mut self, consumers: &[Consumer], copy: u32, len: u32, bag: bool) {
        for consumer in consumers {
            let first = consumer.base + copy * consumer.ratio;
            if len == consumer.weight {
                (first..first + consumer.ratio).for_each(|instance| self.one_input_more(instance));
            } else if bag && consumer.guarded && len > consumer.weight {
                (first..first + consumer.ratio).for_each(|instance| self.reconsider(instance));
            }
        }
    }

    /// A copy of a node that transitions are inhibited by has one more token inside, `len` in all.
    pub fn inhibit(&mut self, inhibited: &[Consumer], copy: u32, len: u32) {
        for consumer in inhibited.iter().filter(|it| it.weight == len) {
            let first = consumer.base + copy * consumer.ratio;
            (first..first + consumer.ratio).for_each(|instance| self.one_input_fewer(instance));
        }
    }

    /// Such a node has one token fewer inside, `len` in all.
    pub fn release(&mut self, inhibited: &[Consumer], copy: u32, len: u32) {
        for consumer in inhibited {
            let first = consumer.base + copy * consumer.ratio;
            if len + 1 == consumer.weight {
                (first..first + consumer.ratio).for_each(|instance| self.one_input_more(instance));
            } else if consumer.guarded {
                (first..first + consumer.ratio).for_each(|instance| self.reconsider(instance));
            }
        }
    }

    /// A copy of a node has one ready token fewer, `len` in all.
    #[inline]
    pub fn shrank(&mut self, consumers: &[Consumer], copy: u32, len: u32) {
        if let [consumer] = consumers
            && consumer.sole
        {
            if len == 0 {
                self.enabled.remove(consumer.base + copy);
            }
            return;
        }
        self.shrank_for_many(consumers, copy, len);
    }

    fn shrank_for_many(&mut self, consumers: &[Consumer], copy: u32, len: u32) {
        for consumer in consumers {
            let first = consumer.base + copy * consumer.ratio;
            if len + 1 == consumer.weight {
                (first..first + consumer.ratio).for_each(|instance| self.one_input_fewer(instance));
            } else if consumer.guarded && len >= consumer.weight {
                (first..first + consumer.ratio).for_each(|instance| self.reconsider(instance));
            }
        }
    }
}
