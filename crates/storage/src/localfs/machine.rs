//! A machine whose processes use a local file system, or several.
//!
//! ```text
//!   request ─▶ [call] ─▶ (processor)   ─▶ [go on]   as [call], again
//!                 ├────▶ (throttled)   ─▶ [let go]  as [call], again
//!                 ├────▶ complete
//!                 └────▶ errands ─▶ [carry out] ─▶ waiting ····▶ ready ─▶ [resume]
//!                           ▲            └───────▶ (device) ─▶ [arrived] ─▶ errands
//! ```
//!
//! A call is on the processor, throttled because it dirtied too much, or waits for the device, for
//! pages that are being read, or for a commit. What becomes of it is decided by the state of the
//! file system ([`Volume`]). Waiting calls lie in bags by what they wait for, so that the time
//! spent there tells what holds the processes back; calls of the kernel's own lie apart.
//!
//! With further volumes all this stands in a page for each, around one processor:
//!
//! ```text
//!   request ─▶ [mount point] ─▶ volume ×n ─▶ (processor) ─▶ [return] ─▶ volume ×n
//! ```
//!
//! Not modelled: volumes that share the page cache as they need it (each that a
//! workload uses has an equal part); the dirty limits are common.

use headrace_net::{
    Account, Fcfs, Firing, Infinite, Inputs, Node, Page, Port, Random, Slot, Span, Store, To,
    Token, TransitionBuilder,
};
use headrace_spec::{Cpu, Machine};
use headrace_trace::Operation;

use super::active_inactive_lru::ActiveInactiveLru;
use super::call::{Call, Caller, Stage};
use super::callers::{Callers, StoredFile};
use super::volume::{Next, SELF, Tick, Volume, Wait};
use super::volume_stores::VolumeStores;
use crate::device;
use crate::failure::{Crash, Failing};
use crate::iosched::BlockDevice;
use crate::tokens::{Extent, GivenUp, Request, Transfer};

/// A machine's ways in and out.
#[derive(Clone, Copy)]
pub struct MachinePorts {
    /// Input of its processes' requests.
    pub request: Port<Request>,
    /// Output of completed requests.
    pub complete: Port<Request>,
    /// Place where a data server's machine loses its memory.
    pub forget: Option<Port<Crash>>,
}

/// Places for the tokens of a volume.
#[derive(Clone, Copy)]
struct Places {
    /// The volume's number.
    volume: usize,
    ready: Node<Call>,
    processor: To<Call>,
    throttled: Node<Call>,
    waiting: Bags,
    requests: Node<Request>,
    complete: To<Request>,
    device: BlockDevice,
    tick: Node<Tick>,
    dispatches: Node<Dispatch>,
    given_up: Option<To<GivenUp>>,
}

/// The file system wants something done: calls to wait or to go on, transfers to
/// be made. What it is lies in the store.
#[derive(Clone, Copy)]
pub(super) struct Dispatch;

/// Waiting calls by what they wait for. A waiter is known by its bag and its slot
/// there, in one number.
#[derive(Clone, Copy)]
struct Bags([Node<Call>; 4]);

/// Bits of a waiter that are its slot.
const SLOT_BITS: u32 = 30;

impl Bags {
    fn new(page: &mut Page<'_>) -> Bags {
        Bags([
            page.bag("waiting for the device"),
            page.bag("waiting for a commit"),
            page.bag("waiting for dirty pages"),
            page.bag("kernel waiting"),
        ])
    }

    /// Puts a call where it waits.
    fn put(self, firing: &mut Firing<'_>, call: Call, wait: Wait) -> u32 {
        let bag: u32 = match (call.caller, wait) {
            (Caller::Flusher | Caller::Journal | Caller::Checkpoint | Caller::Lock, _) => 3,
            (_, Wait::Transfers | Wait::Page(..) | Wait::Written(_)) => 0,
            (_, Wait::Commit(_) | Wait::JournalRoom | Wait::Logged(_)) => 1,
            (_, Wait::DirtyRoom) => 2,
        };
        let slot = firing.put(self.0[bag as usize], call);
        (bag << SLOT_BITS) | slot.0
    }

