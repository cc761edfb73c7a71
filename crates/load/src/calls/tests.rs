use std::fs;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{CWD, FlockOperation};

use super::*;
use crate::files::{DIRECTORY, MODE};

fn calls(below: &Path) -> Posix {
    let root = rustix::fs::openat(CWD, below, DIRECTORY, Mode::empty()).expect("a directory");
    Posix::new(Arc::new(root))
}

fn scratch() -> (tempfile::TempDir, Posix) {
    let below = tempfile::tempdir().expect("a temporary directory");
    let posix = calls(below.path());
    (below, posix)
}

fn made(calls: &mut Posix, path: &CStr) -> Handle {
    let flags = OFlags::RDWR | OFlags::CREATE;
    calls.open(path, flags, MODE).expect("opened")
}

#[test]
fn the_c_library_gathers_a_bufferful() {
    for (buffer, gathered) in [(4096, 4096), (65_536, 0)] {
        let (_below, mut calls) = scratch();
        let file = made(&mut calls, c"f1");
        let mut stream = calls.stream(&file, buffer).expect("opened");
        for part in 0..5_u8 {
            let written = stream.write(&[part; 1000], 1000 * u64::from(part));
            assert_eq!(written, Ok(1000));
        }
        assert_eq!(calls.length(&file), Ok(gathered));
        stream.flush().expect("written");
        assert_eq!(calls.length(&file), Ok(5000));
        // Behind the last byte there is nothing, and written data is read back.
        let mut bytes = [9; 2000];
        assert_eq!(stream.read(&mut bytes, 4000), Ok(1000));
        assert_eq!(bytes[999..1001], [4, 9]);
        assert_eq!(stream.read(&mut bytes[..10], 995), Ok(10));
        assert_eq!(bytes[4..6], [0, 1]);
        assert_eq!(stream.close(), Ok(()));
        // Another begins at the beginning, wherever the first has left the file.
        let mut again = calls.stream(&file, buffer).expect("opened");
        bytes[0] = 9;
        assert_eq!(again.read(&mut bytes[..1], 0), Ok(1));
        assert_eq!(bytes[0], 0);
    }
}

#[test]
fn a_mapping_begins_and_ends_where_is_said() {
    let (below, mut calls) = scratch();
    let content: Vec<u8> = (0..200_000_u32).map(|place| (place % 251) as u8).collect();
    fs::write(below.path().join("f1"), &content).expect("written");
    let file = made(&mut calls, c"f1");
    for (offset, size) in [(0, 200_000), (65_535, 3), (70_000, 100_000), (199_999, 1)] {
        let mapping = calls.map(&file, offset, size).expect("mapped");
        let mut bytes = vec![0; size + 10];
        assert_eq!(mapping.load(offset, &mut bytes), size);
        let first = offset as usize;
        assert_eq!(bytes[..size], content[first..first + size]);
        assert_eq!(mapping.unmap(), Ok(()));
    }
}

#[test]
fn locks_are_the_open_files_and_not_the_whole_processes() {
    let (below, mut calls) = scratch();
    let file = made(&mut calls, c"f1");
    let other = fs::File::open(below.path().join("f1")).expect("opened");
    let shared = || rustix::fs::fcntl_lock(&other, FlockOperation::NonBlockingLockShared);
    let all = Range {
        start: 0,
        length: END_OF_FILES,
    };
    let behind = Range {
        start: END_OF_FILES,
        length: 1,
    };
    calls.lock(&file, all).expect("locked");
    calls.lock(&file, behind).expect("locked");
    assert!(matches!(shared(), Err(Errno::AGAIN | Errno::ACCESS)));
    calls.unlock(&file, all).expect("unlocked");
    assert!(shared().is_err(), "the end is locked still");
    calls.unlock(&file, behind).expect("unlocked");
    assert_eq!(shared(), Ok(()));
}

#[test]
fn a_directory_is_listed_in_parts() {
    let (below, mut calls) = scratch();
    for number in 0..3000 {
        fs::write(below.path().join(format!("f{number}")), "").expect("written");
    }
    let directory = calls.open(c".", DIRECTORY, Mode::empty()).expect("opened");
    let mut parts = Vec::new();
    loop {
        match calls.list(&directory).expect("listed") {
            0 => break,
            count => parts.push(count),
        }
    }
    // With "." and ".."; a name of ours takes 24 or 32 bytes.
    assert_eq!(parts.iter().sum::<usize>(), 3002);
    assert!(parts.len() > 1, "{parts:?}");
    calls.rewind(&directory).expect("rewound");
    assert_eq!(calls.list(&directory), Ok(parts[0]));
}

#[test]
fn only_the_thread_itself_changes_its_directory() {
    let (below, _) = scratch();
    fs::create_dir(below.path().join("d1")).expect("made");
    let before = std::env::current_dir().expect("known");
    let inner = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let mut calls = calls(below.path());
            match calls.leave_directory() {
                // A sandbox.
                Err(Errno::NOSYS) => None,
                left => {
                    left.expect("left");
                    calls.enter_directory(c"d1").expect("entered");
                    Some(std::env::current_dir().expect("known"))
                }
            }
        });
        thread.join().expect("it ends")
    });
    let expected = fs::canonicalize(below.path().join("d1")).expect("known");
    assert!(inner.is_none_or(|inner| inner == expected));
    assert_eq!(std::env::current_dir().expect("known"), before);
}
