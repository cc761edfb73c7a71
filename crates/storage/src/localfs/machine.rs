//! A machine whose processes use a local file system, or several.
//!
//! ```text
//!   request ─▶ file system ─▶ (processor) ─▶ file system ─▶ complete
//!                   └──▶ (I/O queue) ─▶ (device) ─▶ file system
//! ```
//!
//! The file system is a page of its own kind ([`super::calls`]): with the page cache, the flusher
//! and the journal as pages in it. With further volumes all this stands in a page for each, around
//! one processor:
//!
//! ```text
//!   request ─▶ [mount point] ─▶ volume ×n ─▶ (processor) ─▶ [return] ─▶ volume ×n
//! ```
//!
//! Not modelled: volumes that share the page cache on demand: each that a workload uses has an
//! equal part. The dirty limits are common.

use headrace_net::{Fcfs, Inputs, Node, Page, Port, Random, Store, To, Token, TransitionBuilder};
use headrace_spec::{Cpu, JournalMode, Machine};

use super::cached_pages::CachedPages;
use super::call::Call;
use super::callers::{Callers, StoredFile};
use super::calls::{InnerPorts, Mounted, Scope, volume};
use super::parts::{Flushers, PartStores, Parts, step};
use super::volume::Volume;
use crate::device::network::{self, TargetPorts};
use crate::failure::{Crash, Failing};
use crate::time_conversion::span;
use crate::tokens::Request;
use crate::{device, iosched};

/// A machine's ways in and out.
#[derive(Clone, Copy)]
pub struct MachinePorts {
    /// Input of its processes' requests.
    pub request: Port<Request>,
    /// Output of completed requests.
    pub complete: Port<Request>,
    /// Place where a data server's machine loses its memory.
    pub forget: Option<Port<Crash>>,
    /// Ways to and from the target that its device shares with other machines.
    pub target: Option<TargetPorts>,
}

/// Writes the page of a machine: its callers, and the files that each copy has
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
        target: None,
    };
    let new = page.place::<Request>("new");
    page.connect(ports.request, new);
    let specs = specs_of(spec);
    let files: Vec<Vec<StoredFile>> = (0..page.copies()).map(files).collect();
    let volumes: Vec<Vec<Volume>> = specs
        .iter()
        .enumerate()
        .map(|(number, spec)| {
            let copies = files.iter();
            let copies = copies.map(|files| mounted(spec, number, callers, files));
            copies.collect()
        })
        .collect();
    let flushers = flushers(page, spec, &volumes);
    let mut volumes = volumes.into_iter();
    if let [spec] = specs.as_slice() {
        let copies = volumes.next().unwrap_or_default();
        let (parts, mounted) = mount(page, spec, 0, flushers, copies);
        let device = match network::shared(&spec.device) {
            None => device::queued(page, &spec.device, &spec.io_scheduler),
            Some(shared) => {
                let (device, target) = network::client(page, shared);
                ports.target = Some(target);
                iosched::build(page, &spec.io_scheduler, device)
            }
        };
        let processor = processor(page, &spec.cpu);
        let ways = InnerPorts {
            new,
            complete: ports.complete.into(),
            processor: processor.into(),
            processed: processor,
            callers: callers.clone(),
            locks: None,
        };
        let scope = volume(page, mounted, device, ways);
        ports.forget = failing.map(|it| forget(page, it, parts, scope));
        return ports;
    }
    let processor = processor(page, &spec.cpu);
    let done = page.place::<Request>("done");
    page.connect(done, ports.complete);
    let mut mounts = Vec::new();
    for ((number, spec), copies) in specs.iter().enumerate().zip(volumes) {
        mounts.push(page.page(&format!("volume {number}"), |page| {
            let ports = Mount {
                request: page.input("request"),
                complete: page.output("complete"),
                processor: page.output("processor"),
                processed: page.input("back"),
            };
            let ways = InnerPorts {
                new: page.place("new"),
                complete: ports.complete.into(),
                processor: ports.processor.into(),
                processed: page.place("processed"),
                callers: callers.clone(),
                locks: None,
            };
            page.connect(ports.request, ways.new);
            page.connect(ports.processed, ways.processed);
            let (_, mounted) = mount(page, spec, number, flushers, copies);
            let device = device::queued(page, &spec.device, &spec.io_scheduler);
            volume(page, mounted, device, ways);
            ports
        }));
    }
    for mount in &mounts {
        page.connect(mount.complete, done);
        page.connect(mount.processor, processor);
    }
    let requests: Vec<To<Request>> = mounts.iter().map(|it| it.request.into()).collect();
    let calls: Vec<To<Call>> = mounts.iter().map(|it| it.processed.into()).collect();
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

