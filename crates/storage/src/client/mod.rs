//! A client: finds where the data of a request is, splits the request into one job a server, and
//! collects the answers. It takes no time itself.
//!
//! ```text
//!   request ─▶ [map] ─ known ─▶ [split] ─ jobs ─▶ send
//!                └─ ask ─▶ (asking) …            (outstanding) …
//!   received ─▶ [collect] ─ the last job ─▶ complete
//!                └─ an answer ─▶ [split] or, for names, complete
//! ```
//!
//! With a cache of its own (`clients.machine`), located requests go to the cache, and what the
//! cache asks of the servers is split:
//!
//! ```text
//!   request ─▶ [map] ─ known ─▶ machine ─▶ complete
//!                └─ ask ─▶ …       │  ▲
//!                    send ◀─ [split]  [collect] ◀─ received
//! ```
//!
//! | stage | field | module |
//! | --- | --- | --- |
//! | page cache above the servers | `clients.machine` | `localfs/client_page_cache.rs` |
//! | attributes valid for a time, as in NFS | `clients.machine.attributes` | [`attributes`] |
//! | opportunistic locks, as in CIFS | `clients.machine.attributes` | [`oplocks`] |
//! | locks on bytes of files, as in Lustre | `locks` | [`locks`] |
//! | queue of jobs for each server or target | `clients.rpc.in_flight` | [`in_flight`] |
//! | choice of a copy | `replication.read_from` | `nearest_replica` |
//!
//! Without attributes or locks, cached data stays valid after other clients' writes, and no client
//! flushes data for other readers. Names go to the metadata servers, with and without a cache. A
//! removed file leaves the cache of the client that removed it.
//!
//! Not modelled: the requests by which clients learn the size of a file; the processor time of a
//! client without a `clients.machine`; clients of two systems together.

mod attributes;
mod cached_client;
pub(crate) mod in_flight;
mod known_layouts;
mod locks;
mod metadata_rpc;
mod nearest_replica;
mod oplocks;
mod split;
mod uncached_client;

pub use attributes::Changes;
pub use known_layouts::KnownLayouts;
pub use oplocks::BreakPorts;

use headrace_net::{Firing, Node, Page, Port, Slot, Store, Time, To};
use headrace_spec::{ClientMachine, Parallel, Scenario};
use headrace_trace::{Group, Operation};
use headrace_workload::Directories;

use self::attributes::Attributes;
use self::metadata_rpc::MetadataRpc;
use self::oplocks::Breaking;
use crate::cache_counts::{self, CacheCounts};
use crate::duplex::Duplex;
use crate::host_pages::HostNumbers;
use crate::layout::{FirstTargets, Layouts};
use crate::localfs::{Callers, Sizes};
use crate::locks::{LockSet, Oplocks};
use crate::measure::Recorder;
use crate::network::ClientPorts;
use crate::tokens::{Job, Message, ReleasedLock, Request};

/// State of the run that clients know.
#[derive(Clone)]
pub struct ClientContext {
    /// The clients' numbers.
    pub numbers: HostNumbers,
    /// Open flags of files.
    pub callers: Callers,
    /// File sizes.
    pub sizes: Store<Sizes>,
    /// Directories of the files.
    pub directories: Directories,
    /// Number of times they have been changed, if clients have caches.
    pub changes: Option<Store<Changes>>,
    /// Layouts of the files.
    pub layouts: Layouts,
    /// First targets of the files.
    pub first_targets: Store<FirstTargets>,
    /// Recorder of the run.
    pub recorder: Store<Recorder>,
    /// Cache permissions of the files, if oplocks are modelled.
    pub oplocks: Option<Store<Oplocks>>,
}

/// File state of one client.
#[derive(Clone, Default)]
struct ClientFiles {
    /// Files whose layout is known.
    layouts: KnownLayouts,
    /// None if it keeps none: there can be a million clients.
    attributes: Option<Box<Attributes>>,
    /// Data requests that found their file's layout known, and those that did not.
    known_layouts: u64,
    unknown_layouts: u64,
}

impl ClientFiles {
    /// Counts of the layouts: one for each data request.
    fn layout_counts(&self) -> CacheCounts {
        CacheCounts {
            hits: self.known_layouts,
            misses: self.unknown_layouts,
            ..CacheCounts::default()
        }
    }

    fn attribute_counts(&self) -> CacheCounts {
        let attributes = self.attributes.as_ref();
        attributes.map_or_else(CacheCounts::default, |it| it.counts())
    }

