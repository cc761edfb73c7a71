//! Distributed start-time fair queueing, DSFQ.
//!
//! As in SFQ, but the start tag of a group's job is delayed by the group's service elsewhere since
//! its last job here. S = max(v, F of g's previous job here + delay / weight of g). Source: Wang,
//! Merchant 2007 ("Proportional-share scheduling for distributed storage systems", FAST). There the
//! coordinators that clients ask piggyback the delay on their requests. Here clients ask servers
//! directly, and the schedulers send it to each other in messages.

use headrace_net::{Message, Span, Time};

use super::ordered_queue::OrderedQueue;
use super::tag::{Tag, cost};
use super::{Dispatcher, JobId, Scheduler};
use crate::tokens::Job;

/// Groups get service in proportion to their weights over all schedulers.
#[derive(Debug)]
pub struct Dsfq {
    interval: Span,
    weights: Vec<f64>,
    groups: Vec<Group>,
    virtual_time: f64,
    waiting: OrderedQueue<Tag>,
}

#[derive(Clone, Default, Debug)]
struct Group {
    /// The finish tag of its last job here.
    finish: f64,
    /// Work requested at other schedulers since then, as far as known.
    elsewhere: f64,
    /// Work requested here and not reported to the other schedulers.
    untold: u64,
    /// Time from which a message to them may be sent.
    tell: Time,
    /// True if a wake-up for that is asked.
    waking: bool,
}

impl Dsfq {
    /// At most `depth` jobs out at once; `weights` by group, all positive; other schedulers are notified of a
    /// group no more often than each `interval`.
    pub fn new(depth: u32, weights: Vec<f64>, interval: Span) -> Dsfq {
        Dsfq {
            interval,
            groups: vec![Group::default(); weights.len()],
            weights,
            virtual_time: 0.0,
            waiting: OrderedQueue::new(depth),
        }
    }

    /// Tells all others what a group has asked for, or asks to be woken for it.
    fn tell(&mut self, number: usize, dispatcher: &mut Dispatcher<'_, '_>) {
        let now = dispatcher.now();
        let group = &mut self.groups[number];
        if now < group.tell {
            if !group.waking {
                group.waking = true;
                dispatcher.wake_in(group.tell.since(now), number as u32);
            }
            return;
        }
        let message = [number as u64, group.untold, 0, 0];
        group.untold = 0;
        group.tell = now + self.interval;
        let this = dispatcher.scheduler();
        for other in (0..dispatcher.schedulers()).filter(|&other| other != this) {
            dispatcher.send_message(other, message);
        }
    }

    fn fill(&mut self, dispatcher: &mut Dispatcher<'_, '_>) {
        while let Some((Tag(start), job)) = self.waiting.next() {
            self.virtual_time = start;
            dispatcher.dispatch(job);
        }
    }
}

impl Scheduler for Dsfq {
    fn job_arrival(&mut self, id: JobId, dispatcher: &mut Dispatcher<'_, '_>) {
        let job = dispatcher.job(id);
        let number = usize::from(job.group);
        let (cost, weight) = (cost(job), self.weights[number]);
        let group = &mut self.groups[number];
        let delayed = group.finish + group.elsewhere / weight;
        let start = self.virtual_time.max(delayed);
        group.finish = start + cost / weight;
        group.elsewhere = 0.0;
        group.untold += job.size.max(1);
        self.waiting.push(Tag(start), id);
        self.tell(number, dispatcher);
        self.fill(dispatcher);
    }

    fn job_finish(&mut self, _: &Job, dispatcher: &mut Dispatcher<'_, '_>) {
        self.waiting.finished();
        self.fill(dispatcher);
    }

    fn message_arrival(&mut self, _: u32, message: Message, _: &mut Dispatcher<'_, '_>) {
        let [group, cost, ..] = message;
        if let Some(group) = self.groups.get_mut(group as usize) {
            group.elsewhere += cost as f64;
        }
    }

    fn wake(&mut self, group: u32, dispatcher: &mut Dispatcher<'_, '_>) {
        self.groups[group as usize].waking = false;
        self.tell(group as usize, dispatcher);
    }

    fn name(&self) -> String {
        format!("DSFQ({})", self.waiting.depth())
    }
}
