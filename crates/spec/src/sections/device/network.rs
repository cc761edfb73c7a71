//! `kind = "network"`: a block device on a target host behind a network.

use crate::Error;
use crate::declare::{Place, kinds, section};
use crate::sections::{
    ConcurrentDevice, Device, Disk, EmpiricalDevice, Raid, Scenario, SharedDevice, SimpleDevice,
    SolidState, Throttled,
};
use crate::values::{AtLeastOne, Bytes, Rate, Seconds, choice};

choice! {
    /// Protocol of a block device over a network.
    pub enum BlockProtocol {
        /// NVMe over TCP.
        NvmeTcp = "nvme-tcp",
        /// NVMe over RDMA, with RoCE v2.
        NvmeRdma = "nvme-rdma",
        /// SCSI over TCP.
        Iscsi = "iscsi",
    }
}

section! {
    /// A block device of a target host, over NVMe/TCP, NVMe/RDMA or iSCSI. A file system or a raw
    /// device of the client uses it as a local one.
    pub struct NetworkDevice {
        /// The protocol: it gives the sizes of messages where the file does not.
        protocol: BlockProtocol = default("nvme-tcp", "declared default: it needs no special card") aka ["transport"],
        /// Bytes per second of the client's port in each direction, headers included.
        bandwidth: Rate = required("25 Gbit/s") aka ["rate", "speed"],
        /// Bytes per second of the target's port in each direction.
        target_bandwidth: Rate = same(bandwidth),
        /// Time from one host to the other, one way, for the first bit.
        latency: Seconds = required("10 us") aka ["delay"],
        /// Queues, each with a connection of its own and served by one core of either host.
        queues: u32 as AtLeastOne = default(1, "one core serves it; Linux opens a queue for each processor (drivers/nvme/host/fabrics.c: nr_io_queues)") aka ["connections"],
        /// Commands in progress in each queue.
        queue_depth: u32 as AtLeastOne = default(128, "Linux, drivers/nvme/host/fabrics.h: NVMF_DEF_QUEUE_SIZE; open-iscsi, iscsid.conf: node.session.cmds_max"),
        /// Most bytes per second of a connection in each direction.
        connection_rate: Option<Rate> = optional("as much as the port"),
        /// Bytes of a command.
        command: Option<Bytes> = optional("NVMe/TCP 72 B (Linux, include/linux/nvme-tcp.h: struct nvme_tcp_cmd_pdu), NVMe/RDMA 64 B (NVM Express over Fabrics 1.1: submission queue entry), iSCSI 48 B (RFC 7143, section 11.3)"),
        /// Bytes of a response, and of the target's request for a write's data.
        response: Option<Bytes> = optional("NVMe/TCP 24 B (struct nvme_tcp_rsp_pdu, nvme_tcp_r2t_pdu), NVMe/RDMA 16 B (completion queue entry, RDMA header), iSCSI 48 B (RFC 7143, sections 11.4 and 11.8)"),
        /// Bytes around the data of a command.
        data_header: Option<Bytes> = optional("NVMe/TCP 24 B (struct nvme_tcp_data_pdu), NVMe/RDMA 16 B (RDMA extended transport header), iSCSI 48 B (RFC 7143, section 11.7)"),
        /// Most data of a write that goes with its command. The target asks for more data, which
        /// takes a round trip.
        inline_data: Option<Bytes> = optional("NVMe/TCP 16 KiB (Linux, drivers/nvme/target/tcp.c: NVMET_TCP_DEF_INLINE_DATA_SIZE), NVMe/RDMA 4 KiB (rdma.c: NVMET_RDMA_DEFAULT_INLINE_DATA_SIZE), iSCSI 64 KiB (RFC 7143, section 13.14: FirstBurstLength)") aka ["in_capsule_data"],
        /// Data of a packet.
        payload: Option<Bytes> = optional("TCP 1460 B: 1500 B less the headers of IPv4 and TCP; RoCE v2 1024 B: the largest InfiniBand packet that fits in 1500 B"),
        /// Headers and framing of a packet.
        overhead: Option<Bytes> = optional("Ethernet 38 B, and IPv4 and TCP 40 B; or IPv4 and UDP 28 B and transport header and check 16 B (RoCE v2, InfiniBand Architecture Specification, annex A17)"),
        /// The client's processor time for messages.
        client_cpu: BlockCpu = section(),
        /// The target's processor time for messages.
        target_cpu: BlockCpu = section(),
        /// Clients with one target between them. Otherwise each client has a target of its own.
        /// Only for `machine.device` of a local file system without further volumes.
        shared_target: bool = default(false, "each client has a device of its own"),
        /// Kind of device of the target.
        target: Target = section() aka ["device"],
    }
    check of_network_device;
}

