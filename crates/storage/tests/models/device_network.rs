//! Block devices over a network: answers worked out by hand.

use crate::devices::{Ask, Took, device, drive, end, read, sync, write};
use crate::running::{close, run};

/// 10 Gbit/s are 1.25 B/ns. The device takes 80 us and 0.1 ns a byte, any number at once.
fn over(protocol: &str, more: &str) -> headrace_spec::Device {
    device(&format!(
        "kind = \"network\"\nprotocol = \"{protocol}\"\nbandwidth = \"10 Gbit/s\"\n\
         latency = \"10 us\"\ntarget.kind = \"throttled\"\ntarget.rate = \"10 GB/s\"\n\
         target.latency = \"80 us\"\nclient_cpu.send = \"2 us\"\nclient_cpu.receive = \"3 us\"\n\
         target_cpu.send = \"5 us\"\ntarget_cpu.receive = \"4 us\"\n{more}"
    ))
}

fn nanoseconds(took: &Took) -> f64 {
    took.time() as f64 / 1000.0
}

fn first(protocol: &str, more: &str, ask: Ask) -> f64 {
    nanoseconds(&drive(&over(protocol, more), &[ask], 1)[0])
}

/// A command of 72 B is a packet of 150 B: 120 ns. The answer's 4096 + 24 + 24 B are three packets
/// with 78 B around each, 4378 B: 3502.4 ns. The processors take 2 + 4 + 5 + 3 us, the two ways
/// 20 us, the device 80 us and 409.6 ns.
#[test]
fn a_read_of_4_kib_takes_each_part_once() {
    let expected = 120.0 + 3502.4 + 14_000.0 + 20_000.0 + 80_409.6;
    close(first("nvme-tcp", "", read(0, 4096)), expected, 1e-9);
    // A core copies 1 GB/s: 4096 ns more on either side.
    let copies = "client_cpu.receive_rate = \"1 GB/s\"\ntarget_cpu.send_rate = \"1 GB/s\"\n\
                  client_cpu.send_rate = \"1 B/s\"\ntarget_cpu.receive_rate = \"1 B/s\"";
    let copied = first("nvme-tcp", copies, read(0, 4096));
    close(copied, expected + 2.0 * 4096.0, 1e-9);
    // A command of 64 B and 82 B around it: 116.8 ns. 4096 + 16 + 16 B are five packets of 1024 B,
    // 4538 B: 3630.4 ns.
    let expected = expected - 120.0 - 3502.4 + 116.8 + 3630.4;
    close(first("nvme-rdma", "", read(0, 4096)), expected, 1e-9);
    // 48 B of each kind: 126 B, 100.8 ns, and 4096 + 96 B in three packets, 4426 B: 3540.8 ns.
    let expected = expected - 116.8 - 3630.4 + 100.8 + 3540.8;
    close(first("iscsi", "", read(0, 4096)), expected, 1e-9);
}

/// 16 KiB go with the command, and 16 KiB + 1 B after a request for them. The request takes 5 us to
/// send, 102 B on the link (81.6 ns), the way, and 3 us to receive. The data takes 2 us, the way
/// back, and 4 us to receive. It has a header of its own. RDMA's request and data do without the client's processor.
#[test]
fn large_writes_take_a_round_trip_more() {
    let wire = |bytes: f64| (bytes + 78.0 * (bytes / 1460.0).ceil()) / 1.25;
    let device = |bytes: f64| 80_000.0 + bytes / 10.0;
    let answer = wire(24.0);
    let inline = first("nvme-tcp", "", write(0, 16_384));
    let once = 14_000.0 + 20_000.0 + answer;
    close(
        inline,
        once + wire(72.0 + 16_384.0) + device(16_384.0),
        1e-9,
    );
    let asked = first("nvme-tcp", "", write(0, 16_385));
    let request = 5000.0 + wire(24.0) + 10_000.0 + 3000.0;
    let data = 2000.0 + wire(24.0 + 16_385.0) + 10_000.0 + 4000.0;
    let expected = once + wire(72.0) + request + data + device(16_385.0);
    close(asked, expected, 1e-9);
    let wire = |bytes: f64| (bytes + 82.0 * (bytes / 1024.0).ceil()) / 1.25;
    let request = 5000.0 + wire(16.0) + 10_000.0;
    let data = wire(16.0 + 16_385.0) + 10_000.0 + 4000.0;
    let once = 14_000.0 + 20_000.0 + wire(64.0) + wire(16.0);
    let expected = once + request + data + device(16_385.0);
    close(first("nvme-rdma", "", write(0, 16_385)), expected, 1e-9);
    // A flush is a command and a response.
    let expected = 34_000.0 + wire(64.0) + wire(16.0) + 80_000.0;
    close(first("nvme-rdma", "", sync()), expected, 1e-9);
}

