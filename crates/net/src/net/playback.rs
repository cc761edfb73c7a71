//! Playback of a run: the state of all nodes at evenly spaced instants of simulated time.
//!
//! A run does not know its end beforehand. The interval between two frames therefore starts
//! short and doubles whenever there are twice the requested frames: every other one is dropped.
//! Frames hold counts since the start of the run, so that dropping a frame loses none.
//!
//! Frames are recorded where the clock advances. A run without playback pays for one comparison
//! there; one with playback fires the same transitions at the same times.

use super::{Gauge, Net};
use crate::node::AnyNode;
use crate::state::ServingState;
use crate::structure::Structure;
use crate::time::{Span, Time};

/// Interval of the first frames.
const FIRST_INTERVAL: Span = Span(1_000_000);

/// A recorded run.
#[derive(Clone, Debug)]
pub struct Playback {
    /// The net.
    pub structure: Structure,
    /// Path and name of each gauge ([`Net::gauges`]).
    pub gauges: Vec<(String, &'static str)>,
    /// Evenly spaced from the start on; the last one is the end of the run.
    pub frames: Vec<Frame>,
}

/// The state of a net after everything that happened up to an instant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The instant.
    pub time: Time,
    /// By node id, as in [`Structure`](crate::Structure).
    pub nodes: Vec<NodeFrame>,
    /// Firings since the start of the run, by transition id.
    pub firings: Vec<u64>,
    /// Sums over copies of the gauges, in the order of [`Net::gauges`].
    pub gauges: Vec<u64>,
}

/// The state of a node, summed over its copies unless it says otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct NodeFrame {
    /// Tokens inside: waiting, served or ready.
    pub tokens: u64,
    /// Tokens inside the fullest copy.
    pub most_tokens: u64,
    /// Tokens that wait for a server; 0 for places.
    pub queue: u64,
    /// Queue of the copy with the longest one.
    pub most_queue: u64,
    /// Servers at work.
    pub busy: u64,
    /// Server-picoseconds worked since the start of the run.
    pub work: u128,
    /// Tokens that came since the start of the run.
    pub arrivals: u64,
    /// Token-picoseconds waited since the start of the run, as
    /// [`NodeReport::mean_queue`](crate::NodeReport::mean_queue) counts them.
    pub waited: u128,
}

/// Frames in the making.
pub(crate) struct Recording {
    /// Fewest frames of a long run; twice as many are dropped to these.
    fewest: u128,
    start: Time,
    interval: Span,
    frames: Vec<Frame>,
    /// Counts up to the last reset of statistics, which starts the nodes' own again.
    work_before: Vec<u128>,
    waited_before: Vec<u128>,
    arrivals_before: Vec<u64>,
    firings_before: Vec<u64>,
}

impl Recording {
    /// The time of the next frame.
    fn next(&self) -> Time {
        self.start + self.interval * self.frames.len() as u64
    }

    /// Drops every other frame until those before a time are fewer than twice the fewest. A long
    /// wait then records only the frames that stay.
    fn make_room(&mut self, before: Time) {
        let length = u128::from(before.since(self.start).0);
        while length > u128::from(self.interval.0) * (2 * self.fewest - 1) {
            let mut is_kept = false;
            self.frames.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
            self.interval = self.interval * 2;
        }
    }

    fn frame(&self, net: &Net, time: Time) -> Frame {
        let nodes = net.nodes.iter().zip(0..);
        let nodes = nodes.map(|(node, index): (_, usize)| {
            let mut frame = node_frame(&**node, time);
            frame.work += self.work_before[index];
            frame.waited += self.waited_before[index];
            frame.arrivals += self.arrivals_before[index];
            frame
        });
        let firings = net.transitions.iter().zip(&self.firings_before);
        Frame {
            time,
            nodes: nodes.collect(),
            firings: firings.map(|(it, before)| it.firings + before).collect(),
            gauges: net.gauges().iter().map(Gauge::sum).collect(),
        }
    }
}

