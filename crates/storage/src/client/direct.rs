//! A client without a cache: each request goes to the servers at once.

use headrace_net::{Page, Port, Slot, Time};
use headrace_spec::{Parallel, Scenario};

use super::split::Split;
use super::{Answers, Network};
use crate::tokens::{Direction, Job, Message, Request, Role};

/// Writes what becomes of requests whose data has been found.
pub(super) fn data(
    page: &mut Page<'_>,
    scenario: &Scenario,
    parallel: &Parallel,
    network: Network,
    answers: Answers,
    complete: Port<Request>,
) {
    let Network { send, received, .. } = network;
    let outstanding = page.bag::<Request>("outstanding");
    page.conserve(outstanding);
    let split = Split::new(scenario, parallel, page.seed());
    page.transition("split")
        .take(answers.mapped)
        .puts(outstanding)
        .puts_many(send)
        .fires(move |firing, request: Request, ()| {
            let slot = firing.put(outstanding, request);
            let like = Job {
                request: slot.0,
                client: request.process.client,
                server: 0,
                target: 0,
                file: request.file,
                offset: request.offset,
                size: request.size,
                wire: 0,
                tail: Time::ZERO,
                pending: 0,
                workload: request.process.workload,
                group: request.group,
                operation: request.operation,
                direction: Direction::Out,
                role: Role::Data,
                message: Message::Whole,
                received: false,
            };
            if let Some(jobs) = split.send(firing, like, send) {
                firing.token_mut(outstanding, slot).pending = jobs;
            }
        });
    page.transition("collect")
        .take(received)
        .with(answers.known)
        .may_pass(outstanding, complete)
        .may_pass_to_one_of(answers.asking, [answers.mapped.into(), complete.into()])
        .fires(move |firing, job: Job, known| {
            if job.role == Role::Metadata {
                answers.take(firing, known, &job);
                return;
            }
            let slot = Slot(job.request);
            let request = firing.token_mut(outstanding, slot);
            request.pending -= 1;
            if request.pending == 0
                && let Some(request) = firing.take(outstanding, slot)
            {
                firing.put(complete, request);
            }
        });
}
