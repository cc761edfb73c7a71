//! A block device of a target host behind a network: NVMe/TCP, NVMe/RDMA or iSCSI.
//!
//! ```text
//!   client:  submit ─▶ [issue] ─▶ (cpu) ─▶ (sending) ─▶ latency ─▶ target
//!            done ◀─ [complete] ◀─ (cpu) ◀─ (receiving) ◀─ latency ◀─ target
//!   target:  ─▶ (port receiving) ─▶ (cpu) ─▶ (device) ─▶ (cpu) ─▶ (port sending) ─▶
//! ```
//!
//! A read is a command and an answer with data and response. A write with more than `inline_data`
//! is a command, the target's request for the data (NVMe/TCP's R2T, an RDMA Read), the data, and
//! the response. Each message takes its time on a core of its sender and of its receiver, and its
//! packets take the link. With RDMA a client's processor sees the command and the answer only.
//!
//! A queue holds `queue_depth` commands, and further ones wait. Any queue with room takes a
//! command. A core serves whole queues, so a processor works with `queues` cores at the most. With
//! `connection_rate` each message takes a free connection at that rate, and all of them the port.
//!
//! The target's port passes data while the client's link works, as a shared bus does. It matters
//! where several clients share a target.
//!
//! Not modelled: digests and TLS; losses and congestion control; several requests for the data of
//! one write (iSCSI's MaxBurstLength); the command that carries a flush with data (FUA is the
//! device's); multipath; interrupts and polling apart from their time; the machine's cores, of
//! which `client_cpu` takes none; an I/O scheduler and a page cache at the target; discovery and
//! reconnection.

use headrace_net::{Fcfs, Node, Page, Port, Random, Slot, Span, To};
use headrace_spec::{BlockCpu, BlockMessages, Device, NetworkDevice, Rate};
use headrace_trace::Operation;

use super::bus::Passing;
use crate::iosched::BlockDevice;
use crate::tokens::Transfer;

/// Messages of a transfer, as [`Transfer::member`] has them on their way.
const COMMAND: u16 = 0;
const READY: u16 = 1;
const DATA: u16 = 2;
const ANSWER: u16 = 3;

/// A client's ways to and from a target outside of its page.
#[derive(Clone, Copy)]
pub struct TargetPorts {
    to: Port<Transfer>,
    from: Port<Transfer>,
}

/// Returns the device if clients share its target.
pub fn shared(device: &Device) -> Option<&NetworkDevice> {
    match device {
        Device::NetworkDevice(it) if it.shared_target => Some(it),
        _ => None,
    }
}

/// A device with a target of its own.
pub(super) fn alone(page: &mut Page<'_>, spec: &NetworkDevice) -> BlockDevice {
    let answers = page.place("from target");
    let target = page.page("target", |page| target(page, spec, 1, answers.into()));
    initiator(page, spec, target.into(), answers)
}

/// A device whose target is outside of the client's page, in which this is called.
pub fn client(page: &mut Page<'_>, spec: &NetworkDevice) -> (BlockDevice, TargetPorts) {
    let ports = TargetPorts {
        to: page.output("to target"),
        from: page.input("answers"),
    };
    let answers = page.place("from target");
    page.connect(ports.from, answers);
    (initiator(page, spec, ports.to.into(), answers), ports)
}

/// The target of all clients, in the page around theirs.
pub fn join(page: &mut Page<'_>, spec: &NetworkDevice, clients: u32, ports: TargetPorts) {
    let to = ports.from.by(|transfer: &Transfer| transfer.part_of);
    let target = page.page("target", |page| target(page, spec, clients, to));
    page.connect(ports.to, target);
}

