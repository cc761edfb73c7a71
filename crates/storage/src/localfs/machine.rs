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
    Account, Fcfs, Firing, Infinite, Inputs, Node, Page, Port, Random, Slot, Span, Store, Stores,
    To, Token, TransitionBuilder,
};
use headrace_spec::{Cpu, Machine};
use headrace_trace::Operation;

use super::call::{Call, Caller, Stage};
use super::callers::{Callers, StoredFile};
use super::volume::{Next, Step, Tick, Volume, Wait};
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
pub(super) struct Places {
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
    given_up: Option<To<GivenUp>>,
}

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

impl Bags {
    /// A transition takes waiting calls.
    fn may_take<'b, I: Inputs, S: Stores>(
        self,
        transition: TransitionBuilder<'b, I, S>,
    ) -> TransitionBuilder<'b, I, S> {
        let bags = self.0.into_iter();
        bags.fold(transition, |transition, bag| transition.may_take(bag))
    }
}

impl Places {
    /// A transition has the effects of a step.
    fn effects<'b, I: Inputs, S: Stores>(
        self,
        transition: TransitionBuilder<'b, I, S>,
    ) -> TransitionBuilder<'b, I, S> {
        let transition = self.waiting.may_take(transition);
        transition
            .puts_many(self.ready)
            .puts_many(self.device.submit)
            .puts_many(self.tick)
            .later()
    }

    /// A transition goes a step with a call, which then is elsewhere.
    fn steps<'b, I: Inputs, S: Stores>(
        self,
        transition: TransitionBuilder<'b, I, S>,
    ) -> TransitionBuilder<'b, I, S> {
        let transition = transition.may_put(self.processor).may_put(self.throttled);
        let bags = self.waiting.0.into_iter();
        let transition = bags.fold(transition, |transition, bag| transition.may_put(bag));
        self.effects(transition)
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
            volume.pages.forget_clean(file);
        }
    }

    /// A volume, told how much the others have that is dirty and which part of all
    /// that was written it wrote (the kernel forgets slowly what was long ago: its
    /// part of the last seconds).
    fn at(&mut self, number: usize) -> &mut Volume {
        if self.list.len() > 1 {
            let all: u64 = self.list.iter().map(|it| it.flusher.load()).sum();
            let written = self.list.iter().map(|it| it.flusher.bytes_written());
            let written: u64 = written.sum();
            let own = &mut self.list[number].flusher;
            own.set_others(self.others + all - own.load());
            if written > 0 {
                own.set_share(own.bytes_written() as f64 / written as f64);
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
            let lru = &it.pages.lru;
            let warm = match lru.active_bytes() > 0 {
                true => lru.bytes(),
                false => 0,
            };
            (it.flusher.load() + warm) as f64
        });
        levels.sum::<f64>() / room
    });
    let new = page.place::<Request>("new");
    page.connect(ports.request, new);
    let specs = specs_of(spec);
    if let [spec] = specs.as_slice() {
        let device = device::queued(page, &spec.device, &spec.io_scheduler);
        let processor = processor(page, &spec.cpu);
        let places = only_volume(
            page,
            volumes,
            device,
            processor,
            (new, ports.complete),
            callers,
            None,
        );
        ports.forget = failing.map(|it| forget(page, it, volumes, places));
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
    volumes: Store<Volumes>,
    device: BlockDevice,
    processor: Node<Call>,
    (new, complete): (Node<Request>, Port<Request>),
    callers: &Callers,
    locks: Option<(Node<GivenUp>, To<GivenUp>)>,
) -> Places {
    let ways = InnerPorts {
        new,
        complete: complete.into(),
        processor: processor.into(),
        processed: processor,
        callers: callers.clone(),
        locks,
    };
    volume(page, 0, volumes, device, ways)
}

