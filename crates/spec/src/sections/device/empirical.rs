//! `kind = "empirical"`: measured service times.

use crate::declare::section;
use crate::values::{AtLeastOne, Rate, Seconds, ServiceTimes, TimesOrFile};

section! {
    /// A device whose service times are drawn from an empirical distribution, such as a
    /// measurement's. Requests begin in order of arrival. Not modelled: the dependence of a time
    /// on the address, the size (unless a rate is given) or the time before it.
    pub struct EmpiricalDevice {
        /// Service times of reads: a list of times, or of pairs of a time and its weight. A CSV
        /// file of times in seconds is possible, too, with weights in an optional second column.
        read_times: ServiceTimes as TimesOrFile = required(ServiceTimes::example()) aka ["times"],
        /// The same of writes.
        write_times: ServiceTimes as TimesOrFile = same(read_times),
        /// Rate of reading, which takes time besides the time drawn.
        read_rate: Option<Rate> = optional("the times hold for requests of any size"),
        /// The same of writing.
        write_rate: Option<Rate> = optional("the times hold for requests of any size"),
        /// Time of a flush, which is a request too.
        flush: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// Requests that are served at once.
        queue_depth: u32 as AtLeastOne = default(1, "one request after the other"),
    }
}