/// A machine's cores.
pub(super) fn processor(page: &mut Page<'_>, cpu: &Cpu) -> Node<Call> {
    let time = |call: &Call, _: &mut Random<'_>| call.time;
    page.station("processor", Fcfs::new(cpu.cores, time))
}

/// Place where a data server's machine loses its memory.
fn forget(page: &mut Page<'_>, failing: Failing, parts: Parts, scope: Scope) -> Port<Crash> {
    let crash = page.input("crash");
    let crashed = page.place("crashed");
    page.connect(crash, crashed);
    let lose = page
        .transition("lose memory")
        .take(crashed)
        .with_all(parts.stores());
    scope.effects(lose.with(failing.store)).fires(
        move |firing, crash: Crash, (mount, pages, flushers, journal, blocks, cpu, failures)| {
            let mut step = step((mount, pages, flushers, journal, blocks, cpu), 0);
            failures.world.hosts.forgets(crash.server, step.crash());
            scope.carry_out(firing, &step.effects, firing.account());
        },
    );
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

/// A token goes to one of several.
fn choose<'b, I: Inputs, T: Token>(
    transition: TransitionBuilder<'b, I, ()>,
    to: &[To<T>],
) -> TransitionBuilder<'b, I, ()> {
    let transition = transition.puts_one_of::<T, 0>([]);
    to.iter()
        .fold(transition, |transition, &to| transition.or_puts(to))
}

/// The flushers of all volumes in one store, as the dirty limits are common.
fn flushers(page: &mut Page<'_>, spec: &Machine, volumes: &[Vec<Volume>]) -> Store<Flushers> {
    let room = spec.memory.page_cache().max(1) as f64;
    let flushers = page.store("dirty pages", |copy| {
        let all = volumes.iter();
        let list = all.map(|copies| copies[copy as usize].flusher.clone());
        Flushers::new(list.collect(), spec.write_back.others.0)
    });
    page.level(flushers, move |it: &Flushers| it.load() as f64 / room);
    Flushers::report(page, flushers);
    flushers
}

/// Mounts a volume: writes its stores, which are given too.
fn mount(
    page: &mut Page<'_>,
    spec: &Machine,
    number: usize,
    flushers: Store<Flushers>,
    copies: Vec<Volume>,
) -> (Parts, Mounted<PartStores>) {
    let intervals = (&spec.write_back.interval, &spec.file_system.journal);
    let parts = Parts::of_volume(page, flushers, copies);
    let room = spec.memory.page_cache().max(1) as f64;
    page.level(parts.pages(), move |pages: &CachedPages| {
        // Only pages that are used again make a difference to what comes later.
        match pages.lru.active_bytes() > 0 {
            true => pages.lru.bytes() as f64 / room,
            false => 0.0,
        }
    });
    let mounted = Mounted {
        number,
        stores: parts.stores(),
        flush_interval: span(*intervals.0),
        commit_interval: (intervals.1.mode != JournalMode::None)
            .then(|| span(intervals.1.commit_interval)),
    };
    (parts, mounted)
}

/// A file system as the run finds it.
fn mounted(spec: &Machine, number: usize, callers: &Callers, files: &[StoredFile]) -> Volume {
    let capacity = device::capacity(&spec.device);
    let largest = spec.io_scheduler.largest_request.0;
    let mut volume = Volume::new(spec, capacity, largest, callers);
    volume.mount.number = number as u8;
    // Unused volumes take no part.
    let in_use = u64::from(callers.volumes.count_ones().max(1));
    if in_use > 1 {
        volume.pages.divide(&spec.memory, in_use);
    }
    for file in files
        .iter()
        .filter(|file| usize::from(file.volume) == number)
    {
        volume.add_file(file);
    }
    volume
}