/// The client's side of a device.
fn initiator(
    page: &mut Page<'_>,
    spec: &NetworkDevice,
    to: To<Transfer>,
    answers: Node<Transfer>,
) -> BlockDevice {
    let wire = Wire::new(spec);
    let done = page.place("network done");
    page.page("network", |page| {
        let submit = page.place("commands");
        let in_flight = page.bag::<Transfer>("in flight");
        let depth = u64::from(spec.queues) * u64::from(spec.queue_depth);
        let room = page.store("room in the queues", move |_| depth);
        let to_send = page.place::<Transfer>("to send");
        let received = page.place::<Transfer>("received");
        ports(page, spec, [to_send, answers], [to, received.into()]);
        let cpu = cpu(page, wire, &spec.client_cpu, spec.queues, [COMMAND, DATA]);
        page.transition("issue")
            .take(submit)
            .with(room)
            .when(|_: &Transfer, room| *room > 0)
            .puts(in_flight)
            .puts(cpu)
            .fires(move |firing, transfer: Transfer, room| {
                *room -= 1;
                let slot = firing.put(in_flight, transfer);
                let command = Transfer {
                    owner: Some(slot.0),
                    member: COMMAND,
                    part_of: firing.copy(),
                    ..transfer
                };
                firing.put(cpu, command);
            });
        let rdma = spec.is_rdma();
        let (to_cpu, to_link): (To<Transfer>, To<Transfer>) = (cpu.into(), to_send.into());
        page.transition("receive").take(received).route(
            [to_cpu, to_link],
            move |_, transfer: &mut Transfer, ()| match (rdma, transfer.member) {
                (true, READY) => {
                    transfer.member = DATA;
                    to_link
                }
                _ => to_cpu,
            },
        );
        page.transition("handle")
            .take(cpu)
            .with(room)
            .may_pass(in_flight, done)
            .may_put(cpu)
            .may_put(to_send)
            .fires(
                move |firing, mut transfer: Transfer, room| match transfer.member {
                    READY => {
                        transfer.member = DATA;
                        firing.put(cpu, transfer);
                    }
                    ANSWER => {
                        *room += 1;
                        let slot = transfer.owner.map(Slot);
                        if let Some(original) = slot.and_then(|it| firing.take(in_flight, it)) {
                            firing.put(done, original);
                        }
                    }
                    _ => {
                        firing.put(to_send, transfer);
                    }
                },
            );
        BlockDevice { submit, done }
    })
}

/// The target's side: gives where messages arrive.
fn target(
    page: &mut Page<'_>,
    spec: &NetworkDevice,
    clients: u32,
    to: To<Transfer>,
) -> Node<Transfer> {
    let wire = Wire::new(spec);
    let latency = Span::from_seconds(spec.latency.0);
    let pass = |page: &mut Page<'_>, name: &str| {
        let rate = spec.target_bandwidth;
        page.station(name, passing(wire, rate))
    };
    let receiving = pass(page, "port receiving");
    let sending = pass(page, "port sending");
    let queues = spec.queues.saturating_mul(clients);
    let cpu = cpu(page, wire, &spec.target_cpu, queues, [READY, ANSWER]);
    let device = super::build(page, &spec.target.device());
    page.connect(receiving, cpu);
    let inline = spec.messages().inline_data;
    let (again, serve, send) = (cpu.into(), device.submit.into(), sending.into());
    page.transition("handle").take(cpu).route(
        [again, serve, send],
        move |_, transfer: &mut Transfer, ()| match transfer.member {
            COMMAND if is_write(transfer) && transfer.size > inline => {
                transfer.member = READY;
                again
            }
            COMMAND | DATA => serve,
            _ => send,
        },
    );
    page.transition("answer")
        .take(device.done)
        .put(cpu, |_, transfer: Transfer, ()| Transfer {
            member: ANSWER,
            ..transfer
        });
    let way = page.wait("latency");
    page.transition("to client")
        .take(sending)
        .puts(to)
        .later()
        .fires(move |firing, transfer, ()| {
            firing.put_after_in(to, transfer, latency, way);
        });
    receiving
}

