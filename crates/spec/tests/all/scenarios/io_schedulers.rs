//! Arbitrary I/O schedulers.

use headrace_spec::*;
use proptest::prelude::*;

use super::{count, seconds, size};

pub fn kind() -> BoxedStrategy<IoSchedulerKind> {
    prop_oneof![
        Just(IoSchedulerKind::NoIoScheduler(NoIoScheduler {})),
        Just(IoSchedulerKind::Noop(Noop {})),
        deadline().prop_map(IoSchedulerKind::Deadline),
        deadline().prop_map(|same| IoSchedulerKind::MqDeadline(MqDeadline {
            read_expire: same.read_expire,
            write_expire: same.write_expire,
            writes_starved: same.writes_starved,
            fifo_batch: same.fifo_batch,
            prio_aging_expire: same.read_expire,
            front_merges: same.front_merges,
        })),
        anticipatory().prop_map(IoSchedulerKind::Anticipatory),
        cfq().prop_map(IoSchedulerKind::Cfq),
        bfq().prop_map(IoSchedulerKind::Bfq),
        (seconds(), seconds()).prop_map(|(read_latency, write_latency)| {
            IoSchedulerKind::Kyber(Kyber {
                read_latency,
                write_latency,
            })
        }),
    ]
    .boxed()
}

fn list(each: impl Strategy<Value = u32>) -> impl Strategy<Value = Option<Vec<u32>>> {
    prop::option::of(prop::collection::vec(each, 1..4))
}

prop_compose! {
    fn anticipatory()(
        read_expire in seconds(),
        write_expire in seconds(),
        read_batch_expire in seconds(),
        write_batch_expire in seconds(),
        antic_expire in seconds(),
    ) -> Anticipatory {
        Anticipatory { read_expire, write_expire, read_batch_expire, write_batch_expire, antic_expire }
    }
}

prop_compose! {
    fn cfq()(
        [quantum, slice_async_requests, back_seek_penalty] in [count(), count(), count()],
        [slice_sync, slice_async, slice_idle] in [seconds(), seconds(), seconds()],
        [fifo_expire_sync, fifo_expire_async] in [seconds(), seconds()],
        back_seek_max in size(),
        priorities in list(0..=7_u32),
    ) -> Cfq {
        Cfq {
            quantum, slice_sync, slice_async, slice_async_requests, slice_idle, fifo_expire_sync,
            fifo_expire_async, back_seek_max, back_seek_penalty, priorities,
        }
    }
}

prop_compose! {
    fn bfq()(
        [max_budget, back_seek_max] in [size(), size()],
        [timeout_sync, slice_idle] in [seconds(), seconds()],
        [fifo_expire_sync, fifo_expire_async] in [seconds(), seconds()],
        back_seek_penalty in count(),
        weights in list(count()),
    ) -> Bfq {
        Bfq {
            max_budget, timeout_sync, slice_idle, fifo_expire_sync, fifo_expire_async,
            back_seek_max, back_seek_penalty, weights,
        }
    }
}

prop_compose! {
    fn deadline()(
        read_expire in seconds(),
        write_expire in seconds(),
        writes_starved in count(),
        fifo_batch in count(),
        front_merges in any::<bool>(),
    ) -> Deadline {
        Deadline { read_expire, write_expire, writes_starved, fifo_batch, front_merges }
    }
}
