//! Transitions: inputs, stores, outputs and actions.

use std::any::Any;

use crate::arc::{How, Reach};
use crate::builder::{Action, Builder, OutputSpec, RuleSpec, TransitionSpec};
use crate::firing::Firing;
use crate::handles::{Node, Store, To};
use crate::observation::{Observation, Seen, Sight};
use crate::slab::Slot;
use crate::token::Token;

/// The nodes that a transition takes one token each from: `()` at first, then
/// a node, then a tuple of them.
pub trait Inputs: Send + 'static {
    /// Tokens passed to the action: none, one, or a tuple.
    type Tokens: Copy;
    #[doc(hidden)]
    fn nodes(&self) -> Vec<u32>;
    #[doc(hidden)]
    fn select(
        firing: &Firing<'_>,
        test: &mut dyn FnMut(&Self::Tokens) -> bool,
    ) -> Option<Option<Slot>>;
    #[doc(hidden)]
    fn take(firing: &mut Firing<'_>, slot: Option<Slot>) -> Option<Self::Tokens>;
}

impl Inputs for () {
    type Tokens = ();
    fn nodes(&self) -> Vec<u32> {
        Vec::new()
    }
    fn select(_: &Firing<'_>, _: &mut dyn FnMut(&()) -> bool) -> Option<Option<Slot>> {
        None
    }
    fn take(_: &mut Firing<'_>, _: Option<Slot>) -> Option<()> {
        None
    }
}

impl<A: Token> Inputs for Node<A> {
    type Tokens = A;
    fn nodes(&self) -> Vec<u32> {
        vec![self.node]
    }
    fn select(firing: &Firing<'_>, test: &mut dyn FnMut(&A) -> bool) -> Option<Option<Slot>> {
        let mut found = firing.candidates::<A>(0);
        found
            .find(|(_, token)| test(token))
            .map(|(slot, _)| Some(slot))
    }
    #[inline(always)]
    fn take(firing: &mut Firing<'_>, slot: Option<Slot>) -> Option<A> {
        firing.take_input(0, slot)
    }
}

impl<A: Token, B: Token> Inputs for (Node<A>, Node<B>) {
    type Tokens = (A, B);
    fn nodes(&self) -> Vec<u32> {
        vec![self.0.node, self.1.node]
    }
    fn select(firing: &Firing<'_>, test: &mut dyn FnMut(&(A, B)) -> bool) -> Option<Option<Slot>> {
        let mut found = firing.candidates::<A>(0);
        found
            .find(|&(slot, a)| {
                let b = firing.next_in_line::<B>(1, slot, 0);
                b.is_some_and(|b| test(&(a, b)))
            })
            .map(|(slot, _)| Some(slot))
    }
    fn take(firing: &mut Firing<'_>, slot: Option<Slot>) -> Option<(A, B)> {
        Some((firing.take_input(0, slot)?, firing.take_input(1, None)?))
    }
}

impl<A: Token, B: Token, C: Token> Inputs for (Node<A>, Node<B>, Node<C>) {
    type Tokens = (A, B, C);
    fn nodes(&self) -> Vec<u32> {
        vec![self.0.node, self.1.node, self.2.node]
    }
    fn select(
        firing: &Firing<'_>,
        test: &mut dyn FnMut(&(A, B, C)) -> bool,
    ) -> Option<Option<Slot>> {
        let mut found = firing.candidates::<A>(0);
        found
            .find(|&(slot, a)| {
                let b = firing.next_in_line::<B>(1, slot, 0);
                let c = firing.next_in_line::<C>(2, slot, usize::from(firing.same(1, 2)));
                b.zip(c).is_some_and(|(b, c)| test(&(a, b, c)))
            })
            .map(|(slot, _)| Some(slot))
    }
    fn take(firing: &mut Firing<'_>, slot: Option<Slot>) -> Option<(A, B, C)> {
        let a = firing.take_input(0, slot)?;
        Some((a, firing.take_input(1, None)?, firing.take_input(2, None)?))
    }
}