fn operations_a_second(more: &str, depth: usize) -> f64 {
    let script: Vec<Ask> = (0..20_000).map(|n| read(n * 4096, 4096)).collect();
    let log = drive(&over("nvme-tcp", more), &script, depth);
    20_000.0 / (end(&log) as f64 * 1e-12)
}

/// A core of the target takes 4 + 5 us a command: 111,111 a second. A core serves whole queues. With
/// 4 cores for 4 queues the client's core is the limit, at 5 us a command. With 2 cores the link is:
/// 4378 B a read are 285,518 a second. 8 commands at once take 118.032 us: 67,778 a second.
#[test]
fn processors_link_and_depth_limit_reads_of_4_kib() {
    close(operations_a_second("", 128), 1e6 / 9.0, 0.002);
    close(
        operations_a_second("target_cpu.cores = 4", 128),
        1e6 / 9.0,
        0.002,
    );
    let four = "queues = 4\ntarget_cpu.cores = 4";
    close(operations_a_second(four, 128), 1e6 / 5.0, 0.002);
    let both = format!("{four}\nclient_cpu.cores = 2");
    close(operations_a_second(&both, 128), 1.25e9 / 4378.0, 0.002);
    let shallow = format!("{both}\nqueue_depth = 2");
    close(operations_a_second(&shallow, 128), 8e6 / 118.032, 0.03);
    close(
        operations_a_second(&both, 8),
        operations_a_second(&shallow, 128),
        1e-3,
    );
}

/// 1 MiB + 48 B are 719 packets: 1,104,706 B, or 883.765 us. A connection of 4 Gbit/s takes 2.5
/// times as long; two of them carry 8 Gbit/s, and four the whole link.
#[test]
fn the_link_or_its_connections_limit_large_reads() {
    let wire = 1_048_624.0 + 78.0 * 719.0;
    let rate = |more: &str| {
        let script: Vec<Ask> = (0..400).map(|n| read(n << 20, 1 << 20)).collect();
        let log = drive(&over("nvme-tcp", more), &script, 16);
        400.0 * wire / (end(&log) as f64 * 1e-12)
    };
    close(rate(""), 1.25e9, 0.002);
    close(rate("connection_rate = \"4 Gbit/s\""), 0.5e9, 0.002);
    close(
        rate("connection_rate = \"4 Gbit/s\"\nqueues = 2"),
        1e9,
        0.005,
    );
    close(
        rate("connection_rate = \"4 Gbit/s\"\nqueues = 4"),
        1.25e9,
        0.005,
    );
    close(rate("target_bandwidth = \"2 Gbit/s\""), 0.25e9, 0.002);
}

/// Four clients of 10 Gbit/s read 1 MiB each time from a target of 20 Gbit/s, or from one each.
#[test]
fn clients_share_the_port_and_processor_of_a_target() {
    let rate = |shared: bool, cost: &str| {
        let text = format!(
            "kind = \"local\"\n[clients]\ncount = 4\nprocesses = 4\n[machine.device]\nkind = \"network\"\n\
             bandwidth = \"10 Gbit/s\"\ntarget_bandwidth = \"20 Gbit/s\"\nlatency = \"10 us\"\n\
             queues = 4\nshared_target = {shared}\ntarget_cpu.send = \"{cost}\"\n\
             target.kind = \"throttled\"\ntarget.rate = \"100 GB/s\"\ntarget.latency = \"80 us\"\n\
             [[workload]]\nblock = \"64 MiB\"\ntransfer = \"1 MiB\"\n\
             phases = [\"read\"]\nio.direct = true\n"
        );
        run(&text, &[]).report.throughput["read"]
    };
    let data = (1 << 20) as f64 / 1_104_706.0;
    close(rate(false, "0 s"), 4.0 * 1.25e9 * data, 0.02);
    close(rate(true, "0 s"), 2.5e9 * data, 0.02);
    // A core takes 1 ms an answer.
    close(rate(true, "1 ms"), (1 << 20) as f64 / 1e-3, 0.02);
}
