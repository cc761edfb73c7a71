//! The page of a mounted file system: its calls, and the pages of its parts.
//!
//! ```text
//!   request ─▶ [call] ─▶ (processor) ─▶ [go on]   as [call], again
//!                 ├────▶ complete
//!                 ├────▶ page cache, flusher or journal, to wait there ····▶ ready ─▶ [resume]
//!                 └────▶ (device) ─▶ [arrived] ─▶ page cache, flusher or journal
//!   kernel calls ─▶ [begin] ─▶ flusher or journal
//!   timers set ─▶ [set timer] ─▶ flusher or journal
//!   signals ─▶ [pass on] ─▶ flusher or journal
//! ```
//!
//! A call is on the processor, is throttled at the dirty limit, or waits for the device, for reads
//! in flight, or for a commit. Each transition advances a call by a step, or lets an event change
//! the file system ([`Step`]). It puts the resulting tokens ([`Effects`]) at once. Calls wait in
//! the page of the part that they wait for. Only transitions of that page, or of the page around
//! it, take them from there: others send it a [`Signal`].

use headrace_net::{
    Account, Firing, Inputs, Node, Page, Slot, Span, Stores, To, TransitionBuilder,
};
use headrace_trace::Operation;

use super::call::{Call, Caller, Stage};
use super::callers::Callers;
use super::flusher_page::{self, FlusherPorts};
use super::journal_page::{self, JournalPorts};
use super::page_cache_page::{self, PageCachePorts};
use super::volume::{Effects, NO_FILE, Next, Step, Tick, Wait};
use super::volume_stores::VolumeStores;
use super::waiting::{BAGS, Bag, BagTargets, Bags, Signal};
use crate::iosched::BlockDevice;
use crate::tokens::{Extent, ReleasedLock, Request, Transfer};

/// The ways in and out of a volume's page, from inside.
pub(super) struct InnerPorts {
    pub new: Node<Request>,
    pub complete: To<Request>,
    pub processor: To<Call>,
    pub processed: Node<Call>,
    pub callers: Callers,
    /// Locks to be given up, and where they go when nothing is cached under them.
    pub locks: Option<(Node<ReleasedLock>, To<ReleasedLock>)>,
}

/// The volume's state that its parts need.
#[derive(Clone, Copy)]
pub(super) struct Mounted<S> {
    /// Its number on its machine.
    pub number: usize,
    pub stores: S,
    /// Time between two looks of the flusher for old pages, and of the journal at the age of its
    /// transaction; none without a journal.
    pub flush_interval: Span,
    pub commit_interval: Option<Span>,
}

/// Places of a volume's page, to which the pages of its parts put.
#[derive(Clone, Copy)]
pub(super) struct Places {
    /// Calls of processes that go on.
    pub ready: Node<Call>,
    pub processor: To<Call>,
    /// Calls of the kernel's own that begin, or go on.
    pub kernel: Node<Call>,
    /// Periodic work to be scheduled.
    timers: Node<Tick>,
    /// To waiters in other pages.
    signals: Node<Signal>,
    requests: Node<Request>,
    complete: To<Request>,
    device: BlockDevice,
    given_up: Option<To<ReleasedLock>>,
    transfers: Node<Call>,
    kernel_waiting: Node<Call>,
}

/// Where the transitions of a page can put calls, and which they can take.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    places: Places,
    bags: Bags,
    ways: BagTargets,
    throttled: Option<To<Call>>,
}

impl Places {
    /// The bags that the page of a part can reach: those of the volume's page, and its own.
    pub fn scope(self, own: &[(Bag, Node<Call>)]) -> Scope {
        let volume = [
            (Bag::Transfers, self.transfers),
            (Bag::Kernel, self.kernel_waiting),
        ];
        let (mut bags, mut ways) = (Bags::default(), [None; BAGS]);
        for &(bag, node) in volume.iter().chain(own) {
            bags = bags.with(bag, node);
            ways[bag as usize] = Some(node.into());
        }
        Scope {
            places: self,
            bags,
            ways,
            throttled: None,
        }
    }
}