type StoreBox = Box<dyn Any + Send>;

/// The stores that a transition borrows: `()` at first, then a store, then a
/// tuple of up to twelve.
pub trait Stores: Send + 'static {
    /// Arguments of the action.
    type Refs<'a>;
    /// Arguments of the guard.
    type Views<'a>;
    #[doc(hidden)]
    fn stores(&self) -> Vec<u32>;
    #[doc(hidden)]
    fn borrow<'a>(stores: &'a mut [StoreBox], reach: &[Reach], copy: u32) -> Self::Refs<'a>;
    #[doc(hidden)]
    fn view<'a>(stores: &'a [StoreBox], reach: &[Reach], copy: u32) -> Self::Views<'a>;
}

/// Handles are typed, so a store is always of the type its handle says.
const STORE_TYPE: &str = "handles carry their store's type";

fn copy_mut<S: 'static>(store: &mut StoreBox, reach: Reach, copy: u32) -> &mut S {
    let copies: &mut Vec<S> = store.downcast_mut().expect(STORE_TYPE);
    &mut copies[reach.copy(copy) as usize]
}

fn copy_of<S: 'static>(store: &StoreBox, reach: Reach, copy: u32) -> &S {
    let copies: &Vec<S> = store.downcast_ref().expect(STORE_TYPE);
    &copies[reach.copy(copy) as usize]
}

impl Stores for () {
    type Refs<'a> = ();
    type Views<'a> = ();
    fn stores(&self) -> Vec<u32> {
        Vec::new()
    }
    fn borrow(_: &mut [StoreBox], _: &[Reach], _: u32) {}
    fn view(_: &[StoreBox], _: &[Reach], _: u32) {}
}

impl<A: Send + 'static> Stores for Store<A> {
    type Refs<'a> = &'a mut A;
    type Views<'a> = &'a A;
    fn stores(&self) -> Vec<u32> {
        vec![self.store]
    }
    fn borrow<'a>(stores: &'a mut [StoreBox], reach: &[Reach], copy: u32) -> &'a mut A {
        copy_mut(&mut stores[reach[0].index as usize], reach[0], copy)
    }
    fn view<'a>(stores: &'a [StoreBox], reach: &[Reach], copy: u32) -> &'a A {
        copy_of(&stores[reach[0].index as usize], reach[0], copy)
    }
}

macro_rules! stores_of {
    ($($kind:ident $index:tt),*) => {
        impl<$($kind: Send + 'static),*> Stores for ($(Store<$kind>,)*) {
            type Refs<'a> = ($(&'a mut $kind,)*);
            type Views<'a> = ($(&'a $kind,)*);
            fn stores(&self) -> Vec<u32> {
                vec![$(self.$index.store),*]
            }
            fn borrow<'a>(stores: &'a mut [StoreBox], reach: &[Reach], copy: u32) -> Self::Refs<'a> {
                let mut parts = stores
                    .get_disjoint_mut([$(reach[$index].index as usize),*])
                    .expect("a transition borrows each store once")
                    .map(Some);
                ($(copy_mut::<$kind>(parts[$index].take().expect(STORE_TYPE), reach[$index], copy),)*)
            }
            fn view<'a>(stores: &'a [StoreBox], reach: &[Reach], copy: u32) -> Self::Views<'a> {
                ($(copy_of::<$kind>(&stores[reach[$index].index as usize], reach[$index], copy),)*)
            }
        }
    };
}
stores_of!(A 0, B 1);
stores_of!(A 0, B 1, C 2);
stores_of!(A 0, B 1, C 2, D 3);
stores_of!(A 0, B 1, C 2, D 3, E 4);
stores_of!(A 0, B 1, C 2, D 3, E 4, F 5);
stores_of!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
stores_of!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
stores_of!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, J 8);
stores_of!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, J 8, K 9);
stores_of!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, J 8, K 9, L 10);
stores_of!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, J 8, K 9, L 10, M 11);

