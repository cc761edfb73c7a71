//! A client with a page cache: what the cache misses and what it writes back goes to
//! the servers.

use headrace_net::{Page, Slot, Span, Store, Time, To};
use headrace_spec::{Attributes, ClientMachine, Parallel, Scenario};
use headrace_trace::Operation;

use super::split::Split;
use super::{AnswerHandler, BreakPorts, Changes, ClientContext, oplocks};
use crate::localfs::{self, Closing, Remote};
use crate::network::ClientPorts;
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

/// Writes what becomes of requests whose data has been found.
#[expect(clippy::too_many_arguments, reason = "each is a part of its own")]
pub(super) fn data(
    page: &mut Page<'_>,
    scenario: &Scenario,
    parallel: &Parallel,
    cache: &ClientMachine,
    changes: Store<Changes>,
    context: &ClientContext,
    network: ClientPorts,
    answers: AnswerHandler,
    complete: To<Request>,
) -> Option<BreakPorts> {
    let ClientPorts { send, received, .. } = network;
    let rpc = &scenario.clients.rpc;
    let layouts = &context.layouts;
    let largest = layouts.all().map(|layout| layout.filling(layout.largest()));
    let reads = (largest.max().unwrap_or(0)).min(cache.memory.page_cache());
    let page_size = cache.memory.page.0;
    let limit = cache.dirty_per_server.0;
    let remote = Remote::new(layouts.clone(), rpc.size.0, limit, page_size)
        .under(context.oplocks.clone())
        .closing(closing(&cache.attributes));
    let callers = &context.callers;
    let locks = (parallel.locks.extent()).map(|_| context.held.as_slice());
    let parts = localfs::cache(page, cache, reads, callers, &remote, &context.sizes, locks);
    let machine = page.page("machine", |page| {
        localfs::client_page_cache(page, cache, callers, parts, locks.is_some())
    });
    if let (Some((to_give_up, given_up)), Some(flushed)) = (machine.locks, answers.flushed) {
        page.connect(flushed.0, to_give_up);
        page.connect(given_up, flushed.1);
    }
    page.connect(answers.ready, machine.request);
    let mut answers = answers;
    let mut ports = None;
    if context.oplocks.is_some() {
        let done = page.place::<Request>("done");
        page.connect(machine.complete, done);
        let latency = Span::from_seconds(parallel.metadata_network().latency.0);
        let ways = oplocks::breaks(page, latency, answers.mapped, (done, complete));
        answers.breaking = Some(ways.0);
        ports = Some(ways.1);
    } else {
        page.connect(machine.complete, complete);
    }

    let asked = page.place::<Transfer>("asked");
    page.connect(machine.transfer, asked);
    let outstanding = page.bag::<CacheRequests>("outstanding");
    let split = Split::new(scenario, parallel, (layouts, &context.sizes), page.seed());
    let groups = scenario.clients.group_of_each();
    let workloads = scenario.workload.len().max(1) as u32;
    page.transition("split")
        .take(asked)
        .puts(outstanding)
        .puts_many(send)
        .fires(move |firing, transfer: Transfer, ()| {
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
            let client = firing.copy();
            let Transfer {
                file, operation, ..
            } = transfer;
            let like = Job {
                offset: transfer.offset,
                size: transfer.size,
                workload: transfer.process % workloads,
                group: groups[client as usize],
                ..Job::new(slot.0, client, file, operation, Role::Data)
            };
            if let Some(jobs) = split.send(firing, like, send) {
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
    let collect = match answers.breaking {
        None => {
            let to = [answers.mapped.into(), answers.new.into()];
            collect.may_pass_to_one_of(answers.asking, to)
        }
        Some(breaking) => {
            let to = [answers.mapped.into(), answers.new.into(), breaking.asked];
            collect.may_pass_to_one_of(answers.asking, to).later()
        }
    };
    collect.fires(move |firing, job: Job, (known, pages, changes)| {
        if job.role == Role::Metadata {
            if let Some(file) = answers.take(firing, known, Some(changes), &job) {
                pages.forget_clean(file);
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
            let stale = attributes
                .is_some_and(|it| it.data_answered(asked.operation, asked.file, asked.at, changes));
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
    });
    ports
}
