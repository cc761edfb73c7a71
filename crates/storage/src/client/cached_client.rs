//! A client with a page cache: cache misses and writeback go to the servers.

use headrace_net::{Firing, Page, Slot, Span, Time};
use headrace_spec::{Attributes, LimitsPer, Parallel, Scenario};
use headrace_trace::Operation;

use super::split::Split;
use super::{BreakPorts, CacheSpec, Changes, ClientContext, ClientFiles, DataPorts, oplocks};
use crate::duplex::Duplex;
use crate::layout::CodedStripes;
use crate::localfs::{self, CacheLocks, CachedPages, Closing, Remote, SharedStores};
use crate::locks::Oplocks;
use crate::tokens::{Job, Request, Role, Transfer};

/// Requests of the cache to the servers.
#[derive(Clone, Copy)]
struct CacheRequests {
    owner: Option<u32>,
    file: u32,
    offset: u64,
    size: u64,
    operation: Operation,
    /// Time when it was asked.
    at: Time,
    /// Jobs that are still out.
    pending: u32,
}

/// Returns the effect of closing a file with this attribute cache.
fn closing(attributes: &Attributes) -> Closing {
    match (attributes.timed(), attributes.oplocks()) {
        (Some(timed), _) if timed.close_to_open => Closing::Stores,
        (_, Some(_)) => Closing::Sends,
        _ => Closing::Keeps,
    }
}

/// Writes the completion of requests whose data has been located.
pub(super) fn data(
    page: &mut Page<'_>,
    scenario: &Scenario,
    parallel: &Parallel,
    context: &ClientContext,
    own: CacheSpec<'_>,
    ports: DataPorts,
) -> Option<BreakPorts> {
    let DataPorts {
        network: Duplex { send, received },
        ask,
        mut answers,
        complete,
    } = ports;
    let CacheSpec {
        machine: cache,
        changes,
        held,
    } = own;
    let rpc = &scenario.clients.rpc;
    let layouts = &context.layouts;
    let largest = layouts.all().map(|layout| layout.filling(layout.largest()));
    let reads = (largest.max().unwrap_or(0)).min(cache.memory.page_cache());
    let page_size = cache.memory.page.0;
    let limit = cache.dirty_per_server.0;
    // Blocks with places of their own are not numbered as targets are.
    let by_server = rpc.per == LimitsPer::Server && parallel.block().is_none();
    let per_server = by_server.then_some(parallel.servers.count);
    // With a code, a request is for whole stripes.
    let coded = CodedStripes::new(parallel).filter(|_| rpc.size.0 > 0);
    let request = coded.map_or(rpc.size.0, |it| it.largest(parallel, rpc.size.0));
    let remote = Remote::new(layouts.clone(), request, limit, page_size)
        .per_server(per_server)
        .locked(held.is_some())
        .closing(closing(&cache.attributes));
    let callers = &context.callers;
    let parts = localfs::cache(page, cache, reads, callers, &remote);
    let shared = SharedStores {
        sizes: context.sizes,
        first_targets: context.first_targets,
        locks: (held.map(CacheLocks::Extents)).or(context.oplocks.map(CacheLocks::Oplocks)),
    };
    let machine = page.page("machine", |page| {
        localfs::client_page_cache(page, cache, callers, parts, shared)
    });
    if let (Some((to_give_up, given_up)), Some(flushed)) = (machine.locks, answers.flushed) {
        page.connect(flushed.0, to_give_up);
        page.connect(given_up, flushed.1);
    }
    page.connect(answers.ready, machine.request);
    let mut breaks = None;
    if context.oplocks.is_some() {
        let done = page.place::<Request>("done");
        page.connect(machine.complete, done);
        let latency = Span::from_seconds(parallel.metadata_network().latency.0);
        let ways = oplocks::breaks(page, latency, answers.mapped, (done, complete));
        answers.breaking = Some(ways.0);
        breaks = Some(ways.1);
    } else {
        page.connect(machine.complete, complete);
    }

    let asked = page.place::<Transfer>("asked");
    page.connect(machine.transfer, asked);
    let outstanding = page.bag::<CacheRequests>("outstanding");
    let split = Split::new(scenario, parallel, context, ask, page.seed());
    let groups = scenario.clients.group_of_each();
    let numbers = context.numbers.clone();
    let workloads = scenario.workload.len().max(1) as u32;
    let splits = page
        .transition("split")
        .take(asked)
        .with(context.sizes)
        .with(context.first_targets)
        .puts(outstanding)
        .puts_many(send);
    let splits = match ask {
        Some(ask) => splits.puts_many(ask),
        None => splits,
    };
    splits.fires(move |firing, transfer: Transfer, files| {
        let at = firing.now();
        let slot = firing.put(
            outstanding,
            CacheRequests {
                owner: transfer.owner,
                file: transfer.file,
                offset: transfer.offset,
                size: transfer.size,
                operation: transfer.operation,
                at,
                pending: 0,
            },
        );
        let client = numbers.of(firing.copy());
        let Transfer {
            file, operation, ..
        } = transfer;
        let like = Job {
            offset: transfer.offset,
            size: transfer.size,
            workload: (transfer.process % workloads) as u16,
            group: groups[client as usize],
            ..Job::new(slot.0, client, file, operation, Role::Data)
        };
        if let Some(jobs) = split.send(firing, files, like, send) {
            firing.token_mut(outstanding, slot).pending = jobs;
        }
    });
    let answered = page.place::<Transfer>("transferred");
    page.connect(answered, machine.transferred);
    let collect = page
        .transition("collect")
        .take(received)
        .with(answers.known)
        .with(parts.pages())
        .with(changes)
        .may_take(outstanding)
        .may_put(answered);
    let answer =
        move |firing: &mut Firing<'_>,
              job: Job,
              (known, pages, changes): (&mut ClientFiles, &mut CachedPages, &mut Changes),
              oplocks: Option<&mut Oplocks>| {
            if !job.is_for_data() {
                if let Some(file) = answers.take(firing, known, Some(changes), oplocks, &job) {
                    pages.forget_clean(file);
                }
                if job.operation == Operation::Open && job.size > 0 {
                    pages.fill(job.file, job.size);
                }
                return;
            }
            let slot = Slot(job.request);
            let asked = firing.token_mut(outstanding, slot);
            asked.pending -= 1;
            if asked.pending == 0
                && let Some(asked) = firing.take(outstanding, slot)
            {
                let attributes = known.attributes.as_mut();
                let stale = attributes.is_some_and(|it| {
                    it.data_answered(asked.operation, asked.file, asked.at, changes)
                });
                if stale {
                    pages.forget_clean(asked.file);
                }
                let transfer = Transfer {
                    owner: asked.owner,
                    file: asked.file,
                    offset: asked.offset,
                    ..Transfer::new(asked.operation, asked.offset, asked.size)
                };
                firing.put(answered, transfer);
            }
        };
    match (answers.breaking, context.oplocks) {
        (Some(breaking), Some(oplocks)) => {
            let to = [answers.mapped.into(), answers.new.into(), breaking.asked];
            collect
                .with(oplocks)
                .may_pass_to_one_of(answers.asking, to)
                .later()
                .fires(move |firing, job, (known, pages, changes, oplocks)| {
                    answer(firing, job, (known, pages, changes), Some(oplocks));
                });
        }
        _ => {
            let to = [answers.mapped.into(), answers.new.into()];
            collect
                .may_pass_to_one_of(answers.asking, to)
                .fires(move |firing, job, stores| answer(firing, job, stores, None));
        }
    }
    breaks
}
