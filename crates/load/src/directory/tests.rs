use std::fs;
use std::mem::MaybeUninit;

use rustix::fs::inotify;

use super::*;
use crate::skipped::skipped;

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

#[test]
fn a_directory_goes_with_all_that_was_made_in_it() {
    let below = scratch();
    let made = Directory::make(below.path()).expect("it can be made");
    fs::create_dir(made.path().join("hr-w0")).expect("made");
    fs::write(made.path().join("hr-w0/hr-f1"), "x").expect("written");
    made.remove().expect("it goes");
    assert_eq!(fs::read_dir(below.path()).expect("read").count(), 0);
}

#[test]
fn what_somebody_else_put_there_stays() {
    let below = scratch();
    let made = Directory::make(below.path()).expect("it can be made");
    let path = made.path().to_path_buf();
    fs::create_dir(path.join("hr-w0")).expect("made");
    fs::write(path.join("hr-w0/hr-f1"), "x").expect("written");
    fs::write(path.join("hr-w0/thesis2026.pdf"), "x").expect("written");
    let error = made.remove().expect_err("it stays").to_string();
    assert!(error.contains("hr-w0/thesis2026.pdf"), "{error}");
    assert!(path.join("hr-w0/thesis2026.pdf").exists());
    assert!(!path.join("hr-w0/hr-f1").exists());
}

#[test]
fn cleaning_removes_what_carries_the_mark_and_is_not_in_use() {
    let below = scratch();
    let running = Directory::make(below.path()).expect("it can be made");
    let other = Directory::make(below.path()).expect("it can be made");
    let left_behind = other.path().to_path_buf();
    fs::write(left_behind.join("hr-f1"), "x").expect("written");
    drop(other);
    let unmarked = below.path().join("headrace-bench-9-9");
    fs::create_dir(&unmarked).expect("made");
    fs::write(unmarked.join("hr-f1"), "x").expect("written");
    fs::write(below.path().join("hr-f1"), "x").expect("written");
    let cleaned = clean(below.path(), None).expect("it can be read");
    assert_eq!(cleaned.removed, [left_behind]);
    let mut left = cleaned.left;
    left.sort_by_key(|(path, _)| path.clone());
    let mut expected = vec![
        (running.path().to_path_buf(), LeftReason::InUse),
        (unmarked.clone(), LeftReason::NotMarked),
    ];
    expected.sort_by_key(|(path, _)| path.clone());
    assert_eq!(left, expected);
    assert!(unmarked.join("hr-f1").exists() && below.path().join("hr-f1").exists());
    running.remove().expect("it goes");
}

#[test]
fn what_a_killed_benchmark_left_within_anothers_directory_goes_too() {
    let below = scratch();
    let outer = Directory::make(below.path()).expect("it can be made");
    let within = outer.path().join("hr-apart0");
    fs::create_dir(&within).expect("made");
    let [dead, running] = [(); 2].map(|()| Directory::make(&within).expect("it can be made"));
    fs::write(dead.path().join("hr-f1"), "x").expect("written");
    let unmarked = within.join("headrace-bench-9-9");
    fs::create_dir(&unmarked).expect("made");
    let gone = dead.path().to_path_buf();
    drop((outer, dead));
    let cleaned = clean(below.path(), None).expect("it can be read");
    assert!(!gone.exists() && running.path().exists() && unmarked.exists());
    let [(_, LeftReason::Foreign(names))] = <[_; 1]>::try_from(cleaned.left).expect("one") else {
        panic!("it has what is not its own");
    };
    // A directory of a running process is refused.
    assert_eq!(names, ["hr-apart0/headrace-bench-9-9"]);
    drop(running);
    fs::remove_dir(&unmarked).expect("removed");
    assert_eq!(
        clean(below.path(), None)
            .expect("it can be read")
            .removed
            .len(),
        1
    );
    assert_eq!(fs::read_dir(below.path()).expect("read").count(), 0);
}