/// A tuple or handle with one more part.
pub trait And<X> {
    /// The longer tuple.
    type With;
    #[doc(hidden)]
    fn and(self, more: X) -> Self::With;
}

impl<X> And<X> for () {
    type With = X;
    fn and(self, more: X) -> X {
        more
    }
}

impl<A, X> And<Node<X>> for Node<A> {
    type With = (Node<A>, Node<X>);
    fn and(self, more: Node<X>) -> Self::With {
        (self, more)
    }
}

impl<A, X> And<Store<X>> for Store<A> {
    type With = (Store<A>, Store<X>);
    fn and(self, more: Store<X>) -> Self::With {
        (self, more)
    }
}

macro_rules! and {
    ($handle:ident: $($kind:ident $index:tt),*) => {
        impl<$($kind,)* X> And<$handle<X>> for ($($handle<$kind>,)*) {
            type With = ($($handle<$kind>,)* $handle<X>);
            fn and(self, more: $handle<X>) -> Self::With {
                ($(self.$index,)* more)
            }
        }
    };
}
and!(Node: A 0, B 1);
and!(Store: A 0, B 1);
and!(Store: A 0, B 1, C 2);
and!(Store: A 0, B 1, C 2, D 3);
and!(Store: A 0, B 1, C 2, D 3, E 4);
and!(Store: A 0, B 1, C 2, D 3, E 4, F 5);
and!(Store: A 0, B 1, C 2, D 3, E 4, F 5, G 6);
and!(Store: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
and!(Store: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, J 8);
and!(Store: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, J 8, K 9);
and!(Store: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, J 8, K 9, L 10);

/// A guard of some transition.
type Guard<I, S> =
    Box<dyn for<'a> Fn(&<I as Inputs>::Tokens, <S as Stores>::Views<'a>) -> bool + Send>;

/// Guard of a transition: `()` or a [`Guarded`].
pub trait Guarding<I: Inputs, S: Stores>: Sized {
    #[doc(hidden)]
    fn test(self) -> Option<Guarded<I, S>>;
}

/// The guard that [`TransitionBuilder::when`] was given.
pub struct Guarded<I: Inputs, S: Stores>(Guard<I, S>);

impl<I: Inputs, S: Stores> Guarding<I, S> for () {
    fn test(self) -> Option<Guarded<I, S>> {
        None
    }
}

impl<I: Inputs, S: Stores> Guarding<I, S> for Guarded<I, S> {
    fn test(self) -> Option<Guarded<I, S>> {
        Some(self)
    }
}

/// A transition being written down.
///
/// Declare its inputs (`take`), stores (`with`), guard (`when`) and outputs
/// (`puts`, `may_put`, `puts_many`, `puts_one_of`), then its action (`fires`).
/// The short forms are `put` and `route`.
///
/// A guard sees all that is taken and borrowed, so nothing can be taken or
/// borrowed after it:
///
/// ```compile_fail,E0599
/// let mut builder = headrace_net::Builder::new("office", 1);
/// let mut page = builder.root();
/// let letters = page.place::<u32>("letters");
/// let stamps = page.place::<u32>("stamps");
/// let _ = page
///     .transition("frank")
///     .take(letters)
///     .when(|letter, ()| *letter > 0)
///     .take(stamps);
/// ```
#[must_use = "a transition exists once it is told what to do"]
pub struct TransitionBuilder<'b, I: Inputs, S: Stores, G = ()> {
    parts: Parts<'b>,
    inputs: I,
    stores: S,
    guard: G,
}

/// Untyped parts of a transition's definition.
struct Parts<'b> {
    builder: &'b mut Builder,
    page: u32,
    name: String,
    priority: i32,
    may_take: Vec<(u32, Vec<usize>)>,
    outputs: Vec<OutputSpec>,
    groups: u32,
    rule: RuleSpec,
}

impl<'b> TransitionBuilder<'b, (), ()> {
    pub(crate) fn new(builder: &'b mut Builder, page: u32, name: &str) -> Self {
        TransitionBuilder {
            parts: Parts {
                builder,
                page,
                name: name.to_owned(),
                priority: 0,
                may_take: Vec::new(),
                outputs: Vec::new(),
                groups: 0,
                rule: RuleSpec::default(),
            },
            inputs: (),
            stores: (),
            guard: (),
        }
    }
}