    fn of(self, waiter: u32) -> (Node<Call>, Slot) {
        let bag = self.0[(waiter >> SLOT_BITS) as usize];
        (bag, Slot(waiter & ((1 << SLOT_BITS) - 1)))
    }
}

/// The file systems of a machine.
pub struct Volumes {
    list: Vec<Volume>,
    /// Dirty bytes of file systems that are not modelled.
    others: u64,
}

impl Volumes {
    /// One alone.
    pub(super) fn one(volume: Volume) -> Volumes {
        Volumes {
            list: vec![volume],
            others: 0,
        }
    }

    /// Drops the clean cached data of a file.
    pub(crate) fn forget_clean(&mut self, file: u32) {
        for volume in &mut self.list {
            volume.cache.forget_clean(file);
            volume.marks.retain(|&(other, _)| other != file);
        }
    }

    /// A volume, told how much the others have that is dirty and which part of all
    /// that was written it wrote (the kernel forgets slowly what was long ago: its
    /// part of the last seconds).
    pub(super) fn at(&mut self, number: usize) -> &mut Volume {
        if self.list.len() > 1 {
            let all: u64 = self.list.iter().map(|it| it.dirty + it.writing).sum();
            let written: u64 = self.list.iter().map(|it| it.balance.written()).sum();
            let own = &mut self.list[number];
            own.others = self.others + all - own.dirty - own.writing;
            if written > 0 {
                own.balance.share = own.balance.written() as f64 / written as f64;
            }
        }
        &mut self.list[number]
    }
}

/// Writes the page of a machine: who calls it, and the files that each copy has
/// before the run.
pub fn machine(
    page: &mut Page<'_>,
    spec: &Machine,
    callers: &Callers,
    files: impl Fn(u32) -> Vec<StoredFile>,
    failing: Option<Failing>,
) -> MachinePorts {
    let mut ports = MachinePorts {
        request: page.input("request"),
        complete: page.output("complete"),
        forget: None,
    };
    let volumes = page.store("file system", |copy| volumes(spec, callers, &files(copy)));
    let room = spec.memory.page_cache().max(1) as f64;
    page.level(volumes, move |all: &Volumes| {
        let levels = all.list.iter().map(|it| {
            // Only pages that are used again make a difference to what comes later.
            let warm = match it.cache.active_bytes() > 0 {
                true => it.cache.bytes(),
                false => 0,
            };
            (it.dirty + it.writing + warm) as f64
        });
        levels.sum::<f64>() / room
    });
    let new = page.place::<Request>("new");
    page.connect(ports.request, new);
    let specs = specs_of(spec);
    if let [spec] = specs.as_slice() {
        let device = device::queued(page, &spec.device, &spec.io_scheduler);
        let processor = processor(page, &spec.cpu);
        let dispatches = only_volume(
            page,
            volumes,
            device,
            processor,
            (new, ports.complete),
            callers,
            None,
        );
        ports.forget = failing.map(|it| forget(page, it, volumes, dispatches));
        return ports;
    }
    let processor = processor(page, &spec.cpu);
    let done = page.place::<Request>("done");
    page.connect(done, ports.complete);
    let mut mounted = Vec::new();
    for (number, spec) in specs.iter().enumerate() {
        mounted.push(page.page(&format!("volume {number}"), |page| {
            let mount = Mount {
                request: page.input("request"),
                complete: page.output("complete"),
                processor: page.output("processor"),
                processed: page.input("back"),
            };
            let ways = InnerPorts {
                new: page.place("new"),
                complete: mount.complete.into(),
                processor: mount.processor.into(),
                processed: page.place("processed"),
                callers: callers.clone(),
                locks: None,
            };
            page.connect(mount.request, ways.new);
            page.connect(mount.processed, ways.processed);
            let device = device::queued(page, &spec.device, &spec.io_scheduler);
            volume(page, number, volumes, device, ways);
            mount
        }));
    }
    for mount in &mounted {
        page.connect(mount.complete, done);
        page.connect(mount.processor, processor);
    }
    let requests: Vec<To<Request>> = mounted.iter().map(|it| it.request.into()).collect();
    let calls: Vec<To<Call>> = mounted.iter().map(|it| it.processed.into()).collect();
    let to = requests.clone();
    choose(page.transition("mount point").take(new), &requests).fires(
        move |firing, request: Request, ()| {
            firing.put(to[usize::from(request.volume)], request);
        },
    );
    let to = calls.clone();
    choose(page.transition("return").take(processor), &calls).fires(
        move |firing, call: Call, ()| {
            firing.put(to[usize::from(call.volume)], call);
        },
    );
    ports
}

