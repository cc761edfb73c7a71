//! A machine whose processes use a local file system.
//!
//! ```text
//!   request ─▶ [call] ─▶ (processor)   ─▶ [go on] ──┐
//!                 ├────▶ (held back)   ─▶ [let go] ─┤
//!                 ├────▶ waiting ····▶ ready ─▶ [resume]
//!                 ├────▶ (device) ─▶ [arrived] ··▶ ready
//!                 └────▶ complete           as [call], again
//! ```
//!
//! A call is on the processor, held back because it dirtied too much, or waits
//! for the device, for pages that are under way, or for a commit. What becomes of
//! it is decided by the state of the file system ([`Volume`]).

use headrace_net::{Fcfs, Firing, Infinite, Node, Page, Port, Random, Slot, Span, To};
use headrace_spec::{Interface, Machine, Scenario};
use headrace_trace::Operation;

use super::call::{Call, Caller, Stage};
use super::volume::{Next, Opened, SELF, Tick, Volume, Wait};
use crate::device::{self, BlockDevice};
use crate::iosched;
use crate::tokens::{Request, Transfer};

/// A machine's ways in and out.
#[derive(Clone, Copy)]
pub struct MachinePorts {
    /// Where its processes' requests come in.
    pub request: Port<Request>,
    /// Where they go out when they are done.
    pub complete: Port<Request>,
}

/// Where tokens of a machine go.
#[derive(Clone, Copy)]
struct Places {
    ready: Node<Call>,
    processor: Node<Call>,
    held_back: Node<Call>,
    waiting: Node<Call>,
    requests: Node<Request>,
    complete: To<Request>,
    device: BlockDevice,
    tick: Node<Tick>,
}

/// Writes the page of a machine, with the files that are there before the run.
pub fn machine(
    page: &mut Page<'_>,
    spec: &Machine,
    scenario: &Scenario,
    existing: &[(usize, u32, Option<u32>, u64)],
) -> MachinePorts {
    let ports = MachinePorts {
        request: page.input("request"),
        complete: page.output("complete"),
    };
    let volume = page.store("file system", |copy| volume(spec, scenario, existing, copy));
    let time = |call: &Call, _: &mut Random<'_>| call.time;
    let device = device::build(page, &spec.device);
    let places = Places {
        ready: page.place("ready"),
        processor: page.station("processor", Fcfs::new(spec.cpu.cores, time)),
        held_back: page.station("held back", Infinite(time)),
        waiting: page.bag("waiting"),
        requests: page.bag("requests"),
        complete: ports.complete.into(),
        device: iosched::build(page, &spec.io_scheduler, device),
        tick: page.place("timer"),
    };
    page.rest(places.tick);
    page.conserve(places.requests);
    let new = page.place::<Request>("new");
    page.connect(ports.request, new);

    page.transition("call")
        .take(new)
        .with(volume)
        .puts(places.requests)
        .may_put(places.processor)
        .may_put(places.held_back)
        .may_put(places.waiting)
        .may_pass(places.requests, places.complete)
        .may_take(places.waiting)
        .puts_many(places.ready)
        .puts_many(places.device.submit)
        .puts_many(places.tick)
        .later()
        .fires(move |firing, request: Request, volume| {
            let slot = firing.put(places.requests, request);
            proceed(firing, call_of(&request, slot), volume, places);
            carry_out(firing, volume, places);
        });
    for (name, from) in [
        ("go on", places.processor),
        ("let go", places.held_back),
        ("resume", places.ready),
    ] {
        page.transition(name)
            .take(from)
            .with(volume)
            .may_put(places.processor)
            .may_put(places.held_back)
            .may_put(places.waiting)
            .may_pass(places.requests, places.complete)
            .may_take(places.waiting)
            .puts_many(places.ready)
            .puts_many(places.device.submit)
            .puts_many(places.tick)
            .later()
            .fires(move |firing, call: Call, volume| {
                proceed(firing, call, volume, places);
                carry_out(firing, volume, places);
            });
    }
    page.transition("arrived")
        .take(places.device.done)
        .with(volume)
        .may_take(places.waiting)
        .puts_many(places.ready)
        .puts_many(places.device.submit)
        .puts_many(places.tick)
        .later()
        .fires(move |firing, transfer: Transfer, volume| {
            if let Some(slot) = transfer.owner.map(Slot) {
                let call = firing.token_mut(places.waiting, slot);
                call.transfers -= 1;
                if call.transfers == 0
                    && let Some(call) = firing.take(places.waiting, slot)
                {
                    firing.put(places.ready, call);
                }
            }
            volume.arrived(&transfer, firing.now());
            carry_out(firing, volume, places);
        });
    page.transition("periodic")
        .take(places.tick)
        .with(volume)
        .may_take(places.waiting)
        .puts_many(places.ready)
        .puts_many(places.device.submit)
        .puts_many(places.tick)
        .later()
        .fires(move |firing, tick: Tick, volume| {
            volume.tick(tick, firing.now());
            carry_out(firing, volume, places);
        });
    ports
}