impl<'b, I: Inputs> TransitionBuilder<'b, I, ()> {
    /// Borrows all these stores, and no others before them.
    pub fn with_all<S: Stores>(self, stores: S) -> TransitionBuilder<'b, I, S> {
        TransitionBuilder {
            parts: self.parts,
            inputs: self.inputs,
            stores,
            guard: (),
        }
    }
}

impl<'b, I: Inputs, S: Stores> TransitionBuilder<'b, I, S> {
    /// Takes one token from this place or station in each firing.
    pub fn take<T: Token>(self, node: Node<T>) -> TransitionBuilder<'b, I::With, S>
    where
        I: And<Node<T>>,
        I::With: Inputs,
    {
        TransitionBuilder {
            parts: self.parts,
            inputs: self.inputs.and(node),
            stores: self.stores,
            guard: (),
        }
    }

    /// Borrows this store.
    pub fn with<X: Send + 'static>(self, store: Store<X>) -> TransitionBuilder<'b, I, S::With>
    where
        S: And<Store<X>>,
        S::With: Stores,
    {
        TransitionBuilder {
            parts: self.parts,
            inputs: self.inputs,
            stores: self.stores.and(store),
            guard: (),
        }
    }

    /// Fires only for tokens and stores that pass this test. It is asked again
    /// when an input or a borrowed store changes; it must look at nothing else,
    /// not even the time.
    pub fn when<F>(self, guard: F) -> TransitionBuilder<'b, I, S, Guarded<I, S>>
    where
        F: for<'a> Fn(&I::Tokens, S::Views<'a>) -> bool + Send + 'static,
    {
        TransitionBuilder {
            parts: self.parts,
            inputs: self.inputs,
            stores: self.stores,
            guard: Guarded(Box::new(guard)),
        }
    }
}

