//! Limits of a simulation: hosts, files, bytes and time. A scenario that exceeds them is rejected
//! before it runs.

use crate::declare::Place;
use crate::error::Error;
use crate::sections::{
    Access, ClientLeaves, Clients, Ior, Layout, Parallel, Phase, Scenario, ServerKind, Topology,
    Workload, WorkloadKind,
};
use crate::values::{Bytes, Rate, Seconds};

/// Hosts, processes and links that can be simulated: some kilobytes each.
pub const MOST_HOSTS: u64 = 2_000_000;

/// Groups of clients: their numbers have eight bits.
pub const MOST_GROUPS: usize = 256;

/// Jobs of one request: more than any has on purpose.
pub const MOST_JOBS: u64 = 1_000_000;

/// Bytes of a packet with its content and framing: the length of an IPv6
/// jumbogram has 32 bits (RFC 2675).
pub const LARGEST_PACKET: u64 = 1 << 32;

/// Workloads: their numbers have 16 bits, and one number is reserved for "none".
const MOST_WORKLOADS: usize = 65_535;

/// Files of a local file system.
pub const MOST_LOCAL_FILES: u64 = 10_000_000;

/// Rejects the first amount that exceeds its limit.
pub(crate) fn check(all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let parallel = all.parallel();
    numbers(&all.clients, at)?;
    if let Some(parallel) = parallel {
        hosts(&all.clients, parallel, at)?;
        packets(parallel, at)?;
    }
    let workloads = all.workload.len();
    if workloads > MOST_WORKLOADS {
        let message = format!("these are {workloads}: expected at most {MOST_WORKLOADS}");
        return Err(refused("workload", message, at));
    }
    for (index, workload) in all.workload.iter().enumerate() {
        let pattern = match &workload.kind {
            WorkloadKind::Ior(ior) => Some(ior.clone()),
            WorkloadKind::Pipeline(pipeline) => Some(pipeline.pattern()),
            WorkloadKind::Mdtest(mdtest) => mdtest.pattern(),
            WorkloadKind::OperationMix(mix) => mix.pattern(),
            WorkloadKind::TreeCopy(copy) => Some(copy.pattern()),
            WorkloadKind::Training(training) => Some(training.pattern()),
            WorkloadKind::TraceReplay(_) => None,
        };
        if let Some(ior) = &pattern {
            let workload = Pattern {
                ior,
                layout: parallel.map(|parallel| workload.layout(parallel)),
                processes: processes(all, workload),
                at: Place {
                    root: at.root,
                    path: format!("workload.{index}"),
                },
            };
            workload.offsets_have_numbers()?;
            let machines = parallel.is_none_or(|it| it.servers.machine().is_some())
                || all.clients.machine().is_some();
            workload.files_have_numbers(machines)?;
            if let Some(parallel) = parallel {
                workload.jobs_are_few(all, parallel)?;
                workload.messages_have_a_size(parallel)?;
                workload.jobs_end_in_time(all, parallel, at)?;
            }
        }
    }
    if let Some(parallel) = parallel {
        messages_end_in_time(&all.clients, parallel, at)?;
    }
    ends_can_be_reached(all, at)
}

fn numbers(all: &Clients, at: &Place<'_>) -> Result<(), Error> {
    let clients = u64::from(all.count);
    few(
        &[
            ("clients.count", "clients", clients),
            (
                "clients.processes",
                "processes on all clients",
                clients * u64::from(all.processes),
            ),
        ],
        at,
    )?;
    let groups = all.groups.names().count();
    if groups > MOST_GROUPS {
        let message = format!("these are {groups} groups: expected at most {MOST_GROUPS}");
        return Err(refused("clients.groups", message, at));
    }
    Ok(())
}

fn hosts(clients: &Clients, parallel: &Parallel, at: &Place<'_>) -> Result<(), Error> {
    let servers = u64::from(parallel.servers.count);
    let targets = servers * u64::from(parallel.servers.targets);
    let metadata = u64::from(parallel.metadata_servers());
    let links = match &parallel.network.topology {
        Topology::Star(_) | Topology::FatTree(_) => 0,
        Topology::Pairs(_) => u64::from(clients.count) * (servers + metadata),
        Topology::LeafSpine(it) => {
            let apart = match it.clients {
                ClientLeaves::Own => u64::from(clients.count),
                ClientLeaves::WithServers => 0,
            };
            let leaves = [apart, servers, metadata];
            let leaves = leaves.map(|hosts| hosts.div_ceil(u64::from(it.hosts)));
            leaves.iter().sum::<u64>() * u64::from(it.spines)
        }
        Topology::Graph(graph) => graph.link.len() as u64,
        Topology::Torus(torus) => torus.grid().links(),
        Topology::Mesh(mesh) => mesh.grid().links(),
    };
    few(
        &[
            ("servers.count", "servers", servers),
            ("servers.targets", "targets in all", targets),
            ("metadata.servers", "metadata servers", metadata),
            ("network.topology", "links between hosts", links),
        ],
        at,
    )
}