/// The file system as the run finds it.
fn volume(
    spec: &Machine,
    scenario: &Scenario,
    existing: &[(usize, u32, Option<u32>, u64)],
    copy: u32,
) -> Volume {
    let workloads = &scenario.workload;
    let opened: Vec<Opened> = workloads
        .iter()
        .map(|workload| Opened {
            direct: workload.io.direct,
            synchronous: workload.io.synchronous,
            mapped: workload.io.interface == Interface::Mapped,
        })
        .collect();
    let capacity = device::capacity(&spec.device);
    let largest = spec.io_scheduler.largest_request.0;
    let mut volume = Volume::new(spec, capacity, largest, &opened);
    for &(workload, file, client, size) in existing {
        if client.is_none_or(|client| client == copy) {
            let io = &workloads[workload].io;
            volume.add_file(file, size, io.made_by.0, io.cached);
        }
    }
    volume
}

fn call_of(request: &Request, slot: Slot) -> Call {
    let reads_or_writes = matches!(request.operation, Operation::Read | Operation::Write);
    let size = if reads_or_writes { request.size } else { 0 };
    Call {
        request: slot.0,
        // Processes of one workload are numbered by rank.
        process: (request.process.workload << 22) ^ request.process.rank,
        file: request.file,
        transfers: 0,
        at: request.offset,
        end: request.offset.saturating_add(size),
        size,
        time: Span(u64::from(request.compute) * 1000),
        workload: request.process.workload as u16,
        operation: request.operation,
        stage: Stage::Entered,
        caller: Caller::Process,
    }
}

/// Goes on with a call until it has to leave.
fn proceed(firing: &mut Firing<'_>, mut call: Call, volume: &mut Volume, places: Places) {
    loop {
        match volume.proceed(&mut call, firing.now()) {
            Next::Work(Span::ZERO) => {}
            Next::Work(time) => {
                call.time = time;
                firing.put(places.processor, call);
                return;
            }
            Next::Pause(time) => {
                call.time = time;
                firing.put(places.held_back, call);
                return;
            }
            Next::Wait(wait) => {
                let own = |transfer: &&mut Transfer| transfer.owner == Some(SELF);
                call.transfers = volume.out.iter_mut().filter(own).count() as u32;
                if wait == Wait::Transfers && call.transfers == 0 {
                    continue;
                }
                let slot = firing.put(places.waiting, call);
                for transfer in volume.out.iter_mut().filter(own) {
                    transfer.owner = Some(slot.0);
                }
                volume.register(wait, slot.0);
                return;
            }
            Next::Return => {
                if let Some(request) = firing.take(places.requests, Slot(call.request)) {
                    firing.put(places.complete, request);
                }
                return;
            }
            Next::End => return,
        }
    }
}

/// Does what the file system wants done besides.
fn carry_out(firing: &mut Firing<'_>, volume: &mut Volume, places: Places) {
    for transfer in volume.out.drain(..) {
        firing.put(places.device.submit, transfer);
    }
    for call in volume.spawned.drain(..) {
        firing.put(places.ready, call);
    }
    for slot in volume.woken.drain(..) {
        if let Some(call) = firing.take(places.waiting, Slot(slot)) {
            firing.put(places.ready, call);
        }
    }
    for tick in volume.ticks.drain(..) {
        firing.put_after(places.tick, tick, volume.periods[tick as usize]);
    }
}