    /// Returns the metadata request that must precede a request, if any.
    fn question(
        &mut self,
        request: &Request,
        now: Time,
        oplocks: Option<&mut Oplocks>,
    ) -> Option<Operation> {
        let (operation, file) = (request.operation, request.file);
        if request.only_computes() {
            return None;
        }
        // The rest of the time of closing is writeback.
        if operation == Operation::Close {
            let told = oplocks.is_some_and(|it| it.close(file, request.process.client));
            return told.then_some(operation);
        }
        if operation.group() != Group::Data {
            let attributes = self.attributes.as_mut();
            let known = attributes.is_some_and(|it| it.answer(operation, file, now))
                || oplocks.is_some_and(|it| {
                    needs_no_message(operation) && it.holds(file, request.process.client)
                });
            return (!known).then_some(operation);
        }
        if !self.layouts.contains(file) {
            self.unknown_layouts += 1;
            return Some(Operation::Open);
        }
        self.known_layouts += 1;
        let checked = operation != Operation::Read
            || (self.attributes.as_mut()).is_none_or(|it| it.let_read(file, now));
        (!checked).then_some(Operation::Stat)
    }
}

/// Returns the bytes that the answer to an open brings: up to the end of a read, if the metadata
/// server has the whole file. Source: mdt_dom_read_on_open of lustre/mdt/mdt_io.c.
fn brought_by_open(layouts: &Layouts, request: &Request) -> u64 {
    let end = request.offset.saturating_add(request.size);
    match request.operation {
        Operation::Read if end <= layouts.of(request.file).on_metadata() => end,
        _ => 0,
    }
}

/// Returns true if an operation on a name needs no message under a lock.
fn needs_no_message(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::Open | Operation::Stat | Operation::Readlink
    )
}

/// Writes the page of a client: requests come in by `request` and go out by
/// `complete` when they are done.
pub fn client(
    page: &mut Page<'_>,
    scenario: &Scenario,
    parallel: &Parallel,
    context: &ClientContext,
    request: Port<Request>,
    complete: Port<Request>,
    network: ClientPorts,
) -> Option<BreakPorts> {
    let questions = MetadataRpc::new(parallel, &context.directories);
    let keeps = parallel.metadata.client_cache;
    let cache = scenario.clients.machine();
    let attributes = cache.and_then(|cache| cache.attributes.timed());
    let attributes = attributes.map(|spec| {
        let attributes = Attributes::new(spec, &context.directories);
        Box::new(attributes)
    });
    let known = page.store("files known", |_| ClientFiles {
        attributes: attributes.clone(),
        ..ClientFiles::default()
    });
    if keeps {
        cache_counts::report(
            page,
            known,
            "layout cache",
            ClientFiles::layout_counts,
            None,
        );
    }
    if attributes.is_some() {
        cache_counts::report(
            page,
            known,
            "attribute cache",
            ClientFiles::attribute_counts,
            None,
        );
    }

    let new = page.place::<Request>("new");
    let mapped = page.place::<Request>("mapped");
    let asking = page.bag::<Request>("asking");
    page.conserve(asking);
    page.connect(request, new);

    let ask = network.ask;
    let layouts = context.layouts.clone();
    let on_metadata = layouts.all().any(|layout| layout.on_metadata() > 0);
    let map = page
        .transition("map")
        .take(new)
        .with(known)
        .puts_one_of([mapped.into(), asking.into()])
        .puts_many(ask);
    let find = move |firing: &mut Firing<'_>,
                     request: Request,
                     known: &mut ClientFiles,
                     mut oplocks: Option<&mut Oplocks>| {
        let now = firing.now();
        if let Some(operation) = known.question(&request, now, oplocks.as_deref_mut()) {
            let size = match on_metadata && operation == Operation::Open {
                true => brought_by_open(&layouts, &request),
                false => 0,
            };
            questions.ask(firing, (asking, ask), request, operation, size);
            return;
        }
        if let Some(oplocks) = oplocks {
            match request.operation {
                Operation::Write => oplocks.write(request.file),
                Operation::Open => oplocks.open_again(request.file, request.process.client),
                _ => {}
            }
        }
        firing.put(mapped, request);
    };
    match context.oplocks {
        None => map.fires(move |firing, request, known| find(firing, request, known, None)),
        Some(oplocks) => {
            map.with(oplocks)
                .fires(move |firing, request, (known, oplocks)| {
                    find(firing, request, known, Some(oplocks));
                });
        }
    }
    let (ready, done, flushed, held) = match (parallel.locks.extent(), network.locks) {
        (Some(spec), Some(ways)) => {
            let done = page.place("done");
            let flushed: Option<(Node<ReleasedLock>, Node<ReleasedLock>)> =
                cache.map(|_| (page.place("locks to give up"), page.place("flushed")));
            let ways = locks::LockPorts {
                server: ways,
                flushed,
            };
            let through = (mapped, done);
            let (locked, held) =
                locks::locks(page, parallel, spec, context, through, complete, ways);
            (locked, done.into(), flushed, Some(held))
        }
        _ => (mapped, complete.into(), None, None),
    };
    let answers = AnswerHandler {
        known,
        new,
        asking,
        mapped,
        ready,
        flushed,
        keeps,
        breaking: None,
        // A cache forgets files that are removed.
        names: match cache {
            Some(_) => mapped.into(),
            None => complete.into(),
        },
    };
    let ports = DataPorts {
        network: network.data,
        ask: on_metadata.then_some(ask),
        answers,
        complete: done,
    };
    match cache.zip(context.changes) {
        None => {
            uncached_client::data(page, scenario, parallel, context, ports);
            None
        }
        Some((cache, changes)) => {
            let own = CacheSpec {
                machine: cache,
                changes,
                held,
            };
            cached_client::data(page, scenario, parallel, context, own, ports)
        }
    }
}