fn few(numbers: &[(&str, &str, u64)], at: &Place<'_>) -> Result<(), Error> {
    for &(field, what, number) in numbers {
        if number > MOST_HOSTS {
            let message = format!("these are {number} {what}: expected at most {MOST_HOSTS}");
            return Err(refused(field, message, at));
        }
    }
    Ok(())
}

fn packets(all: &Parallel, at: &Place<'_>) -> Result<(), Error> {
    let network = &all.network;
    for (field, bytes) in [
        ("mtu", network.mtu),
        ("header", network.header),
        ("framing", network.framing),
        ("message", network.message),
    ] {
        if bytes.0 > LARGEST_PACKET {
            let message = "expected at most 4 GiB, the largest packet that IPv6 allows (RFC 2675)";
            return Err(at.field("network").error(field, message));
        }
    }
    Ok(())
}

/// Returns the number of processes of a workload.
fn processes(all: &Scenario, workload: &Workload) -> u64 {
    let groups = all.clients.group_sizes().into_iter();
    let own = groups.filter(|(name, _)| workload.group.as_deref().is_none_or(|own| own == *name));
    let clients: u64 = own.map(|(_, size)| u64::from(size)).sum();
    clients * u64::from(all.clients.processes)
}

/// A pattern of requests, and their processes.
struct Pattern<'a> {
    ior: &'a Ior,
    /// Layout of the files on a parallel file system.
    layout: Option<&'a Layout>,
    processes: u64,
    at: Place<'a>,
}

impl Pattern<'_> {
    /// The largest request.
    fn transfer(&self) -> Bytes {
        self.ior.transfer.largest(self.processes)
    }

    fn offsets_have_numbers(&self) -> Result<(), Error> {
        let blocks = u64::from(self.ior.segments) * self.processes;
        let of_a_segment = self.ior.block.sum(self.processes);
        let all = of_a_segment.checked_mul(u64::from(self.ior.segments));
        let too_large = all.is_none() || of_a_segment == u64::MAX;
        if self.ior.access == Access::Shared && too_large {
            let message =
                format!("{blocks} blocks of that size make a shared file of more than 16 EiB");
            return Err(self.at.error("block", message));
        }
        Ok(())
    }

    /// On a local file system every file that is there before the run has its
    /// place on the device, which takes some hundred bytes.
    fn files_have_numbers(&self, local: bool) -> Result<(), Error> {
        let files = match self.ior.access {
            Access::FilePerProcess => u64::from(self.ior.files) * self.processes,
            Access::Shared => u64::from(self.ior.files),
        };
        if files >= u64::from(u32::MAX) {
            let message = format!("these are {files} files in all: expected fewer than 2^32");
            return Err(self.at.error("files", message));
        }
        if local && files > MOST_LOCAL_FILES {
            let message = format!(
                "these are {files} files: expected at most {MOST_LOCAL_FILES} on a local file system"
            );
            return Err(self.at.error("files", message));
        }
        Ok(())
    }

    fn jobs_are_few(&self, scenario: &Scenario, all: &Parallel) -> Result<(), Error> {
        let layout = self.layout.unwrap_or(&all.layout);
        let (size, kind) = (self.transfer().0, &layout.kind);
        let width = kind.width(layout.places(all));
        let packets = scenario
            .largest_job(layout)
            .map_or(0, |packet| size / packet);
        let jobs = packets + u64::from(width).min(size / kind.smallest().0 + 2);
        let jobs = jobs.saturating_mul(u64::from(all.replication.pieces()));
        if jobs > MOST_JOBS {
            let path = self.at.field("transfer").path;
            let message = format!(
                "a request makes about {jobs} jobs, and at most {MOST_JOBS} are possible: expected \
                 larger packets or a smaller {path} = \"{}\"",
                self.transfer()
            );
            return Err(refused("layout.packet", message, &self.at));
        }
        Ok(())
    }

    fn messages_have_a_size(&self, all: &Parallel) -> Result<(), Error> {
        let network = &all.network;
        let bytes = u128::from(self.transfer().0) + u128::from(network.message.0);
        let packets = bytes.div_ceil(u128::from(network.mtu.0 - network.header.0));
        let around = packets * u128::from(network.header.0 + network.framing.0);
        if bytes + around > u128::from(u64::MAX) {
            let message = "with its packets' headers and framing, a request of that size is \
                           larger than 16 EiB on the wire: expected a smaller one or a larger \
                           network.mtu";
            return Err(self.at.error("transfer", message));
        }
        Ok(())
    }

    /// Bytes of the largest job of a request, at the least.
    fn job(&self, scenario: &Scenario, all: &Parallel) -> u64 {
        let layout = self.layout.unwrap_or(&all.layout);
        let width = layout.kind.width(layout.places(all));
        let piece = self.transfer().0 / u64::from(width);
        scenario
            .largest_job(layout)
            .map_or(piece, |packet| piece.min(packet))
    }

    fn jobs_end_in_time(
        &self,
        scenario: &Scenario,
        all: &Parallel,
        at: &Place<'_>,
    ) -> Result<(), Error> {
        let job = self.job(scenario, all);
        for phase in &self.ior.phases {
            let writes: &[bool] = match phase {
                Phase::Read => &[false],
                Phase::Write => &[true],
                Phase::Mixed => &[false, true],
                Phase::Sync => &[],
            };
            for writes in writes {
                for alike in all.servers.alike() {
                    let (field, rate) = alike.servers.slowest(*writes);
                    ends_in_time(job, rate, &field, at)?;
                }
            }
        }
        if let ServerKind::SimpleServer(simple) = &all.servers.kind
            && let Some(rate) = simple.memory.rate
        {
            ends_in_time(job, rate, "servers.memory.rate", at)?;
        }
        on_the_wire(job, &scenario.clients, all, at)
    }
}

