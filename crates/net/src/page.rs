//! Writing a net down: pages, places, stations, stores and ports.

use std::any::type_name;
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::accounts::WaitId;
use crate::arc::CopyPlaces;
use crate::builder::{
    Builder, Direction, End, NodeSpec, PageSpec, StoreGauge, StoreLevel, StoreSpec,
};
use crate::discipline::{Bank, Discipline};
use crate::error::BuildError;
use crate::handles::{EndId, Node, Port, Store, TallyId, To};
use crate::node::NodeOf;
use crate::observation::{Seen, Sight};
use crate::random::stream_key;
use crate::tally::Tally;
use crate::token::{TOKEN_BYTES, Token};
use crate::transition::TransitionBuilder;

/// Source that `Page::connect` joins to a target: a port (an alias, at no cost) or a node. From a
/// node, a transition passes tokens on as they get ready.
pub trait Source<T: Token> {
    /// Makes the connection.
    fn connect(self, page: &mut Page<'_>, to: To<T>);
}

impl<T: Token> Source<T> for Port<T> {
    fn connect(self, page: &mut Page<'_>, to: To<T>) {
        let builder = &mut *page.builder;
        let selector = to.selector();
        let End::Port { bound, .. } = &mut builder.ends[self.end.0 as usize] else {
            return;
        };
        if bound.is_some() {
            let path = builder.end_path(self.end);
            builder.error(BuildError::PortBoundTwice { path });
        } else {
            *bound = Some((to.end, selector));
        }
    }
}

impl<T: Token> Source<T> for Node<T> {
    fn connect(self, page: &mut Page<'_>, to: To<T>) {
        let name = format!("{} →", page.builder.end_name(self.end));
        page.transition(&name)
            .take(self)
            .put(to, |_, token, ()| token);
    }
}

impl Builder {
    /// The outermost page.
    pub fn root(&mut self) -> Page<'_> {
        Page {
            builder: self,
            page: 0,
        }
    }

    /// A page that has been opened before, to write more into it: transitions between nodes of
    /// pages beside each other.
    pub fn reopen(&mut self, page: PageId) -> Page<'_> {
        Page {
            builder: self,
            page: page.0,
        }
    }
}

/// A page that has been opened, to open it again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageId(u32);

/// A page being written down.
pub struct Page<'b> {
    pub(crate) builder: &'b mut Builder,
    pub(crate) page: u32,
}

