//! Service times that are drawn from an empirical distribution, for at most `queue_depth` transfers
//! at once. With Poisson arrivals the mean latency is that of Pollaczek and Khinchine.
//!
//! Not modelled: the dependence of a time on the address; a dependence on the size, unless a rate
//! is given; a dependence on the time before.

use headrace_net::{Fcfs, Node, Page, Random, Span};
use headrace_spec::{EmpiricalDevice, ServiceTimes};
use headrace_trace::Operation;

use crate::tokens::Transfer;

/// Times by the sum of the weights up to each.
#[derive(Clone, Debug)]
struct Distribution {
    times: Vec<Span>,
    sums: Vec<f64>,
}

impl Distribution {
    fn new(times: &ServiceTimes) -> Distribution {
        let sums = times.times.iter().scan(0.0, |sum, (_, weight)| {
            *sum += weight;
            Some(*sum)
        });
        Distribution {
            times: times
                .times
                .iter()
                .map(|&(time, _)| Span::from_seconds(time))
                .collect(),
            sums: sums.collect(),
        }
    }

    fn draw(&self, random: &mut Random<'_>) -> Span {
        let total = self.sums.last().copied().unwrap_or(0.0);
        let at = random.uniform() * total;
        let index = self.sums.partition_point(|&sum| sum <= at);
        let last = self.times.len().saturating_sub(1);
        self.times
            .get(index.min(last))
            .copied()
            .unwrap_or(Span::ZERO)
    }
}

pub(super) fn station(page: &mut Page<'_>, spec: &EmpiricalDevice) -> Node<Transfer> {
    let per_byte = |rate: Option<headrace_spec::Rate>| rate.map_or(0.0, |rate| 1e12 / rate.0);
    let (read, read_byte) = (
        Distribution::new(&spec.read_times),
        per_byte(spec.read_rate),
    );
    let (write, write_byte) = (
        Distribution::new(&spec.write_times),
        per_byte(spec.write_rate),
    );
    let flush = Span::from_seconds(spec.flush.0);
    let service = move |transfer: &Transfer, random: &mut Random<'_>| {
        let (drawn, per_byte) = match transfer.operation {
            Operation::Sync => return flush,
            Operation::Write => (write.draw(random), write_byte),
            _ => (read.draw(random), read_byte),
        };
        drawn + Span((transfer.size as f64 * per_byte + 0.5) as u64)
    };
    page.station("device", Fcfs::new(spec.queue_depth, service))
}
