//! A scheduler of one's own: the shortest job first, four of them out at a time.
//! `cargo run --release -p headrace-storage --example own_scheduler FILE`

use std::{cmp::Reverse, collections::BinaryHeap, ops::ControlFlow};

use headrace_storage::qos::{Dispatcher, JobId, Scheduler};
use headrace_storage::{Job, Options, simulate};

#[derive(Default)]
struct ShortestFirst {
    out: u32,
    arrivals: u64,
    waiting: BinaryHeap<Reverse<(u64, u64, JobId)>>,
}

impl ShortestFirst {
    fn fill(&mut self, dispatcher: &mut Dispatcher<'_, '_>) {
        while self.out < 4
            && let Some(Reverse((_, _, job))) = self.waiting.pop()
        {
            self.out += 1;
            dispatcher.dispatch(job);
        }
    }
}

impl Scheduler for ShortestFirst {
    fn job_arrival(&mut self, job: JobId, dispatcher: &mut Dispatcher<'_, '_>) {
        let size = dispatcher.job(job).size;
        self.arrivals += 1;
        self.waiting.push(Reverse((size, self.arrivals, job)));
        self.fill(dispatcher);
    }

    fn job_finish(&mut self, _: &Job, dispatcher: &mut Dispatcher<'_, '_>) {
        self.out -= 1;
        self.fill(dispatcher);
    }

    fn name(&self) -> String {
        "shortest first".to_owned()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("usage: own_scheduler FILE")?;
    let scenario = headrace_spec::load_file(file.as_ref(), &[])?.scenario;
    let options = Options {
        schedulers: Some(&|_position, _number| Some(Box::<ShortestFirst>::default())),
        ..Options::default()
    };
    let outcome = simulate(&scenario, options, &mut |_, _, _| ControlFlow::Continue(()))?;
    for (group, found) in &outcome.report.groups {
        println!("{group}: {:?} bytes/s", found.throughput);
    }
    Ok(())
}
