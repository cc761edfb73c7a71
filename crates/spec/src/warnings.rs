//! Warnings about valid scenarios whose results need care.

use crate::links;
use crate::load::Loaded;
use crate::presets;
use crate::sections::{
    Access, Device, FlowControl, Grain, Metadata, OperationGroup, OperationTimes, Phase, Scenario,
    ServerKind, SystemKind, WorkloadKind,
};
use crate::values::Seconds;

/// A warning of a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Caution {
    /// Subject, as a keyword for programs.
    pub condition: &'static str,
    /// Consequence for the result, and the suggested change.
    pub message: String,
}

/// The scenario's warnings: first about times that are 0 by default and decide the result.
#[must_use]
pub fn cautions(loaded: &Loaded) -> Vec<Caution> {
    let scenario = &loaded.scenario;
    let zero = [
        zero_times_of_names(loaded),
        zero_time_of_locks(loaded),
        zero_time_of_clients(loaded),
        zero_time_of_device(loaded),
    ];
    let all = zero.into_iter().flatten();
    all.chain(lossless_link(scenario)).collect()
}

/// Subject of warnings about times that are 0 by default.
const ZERO_DEFAULT: &str = "zero-default";

/// Creates a warning about fields that are 0 by default.
fn zero_default(fields: &[&str], consequence: &str) -> Caution {
    let all: Vec<String> = (fields.iter())
        .map(|field| format!("{field} = \"0 s\""))
        .collect();
    Caution {
        condition: ZERO_DEFAULT,
        message: format!(
            "by default {}, so {consequence}: give measured times, or \"0 s\" if that is meant",
            all.join(" and ")
        ),
    }
}

/// Operations on names for which neither a server nor a machine takes any time. Their rate is that
/// of the network alone, or has no limit.
fn zero_times_of_names(loaded: &Loaded) -> Option<Caution> {
    let scenario = &loaded.scenario;
    if !scenario.workload.iter().any(|it| uses_names(&it.kind)) {
        return None;
    }
    match &scenario.kind {
        SystemKind::Parallel(parallel) => {
            let field = "metadata.time_per_operation";
            let free = takes_no_time(&parallel.metadata) && !loaded.gives(field);
            free.then(|| {
                let consequence = "operations on names, such as creating a file, take no time on \
                                   a metadata server, and their rates are those of the network \
                                   alone";
                zero_default(&[field], consequence)
            })
        }
        SystemKind::Local(local) => {
            let file_system = &local.machine.file_system;
            let times = [
                ("machine.cpu.system_call", local.machine.cpu.system_call),
                ("machine.file_system.create", file_system.create),
                ("machine.file_system.unlink", file_system.unlink),
                ("machine.file_system.lookup", file_system.lookup),
            ];
            let free = |(field, time): &(&str, Seconds)| time.0 == 0.0 && !loaded.gives(field);
            let fields: Vec<&str> = times.iter().filter(|it| free(it)).map(|it| it.0).collect();
            (fields.len() == times.len()).then(|| {
                let consequence = "operations on names, such as creating a file, take no time of \
                                   the processor, and their rates have no limit but the device";
                zero_default(&fields, consequence)
            })
        }
    }
}

/// Returns true if a workload creates, opens, lists, looks up or removes files as such.
fn uses_names(kind: &WorkloadKind) -> bool {
    match kind {
        WorkloadKind::Mdtest(_) | WorkloadKind::TreeCopy(_) | WorkloadKind::Training(_) => true,
        WorkloadKind::Ior(ior) => ior.opens.unwrap_or(false),
        WorkloadKind::OperationMix(mix) => mix.weights.values().any(|operation| {
            use OperationGroup as It;
            matches!(
                operation.group(),
                It::FileStat
                    | It::GetAttribute
                    | It::SetAttribute
                    | It::Directory
                    | It::SymbolicLink
                    | It::File
                    | It::Windows
            )
        }),
        WorkloadKind::Pipeline(_) | WorkloadKind::TraceReplay(_) => false,
    }
}

/// Returns true if no operation takes time on a metadata server.
fn takes_no_time(metadata: &Metadata) -> bool {
    let OperationTimes {
        open,
        create,
        stat,
        unlink,
        rename,
        mkdir,
        rmdir,
        readdir,
    } = metadata.times;
    let single = [open, create, stat, unlink, rename, mkdir, rmdir, readdir];
    metadata.database().is_none()
        && metadata.time_per_operation.0 == 0.0
        && single.into_iter().flatten().all(|time| time.0 == 0.0)
}

/// Locks that take a server no time, and a file that several clients write.
fn zero_time_of_locks(loaded: &Loaded) -> Option<Caution> {
    let scenario = &loaded.scenario;
    let field = "locks.time_per_lock";
    let locks = scenario.parallel()?.locks.extent()?;
    let writes_shared = scenario.workload.iter().any(|it| match &it.kind {
        WorkloadKind::Ior(ior) => {
            ior.access == Access::Shared && ior.phases.iter().any(|it| *it != Phase::Read)
        }
        _ => false,
    });
    let is_free = locks.time_per_lock.0 == 0.0 && !loaded.gives(field);
    (is_free && writes_shared && scenario.clients.count > 1).then(|| {
        let consequence = "the locks that clients take from each other on a shared file cost \
                           messages and no time of a server";
        zero_default(&[field], consequence)
    })
}