impl Scope {
    /// A transition has the effects of a step.
    pub fn effects<'b, I: Inputs, S: Stores>(
        &self,
        transition: TransitionBuilder<'b, I, S>,
    ) -> TransitionBuilder<'b, I, S> {
        let bags = self.bags.nodes();
        bags.fold(transition, |transition, bag| transition.may_take(bag))
            .puts_many(self.places.ready)
            .puts_many(self.places.device.submit)
            .puts_many(self.places.kernel)
            .puts_many(self.places.timers)
            .puts_many(self.places.signals)
    }

    /// A transition goes a step with a call, which then waits or is done.
    pub fn steps<'b, I: Inputs, S: Stores>(
        &self,
        transition: TransitionBuilder<'b, I, S>,
    ) -> TransitionBuilder<'b, I, S> {
        let ways = self.ways.into_iter().flatten();
        let transition = ways.fold(transition, |transition, way| transition.may_put(way));
        self.effects(transition)
    }

    /// A transition goes a step with a process's call.
    fn steps_of_processes<'b, I: Inputs, S: Stores>(
        &self,
        transition: TransitionBuilder<'b, I, S>,
    ) -> TransitionBuilder<'b, I, S> {
        let Places {
            processor,
            requests,
            complete,
            ..
        } = self.places;
        let transition = transition.may_put(processor).may_pass(requests, complete);
        let throttled = self.throttled.into_iter();
        let transition = throttled.fold(transition, |transition, to| transition.may_put(to));
        self.steps(transition)
    }

    /// Writes the transition that ends transfers of a part.
    pub fn end_transfers<S: VolumeStores>(
        self,
        page: &mut Page<'_>,
        name: &str,
        done: Node<Transfer>,
        mounted: Mounted<S>,
    ) {
        let ends = page.transition(name).take(done).with_all(mounted.stores);
        self.effects(ends)
            .fires(move |firing, transfer: Transfer, parts| {
                self.arrived(firing, &transfer, S::step(parts, mounted.number));
            });
    }

    /// Writes the transition of a part's periodic work.
    pub fn look<S: VolumeStores>(
        self,
        page: &mut Page<'_>,
        name: &str,
        due: Node<Tick>,
        mounted: Mounted<S>,
    ) {
        let looks = page.transition(name).take(due).with_all(mounted.stores);
        self.effects(looks).fires(move |firing, tick: Tick, parts| {
            let mut step = S::step(parts, mounted.number);
            step.tick(tick, firing.now());
            self.carry_out(firing, &step.effects, firing.account());
        });
    }

    /// Goes on with a call until it has to leave.
    pub fn proceed(&self, firing: &mut Firing<'_>, mut call: Call, mut step: Step<'_>) {
        let account = firing.account();
        loop {
            match step.proceed(&mut call, firing.now()) {
                Next::Work(Span::ZERO) => {}
                Next::Work(time) => {
                    call.time = time;
                    firing.put(self.places.processor, call);
                    break;
                }
                Next::Pause(time) => {
                    call.time = time;
                    if let Some(throttled) = self.throttled {
                        firing.put(throttled, call);
                    }
                    break;
                }
                Next::Wait(wait) => {
                    call.transfers = step.effects.own().count() as u32;
                    if wait == Wait::Transfers && call.transfers == 0 {
                        continue;
                    }
                    self.wait(firing, call, wait, &mut step);
                    break;
                }
                Next::Return => {
                    let request = firing.take(self.places.requests, Slot(call.request));
                    if let Some(request) = request {
                        firing.put(self.places.complete, request);
                    }
                    break;
                }
                Next::End => {
                    if let (Caller::Lock, Some(given_up)) = (call.caller, self.places.given_up) {
                        firing.put(given_up, given_up_by(&call));
                    }
                    break;
                }
            }
        }
        self.carry_out(firing, &step.effects, account);
    }

    /// A call waits, unless its condition holds already.
    fn wait(&self, firing: &mut Firing<'_>, call: Call, wait: Wait, step: &mut Step<'_>) {
        let bag = Bag::of(call.caller, wait);
        let Some(way) = self.ways[bag as usize].filter(|_| step.has_to_wait(wait)) else {
            self.go_on(firing, call);
            return;
        };
        let waiter = bag.waiter(firing.put(way, call));
        for transfer in step.effects.own() {
            transfer.owner = Some(waiter);
        }
        step.register(wait, waiter);
    }

    /// Has the net do what a step wants done; what its call waits for is for `account`.
    pub fn carry_out(&self, firing: &mut Firing<'_>, effects: &Effects, account: Account) {
        if effects.is_empty() {
            return;
        }
        for &transfer in &effects.transfers {
            firing.charge(match transfer.owner {
                Some(_) => account,
                None => Account::NOBODY,
            });
            firing.put(self.places.device.submit, transfer);
        }
        firing.charge(Account::NOBODY);
        for &call in &effects.calls {
            firing.put(self.places.kernel, call);
        }
        for &tick in &effects.ticks {
            firing.put(self.places.timers, tick);
        }
        self.wake(firing, &effects.woken);
    }

    /// Calls that waited for something else than their transfers go on.
    fn wake(&self, firing: &mut Firing<'_>, woken: &[u32]) {
        for &waiter in woken {
            self.wake_one(firing, waiter);
        }
    }

    /// A waiting call goes on.
    pub fn wake_one(&self, firing: &mut Firing<'_>, waiter: u32) {
        let taken = self.bags.take(firing, waiter);
        self.taken(firing, taken);
    }

    /// A transfer is done: the call that made it has one less to wait for.
    pub fn transfer_done(&self, firing: &mut Firing<'_>, waiter: u32) {
        let taken = self.bags.transfer_done(firing, waiter);
        self.taken(firing, taken);
    }

    fn taken(&self, firing: &mut Firing<'_>, taken: Result<Option<Call>, Signal>) {
        match taken {
            Ok(Some(call)) => self.go_on(firing, call),
            Ok(None) => {}
            Err(signal) => {
                firing.put(self.places.signals, signal);
            }
        }
    }

    fn go_on(&self, firing: &mut Firing<'_>, call: Call) {
        let of_the_kernel = matches!(
            call.caller,
            Caller::Flusher | Caller::Journal | Caller::Checkpoint
        );
        let to = match of_the_kernel {
            true => self.places.kernel,
            false => self.places.ready,
        };
        firing.put(to, call);
    }

    /// A transfer has come back from the device.
    pub fn arrived(&self, firing: &mut Firing<'_>, transfer: &Transfer, mut step: Step<'_>) {
        let account = firing.account();
        step.arrived(transfer, firing.now());
        if let Some(owner) = transfer.owner {
            self.transfer_done(firing, owner);
        }
        // Calls of the kernel's own go before those that were waiting for others.
        if step.effects.calls.is_empty() {
            self.wake(firing, &std::mem::take(&mut step.effects.woken));
        }
        self.carry_out(firing, &step.effects, account);
    }
}

