//! Maps places of the net in run errors to fields of the scenario.

use headrace_net::RunError;

/// Returns a run's error message with the scenario fields that relate to it.
pub(super) fn in_fields(error: &RunError) -> String {
    match error {
        RunError::Failed { path, .. } => match fields(path) {
            Some(fields) => format!("{error}; look at {fields}"),
            None => error.to_string(),
        },
        RunError::Deadlock { .. } if error.to_string().contains("scheduler/queue") => format!(
            "{error}; a scheduler in which jobs wait must dispatch one when another comes back, \
             or ask to be woken"
        ),
        RunError::ZeroTimeLoop { .. } if error.to_string().contains("scheduler/queue") => format!(
            "{error}; something must take time: a scheduler that wakes itself, or messages \
             between schedulers (scheduler.message_latency)"
        ),
        RunError::ZeroTimeLoop { .. } => format!(
            "{error}; something must take time: workload.think, or of a parallel system \
             network or servers.device, of a local one machine.cpu.system_call or \
             machine.copying.page_in_l2"
        ),
        _ => error.to_string(),
    }
}

/// The fields that decide how long a token stays at a station.
fn fields(path: &str) -> Option<&'static str> {
    let (page, station) = path.rsplit_once('/')?;
    Some(match station {
        "device" if page.contains("server/machine") => "servers.machine.device",
        "device" if page.contains("client") => "machine.device",
        "device" => "servers.device and the sizes of requests (workload, layout)",
        "memory" => "servers.memory.rate and the sizes of requests (workload, layout)",
        "receive buffers" => "servers.receive_buffer",
        "daemon" => "servers.daemon.time_per_job",
        "processor" if page.contains("server/machine") => {
            "the times in [servers.machine.cpu], [servers.machine.copying] and \
             [servers.machine.file_system], and the sizes of requests (workload)"
        }
        "processor" if page.contains("client") => {
            "the times in [machine.cpu], [machine.copying] and [machine.file_system], and the \
             sizes of requests (workload)"
        }
        "processor" => "metadata.time_per_operation",
        "cpu" => "hosts.cpu and the sizes of requests (workload, layout)",
        "asking" => "workload.think, and of a trace workload.shift and workload.scale",
        "queue" if page.ends_with("scheduler") => "the times and rates in [scheduler]",
        _ if station.starts_with("card ") || page.ends_with(" link") => {
            "network.latency, bandwidths, and the sizes of requests (workload, layout)"
        }
        // The models' own messages name the field.
        _ => return None,
    })
}