impl<I: Inputs, S: Stores, G: Guarding<I, S>> TransitionBuilder<'_, I, S, G> {
    /// May take tokens of this bag by slot ([`Firing::take`]).
    pub fn may_take<T: Token>(mut self, bag: Node<T>) -> Self {
        self.parts.may_take.push((bag.node, Vec::new()));
        self
    }

    /// May take a token of this bag by slot and put one into `to` for it: it
    /// does both or neither.
    pub fn may_pass<T: Token, U: Token>(self, bag: Node<T>, to: impl Into<To<U>>) -> Self {
        self.may_pass_to_one_of(bag, [to.into()])
    }

    /// May take a token of this bag by slot and put one into exactly one of
    /// these for it: it does both or neither.
    pub fn may_pass_to_one_of<T: Token, U: Token, const N: usize>(
        mut self,
        bag: Node<T>,
        targets: [To<U>; N],
    ) -> Self {
        let mut outputs = Vec::new();
        for to in targets {
            let known = self
                .parts
                .outputs
                .iter()
                .position(|output| output.end == to.end);
            outputs.push(known.unwrap_or(self.parts.outputs.len()));
            if known.is_none() {
                self = self.output(to, How::Maybe);
            }
        }
        self.parts.may_take.push((bag.node, outputs));
        self
    }

    /// Fires before transitions of lower priority; 0 unless said. Among equals
    /// the one written first fires first, then the lower copy.
    pub fn priority(mut self, priority: i32) -> Self {
        self.parts.priority = priority;
        self
    }

    fn output<T: Token>(mut self, to: To<T>, how: How) -> Self {
        self.parts.outputs.push(OutputSpec {
            end: to.end,
            by: to.selector(),
            given: to.given,
            how,
            delayed: false,
        });
        self
    }

    /// Puts exactly one token here in each firing.
    pub fn puts<T: Token>(self, to: impl Into<To<T>>) -> Self {
        self.output(to.into(), How::One)
    }

    /// Puts one token here or none.
    pub fn may_put<T: Token>(self, to: impl Into<To<T>>) -> Self {
        self.output(to.into(), How::Maybe)
    }

    /// Puts any number of tokens here.
    pub fn puts_many<T: Token>(self, to: impl Into<To<T>>) -> Self {
        self.output(to.into(), How::Many)
    }

    /// Puts exactly this many tokens here in each firing.
    pub fn puts_exactly<T: Token>(self, to: impl Into<To<T>>, tokens: u32) -> Self {
        self.output(to.into(), How::Exactly(tokens))
    }

    /// Puts one token into exactly one of these.
    pub fn puts_one_of<T: Token, const N: usize>(mut self, to: [To<T>; N]) -> Self {
        let group = self.parts.groups;
        self.parts.groups += 1;
        to.into_iter()
            .fold(self, |this, to| this.output(to, How::Either(group)))
    }

    /// Widens the last [`TransitionBuilder::puts_one_of`] by a target, whose
    /// colour may differ: one token into exactly one of them all.
    pub fn or_puts<T: Token>(mut self, to: impl Into<To<T>>) -> Self {
        self.parts.groups = self.parts.groups.max(1);
        let group = self.parts.groups - 1;
        self.output(to.into(), How::Either(group))
    }

    /// The last output named gets its tokens with a delay
    /// ([`Firing::put_after`]); only drawings need to know.
    pub fn later(mut self) -> Self {
        if let Some(output) = self.parts.outputs.last_mut() {
            output.delayed = true;
        }
        self
    }

    /// Reports tokens to the discipline of this station ([`Firing::signal`]).
    pub fn signals<T: Token>(self, station: impl Into<To<T>>) -> Self {
        self.output(station.into(), How::Signal)
    }

    /// Sets the action of a firing. It gets the taken tokens and the borrowed stores, and puts the
    /// declared tokens.
    pub fn fires<F>(self, act: F)
    where
        F: for<'f, 's> Fn(&mut Firing<'f>, I::Tokens, S::Refs<'s>) + Send + 'static,
    {
        let parts = self.parts;
        let guard = self.guard.test();
        parts.builder.transitions.push(TransitionSpec {
            page: parts.page,
            name: parts.name,
            priority: parts.priority,
            guarded: guard.is_some(),
            inputs: self.inputs.nodes(),
            may_take: parts.may_take,
            stores: self.stores.stores(),
            outputs: parts.outputs,
            observed_nodes: Vec::new(),
            observed_stores: Vec::new(),
            rule: RuleSpec::default(),
            action: Box::new(TypedAction::<I, S, F> { guard, act }),
        });
    }

    /// Puts exactly one token, the one that `make` returns, into `to`.
    pub fn put<T: Token, F>(self, to: impl Into<To<T>>, make: F)
    where
        F: for<'f, 's> Fn(&mut Firing<'f>, I::Tokens, S::Refs<'s>) -> T + Send + 'static,
    {
        let to = to.into();
        self.puts(to).fires(move |firing, tokens, stores| {
            let token = make(firing, tokens, stores);
            firing.put(to, token);
        });
    }
}

impl<T: Token, S: Stores, G: Guarding<Node<T>, S>> TransitionBuilder<'_, Node<T>, S, G> {
    /// Passes the token, changed or unchanged, on to the target that `choose` returns.
    pub fn route<F, const N: usize>(self, targets: [To<T>; N], choose: F)
    where
        F: for<'f, 's> Fn(&mut Firing<'f>, &mut T, S::Refs<'s>) -> To<T> + Send + 'static,
    {
        self.puts_one_of(targets)
            .fires(move |firing, mut token, stores| {
                let to = choose(firing, &mut token, stores);
                firing.put(to, token);
            });
    }
}

impl<'b, I: Inputs, S: Stores> TransitionBuilder<'b, I, S> {
    /// Looks at these nodes and gauges of stores when it fires; those of one list together.
    pub fn observes(self, lists: Vec<Vec<Sight>>) -> Observing<'b, I, S> {
        Observing {
            transition: self,
            lists,
        }
    }
}