fn node_frame(node: &dyn AnyNode, time: Time) -> NodeFrame {
    let mut frame = NodeFrame::default();
    for state in node.states() {
        let tokens = u64::from(state.inside);
        frame.tokens += tokens;
        frame.most_tokens = frame.most_tokens.max(tokens);
        frame.arrivals += state.arrivals;
    }
    frame.waited = waited(node, time);
    for (state, serving) in node.states().iter().zip(node.serving()) {
        let busy = serving.busy(time);
        let waiting = u64::from(state.inside - state.ready.len());
        let queue = waiting.saturating_sub(busy);
        frame.queue += queue;
        frame.most_queue = frame.most_queue.max(queue);
        frame.busy += busy;
        frame.work += serving.worked(time);
    }
    frame
}

/// Token-picoseconds that tokens waited: inside and not served; where work is booked, for its
/// start.
fn waited(node: &dyn AnyNode, time: Time) -> u128 {
    let booked = node.serving().iter().filter_map(ServingState::waited);
    booked
        .reduce(|sum, waited| sum + waited)
        .unwrap_or_else(|| {
            let inside: u128 = node.states().iter().map(|state| state.area(time)).sum();
            let served: u128 = node.serving().iter().map(|state| state.area(time)).sum();
            inside.saturating_sub(served)
        })
}

impl Net {
    /// Records the run from now on for [`Net::playback`], in at least `frames` frames and at most
    /// twice as many. Runs shorter than that many microseconds have fewer.
    pub fn record_playback(&mut self, frames: u32) {
        self.recording = Some(Box::new(Recording {
            fewest: u128::from(frames.max(1)),
            start: self.now(),
            interval: FIRST_INTERVAL,
            frames: Vec::new(),
            work_before: vec![0; self.nodes.len()],
            waited_before: vec![0; self.nodes.len()],
            arrivals_before: vec![0; self.nodes.len()],
            firings_before: vec![0; self.transitions.len()],
        }));
        self.next_frame = self.now();
    }

    /// Returns the state of each node now, by its number. Sums over time are since the start of
    /// statistics.
    pub fn node_frames(&self) -> Vec<NodeFrame> {
        let nodes = self.nodes.iter();
        nodes.map(|node| node_frame(&**node, self.now())).collect()
    }

    /// Returns the frames so far and one of the state now, if the run is recorded.
    pub fn playback(&self) -> Option<Playback> {
        let recording = self.recording.as_ref()?;
        let mut frames = recording.frames.clone();
        frames.push(recording.frame(self, self.now()));
        Some(Playback {
            structure: self.structure().clone(),
            gauges: self
                .gauges()
                .into_iter()
                .map(|it| (it.path, it.name))
                .collect(),
            frames,
        })
    }

    /// Records the frames that are due before a time. Nothing changes between now and then.
    #[cold]
    pub(crate) fn record_frames(&mut self, before: Time) {
        let next_sample = self.take_copy_samples(before);
        let Some(mut recording) = self.recording.take() else {
            self.next_frame = next_sample;
            return;
        };
        recording.make_room(before);
        while recording.next() < before {
            let frame = recording.frame(self, recording.next());
            recording.frames.push(frame);
        }
        self.next_frame = recording.next().min(next_sample);
        self.recording = Some(recording);
    }

    /// Remembers the counts of frames before statistics are reset.
    pub(crate) fn keep_counts_of_frames(&mut self) {
        let Some(mut recording) = self.recording.take() else {
            return;
        };
        let now = recording.frame(self, self.now());
        recording.work_before = now.nodes.iter().map(|it| it.work).collect();
        recording.waited_before = now.nodes.iter().map(|it| it.waited).collect();
        recording.arrivals_before = now.nodes.iter().map(|it| it.arrivals).collect();
        recording.firings_before = now.firings;
        self.recording = Some(recording);
    }
}