/// Place where a data server's machine loses its memory.
fn forget(
    page: &mut Page<'_>,
    failing: Failing,
    volumes: Store<Volumes>,
    places: Places,
) -> Port<Crash> {
    let crash = page.input("crash");
    let crashed = page.place("crashed");
    page.connect(crash, crashed);
    let transition = page
        .transition("lose memory")
        .take(crashed)
        .with(volumes)
        .with(failing.store);
    places
        .waiting
        .may_take(transition)
        .puts_many(places.ready)
        .fires(move |firing, crash: Crash, (volumes, failures)| {
            let mut step = volumes.at(0).step();
            failures.world.hosts.forgets(crash.server, step.crash());
            wake(firing, &step.effects.woken, places);
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
fn volume(
    page: &mut Page<'_>,
    number: usize,
    volumes: Store<Volumes>,
    device: BlockDevice,
    ways: InnerPorts,
) -> Places {
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
        given_up: ways.locks.map(|(_, given_up)| given_up),
    };
    page.rest(places.tick);
    page.conserve(places.requests);

    let call = page.transition("call").take(ways.new).with(volumes);
    places
        .steps(call)
        .puts(places.requests)
        .may_pass(places.requests, places.complete)
        .fires(move |firing, request: Request, volumes| {
            let step = volumes.at(places.volume).step();
            let slot = firing.put(places.requests, request);
            let mut call = call_of(&request, slot, &ways.callers);
            call.uncached = (step.mount.remote.as_ref()).is_some_and(|it| it.passes(call.file));
            proceed(firing, call, step, places);
        });
    for (name, from, spent, processed) in [
        ("go on", ways.processed, true, true),
        ("let go", places.throttled, true, false),
        ("resume", places.ready, false, false),
    ] {
        let transition = page.transition(name).take(from).with(volumes);
        let transition = places
            .steps(transition)
            .may_pass(places.requests, places.complete);
        let transition = match places.given_up {
            Some(given_up) => transition.may_put(given_up),
            None => transition,
        };
        transition.fires(move |firing, mut call: Call, volumes| {
            if spent {
                call.time = Span::ZERO;
            }
            let step = volumes.at(places.volume).step();
            if processed && step.copies(&call) {
                step.cpu.end_copy();
            }
            proceed(firing, call, step, places);
        });
    }
    if let Some((locks, given_up)) = ways.locks {
        let transition = page.transition("give up").take(locks).with(volumes);
        places
            .steps(transition)
            .may_put(given_up)
            .fires(move |firing, lock: GivenUp, volumes| {
                let step = volumes.at(places.volume).step();
                proceed(firing, revocation_call(&lock), step, places);
            });
    }
    let arrived = page
        .transition("arrived")
        .take(places.device.done)
        .with(volumes);
    places
        .effects(arrived)
        .fires(move |firing, transfer: Transfer, volumes| {
            let mut step = volumes.at(places.volume).step();
            step.arrived(&transfer, firing.now());
            let account = firing.account();
            done(firing, transfer.owner, places);
            // Calls of the kernel's own go before those that were waiting for others.
            if step.effects.calls.is_empty() {
                wake(firing, &std::mem::take(&mut step.effects.woken), places);
            }
            carry_out(firing, step, account, places);
        });
    let periodic = page.transition("periodic").take(places.tick).with(volumes);
    places
        .effects(periodic)
        .fires(move |firing, tick: Tick, volumes| {
            let mut step = volumes.at(places.volume).step();
            step.tick(tick, firing.now());
            carry_out(firing, step, firing.account(), places);
        });
    places
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
        volume.mount.number = at;
        if number > 1 {
            volume.pages.divide(&spec.memory, number);
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
fn proceed(firing: &mut Firing<'_>, mut call: Call, mut step: Step<'_>, places: Places) {
    let account = firing.account();
    loop {
        match step.proceed(&mut call, firing.now()) {
            Next::Work(Span::ZERO) => {}
            Next::Work(time) => {
                call.time = time;
                if step.copies(&call) {
                    step.cpu.begin_copy();
                }
                firing.put(places.processor, call);
                break;
            }
            Next::Pause(time) => {
                call.time = time;
                firing.put(places.throttled, call);
                break;
            }
            Next::Wait(wait) => {
                call.transfers = step.effects.own().count() as u32;
                if wait == Wait::Transfers && call.transfers == 0 {
                    continue;
                }
                let waiter = places.waiting.put(firing, call, wait);
                for transfer in step.effects.own() {
                    transfer.owner = Some(waiter);
                }
                step.register(wait, waiter);
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
    carry_out(firing, step, account, places);
}

/// Has the net do what a step wants done; what its call waits for is for `account`.
fn carry_out(firing: &mut Firing<'_>, step: Step<'_>, account: Account, places: Places) {
    let effects = &step.effects;
    if effects.is_empty() {
        return;
    }
    for &transfer in &effects.transfers {
        firing.charge(match transfer.owner {
            Some(_) => account,
            None => Account::NOBODY,
        });
        firing.put(places.device.submit, transfer);
    }
    firing.charge(Account::NOBODY);
    for &call in &effects.calls {
        firing.put(places.ready, call);
    }
    wake(firing, &effects.woken, places);
    for &tick in &effects.ticks {
        firing.put_after(places.tick, tick, step.period(tick));
    }
}

/// A transfer is done: the call that made it has one less to wait for.
fn done(firing: &mut Firing<'_>, owner: Option<u32>, places: Places) {
    let Some(waiter) = owner else {
        return;
    };
    let (bag, slot) = places.waiting.of(waiter);
    let call = firing.token_mut(bag, slot);
    call.transfers -= 1;
    if call.transfers == 0
        && let Some(call) = firing.take(bag, slot)
    {
        firing.put(places.ready, call);
    }
}

/// Calls that waited for something else go on.
fn wake(firing: &mut Firing<'_>, woken: &[u32], places: Places) {
    for &waiter in woken {
        let (bag, slot) = places.waiting.of(waiter);
        if let Some(call) = firing.take(bag, slot) {
            firing.put(places.ready, call);
        }
    }
}