/// A transition being written down that looks at the state of nodes and stores.
#[must_use = "a transition exists once it is told what to do"]
pub struct Observing<'b, I: Inputs, S: Stores> {
    transition: TransitionBuilder<'b, I, S>,
    lists: Vec<Vec<Sight>>,
}

impl<I: Inputs, S: Stores> Observing<'_, I, S> {
    /// Sets the action of a firing, as [`TransitionBuilder::fires`] does; it also gets the
    /// observations before it, by list.
    pub fn fires<F>(self, act: F)
    where
        F: for<'f, 's> Fn(&mut Firing<'f>, I::Tokens, S::Refs<'s>, &[Observation]) + Send + 'static,
    {
        let Parts {
            builder,
            page,
            name,
            priority,
            may_take,
            outputs,
            ..
        } = self.transition.parts;
        let (mut observed_nodes, mut observed_stores) = (Vec::new(), Vec::new());
        for Sight(seen) in self.lists.iter().flatten() {
            match seen {
                Seen::Node { node, .. } => observed_nodes.push(*node),
                Seen::Gauge { store, .. } => observed_stores.push(*store),
            }
        }
        for ids in [&mut observed_nodes, &mut observed_stores] {
            ids.sort_unstable();
            ids.dedup();
        }
        builder.transitions.push(TransitionSpec {
            page,
            name,
            priority,
            guarded: false,
            inputs: self.transition.inputs.nodes(),
            may_take,
            stores: self.transition.stores.stores(),
            outputs,
            observed_nodes,
            observed_stores,
            rule: RuleSpec::default(),
            action: Box::new(ObservingAction {
                lists: self.lists,
                act,
                of: std::marker::PhantomData::<fn(I, S)>,
            }),
        });
    }
}

struct ObservingAction<I, S, F> {
    lists: Vec<Vec<Sight>>,
    act: F,
    of: std::marker::PhantomData<fn(I, S)>,
}

impl<I, S, F> Action for ObservingAction<I, S, F>
where
    I: Inputs,
    S: Stores,
    F: for<'f, 's> Fn(&mut Firing<'f>, I::Tokens, S::Refs<'s>, &[Observation]) + Send,
{
    fn fire(&self, firing: &mut Firing<'_>, stores: &mut [StoreBox], borrows: &[Reach]) -> bool {
        let observed = self.lists.iter().map(|list| {
            let mut seen = Observation::default();
            for Sight(it) in list {
                it.add_to(&mut seen, firing, stores);
            }
            seen
        });
        let observed: Vec<Observation> = observed.collect();
        let Some(tokens) = I::take(firing, None) else {
            return false;
        };
        let stores = S::borrow(stores, borrows, firing.copy());
        (self.act)(firing, tokens, stores, &observed);
        true
    }
}

/// A transition that finds the tokens it takes itself, for any number of inputs of one colour.
pub trait Rule: Send + 'static {
    /// Selects tokens among those that are ready at its inputs ([`Firing::ready`]), takes one from
    /// each ([`Firing::take_ready`]), and acts. False if no selection suits: then it has taken
    /// nothing, and is asked again when the ready tokens or a borrowed store change. The selection
    /// must depend on nothing else.
    fn fire(&self, firing: &mut Firing<'_>, stores: &mut Borrowed<'_>) -> bool;

    /// Firings a second of a [timed](TransitionBuilder::timed) transition in this marking; 0 if
    /// no selection suits.
    fn rate(&self, _: &mut Firing<'_>, _: &Borrowed<'_>) -> f64 {
        0.0
    }
}

/// The stores that a [`Rule`] borrows, in the order in which the transition named them.
pub struct Borrowed<'a> {
    stores: &'a mut [StoreBox],
    reach: &'a [Reach],
    copy: u32,
}