fn messages_end_in_time(clients: &Clients, all: &Parallel, at: &Place<'_>) -> Result<(), Error> {
    on_the_wire(0, clients, all, at)?;
    let metadata = all.metadata.card.bandwidth;
    metadata.map_or(Ok(()), |rate| {
        ends_in_time(all.network.message.0, rate, "metadata.card.bandwidth", at)
    })
}

/// A message with these bytes of data passes the clients' and the servers'
/// cards in time.
fn on_the_wire(data: u64, clients: &Clients, all: &Parallel, at: &Place<'_>) -> Result<(), Error> {
    let bytes = data.saturating_add(all.network.message.0);
    let mut cards = vec![
        ("clients.card.bandwidth", &clients.card),
        ("servers.card.bandwidth", &all.servers.card),
    ];
    let unlike = clients.unlike().iter();
    let unlike = unlike.filter_map(|group| group.card.as_ref());
    cards.extend(unlike.map(|card| ("clients.card.bandwidth", card)));
    let unlike = all.servers.groups().iter();
    let unlike = unlike.filter_map(|group| group.card.as_ref());
    cards.extend(unlike.map(|card| ("servers.card.bandwidth", card)));
    for (field, card) in cards {
        match card.bandwidth {
            Some(rate) => ends_in_time(bytes, rate, field, at)?,
            None => ends_in_time(bytes, all.network.bandwidth, "network.bandwidth", at)?,
        }
    }
    Ok(())
}

fn ends_in_time(bytes: u64, rate: Rate, field: &str, at: &Place<'_>) -> Result<(), Error> {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let least = bytes as f64 / Seconds::LONGEST.0;
    if rate.0 <= least {
        let message = format!(
            "a job or message of {bytes} bytes takes longer than 213 days, the most that simulated \
             time can hold: expected a higher rate"
        );
        return Err(refused(field, message, at));
    }
    Ok(())
}

fn ends_can_be_reached(all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let run = &all.run;
    if run
        .window
        .is_some_and(|window| window.0 < Seconds::SHORTEST.0)
    {
        return Err(refused(
            "run.window",
            "expected at least a picosecond (0.001 ns)",
            at,
        ));
    }
    if run
        .stop
        .time
        .is_some_and(|time| time.0 - run.warm_up.0 < Seconds::SHORTEST.0)
    {
        let message = "expected at least a picosecond (0.001 ns) after the warm-up";
        return Err(refused("run.stop.time", message, at));
    }
    Ok(())
}

/// An error about the value at a path from the scenario's top.
fn refused(path: &str, message: impl Into<String>, at: &Place<'_>) -> Error {
    let (section, field) = path.rsplit_once('.').unwrap_or(("", path));
    let at = Place {
        root: at.root,
        path: section.to_owned(),
    };
    at.error(field, message)
}