/// Writes the net of one volume; gives what its transitions reach.
pub(super) fn volume<S: VolumeStores>(
    page: &mut Page<'_>,
    mounted: Mounted<S>,
    device: BlockDevice,
    ways: InnerPorts,
) -> Scope {
    let places = Places {
        ready: page.place("ready"),
        processor: ways.processor,
        kernel: page.place("kernel calls"),
        timers: page.place("timers set"),
        signals: page.place("signals"),
        requests: page.bag("requests"),
        complete: ways.complete,
        device,
        given_up: ways.locks.map(|(_, given_up)| given_up),
        transfers: page.bag("waiting for the device"),
        kernel_waiting: page.bag("kernel waiting"),
    };
    page.conserve(places.requests);
    let cache = page.page("page cache", |page| {
        page_cache_page::write(page, places, mounted)
    });
    let flusher = page.page("flusher", |page| flusher_page::write(page, places, mounted));
    let journal = mounted
        .commit_interval
        .map(|_| page.page("journal", |page| journal_page::write(page, places, mounted)));
    let scope = scope_of_calls(places, cache, flusher, journal);
    calls(page, scope, ways, mounted);
    let intervals = (mounted.flush_interval, mounted.commit_interval);
    passing_on(page, places, intervals, cache, flusher, journal);
    scope
}

