//! Jobs into which requests are split, and the part of their service that a request must wait for.
//!
//! A station knows its visits, and not the requests that they are for. The jobs of a request may
//! run concurrently, so that a request waits for one of them at the least. The service of a job is
//! affine in its bytes. Then service S of all jobs of an operation means at least S × min(requests
//! / jobs, Σ (bytes / jobs of the request) / Σ bytes) for its requests.

use headrace_trace::Operation;

/// Jobs of the requests of one operation.
#[derive(Clone, Copy, Default, Debug)]
struct OperationJobs {
    requests: u64,
    jobs: u64,
    bytes: f64,
    /// Bytes of a request over its jobs, summed.
    bytes_of_one_job: f64,
}

/// Jobs of all requests for data, by operation.
#[derive(Clone, Default, Debug)]
pub(crate) struct JobCounts {
    operations: [OperationJobs; Operation::ALL.len()],
}

impl JobCounts {
    /// A request has been split.
    pub fn add(&mut self, operation: Operation, jobs: u32, bytes: u64) {
        if jobs == 0 {
            return;
        }
        let counts = &mut self.operations[usize::from(operation.code())];
        counts.requests += 1;
        counts.jobs += u64::from(jobs);
        counts.bytes += bytes as f64;
        counts.bytes_of_one_job += bytes as f64 / f64::from(jobs);
    }

    /// Jobs of all requests.
    pub fn jobs(&self) -> u64 {
        self.operations.iter().map(|it| it.jobs).sum()
    }

    /// The least part of the service of all jobs that their requests wait for.
    pub fn least_part(&self) -> f64 {
        let split = self.operations.iter().filter(|it| it.jobs > 0);
        let parts = split.map(|it| {
            let by_count = it.requests as f64 / it.jobs as f64;
            match it.bytes > 0.0 {
                true => by_count.min(it.bytes_of_one_job / it.bytes),
                false => by_count,
            }
        });
        parts.fold(1.0, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_requests_in_many_jobs_count_less() {
        let mut counts = JobCounts::default();
        assert!((counts.least_part() - 1.0).abs() < 1e-12);
        counts.add(Operation::Read, 1, 100);
        assert!((counts.least_part() - 1.0).abs() < 1e-12);
        counts.add(Operation::Read, 4, 4000);
        // 1,100 of 4,100 bytes, and 2 of 5 jobs.
        assert!((counts.least_part() - 1100.0 / 4100.0).abs() < 1e-12);
        counts.add(Operation::Sync, 10, 0);
        assert!((counts.least_part() - 0.1).abs() < 1e-12);
        assert_eq!(counts.jobs(), 15);
    }
}