impl Borrowed<'_> {
    /// A store.
    pub fn get<S: 'static>(&self, index: usize) -> &S {
        let reach = self.reach[index];
        copy_of(&self.stores[reach.index as usize], reach, self.copy)
    }

    /// A store, to change it.
    pub fn get_mut<S: 'static>(&mut self, index: usize) -> &mut S {
        let reach = self.reach[index];
        copy_mut(&mut self.stores[reach.index as usize], reach, self.copy)
    }
}

struct RuleAction<R>(R);

impl<R: Rule> Action for RuleAction<R> {
    fn fire(&self, firing: &mut Firing<'_>, stores: &mut [StoreBox], reach: &[Reach]) -> bool {
        let copy = firing.copy();
        let mut stores = Borrowed {
            stores,
            reach,
            copy,
        };
        self.0.fire(firing, &mut stores)
    }

    fn rate(&self, firing: &mut Firing<'_>, stores: &mut [StoreBox], reach: &[Reach]) -> f64 {
        let copy = firing.copy();
        let stores = Borrowed {
            stores,
            reach,
            copy,
        };
        self.0.rate(firing, &stores)
    }
}

impl TransitionBuilder<'_, (), ()> {
    /// Leaves the tokens of this input of a [`Rule`], by its position, where they are.
    pub fn reads(mut self, input: usize) -> Self {
        self.parts.rule.reads.push(input);
        self
    }

    /// May not fire while a node has this number of tokens inside, or more. `asks` says that the
    /// rule looks at them itself, whenever one leaves.
    pub fn inhibited_by<T: Token>(mut self, node: Node<T>, tokens: u32, asks: bool) -> Self {
        self.parts.rule.inhibitors.push((node.node, tokens, asks));
        self
    }

    /// Removes all ready tokens of a node in each firing ([`Firing::take_all`]).
    pub fn resets<T: Token>(mut self, node: Node<T>) -> Self {
        self.parts.rule.resets.push(node.node);
        self.may_take(node)
    }

    /// Fires at the rate of its [`Rule`], when no other transition may fire. Timed transitions
    /// race: the time to the next firing is exponential, with the sum of their rates.
    pub fn timed(mut self) -> Self {
        self.parts.rule.is_timed = true;
        self
    }

    /// Takes one token from each of these nodes, as a rule selects them, and borrows these stores.
    /// `guarded` says that the rule may refuse tokens that are ready.
    pub fn rule<T: Token, S: Send + 'static>(
        self,
        inputs: &[Node<T>],
        stores: &[Store<S>],
        guarded: bool,
        rule: impl Rule,
    ) {
        let parts = self.parts;
        parts.builder.transitions.push(TransitionSpec {
            page: parts.page,
            name: parts.name,
            priority: parts.priority,
            guarded,
            inputs: inputs.iter().map(|node| node.node).collect(),
            may_take: parts.may_take,
            stores: stores.iter().map(|store| store.store).collect(),
            outputs: parts.outputs,
            observed_nodes: Vec::new(),
            observed_stores: Vec::new(),
            rule: RuleSpec {
                is_rule: true,
                ..parts.rule
            },
            action: Box::new(RuleAction(rule)),
        });
    }
}

struct TypedAction<I: Inputs, S: Stores, F> {
    guard: Option<Guarded<I, S>>,
    act: F,
}

impl<I, S, F> Action for TypedAction<I, S, F>
where
    I: Inputs,
    S: Stores,
    F: for<'f, 's> Fn(&mut Firing<'f>, I::Tokens, S::Refs<'s>) + Send,
{
    fn fire(&self, firing: &mut Firing<'_>, stores: &mut [StoreBox], borrows: &[Reach]) -> bool {
        let slot = match &self.guard {
            None => None,
            Some(Guarded(guard)) => {
                let mut test =
                    |tokens: &I::Tokens| guard(tokens, S::view(stores, borrows, firing.copy()));
                match I::select(firing, &mut test) {
                    None => return false,
                    Some(slot) => slot,
                }
            }
        };
        let Some(tokens) = I::take(firing, slot) else {
            return false;
        };
        (self.act)(firing, tokens, S::borrow(stores, borrows, firing.copy()));
        true
    }
}
