//! The sections of a scenario, one file each; kinds of devices, layouts,
//! schedulers and workloads have a folder with one file per kind.

mod attributes;
mod calibration;
mod card;
mod check;
mod clients;
mod daemon;
mod device;
mod erasure_code;
mod failover;
mod failure;
mod groups;
mod host_groups;
mod hosts;
mod io_scheduler;
mod lab;
mod layout;
mod local;
mod locks;
mod machine;
mod memory;
mod messages;
mod metadata;
mod network;
mod parallel;
mod pool;

mod receive_buffer;
mod recovery;
mod repair;
mod replication;
mod rpc;
mod run;
mod scenario;
mod scheduler;
mod servers;
mod stop;
mod tcp;
mod topology;
mod weights;
mod workload;

pub use attributes::{
    AskedAttributes, AttributeCache, Attributes, OpportunisticLocks, TimedAttributes,
};
pub use calibration::Calibration;
pub use card::{Card, Spread};
pub use check::{Bound, Check};
pub use clients::{ClientKind, ClientMachine, Clients, MachineClient, SimpleClient};
pub use daemon::Daemon;
pub(crate) use device::data_sheet;
pub use device::{
    BlockCpu, BlockMessages, BlockProtocol, Bus, ConcurrentDevice, ControllerCache, DataSheet,
    Device, Disk, EmpiricalDevice, Hypervisor, LEAST_SPARE_BLOCKS, Member, NetworkDevice, Raid,
    Rebuild, SharedDevice, SimpleDevice, SolidState, Target, Throttled,
};
pub use erasure_code::{Code, NoCode, ReedSolomon, StripeAccess};
pub use failover::{ActiveActive, ActivePassive, Failover, NoFailover};
pub use failure::Failure;
pub use groups::{Group, Groups};
pub(crate) use host_groups::kinds_fit;
pub use host_groups::{ClientGroup, ServerGroup, UniformClients, UniformServers};
pub use hosts::{HostCpu, Hosts, SharedBy};
pub use io_scheduler::*;
pub use lab::Lab;
pub use layout::*;
pub use local::Local;
pub use locks::{ExtentLocks, Locks, NoLocks};
pub(crate) use machine::volume_exists;
pub use machine::{
    Allocation, Copying, Cpu, FileSystem, Journal, JournalMode, Machine, MainMemory, Mapping,
    ReadAhead, Volume, WriteBack,
};
pub use memory::{Memory, Replacement};
pub use messages::{Messages, Rdma, Rendezvous, Whole};
pub use metadata::{
    Database, DirectoryLocks, Distribution, InMemory, Lookups, Metadata, MetadataHosts,
    MetadataKind, MetadataNetwork, OperationTimes, OwnNetwork, SharedNetwork, Subtree,
    WhichNetwork,
};
pub use network::{CREDIT_BLOCK, Credits, Duplex, FlowControl, Grain, Network, Switch};
pub use parallel::Parallel;
pub use pool::Pool;

pub use receive_buffer::ReceiveBuffer;
pub use recovery::Recovery;
pub use repair::{NoRepair, ReReplication, Repair, RepairKind, SelfHeal};
pub use replication::{ReadFrom, ReplicaSets, ReplicatedBy, Replication};
pub use rpc::{LimitsPer, Rpc};
pub use run::Run;
pub use scenario::{Scenario, SystemKind};
pub use scheduler::*;
pub use servers::{MachineServer, ServerKind, Servers, SimpleServer};
pub use stop::Stop;
pub use tcp::Tcp;
pub use topology::*;
pub use weights::Weights;
pub use workload::{
    Access, Amount, Bursts, Collective, DIRECT_UNIT, Directory, FileSet, FileSets, Followers, Gaps,
    InputOutput, Interface, IoClass, IoPriority, Ior, Loading, Locality, MadeIn, Mdtest,
    MixedOperation, NamePhase, NameSets, NoCollective, OperationGroup, OperationMix, Order, Phase,
    Pipeline, RecordFlags, Repeat, Replay, Sharing, Taken, ThinkDistribution, Threads, TraceReplay,
    Training, TreeCopy, Trees, TwoPhase, Workload, WorkloadKind,
};
