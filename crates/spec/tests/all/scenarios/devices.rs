//! Arbitrary devices.

use headrace_spec::*;
use proptest::prelude::*;
use proptest::sample::select;

use super::{choice_of_rates, count, rate, seconds, size};

pub fn device() -> BoxedStrategy<Device> {
    prop_oneof![
        member().prop_map(|member| member.device()),
        raid().prop_map(Device::Raid),
        network().prop_map(Device::NetworkDevice)
    ]
    .boxed()
}

prop_compose! {
    fn network()(
        protocol in select(BlockProtocol::ALL.to_vec()),
        [bandwidth, target_bandwidth] in [rate(), rate()],
        latency in seconds(),
        [queues, queue_depth] in [count(), count()],
        connection_rate in choice_of_rates(),
        [command, response, data_header] in [prop::option::of(size()), prop::option::of(size()), prop::option::of(size())],
        [inline_data, overhead] in [prop::option::of(size()), prop::option::of(size())],
        payload in prop::option::of((1..1_u64 << 40).prop_map(Bytes)),
        [client_cpu, target_cpu] in [block_cpu(), block_cpu()],
        target in prop_oneof![
            disk().prop_map(Target::Disk),
            throttled().prop_map(Target::Throttled),
            raid().prop_map(Target::Raid),
        ],
    ) -> NetworkDevice {
        let copies = protocol != BlockProtocol::NvmeRdma;
        let cpu = |mut it: BlockCpu| {
            it.send_rate = it.send_rate.filter(|_| copies);
            it.receive_rate = it.receive_rate.filter(|_| copies);
            it
        };
        NetworkDevice {
            protocol,
            bandwidth,
            target_bandwidth,
            latency,
            queues,
            queue_depth,
            connection_rate,
            command,
            response,
            data_header,
            inline_data,
            payload,
            overhead,
            client_cpu: cpu(client_cpu),
            target_cpu: cpu(target_cpu),
            shared_target: false,
            target,
        }
    }
}

fn block_cpu() -> BoxedStrategy<BlockCpu> {
    let rates = [choice_of_rates(), choice_of_rates()];
    (count(), [seconds(), seconds()], rates)
        .prop_map(
            |(cores, [send, receive], [send_rate, receive_rate])| BlockCpu {
                cores,
                send,
                receive,
                send_rate,
                receive_rate,
            },
        )
        .boxed()
}

fn member() -> BoxedStrategy<Member> {
    prop_oneof![
        simple().prop_map(Member::SimpleDevice),
        shared().prop_map(Member::SharedDevice),
        concurrent().prop_map(Member::ConcurrentDevice),
        empirical().prop_map(Member::EmpiricalDevice),
        disk().prop_map(Member::Disk),
        solid_state().prop_map(Member::SolidState),
        throttled().prop_map(Member::Throttled),
    ]
    .boxed()
}

prop_compose! {
    fn simple()(read_rate in rate(), write_rate in rate(), time_per_request in seconds()) -> SimpleDevice {
        SimpleDevice { read_rate, write_rate, time_per_request }
    }
}

prop_compose! {
    fn shared()(read_rate in rate(), write_rate in rate(), time_per_request in seconds()) -> SharedDevice {
        SharedDevice { read_rate, write_rate, time_per_request }
    }
}

prop_compose! {
    fn concurrent()(
        [read_rates, write_rates] in [rates(), rates()],
        time_per_request in seconds(),
    ) -> ConcurrentDevice {
        ConcurrentDevice { read_rates, write_rates, time_per_request }
    }
}

fn rates() -> impl Strategy<Value = RatesByConcurrency> + Clone {
    let others = prop::collection::btree_map(2..65_537_u32, 1.0..1e15_f64, 0..4);
    (1.0..1e15_f64, others).prop_map(|(alone, mut others)| {
        others.insert(1, alone);
        RatesByConcurrency(
            others
                .into_iter()
                .map(|(at, rate)| (at, Rate(rate)))
                .collect(),
        )
    })
}

