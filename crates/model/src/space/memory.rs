//! Memory that a state space may use.
//!
//! The kernel ends a process that takes more memory than there is, without a message. Therefore a
//! search ends itself at half of the available memory. That is the least of the machine's available
//! memory (`/proc/meminfo`), the address space left of `ulimit -v`, and the remainder of the
//! process's control groups. The other half is for tables, which double when they grow, and for
//! evaluating the result.

use std::fs::read_to_string;
use std::path::Path;

/// Bytes that a search may use where the system does not tell its memory.
const OTHERWISE: u64 = 2 << 30;

/// Bytes at which a search ends: half of the available memory.
pub fn memory_limit() -> usize {
    let available = [machine(), address_space(), control_groups()];
    let available = available.into_iter().flatten().min();
    let half = available.map_or(OTHERWISE, |bytes| bytes / 2);
    usize::try_from(half).unwrap_or(usize::MAX)
}

/// Available memory of the machine.
fn machine() -> Option<u64> {
    let text = read_to_string("/proc/meminfo").ok()?;
    Some(number_after(&text, "MemAvailable:")?.saturating_mul(1024))
}

/// Address space that the process may still take; none without a limit.
fn address_space() -> Option<u64> {
    let limits = read_to_string("/proc/self/limits").ok()?;
    let most = number_after(&limits, "Max address space")?;
    let status = read_to_string("/proc/self/status").ok()?;
    let used = number_after(&status, "VmSize:")?.saturating_mul(1024);
    Some(most.saturating_sub(used))
}

/// Memory that the process's control groups of version 2 may still take; none without a limit.
fn control_groups() -> Option<u64> {
    let own = read_to_string("/proc/self/cgroup").ok()?;
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let top = Path::new("/sys/fs/cgroup");
    let group = top.join(path);
    let groups = group.ancestors().take_while(|group| group.starts_with(top));
    groups.filter_map(left_in).min()
}

/// Memory that a control group may still take. Its page cache can be reclaimed.
fn left_in(group: &Path) -> Option<u64> {
    let read = |file| read_to_string(group.join(file)).ok();
    let most: u64 = read("memory.max")?.trim().parse().ok()?;
    let used: u64 = read("memory.current")?.trim().parse().ok()?;
    let stat = read("memory.stat").unwrap_or_default();
    let cache = ["inactive_file ", "active_file "].map(|name| {
        let line = stat.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|bytes| bytes.trim().parse().ok())
            .unwrap_or(0_u64)
    });
    let used = used.saturating_sub(cache.iter().sum());
    Some(most.saturating_sub(used))
}

/// The number behind a name; none if there is none.
fn number_after(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_behind_their_names() {
        let limits = "Max cpu time   unlimited   unlimited   seconds\n\
                      Max address space   2147483648   unlimited   bytes\n";
        assert_eq!(number_after(limits, "Max address space"), Some(2 << 30));
        assert_eq!(number_after(limits, "Max cpu time"), None);
        assert_eq!(number_after(limits, "Max stack size"), None);
    }

    #[test]
    fn a_search_may_use_less_than_the_machine_has() {
        let limit = memory_limit() as u64;
        assert!(limit > 0);
        if let Some(bytes) = machine() {
            assert!(limit < bytes);
        }
    }
}
