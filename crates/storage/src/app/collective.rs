//! Collective calls in two phases (Thakur, Gropp and Lusk, Frontiers 1999; ROMIO,
//! adio/common/ad_write_coll.c and ad_aggregate.c).
//!
//! Once all processes have entered a call, its bytes are divided among the aggregators in equal
//! contiguous parts that end at stripes (`ADIOI_Calc_file_domains`). Each aggregator collects its
//! part from the others and writes it in requests of one buffer. Then all processes meet at the
//! next call. For reads the exchange goes the other way. It is counted before the aggregator's
//! request too, which makes no difference to when the next call begins.
//!
//! The exchange takes a latency and the transfer time of the busiest client's card, without other
//! traffic. All processes wait for it. It is in the simulated time and, except for the first call,
//! in the throughput. The requests of a result are those of the aggregators, so their latency does
//! not contain it.
//!
//! Collective calls save requests. Their gain is small where requests cost nothing. Small calls
//! even lose: blocks within one stripe have one aggregator, and all other processes wait.
//!
//! Not modelled: messages of the exchange in the network, and so other traffic there; the processor
//! time of packing; reads before writes where a call leaves holes, which an aggregator writes
//! around here; ROMIO's own assignment of stripes to aggregators on Lustre; independent calls,
//! which ROMIO uses for calls that are not interleaved.

use std::collections::VecDeque;

use headrace_net::{Random, Span, Time};
use headrace_spec::{Duplex, LayoutKind, Parallel, Scenario, TwoPhase, Workload};
use headrace_trace::Operation;

use headrace_workload::{Application, Ask, ExistingFile, IorApplication, Next};

use crate::network::Wire;

/// Requests that are planned beforehand to count them, at the most.
const MOST_PLANNED: u64 = 100_000_000;

/// A part of a call: file, first byte, bytes.
type Part = (u32, u64, u64);

/// An IOR-like workload whose processes read and write together.
pub struct CollectiveApplication {
    inner: IorApplication,
    rules: Rules,
    /// Request of each process of the call.
    asks: Vec<Option<Ask>>,
    /// Processes that have entered the call and not left it.
    waiting: Vec<bool>,
    /// Requests that each process has not issued yet.
    queues: Vec<VecDeque<Ask>>,
}

/// Rules for the partition and exchange of a call's bytes.
struct Rules {
    clients: u32,
    aggregators: u32,
    buffer: u64,
    /// Parts end at multiples of it.
    unit: u64,
    latency: Span,
    /// Bytes per second of a client's card.
    rate: f64,
    half_duplex: bool,
    wire: Wire,
}

impl CollectiveApplication {
    /// The workload for the processes of the inner one.
    pub fn new(
        scenario: &Scenario,
        parallel: &Parallel,
        workload: &Workload,
        spec: &TwoPhase,
        inner: IorApplication,
    ) -> CollectiveApplication {
        let processes = inner.processes();
        CollectiveApplication {
            rules: Rules::new(scenario, parallel, workload, spec, processes),
            inner,
            asks: vec![None; processes as usize],
            waiting: vec![false; processes as usize],
            queues: vec![VecDeque::new(); processes as usize],
        }
    }

    /// All processes have arrived: divides the call.
    fn plan(&mut self) {
        let asks: Vec<Ask> = self.asks.iter_mut().filter_map(Option::take).collect();
        let Some(&first) = asks.first() else {
            return;
        };
        let parts: Vec<Part> = asks
            .iter()
            .map(|it| (it.file, it.offset, it.size))
            .collect();
        let think = asks.iter().map(|it| it.after).max().unwrap_or(Span::ZERO);
        let dealt = self.rules.deal_out(&parts);
        let exchange = self
            .rules
            .exchange(&parts, first.operation == Operation::Write);
        let queues = self.queues.iter_mut().zip(&dealt);
        for (queue, parts) in queues {
            let all: u64 = parts.iter().map(|part| part.2).sum();
            for (number, &(file, offset, size)) in parts.iter().enumerate() {
                let share = exchange.as_seconds() * size as f64 / all as f64;
                let think = if number == 0 { think } else { Span::ZERO };
                queue.push_back(Ask {
                    file,
                    offset,
                    size,
                    after: think + Span::from_seconds(share),
                    ..first
                });
            }
        }
    }
}

impl Rules {
    fn new(
        scenario: &Scenario,
        parallel: &Parallel,
        workload: &Workload,
        spec: &TwoPhase,
        processes: u32,
    ) -> Rules {
        let clients = (processes / scenario.clients.processes).max(1);
        let network = &parallel.network;
        let card = &scenario.clients.card;
        Rules {
            clients,
            aggregators: spec.aggregators.unwrap_or(clients).min(processes),
            buffer: spec.buffer.0,
            unit: match &workload.layout(parallel).kind {
                LayoutKind::Striped(striped) => striped.unit.0,
                _ => 1,
            },
            latency: Span::from_seconds(network.latency.0),
            rate: card.bandwidth.unwrap_or(network.bandwidth).0 * f64::from(card.ports),
            half_duplex: network.duplex == Duplex::Half,
            wire: Wire::new(network),
        }
    }