/// The bags that the transitions of the volume's page reach: they put calls into all of them.
fn scope_of_calls(
    places: Places,
    cache: PageCachePorts,
    flusher: FlusherPorts,
    journal: Option<JournalPorts>,
) -> Scope {
    let mut scope = places.scope(&[]);
    scope.throttled = Some(flusher.throttle.into());
    let mut way = |bag: Bag, to: To<Call>| scope.ways[bag as usize] = Some(to);
    way(Bag::Pages, cache.wait.into());
    way(Bag::WriteBack, flusher.wait_for_write_back.into());
    way(Bag::DirtyRoom, flusher.wait_for_room.into());
    if let Some(journal) = journal {
        way(Bag::Commit, journal.wait_for_commit.into());
        way(Bag::JournalRoom, journal.wait_for_room.into());
        way(Bag::JournalTransfer, journal.wait_for_transfer.into());
    }
    scope
}

/// Writes the transitions of calls.
fn calls<S: VolumeStores>(
    page: &mut Page<'_>,
    scope: Scope,
    ways: InnerPorts,
    mounted: Mounted<S>,
) {
    let Places { requests, .. } = scope.places;
    let Mounted { number, stores, .. } = mounted;
    let InnerPorts {
        new,
        processed,
        callers,
        locks,
        ..
    } = ways;
    let call = page.transition("call").take(new).with_all(stores);
    scope
        .steps_of_processes(call.puts(requests))
        .fires(move |firing, request: Request, parts| {
            let step = S::step(parts, number);
            let slot = firing.put(requests, request);
            let mut call = call_of(&request, slot, &callers);
            call.uncached |= (step.mount.remote.as_ref()).is_some_and(|it| it.passes(call.file));
            scope.proceed(firing, call, step);
        });
    for (name, from, is_processed) in [
        ("go on", processed, true),
        ("resume", scope.places.ready, false),
    ] {
        let transition = page.transition(name).take(from).with_all(stores);
        let transition = scope.steps_of_processes(transition);
        let transition = match scope.places.given_up {
            Some(given_up) => transition.may_put(given_up),
            None => transition,
        };
        transition.fires(move |firing, mut call: Call, parts| {
            let step = S::step(parts, number);
            if is_processed {
                call.time = Span::ZERO;
            }
            scope.proceed(firing, call, step);
        });
    }
    if let Some((locks, given_up)) = locks {
        let transition = page.transition("give up").take(locks).with_all(stores);
        scope.steps(transition.may_put(given_up)).fires(
            move |firing, lock: ReleasedLock, parts| {
                let step = S::step(parts, number);
                scope.proceed(firing, revocation_call(&lock), step);
            },
        );
    }
}