impl Page<'_> {
    /// The page's number, for [`Builder::reopen`].
    pub fn id(&self) -> PageId {
        PageId(self.page)
    }

    /// Number of copies of this page in all.
    #[expect(
        clippy::misnamed_getters,
        reason = "those of the pages around it count too"
    )]
    pub fn copies(&self) -> u32 {
        self.builder.pages[self.page as usize].total
    }

    /// The seed of the net's random streams.
    pub fn seed(&self) -> u64 {
        self.builder.seed
    }

    fn claim(&mut self, name: &str) -> String {
        let page = &mut self.builder.pages[self.page as usize];
        let path = format!("{}/{}", page.path, name);
        if !page.names.insert(name.to_owned()) {
            self.builder
                .error(BuildError::NameTwice { path: path.clone() });
        }
        path
    }

    /// A page within this one, written by `write`.
    pub fn page<R>(&mut self, name: &str, write: impl FnOnce(&mut Page<'_>) -> R) -> R {
        self.inner(name, 1, false, write)
    }

    /// `copies` equal pages within this one, written once. Tokens that enter
    /// choose their copy ([`Port::by`]).
    pub fn fold<R>(
        &mut self,
        name: &str,
        copies: u32,
        write: impl FnOnce(&mut Page<'_>) -> R,
    ) -> R {
        self.inner(name, copies, true, write)
    }

    fn inner<R>(
        &mut self,
        name: &str,
        copies: u32,
        folded: bool,
        write: impl FnOnce(&mut Page<'_>) -> R,
    ) -> R {
        let path = self.claim(name);
        let total = self.copies().checked_mul(copies).filter(|&total| total > 0);
        if total.is_none() {
            self.builder.error(BuildError::Copies {
                path: path.clone(),
                copies,
            });
        }
        let page = self.builder.pages.len() as u32;
        self.builder.pages.push(PageSpec {
            name: name.to_owned(),
            path,
            parent: Some(self.page),
            copies,
            folded,
            total: total.unwrap_or(1),
            names: BTreeSet::new(),
        });
        write(&mut Page {
            builder: self.builder,
            page,
        })
    }

    fn node<T: Token>(&mut self, name: &str, bag: bool, bank: Option<Box<dyn Bank<T>>>) -> Node<T> {
        const {
            assert!(
                size_of::<T>() <= TOKEN_BYTES,
                "a token has at most 64 bytes; put the rest into a store"
            )
        }
        let path = self.claim(name);
        let node = self.builder.nodes.len() as u32;
        let end = EndId(self.builder.ends.len() as u32);
        let key = stream_key(self.builder.seed, &path);
        let copies = self.copies();
        self.builder.ends.push(End::Node { node });
        self.builder
            .nodes
            .push(Box::new(NodeOf::new(node, key, copies, bag, bank)));
        self.builder.node_specs.push(NodeSpec {
            page: self.page,
            name: name.to_owned(),
            end,
            colour: short_name(type_name::<T>()).into(),
            bag,
            sink: false,
            rest: false,
            filled: false,
            conserved: false,
        });
        Node {
            end,
            node,
            colour: PhantomData,
        }
    }

    /// A place, first in, first out.
    ///
    /// A token of more than [`TOKEN_BYTES`] does not compile:
    ///
    /// ```compile_fail,E0080
    /// let mut builder = headrace_net::Builder::new("office", 1);
    /// let mut page = builder.root();
    /// let heavy = page.place::<[u64; 9]>("heavy");
    /// ```
    pub fn place<T: Token>(&mut self, name: &str) -> Node<T> {
        self.node(name, false, None)
    }

    /// A place whose tokens may leave in any order: by the guard they pass, or
    /// by the slot that [`Firing::put`](crate::Firing::put) gave.
    pub fn bag<T: Token>(&mut self, name: &str) -> Node<T> {
        self.node(name, true, None)
    }

    /// A station with the same discipline in every copy.
    pub fn station<T: Token, D>(&mut self, name: &str, discipline: D) -> Node<T>
    where
        D: Discipline<T> + Clone,
    {
        self.stations(name, |_| discipline.clone())
    }

    /// A station whose discipline may differ between copies.
    pub fn stations<T: Token, D: Discipline<T>>(
        &mut self,
        name: &str,
        discipline: impl FnMut(u32) -> D,
    ) -> Node<T> {
        let bank: Vec<D> = (0..self.copies()).map(discipline).collect();
        self.node(name, false, Some(Box::new(bank)))
    }

    /// A store, made once for each copy of this page.
    pub fn store<S: Send + 'static>(&mut self, name: &str, make: impl FnMut(u32) -> S) -> Store<S> {
        self.claim(name);
        let stores: Vec<S> = (0..self.copies()).map(make).collect();
        let store = self.builder.stores.len() as u32;
        self.builder.stores.push(Box::new(stores));
        self.builder.store_specs.push(StoreSpec {
            page: self.page,
            name: name.to_owned(),
        });
        Store {
            store,
            kind: PhantomData,
        }
    }

    /// Registers the level of a store, from 0 to 1, like the level of a discipline
    /// ([`Discipline::level`](crate::Discipline::level)): the mean of its copies.
    pub fn level<S: Send + 'static>(
        &mut self,
        store: Store<S>,
        of: impl Fn(&S) -> f64 + Send + 'static,
    ) {
        let spec = &self.builder.store_specs[store.store as usize];
        let path = format!(
            "{}/{}",
            self.builder.pages[spec.page as usize].path, spec.name
        );
        self.builder.levels.push(StoreLevel {
            path,
            store: store.store,
            of: Box::new(move |copies| {
                let copies: Option<&Vec<S>> = copies.downcast_ref();
                copies.map_or(0.0, |all| {
                    all.iter().map(&of).sum::<f64>() / all.len() as f64
                })
            }),
        });
    }

    /// Registers a number of a store, such as the hits of a cache or its dirty bytes. Reports and
    /// playback show it ([`Net::gauges`](crate::Net::gauges)), and transitions can observe it
    /// ([`Page::gauges_within`]). It is read on request. `part` is the part of the store that it
    /// belongs to, such as "page cache".
    pub fn gauge<S: Send + 'static>(
        &mut self,
        store: Store<S>,
        part: &str,
        name: &'static str,
        of: impl Fn(&S) -> u64 + Send + Sync + 'static,
    ) {
        let page = self.builder.store_specs[store.store as usize].page;
        self.builder.gauges.push(StoreGauge {
            page,
            path: self.part_of(page, part),
            name,
            store: store.store,
            of: Arc::new(move |copies, which, read| {
                let Some(copies) = copies.downcast_ref::<Vec<S>>() else {
                    return;
                };
                let copies = which.map_or(&copies[..], |which| &copies[which]);
                copies.iter().map(&of).for_each(read);
            }),
        });
    }

    /// The gauges of stores with this part and name, in this page and those within it, as far as
    /// they have been written.
    pub fn gauges_within(&self, part: &str, name: &str) -> Vec<Sight> {
        let gauges = self.builder.gauges.iter();
        let gauges = gauges.filter(|it| it.name == name && it.path == self.part_of(it.page, part));
        gauges
            .filter_map(|it| {
                let (store, per) = (it.store, self.copies_within(it.page)?);
                let of = Arc::clone(&it.of);
                Some(Sight(Seen::Gauge { store, per, of }))
            })
            .collect()
    }

    /// The places and stations with this name, in this page and those within it, as far as they
    /// have been written.
    pub fn nodes_within(&self, name: &str) -> Vec<Sight> {
        let nodes = (0_u32..).zip(&self.builder.node_specs);
        let named = nodes.filter(|(_, spec)| spec.name == name);
        named
            .filter_map(|(node, spec)| {
                let per = self.copies_within(spec.page)?;
                Some(Sight(Seen::Node { node, per }))
            })
            .collect()
    }

    /// The path of a part of a page.
    fn part_of(&self, page: u32, part: &str) -> String {
        format!("{}/{part}", self.builder.pages[page as usize].path)
    }

    /// Copies of a page within one copy of this one; none if it is not within.
    fn copies_within(&self, page: u32) -> Option<u32> {
        let pages = &self.builder.pages;
        let mut around = std::iter::successors(Some(page), |&it| pages[it as usize].parent);
        around
            .any(|it| it == self.page)
            .then(|| pages[page as usize].total / self.copies())
    }

    fn port<T: Token>(&mut self, name: &str, direction: Direction) -> Port<T> {
        self.claim(name);
        let end = EndId(self.builder.ends.len() as u32);
        self.builder.ends.push(End::Port {
            page: self.page,
            name: name.to_owned(),
            direction,
            bound: None,
        });
        Port {
            end,
            colour: PhantomData,
        }
    }

    /// A way in: this page connects it to one of its nodes, others put into it.
    pub fn input<T: Token>(&mut self, name: &str) -> Port<T> {
        self.port(name, Direction::Input)
    }

    /// A way out: this page puts into it, the one around connects it.
    pub fn output<T: Token>(&mut self, name: &str) -> Port<T> {
        self.port(name, Direction::Output)
    }

    /// One input for those of several folded pages of this page, whose copies are numbered as those
    /// of one page. `places` gives for each number its page, by the place among `inputs`, and the
    /// copy of that page. Tokens choose a number ([`Port::by`]).
    pub fn union<T: Token>(
        &mut self,
        name: &str,
        inputs: &[Port<T>],
        places: &CopyPlaces,
    ) -> Port<T> {
        self.claim(name);
        let end = EndId(self.builder.ends.len() as u32);
        self.builder.ends.push(End::Union {
            page: self.page,
            name: name.to_owned(),
            inputs: inputs.iter().map(|port| port.end).collect(),
            places: places.clone(),
        });
        Port {
            end,
            colour: PhantomData,
        }
    }

    /// One output for those of several pages of this page.
    pub fn merge<T: Token>(&mut self, name: &str, outputs: &[Port<T>]) -> Port<T> {
        let merged = self.port(name, Direction::Output);
        for &output in outputs {
            self.connect(output, merged);
        }
        merged
    }

    /// Leads a port to a target; or passes tokens from a node on to a target
    /// as they get ready.
    ///
    /// Both must have one colour, which the compiler sees to:
    ///
    /// ```compile_fail,E0277
    /// let mut builder = headrace_net::Builder::new("office", 1);
    /// let mut page = builder.root();
    /// let letters = page.place::<u32>("letters");
    /// let parcels = page.place::<u64>("parcels");
    /// page.connect(letters, parcels);
    /// ```
    pub fn connect<T: Token>(&mut self, from: impl Source<T>, to: impl Into<To<T>>) {
        from.connect(self, to.into());
    }

    /// A transition: declare the tokens it takes, the stores it borrows and the tokens it puts,
    /// then its action.
    pub fn transition(&mut self, name: &str) -> TransitionBuilder<'_, (), ()> {
        self.claim(name);
        TransitionBuilder::new(&mut *self.builder, self.page, name)
    }

    /// Tokens that are there when the run starts, for each copy of the node.
    pub fn tokens<T: Token, I>(
        &mut self,
        node: Node<T>,
        mut tokens: impl FnMut(u32) -> I + Send + 'static,
    ) where
        I: IntoIterator<Item = T>,
    {
        let spec = &mut self.builder.node_specs[node.node as usize];
        spec.filled = true;
        let copies = self.builder.pages[spec.page as usize].total;
        self.builder.initial.push(Box::new(move |nodes, kernel| {
            let nodes = crate::node::typed_mut::<T>(&mut *nodes[node.node as usize]);
            for copy in 0..copies {
                for token in tokens(copy) {
                    nodes.arrive(copy, token, kernel);
                }
            }
        }));
    }

    /// Names a node's colour in drawings, if its type does not.
    pub fn name_colour<T: Token>(&mut self, node: Node<T>, name: &str) {
        self.builder.node_specs[node.node as usize].colour = name.to_owned().into();
    }

    /// Tokens end here: nothing needs to take them.
    pub fn sink<T: Token>(&mut self, node: Node<T>) {
        let spec = &mut self.builder.node_specs[node.node as usize];
        spec.sink = true;
        spec.rest = true;
    }

    /// Tokens may stay here when everything else has stopped: finished
    /// processes, idle credits. Anywhere else they would be a deadlock.
    pub fn rest<T: Token>(&mut self, node: Node<T>) {
        self.builder.node_specs[node.node as usize].rest = true;
    }

    /// Tokens here are neither lost nor made: the net does not compile unless
    /// an invariant covers this node.
    pub fn conserve<T: Token>(&mut self, node: Node<T>) {
        self.builder.node_specs[node.node as usize].conserved = true;
    }

    /// A wait that is no place, to book time on that accounts spend on the way or in stores.
    pub fn wait(&mut self, name: &str) -> WaitId {
        let path = self.claim(name);
        let wait = WaitId(self.builder.waits.len() as u32);
        self.builder.waits.push(path);
        wait
    }

    /// A tally to [`record`](crate::Firing::record) figures in.
    pub fn tally(&mut self, name: &str) -> TallyId {
        let path = self.claim(name);
        let tally = TallyId(self.builder.tallies.len() as u32);
        self.builder.tallies.push(Tally::new(path));
        tally
    }
}

/// The last part of a type's path: the colour's name.
fn short_name(name: &'static str) -> &'static str {
    name.rsplit("::").next().unwrap_or(name)
}