/// Cleans up directories of runs that were killed while creating or removing them.
#[test]
fn what_has_no_whole_mark_yet_or_no_more_is_cleaned() {
    let below = scratch();
    let whole = mark::text(0);
    for (number, mark) in [
        None,
        Some(""),
        Some(&whole[..whole.len() / 2]),
        Some(&*whole),
    ]
    .into_iter()
    .enumerate()
    {
        let directory = below
            .path()
            .join(format!("headrace-bench-empty-7-{number}"));
        fs::create_dir(&directory).expect("made");
        if let Some(text) = mark {
            fs::write(directory.join(MARK), text).expect("written");
        }
    }
    // Entries of another user: a file in it, or a name that the engine does not give.
    let others = ["headrace-bench-empty-7-9", "headrace-bench-empty-slots"];
    let others = others.map(|name| below.path().join(name));
    for other in &others {
        fs::create_dir(other).expect("made");
    }
    fs::write(others[0].join("notes.txt"), "x").expect("written");
    let cleaned = clean(below.path(), None).expect("it can be read");
    assert_eq!(cleaned.removed.len(), 4);
    assert_eq!(
        cleaned.left,
        others.clone().map(|it| (it, LeftReason::NotMarked))
    );
    fs::write(others[0].join(MARK), "half").expect("written");
    let cleaned = clean(below.path(), None).expect("it can be read");
    assert_eq!(cleaned.left, others.map(|it| (it, LeftReason::NotMarked)));
}

/// The kernel reports every name that the directory ever had, so no moment is missed.
#[test]
fn without_its_mark_it_has_a_name_that_says_so() {
    let below = scratch();
    let watched = inotify::init(inotify::CreateFlags::NONBLOCK).expect("watched");
    let changes = inotify::WatchFlags::CREATE
        | inotify::WatchFlags::DELETE
        | inotify::WatchFlags::MOVED_FROM
        | inotify::WatchFlags::MOVED_TO;
    inotify::add_watch(&watched, below.path(), changes).expect("watched");
    let made = Directory::make(below.path()).expect("it can be made");
    let name = made.name.clone();
    made.remove().expect("it goes");
    let mut room = [MaybeUninit::uninit(); 4096];
    let mut reader = inotify::Reader::new(&watched, &mut room);
    let mut told = Vec::new();
    while let Ok(event) = reader.next() {
        let name = event.file_name().expect("a name").to_str().expect("text");
        let what = event.events() & !inotify::ReadFlags::ISDIR;
        told.push((what, name.to_owned()));
    }
    let empty = format!("headrace-bench-empty-{}-0", std::process::id());
    let expected = [
        (inotify::ReadFlags::CREATE, &empty),
        (inotify::ReadFlags::MOVED_FROM, &empty),
        (inotify::ReadFlags::MOVED_TO, &name),
        (inotify::ReadFlags::MOVED_FROM, &name),
        (inotify::ReadFlags::MOVED_TO, &empty),
        (inotify::ReadFlags::DELETE, &empty),
    ];
    assert_eq!(told, expected.map(|(what, name)| (what, name.clone())));
}

#[test]
fn an_empty_directory_of_somebody_elses_keeps_its_place() {
    let below = scratch();
    let theirs = below
        .path()
        .join(format!("headrace-bench-{}-0", std::process::id()));
    fs::create_dir(&theirs).expect("made");
    let made = Directory::make(below.path()).expect("it can be made");
    assert_ne!(made.path(), theirs);
    made.remove().expect("it goes");
    assert!(theirs.exists());
}

#[test]
fn a_running_benchmark_within_anothers_directory_keeps_both() {
    let below = scratch();
    let outer = Directory::make(below.path()).expect("it can be made");
    let within = outer.path().join("hr-apart0");
    fs::create_dir(&within).expect("made");
    let running = Directory::make(&within).expect("it can be made");
    let error = outer.remove().expect_err("it stays").to_string();
    assert!(error.contains("still running"), "{error}");
    let path = outer.path().to_path_buf();
    drop(outer);
    let cleaned = clean(below.path(), None).expect("it can be read");
    assert_eq!(cleaned.left, [(path.clone(), LeftReason::InUse)]);
    fs::write(running.path().join("notes.txt"), "x").expect("written");
    let inner = running.path().to_path_buf();
    drop(running);
    let cleaned = clean(below.path(), None).expect("it can be read");
    let notes = inner
        .strip_prefix(&path)
        .expect("it is within")
        .join("notes.txt");
    let notes = notes.to_str().expect("text").to_owned();
    assert_eq!(cleaned.left, [(path, LeftReason::Foreign(vec![notes]))]);
}

#[test]
fn cleaning_may_be_of_one_directory_only() {
    let below = scratch();
    let left_behind = [(); 2].map(|()| {
        let made = Directory::make(below.path()).expect("it can be made");
        made.path().to_path_buf()
    });
    let name = left_behind[0].file_name().and_then(|it| it.to_str());
    let cleaned = clean(below.path(), name).expect("it can be read");
    assert_eq!(cleaned.removed, left_behind[..1]);
    assert!(cleaned.left.is_empty() && left_behind[1].exists());
}

