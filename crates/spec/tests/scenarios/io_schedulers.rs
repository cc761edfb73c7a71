//! Arbitrary I/O schedulers.

use headrace_spec::*;
use proptest::prelude::*;

use super::{count, seconds};

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
            front_merges: same.front_merges,
        })),
    ]
    .boxed()
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
