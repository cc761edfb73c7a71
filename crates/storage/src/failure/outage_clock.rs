//! Schedule of server failures and returns.
//!
//! ```text
//!   (failures) ─▶ [set] ····▶ (due) ─▶ [happen] ─▶ server: memory lost
//! ```

use headrace_net::{Page, Time, To};
use headrace_spec::{MetadataHosts, Parallel, Seconds};

use super::{Failing, RepairEvent};

/// A server loses its memory.
#[derive(Clone, Copy, Debug)]
pub struct Crash {
    /// The server's number within its kind.
    pub server: u32,
}

/// A failure begins or ends.
#[derive(Clone, Copy)]
struct Change {
    outage: u32,
    begins: bool,
}

/// Writes the clock of the failures; `forget` is where data servers, and metadata
/// servers, lose their memory, if they have any.
pub fn clock(
    page: &mut Page<'_>,
    failing: Failing,
    parallel: &Parallel,
    forget: [Option<To<Crash>>; 2],
) {
    let time = |it: &Seconds| Time::from_seconds(it.0);
    let changes: Vec<[Option<Time>; 2]> = parallel
        .failures()
        .iter()
        .map(|it| [Some(time(&it.at)), parallel.back(it).as_ref().map(time)])
        .collect();
    // Data servers that are metadata servers too.
    let names_on = match parallel.metadata.on {
        MetadataHosts::Own => 0,
        MetadataHosts::DataServers | MetadataHosts::EveryDataServer => parallel.metadata_servers(),
    };
    let failures = page.place::<Change>("servers to fail");
    let due = page.place::<Change>("due");
    page.rest(due);
    let times = changes.clone();
    page.tokens(failures, move |_| {
        let numbered = times.clone().into_iter().zip(0..);
        numbered.flat_map(|(times, outage)| {
            let known = times.into_iter().zip([true, false]);
            let known = known.filter(|(time, _)| time.is_some());
            known.map(move |(_, begins)| Change { outage, begins })
        })
    });
    page.transition("set")
        .take(failures)
        .puts(due)
        .later()
        .fires(move |firing, change: Change, ()| {
            let [at, until] = changes[change.outage as usize];
            let time = if change.begins { at } else { until };
            let after = time.unwrap_or(Time::NEVER).since(firing.now());
            firing.put_after(due, change, after);
        });
    let happen = page.transition("happen").take(due).with(failing.store);
    let happen = forget
        .into_iter()
        .flatten()
        .fold(happen, |it, to| it.may_put(to));
    let repair_due = failing.repairing.map(|it| it.due);
    let happen = match repair_due {
        Some(to) => happen.puts_many(to).later(),
        None => happen,
    };
    happen.fires(move |firing, change: Change, failures| {
        let outage = change.outage as usize;
        let hosts = &mut failures.world.hosts;
        match change.begins {
            true => hosts.goes(outage),
            false => hosts.comes(outage),
        }
        let host = hosts.outages()[outage].host;
        if let (Some(to), Some(repair)) = (repair_due, &failures.world.repair) {
            firing.put(to, RepairEvent::Changed { host });
            if let Some(after) = repair.begins(change.begins) {
                let outage = change.outage;
                firing.put_after(to, RepairEvent::Starts { outage }, after);
            }
        }
        if !change.begins {
            return;
        }
        let (data, metadata) = hosts.numbered(host);
        let metadata = metadata.or(data.filter(|&server| server < names_on));
        for (to, server) in forget.into_iter().zip([data, metadata]) {
            if let (Some(to), Some(server)) = (to, server) {
                firing.put(to, Crash { server });
            }
        }
    });
}
