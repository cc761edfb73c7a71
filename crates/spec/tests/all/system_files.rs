//! Systems that are described in files of their own.

use std::path::Path;

use headrace_spec::{Error, Loaded, load, load_file};

/// A machine in a file of its own, and the work of a scenario in another folder.
fn machine_and_work(machine: &str, work: &str) -> Result<Loaded, Error> {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let inner = folder.path().join("machines");
    std::fs::create_dir(&inner).expect("made");
    std::fs::write(inner.join("machine.toml"), machine).expect("written");
    let file = folder.path().join("work.toml");
    std::fs::write(&file, work).expect("written");
    load_file(&file, &[])
}

const WORK: &str = "system = \"machines/machine.toml\"\n[[workload]]\nblock = \"1 MiB\"\n";

#[test]
fn a_system_may_stand_in_a_file_of_its_own() {
    let machine = "name = \"mine\"\nsystem = \"ext3\"\n[machine.cpu]\ncores = 7\n\
                   [machine.device]\nread_rate = \"1 GB/s\"\nwrite_rate = \"1 GB/s\"\n";
    let loaded = machine_and_work(machine, WORK).expect("it loads");
    let local = loaded.scenario.local().expect("ext3 is local");
    assert_eq!(local.machine.cpu.cores, 7);
    assert_eq!(loaded.scenario.name, "work");
    // Values of the file are distinguished from those of a preset or a default.
    assert!(loaded.gives("machine.cpu.cores"));
    for other in [
        "machine.file_system.journal.mode",
        "machine.cpu.system_call",
        "machine.none",
    ] {
        assert!(!loaded.gives(other), "{other}");
    }
    // The preset below the file is still named, and the whole needs no other file.
    assert_eq!(loaded.scenario.system, "ext3");
    let whole = load(
        &loaded.scenario.to_canonical_toml(),
        Path::new("x.toml"),
        &[],
    );
    assert_eq!(whole.expect("it loads").scenario.kind, loaded.scenario.kind);
    // Values of the scenario override it.
    let above = format!("{WORK}[machine.cpu]\ncores = 3\n");
    let loaded = machine_and_work(machine, &above).expect("it loads");
    assert_eq!(loaded.scenario.local().expect("local").machine.cpu.cores, 3);
}

