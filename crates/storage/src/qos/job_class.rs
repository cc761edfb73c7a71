//! Classes of jobs: the owners of a queue, a turn or a bucket.

use headrace_spec::Class;

use crate::tokens::Job;

/// The number of a job's class.
pub(super) fn of(class: Class, job: &Job) -> u32 {
    match class {
        Class::Group => u32::from(job.group),
        Class::Client => job.client,
        Class::Workload => u32::from(job.workload),
        Class::File => job.file,
    }
}
