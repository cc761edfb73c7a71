//! A client without a cache: each request goes to the servers at once.

use headrace_net::{Page, Slot};
use headrace_spec::{Parallel, Scenario};
use headrace_trace::Operation;

use super::split::Split;
use super::{ClientContext, DataPorts};
use crate::duplex::Duplex;
use crate::tokens::{Job, Request, Role};

/// Writes the completion of requests whose data has been located.
pub(super) fn data(
    page: &mut Page<'_>,
    scenario: &Scenario,
    parallel: &Parallel,
    context: &ClientContext,
    ports: DataPorts,
) {
    let DataPorts {
        network: Duplex { send, received },
        ask,
        answers,
        complete,
    } = ports;
    let outstanding = page.bag::<Request>("outstanding");
    page.conserve(outstanding);
    let split = Split::new(scenario, parallel, context, ask, page.seed());
    let splits = page
        .transition("split")
        .take(answers.ready)
        .with(context.sizes)
        .with(context.first_targets)
        .with(context.recorder)
        .puts_one_of([outstanding.into(), complete])
        .puts_many(send);
    let splits = match ask {
        Some(ask) => splits.puts_many(ask),
        None => splits,
    };
    splits.fires(move |firing, request: Request, stores| {
        let (sizes, first_targets, recorder) = stores;
        if request.operation == Operation::Close {
            firing.put(complete, request);
            return;
        }
        let slot = firing.put(outstanding, request);
        let Request {
            process,
            file,
            operation,
            ..
        } = request;
        let like = Job {
            offset: request.offset,
            size: request.size,
            workload: process.workload as u16,
            synchronous: request.mode.is_synchronous(),
            group: request.group,
            ..Job::new(slot.0, process.client, file, operation, Role::Data)
        };
        if let Some(jobs) = split.send(firing, (sizes, first_targets), like, send) {
            recorder.jobs.add(operation, jobs, request.size);
            firing.token_mut(outstanding, slot).pending = jobs;
        }
    });
    page.transition("collect")
        .take(received)
        .with(answers.known)
        .may_pass(outstanding, complete)
        .may_pass_to_one_of(
            answers.asking,
            [answers.mapped.into(), answers.new.into(), answers.names],
        )
        .fires(move |firing, job: Job, known| {
            if !job.is_for_data() {
                answers.take(firing, known, None, None, &job);
                return;
            }
            let slot = Slot(job.request);
            if firing.token_mut(outstanding, slot).job_is_back(&job)
                && let Some(request) = firing.take(outstanding, slot)
            {
                firing.put(complete, request);
            }
        });
}