/// A volume's page's ways in and out.
#[derive(Clone, Copy)]
struct Mount {
    request: Port<Request>,
    complete: Port<Request>,
    processor: Port<Call>,
    processed: Port<Call>,
}

/// The same, from inside.
struct InnerPorts {
    pub new: Node<Request>,
    pub complete: To<Request>,
    pub processor: To<Call>,
    pub processed: Node<Call>,
    pub callers: Callers,
    /// Locks to be given up, and where they go when nothing is cached under them.
    pub locks: Option<(Node<GivenUp>, To<GivenUp>)>,
}

/// A machine's cores.
pub(super) fn processor(page: &mut Page<'_>, cpu: &Cpu) -> Node<Call> {
    let time = |call: &Call, _: &mut Random<'_>| call.time;
    page.station("processor", Fcfs::new(cpu.cores, time))
}

/// Writes the volume of a machine that has no other.
pub(super) fn only_volume(
    page: &mut Page<'_>,
    stores: impl VolumeStores,
    device: BlockDevice,
    processor: Node<Call>,
    (new, complete): (Node<Request>, Port<Request>),
    callers: &Callers,
    locks: Option<(Node<GivenUp>, To<GivenUp>)>,
) -> Node<Dispatch> {
    let ways = InnerPorts {
        new,
        complete: complete.into(),
        processor: processor.into(),
        processed: processor,
        callers: callers.clone(),
        locks,
    };
    volume(page, 0, stores, device, ways)
}

/// Place where a data server's machine loses its memory.
fn forget(
    page: &mut Page<'_>,
    failing: Failing,
    volumes: Store<Volumes>,
    dispatches: Node<Dispatch>,
) -> Port<Crash> {
    let crash = page.input("crash");
    let crashed = page.place("crashed");
    page.connect(crash, crashed);
    page.transition("lose memory")
        .take(crashed)
        .with(volumes)
        .with(failing.store)
        .may_put(dispatches)
        .fires(move |firing, crash: Crash, (volumes, failures)| {
            let volume = volumes.at(0);
            failures.world.hosts.forgets(crash.server, volume.crash());
            if volume.wants_something() {
                firing.put(dispatches, Dispatch);
            }
        });
    crash
}

/// Each volume as a machine with that alone.
fn specs_of(spec: &Machine) -> Vec<Machine> {
    let mut specs = vec![spec.clone()];
    specs.extend(spec.volumes().iter().map(|volume| Machine {
        file_system: volume.file_system.clone(),
        io_scheduler: volume.io_scheduler.clone(),
        device: volume.device.clone(),
        ..spec.clone()
    }));
    specs
}

