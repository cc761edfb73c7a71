//! The load of an open loop: requested and achieved.

use headrace_net::Time;
use headrace_spec::{OperationMix, Scenario, WorkloadKind};
use headrace_workload::{OperationMixApplication, clients};

use crate::Error;
use crate::clock::{Nanoseconds, in_nanoseconds};
use crate::outcome::{Load, Outcome};

impl Load {
    /// The load of a run; none if not all its workloads have rates, or it did not get
    /// beyond its warm-up.
    ///
    /// # Errors
    /// If an operation is to come after the end of time.
    pub fn of(scenario: &Scenario, outcome: &Outcome) -> Result<Option<Load>, Error> {
        let from = in_nanoseconds(scenario.run.warm_up.0);
        let stop = scenario.run.stop.time.map(|it| in_nanoseconds(it.0));
        // Nothing is begun after the stop, and requests in progress are finished.
        let to = stop.filter(|_| outcome.reason == "time");
        let to = to.unwrap_or(outcome.lasted);
        if to <= from {
            return Ok(None);
        }
        let (mut requested, mut offered) = (0.0, 0);
        for workload in &scenario.workload {
            let WorkloadKind::OperationMix(mix) = &workload.kind else {
                return Ok(None);
            };
            let Some(rate) = mix.rate else {
                return Ok(None);
            };
            let clients = clients(scenario, workload).len() as u32;
            requested += rate;
            offered += arrivals(scenario, mix, clients, from, to)?.unwrap_or(0);
        }
        let done: u64 = outcome
            .record
            .cells
            .iter()
            .flatten()
            .map(|it| it.count)
            .sum();
        let seconds = |to: Nanoseconds| (to - from) as f64 * 1e-9;
        Ok(Some(Load {
            requested_per_second: requested,
            offered_per_second: offered as f64 / seconds(to),
            achieved_per_second: done as f64 / seconds(to.max(outcome.lasted)),
        }))
    }
}

fn arrivals(
    scenario: &Scenario,
    mix: &OperationMix,
    clients: u32,
    from: Nanoseconds,
    to: Nanoseconds,
) -> Result<Option<u64>, Error> {
    let each = scenario.clients.processes;
    let processes = clients.saturating_mul(each);
    let application = OperationMixApplication::new(mix, processes, each, scenario.run.seed);
    let time = |nanoseconds: Nanoseconds| Time(nanoseconds.saturating_mul(1000));
    application
        .arrivals(time(from), time(to))
        .map_err(Error::Unsuitable)
}