/// Writes how transfers, calls of the kernel's own, timers and signals come to the pages of the
/// parts.
fn passing_on(
    page: &mut Page<'_>,
    places: Places,
    (flush_interval, commit_interval): (Span, Option<Span>),
    cache: PageCachePorts,
    flusher: FlusherPorts,
    journal: Option<JournalPorts>,
) {
    let Some((journal, commit_interval)) = journal.zip(commit_interval) else {
        page.transition("arrived").take(places.device.done).route(
            [cache.read.into(), flusher.written.into()],
            move |_, transfer, ()| match transfer.operation {
                Operation::Read if transfer.file != NO_FILE => cache.read.into(),
                _ => flusher.written.into(),
            },
        );
        page.connect(places.kernel, flusher.work);
        page.connect(places.signals, flusher.room);
        page.transition("set timer")
            .take(places.timers)
            .priority(1)
            .puts(flusher.timer)
            .later()
            .fires(move |firing, tick: Tick, ()| {
                firing.put_after(flusher.timer, tick, flush_interval);
            });
        return;
    };
    page.transition("arrived").take(places.device.done).route(
        [
            cache.read.into(),
            flusher.written.into(),
            journal.logged.into(),
        ],
        move |_, transfer, ()| match transfer.operation {
            _ if transfer.file == NO_FILE => journal.logged.into(),
            Operation::Read => cache.read.into(),
            _ => flusher.written.into(),
        },
    );
    // Before anything else happens: these are of the last step.
    page.transition("begin")
        .take(places.kernel)
        .priority(1)
        .route(
            [flusher.work.into(), journal.commit.into()],
            move |_, call, ()| match call.caller {
                Caller::Flusher => flusher.work.into(),
                _ => journal.commit.into(),
            },
        );
    page.transition("set timer")
        .take(places.timers)
        .priority(1)
        .puts_one_of([flusher.timer.into(), journal.timer.into()])
        .later()
        .fires(move |firing, tick: Tick, ()| {
            let (to, interval) = match tick {
                Tick::WriteBack => (flusher.timer, flush_interval),
                Tick::Commit => (journal.timer, commit_interval),
            };
            firing.put_after(to, tick, interval);
        });
    page.transition("pass on")
        .take(places.signals)
        .priority(1)
        .route(
            [flusher.room.into(), journal.transferred.into()],
            move |_, signal, ()| match Bag::found(signal.waiter).0 {
                Bag::Committing => journal.transferred.into(),
                _ => flusher.room.into(),
            },
        );
}

fn call_of(request: &Request, slot: Slot, callers: &Callers) -> Call {
    let reads_or_writes = matches!(request.operation, Operation::Read | Operation::Write);
    let size = if reads_or_writes { request.size } else { 0 };
    Call {
        request: slot.0,
        process: callers.number(request.process),
        file: request.file,
        transfers: 0,
        at: request.offset,
        end: request.offset.saturating_add(size),
        size,
        time: Span(u64::from(request.compute) * 1000),
        made: false,
        workload: request.process.workload as u16,
        volume: request.volume,
        operation: request.operation,
        stage: Stage::Entered,
        caller: match request.only_computes() {
            true => Caller::Computation,
            false => Caller::Process,
        },
        uncached: request.mode.is_direct(),
        synchronous: request.mode.is_synchronous(),
        data_only: request.mode.is_data_only(),
        forces_log: false,
        piece: 0,
    }
}

/// Creates the call that writes back data before a lock is released.
fn revocation_call(lock: &ReleasedLock) -> Call {
    let Extent {
        file,
        object,
        start,
        end,
    } = lock.extent;
    Call {
        request: lock.number,
        process: 0,
        file,
        transfers: 0,
        at: start,
        end,
        // It has no size, but room for the object.
        size: u64::from(object.index) << 32 | u64::from(object.target),
        time: Span::ZERO,
        made: false,
        workload: u16::MAX,
        volume: 0,
        operation: Operation::Sync,
        stage: Stage::Entered,
        uncached: false,
        synchronous: false,
        data_only: false,
        forces_log: false,
        piece: 0,
        caller: Caller::Lock,
    }
}

/// The lock that a call was made for.
fn given_up_by(call: &Call) -> ReleasedLock {
    ReleasedLock {
        number: call.request,
        extent: call.lock(),
    }
}