section! {
    /// Processor time for the messages of a network device. A card that offloads the protocol (a
    /// DPU) has the cores and times of its own processor. A machine's cores are others.
    pub struct BlockCpu {
        /// Cores that serve queues.
        cores: u32 as AtLeastOne = default(1, "one core"),
        /// Time to send a message.
        send: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// Time to receive a message.
        receive: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// Rate at which a core sends data, besides. RDMA copies nothing.
        send_rate: Option<Rate> = optional("bytes take no time"),
        /// Rate at which a core receives data, besides. RDMA copies nothing.
        receive_rate: Option<Rate> = optional("bytes take no time"),
    }
}

kinds! {
    /// Kind of a target's device.
    pub enum Target default "simple", "the least that can be said of a device" {
        SimpleDevice = "simple",
        SharedDevice = "shared",
        ConcurrentDevice = "concurrent",
        EmpiricalDevice = "empirical",
        Disk = "disk",
        SolidState = "solid-state",
        Throttled = "throttled",
        Raid = "raid",
    }
}

impl Target {
    /// The same as a device of its own.
    #[must_use]
    pub fn device(&self) -> Device {
        match self.clone() {
            Target::SimpleDevice(it) => Device::SimpleDevice(it),
            Target::SharedDevice(it) => Device::SharedDevice(it),
            Target::ConcurrentDevice(it) => Device::ConcurrentDevice(it),
            Target::EmpiricalDevice(it) => Device::EmpiricalDevice(it),
            Target::Disk(it) => Device::Disk(it),
            Target::SolidState(it) => Device::SolidState(it),
            Target::Throttled(it) => Device::Throttled(it),
            Target::Raid(it) => Device::Raid(it),
        }
    }
}

/// Sizes of a network device's messages and packets, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct BlockMessages {
    /// A command.
    pub command: u64,
    /// A response.
    pub response: u64,
    /// Bytes around the data.
    pub data_header: u64,
    /// The most data with a command.
    pub inline_data: u64,
    /// Data of a packet.
    pub payload: u64,
    /// Headers and framing of a packet.
    pub overhead: u64,
}

impl NetworkDevice {
    /// Sizes of messages and packets, by protocol where the file does not give them.
    #[must_use]
    pub fn messages(&self) -> BlockMessages {
        let [
            command,
            response,
            data_header,
            inline_data,
            payload,
            overhead,
        ] = match self.protocol {
            BlockProtocol::NvmeTcp => [72, 24, 24, 16 << 10, 1460, 78],
            BlockProtocol::NvmeRdma => [64, 16, 16, 4 << 10, 1024, 82],
            BlockProtocol::Iscsi => [48, 48, 48, 64 << 10, 1460, 78],
        };
        let or = |bytes: Option<Bytes>, default: u64| bytes.map_or(default, |it| it.0);
        BlockMessages {
            command: or(self.command, command),
            response: or(self.response, response),
            data_header: or(self.data_header, data_header),
            inline_data: or(self.inline_data, inline_data),
            payload: or(self.payload, payload),
            overhead: or(self.overhead, overhead),
        }
    }

    /// Returns true if cards move data without the processors.
    #[must_use]
    pub fn is_rdma(&self) -> bool {
        self.protocol == BlockProtocol::NvmeRdma
    }

    /// The lowest rate of a direction, and its field.
    pub(crate) fn slowest(&self, writing: bool) -> (&'static str, Rate) {
        let device = self.target.device().slowest(writing);
        match self.bandwidth < device.1 {
            true => ("bandwidth", self.bandwidth),
            false => device,
        }
    }
}

fn of_network_device(it: &NetworkDevice, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    if it.payload.is_some_and(|payload| payload.0 == 0) {
        return Err(at.error("payload", r#"expected more than 0 B, such as "1460 B""#));
    }
    for (name, cpu) in [
        ("client_cpu", &it.client_cpu),
        ("target_cpu", &it.target_cpu),
    ] {
        let rates = [
            ("send_rate", cpu.send_rate),
            ("receive_rate", cpu.receive_rate),
        ];
        let given = rates.iter().find(|(_, rate)| rate.is_some());
        if let (true, Some((field, _))) = (it.is_rdma(), given) {
            let message = "cards move the data of protocol = \"nvme-rdma\" without a processor: \
                           leave it out";
            return Err(at.field(name).error(field, message));
        }
    }
    let alone = |local: &crate::sections::Local| {
        local.machine.volumes().is_empty()
            && matches!(&local.machine.device, Device::NetworkDevice(_))
    };
    if it.shared_target && !all.local().is_some_and(alone) {
        let message = "only the clients of kind = \"local\" with one file system share a target: \
                       leave it out";
        return Err(at.error("shared_target", message));
    }
    Ok(())
}