#[test]
fn a_symbolic_link_is_removed_and_what_it_leads_to_is_not() {
    let below = scratch();
    let treasure = scratch();
    fs::write(treasure.path().join("hr-f1"), "x").expect("written");
    let made = Directory::make(below.path()).expect("it can be made");
    std::os::unix::fs::symlink(treasure.path(), made.path().join("hr-d1")).expect("made");
    std::os::unix::fs::symlink(treasure.path(), below.path().join("headrace-bench-1-1"))
        .expect("made");
    made.remove().expect("it goes");
    let cleaned = clean(below.path(), None).expect("it can be read");
    assert_eq!(cleaned.removed.len(), 0);
    assert_eq!(cleaned.left[0].1, LeftReason::NotMarked);
    assert!(treasure.path().join("hr-f1").exists());
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    let below = scratch();
    let missing = below.path().join("missing");
    let error = Directory::make(&missing).expect_err("it is not there");
    assert!(error.to_string().contains("missing"), "{error}");
}

#[test]
fn where_the_kernel_shows_its_own_things_no_files_are_made() {
    for (path, name) in [("/proc", "proc"), ("/sys", "sysfs")] {
        let error = Directory::make(Path::new(path)).expect_err("no files are kept there");
        let text = error.to_string();
        assert!(text.contains(path) && text.contains(name), "{text}");
        assert!(matches!(error, Error::Unsuitable(_)));
    }
}

#[test]
fn files_and_their_bytes_are_counted() {
    let below = scratch();
    let made = Directory::make(below.path()).expect("it can be made");
    fs::create_dir(made.path().join("hr-w0")).expect("made");
    fs::write(made.path().join("hr-w0/hr-f1"), "four").expect("written");
    fs::write(made.path().join("hr-w0/hr-f2"), "seventh").expect("written");
    assert_eq!(made.usage().expect("it can be read"), (2, 11));
    made.remove().expect("it goes");
}

#[test]
fn what_is_mounted_in_it_stays() {
    let (below, treasure) = (scratch(), scratch());
    fs::write(treasure.path().join("hr-f1"), "x").expect("written");
    let made = Directory::make(below.path()).expect("it can be made");
    let mounted = made.path().join("hr-w9");
    fs::create_dir(&mounted).expect("made");
    let mount = |arguments: &[&std::ffi::OsStr]| {
        let ran = std::process::Command::new("mount").args(arguments).output();
        ran.is_ok_and(|it| it.status.success())
    };
    let bind = [
        "--bind".as_ref(),
        treasure.path().as_os_str(),
        mounted.as_os_str(),
    ];
    if !mount(&bind) {
        skipped("mounting takes root");
        return;
    }
    let removed = made.remove();
    let unmounted = std::process::Command::new("umount").arg(&mounted).status();
    assert!(unmounted.is_ok_and(|it| it.success()));
    assert!(removed.expect_err("it stays").to_string().contains("hr-w9"));
    assert!(treasure.path().join("hr-f1").exists());
    made.remove().expect("it goes");
}

#[test]
fn a_pipe_in_the_place_of_the_mark_is_not_waited_for() {
    let below = scratch();
    let directory = below.path().join("headrace-bench-1-1");
    fs::create_dir(&directory).expect("made");
    rustix::fs::mknodat(
        CWD,
        directory.join(MARK),
        rustix::fs::FileType::Fifo,
        Mode::from_raw_mode(0o600),
        0,
    )
    .expect("made");
    let cleaned = clean(below.path(), None).expect("it can be read");
    assert_eq!(cleaned.left, [(directory, LeftReason::NotMarked)]);
}

#[test]
fn others_join_the_directory_of_that_mark_only_and_leave_it_where_it_is() {
    let below = scratch();
    let made = Directory::make(below.path()).expect("it can be made");
    let joined = Directory::join(made.path(), made.mark()).expect("it is the same");
    joined.remove().expect("nothing is done");
    assert!(made.path().exists());
    let other = Directory::make(below.path()).expect("it can be made");
    let error = Directory::join(made.path(), other.mark()).expect_err("another");
    assert!(error.to_string().contains("of another run"), "{error}");
    let gone = below.path().join("headrace-bench-1-1");
    Directory::join(&gone, made.mark()).expect_err("there is none");
    drop(joined);
    made.remove().expect("it goes");
}