/// Rate of a card in bytes a second from which on a client's processor is the limit. Clients of TCP
/// and file systems move 1 to 3 GB/s a core.
const FAST_CARD: f64 = 2.5e9;

/// Clients of a real system with fast cards whose bytes take no processor time.
fn zero_time_of_clients(loaded: &Loaded) -> Option<Caution> {
    let scenario = &loaded.scenario;
    let parallel = scenario.parallel()?;
    let is_real = scenario.system != presets::DEFAULT;
    let is_fast = parallel.network.bandwidth.0 >= FAST_CARD;
    (is_real && is_fast && !parallel.hosts.cpu.costs()).then(|| Caution {
        condition: ZERO_DEFAULT,
        message: "by default hosts.cpu.send_rate and hosts.cpu.receive_rate have no limit, so a \
                  byte takes no processor time of a client, and one client is as fast as its card: \
                  give measured rates, as headrace bench net and headrace calibrate --server find \
                  them"
            .to_owned(),
    })
}

/// Transfer time of a request below which the omitted time is longer. An access to flash takes
/// about as long, and one to a disk far longer.
const SHORT_TRANSFER: f64 = 100e-6;

/// A device without a time for each request, to which requests are so small that their bytes take
/// no time worth speaking of.
fn zero_time_of_device(loaded: &Loaded) -> Option<Caution> {
    let scenario = &loaded.scenario;
    let (path, device) = match &scenario.kind {
        SystemKind::Local(local) => ("machine.device", &local.machine.device),
        SystemKind::Parallel(parallel) => match &parallel.servers.kind {
            ServerKind::SimpleServer(server) => ("servers.device", &server.device),
            ServerKind::MachineServer(server) => ("servers.machine.device", &server.machine.device),
        },
    };
    let time = match device {
        Device::SimpleDevice(it) => it.time_per_request,
        Device::SharedDevice(it) => it.time_per_request,
        Device::ConcurrentDevice(it) => it.time_per_request,
        Device::EmpiricalDevice(_)
        | Device::Disk(_)
        | Device::SolidState(_)
        | Device::Throttled(_)
        | Device::Raid(_)
        | Device::NetworkDevice(_) => return None,
    };
    let field = format!("{path}.time_per_request");
    if time.0 > 0.0 || loaded.gives(&field) {
        return None;
    }
    let rate = device.slowest(false).1.0.max(device.slowest(true).1.0);
    let sizes = scenario.workload.iter().filter_map(|it| smallest(&it.kind));
    let smallest = sizes.min()?;
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let seconds = smallest as f64 / rate;
    (seconds < SHORT_TRANSFER).then(|| {
        let consequence = format!(
            "a request of {smallest} B takes the device {seconds:.1e} s, less than any access to a \
             real one"
        );
        zero_default(&[&field], &consequence)
    })
}

/// Bytes of a workload's smallest read or write, where the scenario says it.
fn smallest(kind: &WorkloadKind) -> Option<u64> {
    let bytes = match kind {
        WorkloadKind::Ior(ior) => ior.transfer.every().iter().map(|it| it.0).min(),
        WorkloadKind::Mdtest(mdtest) => mdtest.bytes.every().iter().map(|it| it.0).min(),
        WorkloadKind::Pipeline(pipeline) => Some(pipeline.request.0.min(pipeline.input.0)),
        WorkloadKind::TreeCopy(copy) => Some(copy.largest_request().0),
        WorkloadKind::Training(training) => Some(training.transfer.0.min(training.sample.0)),
        WorkloadKind::OperationMix(mix) => {
            let reads = mix
                .read_sizes
                .values()
                .filter(|_| mix.weights.values().any(|it| it.reads()));
            let writes = mix
                .write_sizes
                .values()
                .filter(|_| mix.weights.values().any(|it| it.writes()));
            reads.chain(writes).map(|it| it.0).min()
        }
        WorkloadKind::TraceReplay(_) => None,
    };
    bytes.filter(|bytes| *bytes > 0)
}

/// At the grain of packets the model is TCP over Ethernet, whose switches drop packets.
fn lossless_link(scenario: &Scenario) -> Option<Caution> {
    let network = &scenario.parallel()?.network;
    let link = network.link.as_deref()?;
    let source = links::lossless(link)?;
    let drops = network.grain == Grain::Packet && network.flow_control == FlowControl::None;
    drops.then(|| Caution {
        condition: "lossless-link",
        message: format!(
            "network.link = {link:?} with network.grain = \"packet\": a sender on this link waits \
             for credits, and no packet is dropped ({source}); the model has TCP over queues that \
             drop packets, and its losses and timeouts are not this link's: take \
             network.flow_control = \"credits\", or grain = \"message\" or \"flow\""
        ),
    })
}
