//! The strace reader against the truth: programs that are traced here and now.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use headrace_trace::{Operation, Reader, Reason, Record, open};
use tempfile::TempDir;

/// A record as the traced program sees it: operation, file's last name,
/// offset, size.
type Seen = (String, String, u64, u64);

/// Runs a program under strace; none (said aloud) if that cannot be done here.
fn traced(flags: &[&str], output: Option<&Path>, program: &[&str]) -> Option<Vec<u8>> {
    let mut strace = Command::new("strace");
    strace.args(flags);
    if let Some(output) = output {
        strace.arg("-o").arg(output);
    }
    // Python's cache of compiled modules would differ from run to run.
    strace
        .arg("--")
        .args(program)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    strace.env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    let ran = match strace.output() {
        Ok(ran) => ran,
        Err(error) => {
            eprintln!("SKIPPED: strace cannot be run here: {error}");
            return None;
        }
    };
    let said = String::from_utf8_lossy(&ran.stderr);
    if said.contains("PTRACE") || said.contains("Can't stat") {
        eprintln!("SKIPPED: strace cannot trace {program:?} here: {said}");
        return None;
    }
    assert!(ran.status.success(), "{program:?} failed: {said}");
    Some(ran.stderr)
}

fn read_all(path: &Path) -> (Box<dyn Reader>, Vec<Record>) {
    let mut reader = open(path, Some("strace")).unwrap();
    let mut records = Vec::new();
    // An odd batch size, so that batches end within what one line gives.
    while reader.next_batch(7, &mut records).unwrap() > 0 {}
    (reader, records)
}

fn in_order(records: &[Record]) -> bool {
    records.is_sorted_by_key(|it| it.time_ns)
}

/// Returns the operations of each process in `directory`.
fn by_process(
    reader: &dyn Reader,
    records: &[Record],
    directory: &Path,
) -> BTreeMap<String, Vec<Seen>> {
    let mut all: BTreeMap<_, Vec<Seen>> = BTreeMap::new();
    for record in records {
        let file = reader.files().get(record.file).unwrap();
        let Ok(within) = Path::new(file).strip_prefix(directory) else {
            continue;
        };
        let Some(last) = within.file_name() else {
            continue;
        };
        let process = reader.processes().get(record.process).unwrap();
        all.entry(process.to_string()).or_default().push((
            record.operation.name().to_string(),
            last.to_string_lossy().into_owned(),
            record.offset,
            record.size,
        ));
    }
    all
}

/// Returns the operations that the program reports for its threads.
fn truth(directory: &Path) -> BTreeMap<u64, Vec<Seen>> {
    let mut all: BTreeMap<_, Vec<Seen>> = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        for line in fs::read_to_string(entry.unwrap().path()).unwrap().lines() {
            let (thread, operation, file, offset, size): (u64, _, _, _, _) =
                serde_json::from_str(line).unwrap();
            all.entry(thread)
                .or_default()
                .push((operation, file, offset, size));
        }
    }
    all
}

struct Run {
    directory: TempDir,
    trace: PathBuf,
}

impl Run {
    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn truth(&self) -> PathBuf {
        self.directory.path().join("truth")
    }
}

