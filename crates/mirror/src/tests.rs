//! The mirror as a file system, against the directory below it.

use std::ffi::{CString, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use proptest::prelude::*;
use rustix::fs::{FlockOperation, XattrFlags};

use crate::{Kind, Mirror, Options};

/// A directory and its mirror.
struct Both {
    below: tempfile::TempDir,
    at: tempfile::TempDir,
    mirror: Mirror,
}

impl Both {
    /// None, and aloud, where nothing can be mounted.
    fn mounted(options: Options) -> Option<Both> {
        let below = tempfile::tempdir().expect("a temporary directory");
        let at = tempfile::tempdir().expect("a temporary directory");
        match Mirror::mount(below.path(), at.path(), options) {
            Ok(mirror) => Some(Both { below, at, mirror }),
            Err(error) => {
                eprintln!("skipped: nothing can be mounted here: {error}");
                None
            }
        }
    }

    fn new() -> Option<Both> {
        Both::mounted(Options::default())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.at.path().join(name)
    }

    fn below(&self, name: &str) -> PathBuf {
        self.below.path().join(name)
    }

    /// Requests of a kind that something causes.
    fn causes(&self, kind: Kind, done: impl FnOnce()) -> u64 {
        let before = self.mirror.counts().of(kind);
        done();
        self.mirror.counts().of(kind) - before
    }
}

fn names(directory: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut names: Vec<_> = entries
        .map(|it| it.expect("an entry").file_name())
        .collect();
    names.sort();
    names
}

#[test]
fn what_is_written_to_either_is_in_both() {
    let Some(both) = Both::new() else { return };
    fs::write(both.at("one"), "from above").expect("written");
    assert_eq!(
        fs::read_to_string(both.below("one")).expect("read"),
        "from above"
    );
    fs::write(both.below("two"), "from below").expect("written");
    assert_eq!(
        fs::read_to_string(both.at("two")).expect("read"),
        "from below"
    );
    fs::create_dir(both.at("inside")).expect("made");
    fs::rename(both.at("one"), both.at("inside/three")).expect("renamed");
    assert_eq!(names(both.below.path()), ["inside", "two"]);
    assert_eq!(names(&both.below("inside")), ["three"]);
    assert!(fs::remove_dir(both.at("inside")).is_err());
    fs::remove_file(both.at("inside/three")).expect("removed");
    fs::remove_dir(both.at("inside")).expect("removed");
    assert_eq!(names(both.at.path()), ["two"]);
}

#[test]
fn names_of_one_file_are_one_file() {
    let Some(both) = Both::new() else { return };
    fs::write(both.at("one"), "same").expect("written");
    fs::hard_link(both.at("one"), both.at("two")).expect("linked");
    let of = |name: &str| fs::metadata(both.at(name)).expect("there");
    assert_eq!(of("one").ino(), of("two").ino());
    assert_eq!(of("one").nlink(), 2);
    let mut open = OpenOptions::new();
    let mut file = open.append(true).open(both.at("two")).expect("opened");
    file.write_all(b" again").expect("appended");
    assert_eq!(
        fs::read_to_string(both.at("one")).expect("read"),
        "same again"
    );
    fs::remove_file(both.at("one")).expect("removed");
    assert_eq!(of("two").nlink(), 1);
}

#[test]
fn a_file_without_a_name_is_there_until_it_is_closed() {
    let Some(both) = Both::new() else { return };
    let mut open = OpenOptions::new();
    let open = open.read(true).write(true).create(true);
    let mut file = open.open(both.at("gone")).expect("made");
    file.write_all(b"still here").expect("written");
    fs::remove_file(both.at("gone")).expect("removed");
    assert!(names(both.below.path()).is_empty());
    file.set_len(5).expect("cut");
    file.seek(SeekFrom::Start(0)).expect("back");
    let mut text = String::new();
    file.read_to_string(&mut text).expect("read");
    assert_eq!(text, "still");
    assert_eq!(file.metadata().expect("there").nlink(), 0);
    // Another of the same name is another file.
    fs::write(both.at("gone"), "new").expect("written");
    assert_ne!(
        file.metadata().expect("there").ino(),
        fs::metadata(both.at("gone")).expect("there").ino()
    );
}

#[test]
fn attributes_are_changed_below() {
    let Some(both) = Both::new() else { return };
    fs::write(both.at("file"), [1; 10_000]).expect("written");
    fs::set_permissions(both.at("file"), fs::Permissions::from_mode(0o640)).expect("set");
    let file = File::options().write(true).open(both.at("file"));
    let file = file.expect("opened");
    let time = UNIX_EPOCH + Duration::new(1_000_000_000, 123);
    file.set_modified(time).expect("set");
    file.set_len(5_000).expect("cut");
    file.set_modified(time).expect("set");
    for path in [both.at("file"), both.below("file")] {
        let it = fs::metadata(path).expect("there");
        assert_eq!((it.len(), it.mode() & 0o7777), (5_000, 0o640));
        assert_eq!(it.modified().expect("a time"), time);
    }
    let name = CString::new("user.colour").expect("a name");
    match rustix::fs::setxattr(both.at("file"), &name, b"blue", XattrFlags::empty()) {
        Err(rustix::io::Errno::OPNOTSUPP) => eprintln!("skipped: no attributes of users here"),
        set => {
            set.expect("set");
            let mut value = [0; 16];
            let length = rustix::fs::getxattr(both.below("file"), &name, &mut value);
            assert_eq!(&value[..length.expect("there")], b"blue");
            let length = rustix::fs::getxattr_query(both.at("file"), &name);
            assert_eq!(length.expect("there"), 4);
            rustix::fs::removexattr(both.at("file"), &name).expect("removed");
            assert!(rustix::fs::getxattr_query(both.below("file"), &name).is_err());
        }
    }
}

#[test]
fn links_lead_where_they_say_and_not_out() {
    let Some(both) = Both::new() else { return };
    symlink("/etc/hostname", both.at("out")).expect("made");
    assert_eq!(
        fs::read_link(both.below("out")).expect("a link"),
        Path::new("/etc/hostname")
    );
    // Its own attributes, and not those of its target.
    assert!(
        fs::symlink_metadata(both.at("out"))
            .expect("there")
            .is_symlink()
    );
    let inside = both.below("inside");
    fs::create_dir(&inside).expect("made");
    let other = tempfile::tempdir().expect("a temporary directory");
    fs::write(other.path().join("foreign"), "").expect("written");
    let flags = rustix::mount::MountFlags::BIND;
    match rustix::mount::mount(other.path(), &inside, "none", flags, None) {
        Err(errno) => eprintln!("skipped: nothing can be bound here: {errno}"),
        Ok(()) => {
            let seen = fs::read_dir(both.at("inside"));
            rustix::mount::unmount(&inside, rustix::mount::UnmountFlags::empty()).expect("gone");
            let error = seen.expect_err("what is mounted is not shown");
            assert_eq!(error.kind(), std::io::ErrorKind::CrossesDevices);
        }
    }
}

#[test]
fn reads_and_writes_past_the_cache_are_the_same() {
    let Some(both) = Both::new() else { return };
    let bytes: Vec<u8> = (0..300_000_u32).map(|it| (it % 251) as u8).collect();
    fs::write(both.at("file"), &bytes).expect("written");
    let direct = rustix::fs::OFlags::DIRECT.bits().cast_signed();
    let mut open = OpenOptions::new();
    let open = open.read(true).write(true).custom_flags(direct);
    let file = open.open(both.at("file")).expect("opened");
    let mut back = vec![0; bytes.len()];
    let read = |back: &mut [u8]| file.read_exact_at(back, 0).expect("read");
    // One request of a megabyte at most, and each time again.
    assert_eq!(both.causes(Kind::Read, || read(&mut back)), 1);
    assert_eq!(both.causes(Kind::Read, || read(&mut back)), 1);
    assert_eq!(both.causes(Kind::Getattr, || read(&mut back)), 0);
    assert_eq!(back, bytes);
    let write = || file.write_all_at(&[9; 4096], 8192).expect("written");
    assert_eq!(both.causes(Kind::Write, write), 1);
    assert_eq!(
        fs::read(both.below("file")).expect("read")[8191..8194],
        [159, 9, 9]
    );
}

#[test]
fn locks_conflict_in_the_mirror_and_below() {
    let Some(both) = Both::new() else { return };
    let one = File::create(both.at("file")).expect("made");
    let lock = FlockOperation::NonBlockingLockExclusive;
    rustix::fs::flock(&one, lock).expect("locked");
    for path in [both.at("file"), both.below("file")] {
        let other = File::open(path).expect("opened");
        let failed = rustix::fs::flock(&other, lock);
        assert_eq!(failed, Err(rustix::io::Errno::WOULDBLOCK));
    }
    // More wait than there are threads to answer.
    let waiting: Vec<_> = (0..8)
        .map(|_| {
            let other = File::open(both.at("file")).expect("opened");
            std::thread::spawn(move || rustix::fs::flock(&other, FlockOperation::LockExclusive))
        })
        .collect();
    drop(one);
    for thread in waiting {
        thread.join().expect("no panic").expect("locked");
    }
}

#[test]
fn each_request_is_counted_once() {
    let Some(both) = Both::new() else { return };
    fs::write(both.at("file"), "text").expect("written");
    let file = File::options().write(true).open(both.at("file"));
    let file = file.expect("opened");
    let there = || assert!(both.at("file").is_file());
    assert_eq!(both.causes(Kind::Lookup, there), 1);
    assert_eq!(both.causes(Kind::Getattr, there), 1);
    assert_eq!(
        both.causes(Kind::Fsync, || file.sync_all().expect("on disk")),
        1
    );
    let may = || rustix::fs::access(both.at("file"), rustix::fs::Access::READ_OK).expect("may");
    assert_eq!(both.causes(Kind::Access, may), 1);
    let state = || assert!(rustix::fs::fstatvfs(&file).is_ok());
    assert_eq!(both.causes(Kind::Statfs, state), 1);
    let listed = || drop(names(both.at.path()));
    assert_eq!(both.causes(Kind::Readdirplus, listed), 1);
}

#[test]
fn what_holds_for_some_time_is_not_asked_again() {
    let hour = Duration::from_secs(3600);
    let options = Options {
        attribute_timeout: hour,
        entry_timeout: hour,
        readdirplus: false,
        ..Options::default()
    };
    let Some(both) = Both::mounted(options) else {
        return;
    };
    fs::write(both.at("file"), "text").expect("written");
    let there = || assert!(both.at("file").is_file());
    there();
    assert_eq!(both.causes(Kind::Lookup, there), 0);
    assert_eq!(both.causes(Kind::Getattr, there), 0);
    let listed = || drop(names(both.at.path()));
    assert_eq!(both.causes(Kind::Readdirplus, listed), 0);
    assert!(both.causes(Kind::Readdir, listed) > 0);
}

#[test]
fn names_that_stay_are_listed_once_while_others_change() {
    for readdirplus in [true, false] {
        let options = Options {
            readdirplus,
            ..Options::default()
        };
        let Some(both) = Both::mounted(options) else {
            return;
        };
        // More than one request lists.
        for number in 0..3000 {
            File::create(both.below(&format!("stays-{number:04}"))).expect("made");
            File::create(both.below(&format!("goes-{number:04}"))).expect("made");
        }
        let mut listed = Vec::new();
        for (place, entry) in fs::read_dir(both.at.path())
            .expect("a directory")
            .enumerate()
        {
            listed.push(
                entry
                    .expect("an entry")
                    .file_name()
                    .into_string()
                    .expect("text"),
            );
            if place % 2 == 0 && place < 6000 {
                let goes = format!("goes-{:04}", (place / 2 + 1500) % 3000);
                fs::remove_file(both.at(&goes)).expect("removed");
            }
        }
        let mut stays: Vec<_> = listed.iter().filter(|it| it.starts_with("stays")).collect();
        stays.sort();
        let all: Vec<_> = (0..3000)
            .map(|number| format!("stays-{number:04}"))
            .collect();
        assert!(stays.into_iter().eq(&all));
    }
}

#[test]
fn it_goes_when_it_is_told_to_even_with_open_files() {
    let Some(mut both) = Both::new() else { return };
    fs::write(both.at("file"), "text").expect("written");
    let open = File::open(both.at("file")).expect("opened");
    both.mirror.unmount().expect("unmounted");
    assert!(names(both.at.path()).is_empty());
    assert_eq!(names(both.below.path()), ["file"]);
    drop(open);
    both.mirror.unmount().expect("nothing is left to do");
}

#[derive(Clone, Debug)]
enum Step {
    Write(u64, Vec<u8>),
    Append(Vec<u8>),
    Cut(u64),
    Read(u64, usize),
}

fn step() -> impl Strategy<Value = Step> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..20_000);
    prop_oneof![
        (0..100_000_u64, bytes()).prop_map(|(at, bytes)| Step::Write(at, bytes)),
        bytes().prop_map(Step::Append),
        (0..120_000_u64).prop_map(Step::Cut),
        (0..120_000_u64, 0..50_000_usize).prop_map(|(at, size)| Step::Read(at, size)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_file_has_in_it_what_was_put_there(steps in prop::collection::vec(step(), 1..30)) {
        let Some(both) = Both::new() else { return Ok(()) };
        let mut open = OpenOptions::new();
        let open = open.read(true).write(true).create(true).truncate(false);
        let file = open.open(both.at("file")).expect("made");
        let mut open = OpenOptions::new();
        let mut end = open.append(true).open(both.at("file")).expect("opened");
        let mut wanted: Vec<u8> = Vec::new();
        for step in steps {
            match step {
                Step::Write(at, bytes) => {
                    file.write_all_at(&bytes, at).expect("written");
                    let until = at as usize + bytes.len();
                    if !bytes.is_empty() && wanted.len() < until {
                        wanted.resize(until, 0);
                    }
                    if !bytes.is_empty() {
                        wanted[at as usize..until].copy_from_slice(&bytes);
                    }
                }
                Step::Append(bytes) => {
                    end.write_all(&bytes).expect("written");
                    wanted.extend(&bytes);
                }
                Step::Cut(size) => {
                    file.set_len(size).expect("cut");
                    wanted.resize(size as usize, 0);
                }
                Step::Read(at, size) => {
                    let mut read = vec![0; size];
                    let length = file.read_at(&mut read, at).expect("read");
                    let from = wanted.len().min(at as usize);
                    let until = wanted.len().min(at as usize + size);
                    prop_assert_eq!(&read[..length], &wanted[from..until]);
                }
            }
        }
        prop_assert_eq!(fs::read(both.below("file")).expect("read"), wanted);
    }
}