#[test]
fn a_removal_that_was_broken_off_can_be_taken_up_again() {
    let below = scratch();
    let made = Directory::make(below.path()).expect("it can be made");
    fs::create_dir(made.path().join("hr-w0")).expect("made");
    for number in 0..600 {
        fs::write(made.path().join(format!("hr-w0/hr-f{number}")), "x").expect("written");
    }
    let mut told = Vec::new();
    let broken = made.remove_watched(&mut |removed| {
        told.push(removed);
        match removed {
            4 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    });
    assert!(matches!(broken, Err(Error::Interrupted)));
    assert_eq!(told, [1, 2, 3, 4]);
    // Those that were in progress with it are gone, too.
    let left = made.usage().expect("it is there").0;
    assert!((300..600).contains(&left), "{left}");
    made.remove().expect("it goes");
    assert_eq!(fs::read_dir(below.path()).expect("read").count(), 0);
}

/// A user who is neither root nor the caller of sudo, for tests that run as root.
const NOBODY: u32 = 65_534;

/// Gives a path to another user; returns true if that was possible.
fn give_away(path: &Path) -> bool {
    let owner = Some(rustix::fs::Uid::from_raw(NOBODY));
    let given = rustix::fs::chownat(CWD, path, owner, None, AtFlags::SYMLINK_NOFOLLOW);
    if given.is_err() {
        skipped("giving files away takes root");
    }
    given.is_ok()
}

#[test]
fn root_makes_none_in_a_directory_of_somebody_elses() {
    let below = scratch();
    let theirs = below.path().join("theirs");
    fs::create_dir(&theirs).expect("made");
    let made = Directory::make(&theirs).expect("it is one's own");
    if !give_away(&theirs) {
        return made.remove().expect("it goes");
    }
    let error = Directory::make(&theirs).expect_err("it is another's");
    assert!(matches!(error, Error::Unsuitable(_)));
    let text = error.to_string();
    for told in ["theirs: it belongs to", "65534", "expected a directory"] {
        assert!(text.contains(told), "{text}");
    }
    Directory::join(made.path(), made.mark()).expect_err("it is another's");
    // Earlier entries are removed nonetheless.
    made.remove().expect("it goes");
}

#[test]
fn root_follows_no_link_of_somebody_elses() {
    let below = scratch();
    let (real, link) = (below.path().join("real"), below.path().join("link"));
    fs::create_dir(&real).expect("made");
    std::os::unix::fs::symlink("real", &link).expect("made");
    let through = link.join("..").join("link");
    let made = Directory::make(&through).expect("the link is one's own");
    made.remove().expect("it goes");
    if !give_away(&link) {
        return;
    }
    let error = Directory::make(&through).expect_err("the link is another's");
    let text = error.to_string();
    assert!(text.contains("symbolic link \"link\" to real"), "{text}");
    let error = clean(&link, None).expect_err("the link is another's");
    assert!(error.to_string().contains("symbolic link"), "{error}");
}

#[test]
fn links_that_lead_in_a_circle_end() {
    let below = scratch();
    let link = below.path().join("link");
    std::os::unix::fs::symlink("link", &link).expect("made");
    let error = Directory::make(&link).expect_err("it leads nowhere");
    assert!(matches!(error, Error::Directory { .. }), "{error}");
}

/// A copy of the mark, in a directory that another user has put in the place of the run's.
#[test]
fn others_join_no_directory_of_another_owner() {
    let below = scratch();
    let made = Directory::make(below.path()).expect("it can be made");
    let moved = below.path().join("moved");
    fs::rename(made.path(), &moved).expect("renamed");
    fs::create_dir(made.path()).expect("made");
    fs::copy(moved.join(MARK), made.path().join(MARK)).expect("copied");
    if !give_away(made.path()) {
        return;
    }
    let error = Directory::join(made.path(), made.mark()).expect_err("it is another's");
    assert!(error.to_string().contains("another user"), "{error}");
}

#[test]
fn calls_open_no_symbolic_link() {
    let below = scratch();
    let victim = below.path().join("victim");
    fs::write(&victim, "precious").expect("written");
    std::os::unix::fs::symlink("victim", below.path().join("hr-f1")).expect("made");
    let root = std::sync::Arc::new(OwnedFd::from(
        fs::File::open(below.path()).expect("it is there"),
    ));
    for backend in [crate::Backend::Posix, crate::Backend::Uring] {
        let Ok(mut calls) = backend.calls(&root) else {
            skipped("no io_uring here");
            continue;
        };
        let flags = crate::files::WRITING | OFlags::TRUNC;
        let opened = calls.open(c"hr-f1", flags, crate::files::MODE);
        assert_eq!(opened.map(drop), Err(Errno::LOOP));
    }
    assert_eq!(fs::read(&victim).expect("read"), b"precious");
}