prop_compose! {
    fn empirical()(
        [read_times, write_times] in [times(), times()],
        [read_rate, write_rate] in [choice_of_rates(), choice_of_rates()],
        flush in seconds(),
        queue_depth in count(),
    ) -> EmpiricalDevice {
        EmpiricalDevice {
            read_times,
            write_times,
            read_rate,
            write_rate,
            flush,
            queue_depth,
        }
    }
}

fn times() -> impl Strategy<Value = ServiceTimes> + Clone {
    let time = (0.0..100.0_f64, prop_oneof![Just(1.0), 1e-3..1e3_f64]);
    prop::collection::vec(time, 1..5).prop_map(|times| ServiceTimes { file: None, times })
}

prop_compose! {
    fn disk()(
        model in select(vec![None, Some("ST3146707LC".to_owned())]),
        [rpm, surfaces, zones] in [1000..30_000_u32, 1..20, 1..64],
        [least, more, between, wider] in [0.0..1e-3_f64, 0.0..0.03, 0.01..0.99, 1.0..3.0],
        [write_settle, head_switch, overhead, age_limit] in [seconds(), (0.0..1e-3_f64).prop_map(Seconds).boxed(), seconds(), seconds()],
        // At 30,000 revolutions a minute a track must hold a sector.
        inner in 5e6..1e9_f64,
        interface_rate in rate(),
        sector in select(vec![512, 4096]),
        [extra, buffer] in [0..1_u64 << 40, 4096..1 << 30],
        segments in 1..4097_u32,
        queue_depth in count(),
        [read_ahead, write_cache] in [any::<bool>(), any::<bool>()],
    ) -> Disk {
        let most = least + more;
        let (low, high) = ((115.0 * least + 20.0 * most) / 135.0, least / 5.0 + most * 4.0 / 5.0);
        let outer = inner * wider;
        let track = outer * (60.0 / f64::from(rpm) + head_switch.0.max(least));
        let cylinders = track * f64::from(surfaces) * f64::from(zones);
        Disk {
            model,
            capacity: Bytes(cylinders as u64 + 1 + extra),
            rpm,
            track_to_track_seek: Seconds(least),
            average_seek: Seconds(low + (high - low) * between),
            full_stroke_seek: Seconds(most),
            write_settle,
            head_switch,
            surfaces,
            outer_rate: Rate(outer),
            inner_rate: Rate(inner),
            zones,
            sector: Bytes(sector),
            buffer: Bytes(buffer),
            segments,
            read_ahead,
            write_cache,
            interface_rate,
            overhead,
            queue_depth,
            age_limit,
        }
    }
}

prop_compose! {
    fn data_sheet()(
        [read_rate, write_rate] in [prop::option::of(rate()), prop::option::of(rate())],
        [read_latency, write_latency] in [prop::option::of(seconds()), prop::option::of(seconds())],
        [read_operations, write_operations] in [prop::option::of(1e-3..1e9_f64), prop::option::of(1e-3..1e9_f64)],
    ) -> DataSheet {
        DataSheet { read_rate, write_rate, read_latency, write_latency, read_operations, write_operations }
    }
}

prop_compose! {
    fn solid_state()(
        model in select(vec![None, Some("850-PRO-512GB".to_owned())]),
        data_sheet in data_sheet(),
        [channels, dies, pages_per_block, units] in [1..64_u32, 1..64, 1..4000, 1..16],
        [blocks, extra, unit] in [1..1000_u64, 0..1_000_000, 1..100_000],
        [read_time, program_time, erase_time, overhead] in [seconds(), seconds(), seconds(), seconds()],
        command_time in seconds(),
        [channel_rate, interface_rate] in [rate(), rate()],
        queue_depth in count(),
        write_cache in size(),
        power_loss_protection in any::<bool>(),
        [over_provisioning, fill] in [0.0..4.0_f64, 0.0..1.0],
    ) -> SolidState {
        let page = unit * u64::from(units);
        let block = page * u64::from(pages_per_block);
        // Each die needs 13 spare blocks.
        #[expect(clippy::cast_precision_loss, reason = "there are at most 1000")]
        let over_provisioning = over_provisioning + 13.01 / blocks as f64;
        SolidState {
            model,
            data_sheet,
            capacity: Bytes(block * u64::from(channels * dies) * blocks + extra),
            channels,
            dies,
            page: Bytes(page),
            mapping_unit: Bytes(unit),
            pages_per_block,
            read_time,
            program_time,
            erase_time,
            channel_rate,
            interface_rate,
            overhead,
            command_time,
            queue_depth,
            write_cache,
            power_loss_protection,
            over_provisioning,
            fill,
        }
    }
}

