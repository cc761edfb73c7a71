//! The requests that a process of a job makes, without making them.

use headrace_net::Random;

use crate::Error;
use crate::jobs::job::Job;
use crate::jobs::offsets::Offsets;

/// A request: the file's number, offset in the file, bytes, and whether it reads.
pub type PlannedRequest = (u32, u64, u32, bool);

/// The first requests of a process, at the most `most`. A job that is repeated has as many.
///
/// # Errors
/// If the job cannot run.
pub fn planned_requests(job: &Job, rank: u32, most: usize) -> Result<Vec<PlannedRequest>, Error> {
    job.check()?;
    if !job.work.has_offsets() {
        return Ok(Vec::new());
    }
    let seed = job.seed ^ (u64::from(rank) << 32);
    let mut offsets = Offsets::new(job, seed);
    let key = job.seed ^ (u64::from(rank) << 16);
    let mut draws = 0;
    let mut random = Random::named(key, "job", &mut draws);
    let (first_file, first) = (
        job.file_of(rank),
        job.offset + job.offset_step * u64::from(rank),
    );
    let limit = job.most.map_or(most, |it| most.min(it as usize));
    let mut planned = Vec::new();
    let mut pass = 0;
    let mut moved = 0;
    while planned.len() < limit {
        let reads = job.read_share >= 1.0 || random.uniform() < job.read_share;
        let is_over = !job.repeated && moved >= job.total.unwrap_or(u64::MAX);
        let place = if is_over { None } else { offsets.next(reads) };
        if let Some(place) = place {
            moved += u64::from(place.size);
            let file = first_file + place.file as u32;
            planned.push((file, first + place.offset, place.size, reads));
            continue;
        }
        if !job.repeated && (is_over || job.total.is_none()) {
            pass += 1;
            moved = 0;
            if pass >= job.passes {
                break;
            }
        }
        offsets.restart();
    }
    Ok(planned)
}