/// The client's port: both directions at its rate, or at the rates of its connections.
fn ports(
    page: &mut Page<'_>,
    spec: &NetworkDevice,
    from: [Node<Transfer>; 2],
    to: [To<Transfer>; 2],
) {
    let wire = Wire::new(spec);
    let port = spec.bandwidth.0.min(spec.target_bandwidth.0);
    let (connections, rate) = match spec.connection_rate {
        Some(rate) => (spec.queues, rate.0.min(port)),
        None => (1, port),
    };
    let latency = Span::from_seconds(spec.latency.0);
    let way = page.wait("latency");
    for (name, from, to, delay) in [
        ("sending", from[0], to[0], Some(latency)),
        ("receiving", from[1], to[1], None),
    ] {
        let time = move |transfer: &Transfer, _: &mut Random<'_>| wire.time(transfer, rate);
        let mut last = page.station(name, Fcfs::new(connections, time));
        page.connect(from, last);
        if spec.connection_rate.is_some() {
            let port = page.station(&format!("port {name}"), passing(wire, spec.bandwidth));
            page.connect(last, port);
            last = port;
        }
        match delay {
            None => page.connect(last, to),
            Some(delay) => page
                .transition("to target")
                .take(last)
                .puts(to)
                .later()
                .fires(move |firing, transfer, ()| {
                    firing.put_after_in(to, transfer, delay, way);
                }),
        }
    }
}

/// A port that passes messages while a client's link works.
fn passing(wire: Wire, rate: Rate) -> Passing<impl Fn(&Transfer) -> Option<Span> + Clone + Send> {
    let time = move |transfer: &Transfer| Some(wire.time(transfer, rate.0));
    Passing { time }
}

/// The processor of one side, which sends these messages and receives the others.
fn cpu(
    page: &mut Page<'_>,
    wire: Wire,
    spec: &BlockCpu,
    queues: u32,
    sends: [u16; 2],
) -> Node<Transfer> {
    let per_byte = |rate: Option<Rate>| rate.map_or(0.0, |rate| 1e12 / rate.0);
    let sending = (spec.send, per_byte(spec.send_rate));
    let receiving = (spec.receive, per_byte(spec.receive_rate));
    let time = move |transfer: &Transfer, _: &mut Random<'_>| {
        let (message, per_byte) = match sends.contains(&transfer.member) {
            true => sending,
            false => receiving,
        };
        let data = wire.data(transfer) as f64;
        Span::from_seconds(message.0) + Span((data * per_byte + 0.5) as u64)
    };
    page.station("cpu", Fcfs::new(spec.cores.min(queues), time))
}

fn is_write(transfer: &Transfer) -> bool {
    transfer.operation == Operation::Write
}

/// Sizes of messages and of their packets.
#[derive(Clone, Copy)]
struct Wire(BlockMessages);

impl Wire {
    fn new(spec: &NetworkDevice) -> Wire {
        Wire(spec.messages())
    }

    /// Data in the current message.
    fn data(self, transfer: &Transfer) -> u64 {
        let carries = match transfer.member {
            COMMAND => is_write(transfer) && transfer.size <= self.0.inline_data,
            READY => false,
            DATA => true,
            _ => transfer.operation == Operation::Read,
        };
        if carries { transfer.size } else { 0 }
    }

    /// Time of the current message on a link, in full packets and a last one.
    fn time(self, transfer: &Transfer, rate: f64) -> Span {
        let it = self.0;
        let around = match transfer.member {
            COMMAND => it.command,
            DATA => it.data_header,
            ANSWER if transfer.operation == Operation::Read => {
                it.response.saturating_add(it.data_header)
            }
            _ => it.response,
        };
        let bytes = self.data(transfer).saturating_add(around);
        let packets = bytes.div_ceil(it.payload).max(1);
        let bytes = bytes.saturating_add(packets.saturating_mul(it.overhead));
        Span((bytes as f64 * 1e12 / rate + 0.5) as u64)
    }
}