/// Writes the net of one volume.
fn volume<S: VolumeStores>(
    page: &mut Page<'_>,
    number: usize,
    stores: S,
    device: BlockDevice,
    ways: InnerPorts,
) -> Node<Dispatch> {
    let time = |call: &Call, _: &mut Random<'_>| call.time;
    let places = Places {
        volume: number,
        ready: page.place("ready"),
        processor: ways.processor,
        throttled: page.station("throttled", Infinite(time)),
        waiting: Bags::new(page),
        requests: page.bag("requests"),
        complete: ways.complete,
        device,
        tick: page.place("timer"),
        dispatches: page.place("errands"),
        given_up: ways.locks.map(|(_, given_up)| given_up),
    };
    page.rest(places.tick);
    page.conserve(places.requests);

    page.transition("call")
        .take(ways.new)
        .with_all(stores)
        .puts(places.requests)
        .may_put(places.processor)
        .may_put(places.throttled)
        .may_put(places.dispatches)
        .may_pass(places.requests, places.complete)
        .fires(move |firing, request: Request, stores| {
            let slot = firing.put(places.requests, request);
            let mut call = call_of(&request, slot, &ways.callers);
            S::step(stores, places.volume, |volume| {
                call.uncached = (volume.remote.as_ref()).is_some_and(|it| it.passes(call.file));
                proceed(firing, call, volume, places);
            });
        });
    for (name, from, spent, processed) in [
        ("go on", ways.processed, true, true),
        ("let go", places.throttled, true, false),
        ("resume", places.ready, false, false),
    ] {
        let transition = page
            .transition(name)
            .take(from)
            .with_all(stores)
            .may_put(places.processor)
            .may_put(places.throttled)
            .may_put(places.dispatches)
            .may_pass(places.requests, places.complete);
        let transition = match places.given_up {
            Some(given_up) => transition.may_put(given_up),
            None => transition,
        };
        transition.fires(move |firing, mut call: Call, stores| {
            if spent {
                call.time = Span::ZERO;
            }
            S::step(stores, places.volume, |volume| {
                if processed {
                    volume.copying -= u32::from(volume.copies(&call));
                }
                proceed(firing, call, volume, places);
            });
        });
    }
    if let Some((locks, given_up)) = ways.locks {
        page.transition("give up")
            .take(locks)
            .with_all(stores)
            .may_put(given_up)
            .may_put(places.dispatches)
            .fires(move |firing, lock: GivenUp, stores| {
                S::step(stores, places.volume, |volume| {
                    proceed(firing, revocation_call(&lock), volume, places);
                });
            });
    }
    let bags = places.waiting.0.into_iter();
    bags.fold(
        page.transition("arrived")
            .take(places.device.done)
            .with_all(stores),
        |transition, bag| transition.may_take(bag),
    )
    .puts_many(places.ready)
    .may_put(places.dispatches)
    .fires(move |firing, transfer: Transfer, stores| {
        S::step(stores, places.volume, |volume| {
            volume.done_for.extend(transfer.owner);
            volume.arrived(&transfer, firing.now());
            // Calls of the kernel's own go before those that were waiting for others.
            if volume.spawned.is_empty() {
                done(firing, volume, places);
                wake(firing, volume, places);
            }
            send_for(firing, volume, places);
        });
    });
    page.transition("periodic")
        .take(places.tick)
        .with_all(stores)
        .may_put(places.dispatches)
        .fires(move |firing, tick: Tick, stores| {
            S::step(stores, places.volume, |volume| {
                volume.tick(tick, firing.now());
                send_for(firing, volume, places);
            });
        });
    // Before anything else happens: what is to be done is of the last step.
    let bags = places.waiting.0.into_iter();
    bags.fold(
        page.transition("carry out")
            .take(places.dispatches)
            .with_all(stores)
            .priority(1),
        |transition, bag| transition.may_put(bag).may_take(bag),
    )
    .puts_many(places.ready)
    .puts_many(places.device.submit)
    .puts_many(places.tick)
    .later()
    .fires(move |firing, _, stores| {
        S::step(stores, places.volume, |volume| {
            dispatch(firing, volume, places)
        });
    });
    places.dispatches
}

/// A token goes to one of several.
fn choose<'b, I: Inputs, T: Token>(
    transition: TransitionBuilder<'b, I, ()>,
    to: &[To<T>],
) -> TransitionBuilder<'b, I, ()> {
    let transition = transition.puts_one_of::<T, 0>([]);
    to.iter()
        .fold(transition, |transition, &to| transition.or_puts(to))
}

/// The file systems as the run finds them.
fn volumes(spec: &Machine, callers: &Callers, files: &[StoredFile]) -> Volumes {
    let specs = specs_of(spec);
    // Volumes that nobody uses take no part.
    let number = u64::from(callers.volumes.count_ones().max(1));
    let list = (0..).zip(&specs).map(|(at, spec)| {
        let mut volume = mounted(spec, callers);
        volume.number = at;
        if number > 1 {
            let memory = &spec.memory;
            let room = memory.page_cache() / number;
            volume.cache = ActiveInactiveLru::new(room, memory.page.0, memory.active_share);
        }
        for file in files.iter().filter(|file| file.volume == at) {
            volume.add_file(file);
        }
        volume
    });
    Volumes {
        list: list.collect(),
        others: spec.write_back.others.0,
    }
}

