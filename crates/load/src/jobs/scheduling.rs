//! Processors, nice values and I/O priorities of a job's threads.

use rustix::io::Errno;
use rustix::thread::CpuSet;

use crate::Error;
use crate::jobs::job::Job;

/// Applies a job's scheduling to the calling thread.
///
/// # Errors
/// If the kernel refuses; lower nice values and real-time classes need rights.
pub fn schedule(job: &Job, rank: u32) -> Result<(), Error> {
    let scheduling = &job.scheduling;
    let refused = |text: String, errno: Errno| {
        Error::Unsuitable(format!("job {:?}: {text}: {errno}", job.name))
    };
    if !scheduling.cpus.is_empty() {
        let mut set = CpuSet::new();
        let own = scheduling.cpus[rank as usize % scheduling.cpus.len()];
        let cpus = match scheduling.one_cpu_each {
            true => std::slice::from_ref(&own),
            false => &scheduling.cpus[..],
        };
        for cpu in cpus {
            if *cpu as usize >= CpuSet::MAX_CPU {
                return Err(refused(format!("processor {cpu}"), Errno::INVAL));
            }
            set.set(*cpu as usize);
        }
        let result = rustix::thread::sched_setaffinity(None, &set);
        result.map_err(|errno| refused(format!("processors {cpus:?}"), errno))?;
    }
    if let Some(nice) = scheduling.nice {
        // Linux takes a thread where POSIX has a process.
        let thread = rustix::thread::gettid();
        let result = rustix::process::setpriority_process(Some(thread), nice);
        result.map_err(|errno| refused(format!("nice = {nice}"), errno))?;
    }
    if let Some((class, level)) = scheduling.io_priority {
        let result = set_io_priority(class, level);
        result.map_err(|errno| refused(format!("I/O priority {class}, {level}"), errno))?;
    }
    Ok(())
}

/// `IOPRIO_WHO_PROCESS` and `IOPRIO_CLASS_SHIFT` of include/uapi/linux/ioprio.h.
const WHO_PROCESS: libc::c_long = 1;
const CLASS_SHIFT: u32 = 13;

#[expect(unsafe_code, reason = "the C library has no function for the call")]
fn set_io_priority(class: u8, level: u8) -> Result<(), Errno> {
    let priority = u32::from(class) << CLASS_SHIFT | u32::from(level);
    // SAFETY: the call takes numbers only; 0 is the calling thread.
    let result = unsafe {
        libc::syscall(
            libc::SYS_ioprio_set,
            WHO_PROCESS,
            0 as libc::c_long,
            libc::c_long::from(priority),
        )
    };
    if result == 0 {
        return Ok(());
    }
    Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO))
}