prop_compose! {
    fn throttled()(
        [rate, device_write_rate] in [rate(), rate()],
        [latency, write_latency] in [seconds(), seconds()],
        [time_per_transfer, write_time_per_transfer] in [seconds(), seconds()],
        [new_block, fresh_page] in [seconds(), seconds()],
        queue_depth in prop::option::of(count()),
        bulk_service in any::<bool>(),
        flush in seconds(),
        [read_rate, write_rate] in [choice_of_rates(), choice_of_rates()],
        [read_operations, write_operations] in [prop::option::of(1e-3..1e9_f64), prop::option::of(1e-3..1e9_f64)],
        burst in size(),
        burst_operations in any::<u32>(),
        [tick, longer] in [1e-9..1.0_f64, 1.0..100.0],
        largest_request in prop::option::of(size()),
    ) -> Throttled {
        Throttled {
            rate,
            latency,
            device_write_rate,
            write_latency,
            time_per_transfer,
            write_time_per_transfer,
            queue_depth,
            hypervisor: Hypervisor {
                new_block,
                fresh_page,
                bulk_service,
            },
            flush,
            read_rate,
            write_rate,
            read_operations,
            write_operations,
            burst,
            burst_operations,
            slice: Seconds(tick * longer),
            tick: Seconds(tick),
            largest_request,
        }
    }
}

prop_compose! {
    fn raid()(
        (level, least) in select(vec![(0, 1), (1, 2), (5, 3), (6, 4), (10, 4)]),
        (more, which, fails) in (0..30_u32, any::<u32>(), any::<bool>()),
        chunk in 1..1_u64 << 40,
        rebuilt in any::<bool>(),
        limit in choice_of_rates(),
        share in 1e-9..=1.0_f64,
        rebuild_size in prop::option::of(size()),
        rebuild_chunk in size(),
        [chunks, destages] in [1..65_536_u32, 1..65_536],
        cache_size in prop_oneof![Just(Bytes(0)), size()],
        [write_back, battery] in [any::<bool>(), any::<bool>()],
        cache_rate in rate(),
        destage_above in 0.0..=1.0_f64,
        idle_time in seconds(),
        (hardware, bus, time_per_transfer) in (any::<Option<bool>>(), choice_of_rates(), seconds()),
        member in member(),
    ) -> Raid {
        let disks = least + if level == 10 { 2 * more } else { more };
        let failed = (fails && level > 0).then(|| which % disks);
        Raid {
            level,
            disks,
            chunk: Bytes(chunk),
            hardware: hardware.filter(|hardware| *hardware || cache_size.0 == 0),
            bus: Bus {
                rate: bus,
                time_per_transfer: bus.map_or(Seconds(0.0), |_| time_per_transfer),
            },
            failed: failed.map(|disk| vec![disk]),
            rebuild: Rebuild {
                disk: failed.filter(|_| rebuilt),
                rate: limit,
                share,
                chunk: rebuild_chunk,
                chunks,
                size: rebuild_size,
            },
            cache: ControllerCache {
                size: cache_size,
                write_back,
                battery,
                rate: cache_rate,
                destage_above,
                idle_time,
                destages,
            },
            member,
        }
    }
}