/// A file system that is empty.
fn mounted(spec: &Machine, callers: &Callers) -> Volume {
    let capacity = device::capacity(&spec.device);
    let largest = spec.io_scheduler.largest_request.0;
    Volume::new(spec, capacity, largest, callers)
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
        caller: match request.only_computes {
            true => Caller::Computation,
            false => Caller::Process,
        },
        uncached: false,
        piece: 0,
    }
}

/// Creates the call that writes back data before a lock is released.
fn revocation_call(lock: &GivenUp) -> Call {
    let Extent {
        file,
        target,
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
        // Of no size, it has room for the target.
        size: u64::from(target),
        time: Span::ZERO,
        made: false,
        workload: u16::MAX,
        volume: 0,
        operation: Operation::Sync,
        stage: Stage::Entered,
        uncached: false,
        piece: 0,
        caller: Caller::Lock,
    }
}

/// The lock that a call was made for.
fn given_up_by(call: &Call) -> GivenUp {
    GivenUp {
        number: call.request,
        extent: call.lock(),
    }
}

/// Goes on with a call until it has to leave.
fn proceed(firing: &mut Firing<'_>, mut call: Call, volume: &mut Volume, places: Places) {
    loop {
        match volume.proceed(&mut call, firing.now()) {
            Next::Work(Span::ZERO) => {}
            Next::Work(time) => {
                call.time = time;
                volume.copying += u32::from(volume.copies(&call));
                firing.put(places.processor, call);
                break;
            }
            Next::Pause(time) => {
                call.time = time;
                firing.put(places.throttled, call);
                break;
            }
            Next::Wait(wait) => {
                let own = |transfer: &&Transfer| transfer.owner == Some(SELF);
                call.transfers = volume.out.iter().filter(own).count() as u32;
                if wait == Wait::Transfers && call.transfers == 0 {
                    continue;
                }
                volume.waits = Some((call, wait));
                break;
            }
            Next::Return => {
                if let Some(request) = firing.take(places.requests, Slot(call.request)) {
                    firing.put(places.complete, request);
                }
                break;
            }
            Next::End => {
                if let (Caller::Lock, Some(given_up)) = (call.caller, places.given_up) {
                    firing.put(given_up, given_up_by(&call));
                }
                break;
            }
        }
    }
    send_for(firing, volume, places);
}

/// Sends for what the file system wants done, if anything.
fn send_for(firing: &mut Firing<'_>, volume: &Volume, places: Places) {
    if volume.wants_something() {
        firing.put(places.dispatches, Dispatch);
    }
}

/// Does what the file system wants done.
fn dispatch(firing: &mut Firing<'_>, volume: &mut Volume, places: Places) {
    let account = firing.account();
    if let Some((call, wait)) = volume.waits.take() {
        let waiter = places.waiting.put(firing, call, wait);
        let own = |transfer: &&mut Transfer| transfer.owner == Some(SELF);
        for transfer in volume.out.iter_mut().filter(own) {
            transfer.owner = Some(waiter);
        }
        volume.register(wait, waiter);
    }
    done(firing, volume, places);
    for transfer in volume.out.drain(..) {
        firing.charge(match transfer.owner {
            Some(_) => account,
            None => Account::NOBODY,
        });
        firing.put(places.device.submit, transfer);
    }
    firing.charge(Account::NOBODY);
    for call in volume.spawned.drain(..) {
        firing.put(places.ready, call);
    }
    wake(firing, volume, places);
    for tick in volume.ticks.drain(..) {
        firing.put_after(places.tick, tick, volume.periods[tick as usize]);
    }
}

/// Calls whose transfers are done have one less to wait for.
fn done(firing: &mut Firing<'_>, volume: &mut Volume, places: Places) {
    for waiter in volume.done_for.drain(..) {
        let (bag, slot) = places.waiting.of(waiter);
        let call = firing.token_mut(bag, slot);
        call.transfers -= 1;
        if call.transfers == 0
            && let Some(call) = firing.take(bag, slot)
        {
            firing.put(places.ready, call);
        }
    }
}

/// Calls that waited for something else go on.
fn wake(firing: &mut Firing<'_>, volume: &mut Volume, places: Places) {
    for waiter in volume.woken.drain(..) {
        let (bag, slot) = places.waiting.of(waiter);
        if let Some(call) = firing.take(bag, slot) {
            firing.put(places.ready, call);
        }
    }
}