/// Traces known_io.py with these flags.
fn known_io(flags: &[&str], to_file: bool) -> Option<Run> {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    for name in ["data", "truth"] {
        fs::create_dir(root.join(name)).unwrap();
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/known_io.py");
    let trace = root.join("trace");
    let python = python()?;
    let (data, truth) = (root.join("data"), root.join("truth"));
    let program = [
        python.as_str(),
        "-I",
        script,
        data.to_str().unwrap(),
        truth.to_str().unwrap(),
    ];
    let said = traced(flags, to_file.then_some(&trace), &program)?;
    if !to_file {
        fs::write(&trace, said).unwrap();
    }
    Some(Run { directory, trace })
}

/// The interpreter itself, behind any launcher script.
fn python() -> Option<String> {
    let asked = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output();
    match asked {
        Ok(asked) if asked.status.success() => {
            Some(String::from_utf8(asked.stdout).unwrap().trim().to_string())
        }
        _ => {
            eprintln!("SKIPPED: no python3 here to be traced");
            None
        }
    }
}

/// Checks a run against the truth; returns the sizes that sh appended to `log`.
fn check(run: &Run, annotated: bool) {
    let (reader, records) = read_all(&run.trace);
    assert!(in_order(&records));
    let expected = truth(&run.truth());
    assert_eq!(
        expected.len(),
        5,
        "the program, its child, and three threads"
    );
    let mut found = by_process(reader.as_ref(), &records, &run.data());
    for (thread, operations) in expected {
        // Threads are named process/thread; the first may have no number.
        let name = found
            .keys()
            .find(|it| it.split('/').next_back() == Some(&thread.to_string()))
            .cloned()
            .unwrap_or_else(|| "first".into());
        let seen = found
            .remove(&name)
            .unwrap_or_else(|| panic!("nothing seen of {thread}"));
        for (at, (seen, expected)) in seen.iter().zip(&operations).enumerate() {
            let mut seen = seen.clone();
            if seen.0 == "stat" {
                // The length that the trace reports: the program does not know it.
                seen.3 = 0;
            }
            assert_eq!(&seen, expected, "operation {at} of {name}");
        }
        assert_eq!(seen.len(), operations.len(), "of {name}");
    }
    // The executed shell appends where the script left off: 10 + 140 + 11.
    let [shell] = found.values().collect::<Vec<_>>()[..] else {
        panic!("{found:?}")
    };
    let written: Vec<_> = shell.iter().filter(|it| it.0 == "write").collect();
    let expected = [
        ("write".into(), "log".into(), 161, 7),
        ("write".into(), "log".into(), 168, 2),
    ];
    assert_eq!(written, expected.iter().collect::<Vec<_>>());
    let not_understood = reader.skipped().total(Reason::NotUnderstood);
    // Without -y, descriptors of pipes are those of unknown files.
    let unknown = reader.skipped().of("descriptor of an unknown file");
    let expected = if annotated { 0 } else { unknown };
    assert_eq!(not_understood, expected, "{:#?}", reader.skipped());
}

#[test]
fn offsets_match_the_kernels_with_output_to_a_file() {
    let Some(run) = known_io(&["-f", "-ttt", "-T", "-y"], true) else {
        return;
    };
    check(&run, true);
}

#[test]
fn offsets_match_the_kernels_with_output_to_standard_error() {
    let Some(run) = known_io(&["-f", "-ttt", "-T", "-y"], false) else {
        return;
    };
    check(&run, true);
}

#[test]
fn offsets_match_the_kernels_with_more_annotations() {
    let Some(run) = known_io(&["-f", "-ttt", "-T", "-yy", "-v", "-s", "100000"], true) else {
        return;
    };
    check(&run, true);
}

#[test]
fn offsets_match_the_kernels_with_filtered_calls() {
    let filter = "trace=%desc,%file,%process";
    let Some(run) = known_io(&["-f", "-ttt", "-T", "-y", "-e", filter], true) else {
        return;
    };
    check(&run, true);
}

#[test]
fn offsets_match_the_kernels_without_annotations() {
    let Some(run) = known_io(&["-f", "-ttt", "-T"], true) else {
        return;
    };
    check(&run, false);
}

/// The same program under other flags does the same.
#[test]
fn offsets_match_the_kernels_under_other_flags() {
    for flags in [
        &["-f", "-tt", "-T", "-y"][..],
        &["-f", "-r", "-T", "-y", "-n"],
        &["-f", "-ttt", "-r", "-T", "-y", "-i", "-Y"],
        &["-f", "-ttt", "-T", "-yy", "-xx"],
        &["-f", "-T", "-y"],
        &["-f", "--absolute-timestamps=format:unix,precision:s", "-y"],
    ] {
        let Some(run) = known_io(flags, true) else {
            return;
        };
        check(&run, true);
    }
}

/// Bytes moved by file.
fn moved(reader: &dyn Reader, records: &[Record], operation: Operation) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for record in records.iter().filter(|it| it.operation == operation) {
        let file = reader.files().get(record.file).unwrap();
        *sums.entry(file.to_string()).or_default() += record.size;
    }
    sums
}

#[test]
fn tar_reads_and_writes_what_the_files_hold() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let (archive, trace) = (root.join("sources.tar"), root.join("trace"));
    let sources = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src")
        .canonicalize()
        .unwrap();
    let program = [
        "tar",
        "cf",
        archive.to_str().unwrap(),
        "-C",
        sources.to_str().unwrap(),
        ".",
    ];
    let flags = ["-f", "-ttt", "-T", "-y"];
    if traced(&flags, Some(&trace), &program).is_none() {
        return;
    }
    let (reader, records) = read_all(&trace);
    let written = moved(reader.as_ref(), &records, Operation::Write);
    let length = fs::metadata(&archive).unwrap().len();
    assert_eq!(
        written,
        BTreeMap::from([(archive.to_str().unwrap().to_string(), length)])
    );
    let mut read = moved(reader.as_ref(), &records, Operation::Read);
    read.retain(|file, _| Path::new(file).starts_with(&sources));
    let mut expected = BTreeMap::new();
    let mut directories = vec![sources];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let status = entry.metadata().unwrap();
            if status.is_dir() {
                directories.push(entry.path());
            } else {
                expected.insert(entry.path().to_str().unwrap().to_string(), status.len());
            }
        }
    }
    assert_eq!(read, expected);
}