/// Ways of requests whose data has been found.
#[derive(Clone, Copy)]
struct DataPorts {
    /// To the servers and back.
    network: Duplex,
    /// To the metadata servers, if some data lies there.
    ask: Option<To<Job>>,
    answers: AnswerHandler,
    complete: To<Request>,
}

/// A client's cache, and the stores that it borrows besides those of all clients.
#[derive(Clone, Copy)]
struct CacheSpec<'a> {
    machine: &'a ClientMachine,
    /// Number of times files have been changed.
    changes: Store<Changes>,
    /// The client's locks on parts of files, if there are any.
    held: Option<Store<LockSet>>,
}

/// Handler of a metadata server's replies.
#[derive(Clone, Copy)]
struct AnswerHandler {
    known: Store<ClientFiles>,
    new: Node<Request>,
    asking: Node<Request>,
    mapped: Node<Request>,
    /// Requests that can continue to the data.
    ready: Node<Request>,
    /// Locks whose data must be flushed, and their destination afterwards.
    flushed: Option<(Node<ReleasedLock>, Node<ReleasedLock>)>,
    keeps: bool,
    breaking: Option<Breaking>,
    names: To<Request>,
}

impl AnswerHandler {
    /// An answer arrives; returns the file whose cached data is invalid, if there is one.
    fn take(
        self,
        firing: &mut Firing<'_>,
        known: &mut ClientFiles,
        changes: Option<&mut Changes>,
        mut oplocks: Option<&mut Oplocks>,
        answer: &Job,
    ) -> Option<u32> {
        let slot = Slot(answer.request);
        let asking = firing.token_mut(self.asking, slot);
        if answer.message == Message::Failed {
            asking.fail();
        }
        if !metadata_rpc::is_last_answer(asking) {
            return None;
        }
        let mut request = firing.take(self.asking, slot)?;
        if request.has_failed() {
            firing.put(self.names, request);
            return None;
        }
        if metadata_rpc::is_looked_up(&request) {
            firing.put(self.new, request);
            return None;
        }
        request.pending = 0;
        let file = request.file;
        let comes_back = answer.operation == Operation::Open
            && (oplocks.as_deref_mut())
                .is_some_and(|it| it.comes_back(file, request.process.client));
        let attributes = known.attributes.as_mut().zip(changes);
        let stale = attributes.is_some_and(|(it, changes)| {
            it.name_answered(answer.operation, file, request.issued, changes)
        });
        let stale = stale || comes_back;
        let data = request.operation.group() == Group::Data;
        if data && self.keeps {
            known.layouts.insert(file);
        }
        let request = match (self.breaking, oplocks) {
            (Some(breaking), Some(oplocks)) if answer.operation == Operation::Open => {
                breaking.opened(firing, oplocks, request)
            }
            _ => Some(request),
        };
        if let Some(request) = request {
            // Data that lies on the metadata server has come with the answer.
            let goes_on = data && answer.size == 0;
            firing.put(
                if goes_on {
                    self.mapped.into()
                } else {
                    self.names
                },
                request,
            );
        }
        stale.then_some(file)
    }
}