#[test]
fn what_is_wrong_in_a_systems_file_is_told_there() {
    for (machine, expected) in [
        (
            "system = \"ext2\"\n[machine]\ndevice = { read_rate = \"1 GB/s\", write_rate = \"1 GB/s\" }\ncopying = { l2 = \"2 MiB\", l3 = \"1 MiB\" }\n",
            "l3 = \"1 MiB\": expected 0, or no less than the second level",
        ),
        (
            "system = \"ext2\"\n[machine.cpu]\ncores = 0\n",
            "machine.toml:3",
        ),
        (
            "[[workload]]\nblock = \"1 MiB\"\n",
            "says nothing of the work",
        ),
        (
            "system = \"machine.toml\"\n",
            "(machine.toml, machine.toml)",
        ),
        ("system = \"ext5\"\n", "machine.toml:1"),
        ("system = \"none.toml\"\n", "cannot be read"),
        ("cores = \n", "machine.toml:1"),
        (
            "system = \"ext2\"\n[machine]\ndevice = { read_rate = \"1 GB/s\", write_rate = \"1 GB/s\" }\n[[calibration]]\nfield = \"network.latencies\"\nvalues = [\"1 ms\"]\n",
            "expected the path of a field",
        ),
        (
            "system = \"ext2\"\n[machine]\ndevice = { read_rate = \"1 GB/s\", write_rate = \"1 GB/s\" }\n[[calibration]]\nfield = \"network\"\nvalues = [\"1 ms\"]\n",
            "expected the path of a field",
        ),
        (
            "system = \"ext2\"\n[machine]\ndevice = { read_rate = \"1 GB/s\", write_rate = \"1 GB/s\" }\n[[calibration]]\nfield = \"network.latency\"\nvalues = []\n",
            "machine.toml:6",
        ),
        (
            "system = \"ext2\"\n[machine]\ndevice = { read_rate = \"1 GB/s\", write_rate = \"1 GB/s\" }\n[[calibration]]\nfield = \"machine.cpu.system_call\"\nvalues = [\"1 us\", \"2 us\"]\n[[calibration]]\nfield = \"network.latency\"\nvalues = [\"1 ms\"]\n",
            "calibration.1.values = [\"1 ms\"]: expected one for each round, as many as machine.cpu.system_call has: 2, found 1",
        ),
        (
            "system = \"ext2\"\n[machine]\ndevice = { read_rate = \"1 GB/s\", write_rate = \"1 GB/s\" }\n[[calibration]]\nfield = \"machine.cpu.system_call\"\nvalues = [\"1 us\"]\n[[calibration]]\nfield = \"machine.cpu.system_call\"\nvalues = [\"2 us\"]\n",
            "machine.cpu.system_call has several: expected one",
        ),
        (
            "system = \"ext2\"\n[machine]\ndevice = { read_rate = \"1 GB/s\", write_rate = \"1 GB/s\" }\n[[calibration]]\nfield = \"machine.cpu.system_call\"\nvalues = [\"1 us\", \"2 MB\"]\n",
            "expected a time such as \"0.2 ms\" or \"10 s\" of each round, found \"2 MB\"",
        ),
        (
            "system = \"ext2\"\n[machine]\ndevice = { read_rate = \"1 GB/s\", write_rate = \"1 GB/s\" }\n[[calibration]]\nfield = \"machine.copying.l2_share\"\nvalues = [\"0.5\", \"nan\"]\n",
            "expected a number of each round, found \"nan\"",
        ),
        (
            "system = \"ext2\"\n[machine]\ndevice = { read_rate = \"1 GB/s\", write_rate = \"1 GB/s\" }\n[[calibration]]\nfield = \"machine.cpu.cores\"\nvalues = [\"0x2\", \"0.5\"]\n",
            "expected a whole number of each round, found \"0.5\"",
        ),
    ] {
        let error = machine_and_work(machine, WORK)
            .expect_err(machine)
            .to_string();
        assert!(error.contains(expected), "{machine}: {error}");
    }
    let error = load(
        "system = \"m.tom\"\n[[workload]]\nblock = \"1 MiB\"",
        Path::new("a.toml"),
        &[],
    );
    let error = error.expect_err("no such preset").to_string();
    assert!(
        error.contains("or a file such as \"machine.toml\""),
        "{error}"
    );
}

#[test]
fn checks_take_time() {
    let check = |measured: &str, predicted: &str| {
        let times = format!("measured = \"{measured}\"\npredicted = \"{predicted}\"\n");
        let machine = format!(
            "system = \"ext3\"\n[machine.device]\nread_rate = \"1 GB/s\"\n\
             write_rate = \"1 GB/s\"\n[[check]]\nname = \"c\"\nbound = \"cache\"\n{times}"
        );
        machine_and_work(&machine, WORK).map(drop)
    };
    check("1 ms", "1 ms").expect("it loads");
    for (measured, predicted, field) in [("0 s", "1 ms", "measured"), ("1 ms", "0 s", "predicted")]
    {
        let error = check(measured, predicted).expect_err("no time").to_string();
        let expected = format!("check.0.{field} = \"0 s\": expected more than \"0 s\"");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn files_that_lead_to_each_other_end_somewhere() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let write = |name: &str, system: &str| {
        let text = format!("system = \"{system}\"\n");
        std::fs::write(folder.path().join(name), text).expect("written");
    };
    let work = "system = \"1.toml\"\n\
                machine.device = { read_rate = \"1 GB/s\", write_rate = \"1 GB/s\" }\n\
                [[workload]]\nblock = \"1 MiB\"\n";
    let loaded = || load(work, &folder.path().join("work.toml"), &[]);
    for number in 1..9 {
        write(&format!("{number}.toml"), &format!("{}.toml", number + 1));
    }
    write("8.toml", "ext2");
    loaded().expect("eight are allowed");
    write("8.toml", "9.toml");
    write("9.toml", "ext2");
    let refused = loaded().expect_err("nine").to_string();
    assert!(refused.contains("8.toml:1:10"), "{refused}");
    assert!(refused.contains("more than 8 files"), "{refused}");
    write("3.toml", "./2.toml");
    let refused = loaded().expect_err("a circle").to_string();
    assert!(refused.contains("3.toml:1:10"), "{refused}");
    assert!(refused.contains("(2.toml, 3.toml, 2.toml)"), "{refused}");
    assert!(refused.contains("a preset"), "{refused}");
}