    /// Returns the boundaries of the aggregators' file domains of a call (ADIOI_Calc_file_domains).
    fn bounds(&self, parts: &[Part]) -> Vec<u64> {
        let low = parts.iter().map(|part| part.1).min().unwrap_or(0);
        let high = parts.iter().map(|part| part.1 + part.2).max().unwrap_or(0);
        let number = u64::from(self.aggregators);
        let each = (high - low).div_ceil(number);
        let bounds = (0..=number).map(|at| {
            let even = low.saturating_add(each.saturating_mul(at));
            if at == 0 || even >= high {
                return even.min(high);
            }
            let rest = even % self.unit;
            let down = rest < self.unit - rest;
            let near = if down {
                even - rest
            } else {
                even - rest + self.unit
            };
            near.clamp(low, high)
        });
        bounds.collect()
    }

    /// Divides the call among the aggregators.
    fn deal_out(&self, parts: &[Part]) -> Vec<Vec<Part>> {
        let file = parts.first().map_or(0, |part| part.0);
        let mut sorted: Vec<(u64, u64)> = parts.iter().map(|it| (it.1, it.1 + it.2)).collect();
        sorted.sort_unstable();
        // Adjacent ranges become one.
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for (start, end) in sorted {
            match runs.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => runs.push((start, end)),
            }
        }
        let bounds = self.bounds(parts);
        let dealt = bounds.windows(2).map(|bound| {
            let mut own = Vec::new();
            let first = runs.partition_point(|run| run.1 <= bound[0]);
            for run in runs[first..].iter().take_while(|run| run.0 < bound[1]) {
                let (mut at, end) = (run.0.max(bound[0]), run.1.min(bound[1]));
                while at < end {
                    let size = (end - at).min(self.buffer);
                    own.push((file, at, size));
                    at += size;
                }
            }
            own
        });
        dealt.collect()
    }

    /// Time until all data is at its aggregators. The n-th part is that of process n; process n is
    /// on client n modulo clients, and the first are the aggregators.
    fn exchange(&self, parts: &[Part], writes: bool) -> Span {
        let bounds = self.bounds(parts);
        let mut gives = vec![0_u64; self.clients as usize];
        let mut takes = gives.clone();
        for (rank, &(_, start, size)) in parts.iter().enumerate() {
            let from = rank % self.clients as usize;
            let first = bounds
                .partition_point(|bound| *bound <= start)
                .saturating_sub(1);
            for (aggregator, bound) in bounds.windows(2).enumerate().skip(first) {
                if bound[0] >= start + size {
                    break;
                }
                let to = aggregator % self.clients as usize;
                let shared = (start + size)
                    .min(bound[1])
                    .saturating_sub(start.max(bound[0]));
                if from != to && shared > 0 {
                    gives[from] += self.wire.bytes(shared);
                    takes[to] += self.wire.bytes(shared);
                }
            }
        }
        if !writes {
            std::mem::swap(&mut gives, &mut takes);
        }
        let both = gives.iter().zip(&takes);
        let most = both.map(|(&give, &take)| match self.half_duplex {
            true => give + take,
            false => give.max(take),
        });
        match most.max() {
            None | Some(0) => Span::ZERO,
            Some(bytes) => self.latency + Span::from_seconds(bytes as f64 / self.rate),
        }
    }
}

impl Application for CollectiveApplication {
    fn processes(&self) -> u32 {
        self.inner.processes()
    }

    fn files(&self) -> u32 {
        self.inner.files()
    }

    fn existing(&self) -> Vec<ExistingFile> {
        self.inner.existing()
    }

    fn next(&mut self, rank: u32, now: Time, random: &mut Random<'_>) -> Result<Next, String> {
        let own = rank as usize;
        if std::mem::replace(&mut self.waiting[own], false) && self.asks[own].is_some() {
            self.plan();
        }
        if let Some(ask) = self.queues[own].pop_front() {
            return Ok(Next::Ask(ask));
        }
        let next = self.inner.next(rank, now, random)?;
        match next {
            Next::Ask(ask) if matches!(ask.operation, Operation::Read | Operation::Write) => {
                self.asks[own] = Some(ask);
                self.waiting[own] = true;
                Ok(Next::Barrier)
            }
            other => Ok(other),
        }
    }

    fn total_requests(&self) -> Option<u64> {
        let calls = self.inner.calls()?;
        let all = calls.number.checked_mul(u64::from(self.processes()))?;
        if all > MOST_PLANNED {
            return None;
        }
        let planned = (0..calls.number).map(|number| {
            let ranks = 0..self.processes();
            let parts: Vec<Part> = ranks.map(|rank| self.inner.part(rank, number)).collect();
            self.rules
                .deal_out(&parts)
                .iter()
                .map(Vec::len)
                .sum::<usize>() as u64
        });
        let once: u64 = planned.sum();
        Some(once * calls.data_phases + calls.others)
    }
}
