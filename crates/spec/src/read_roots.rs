//! Directories that the files named in documents must lie below.
//!
//! A server that runs documents of several users names them in `HEADRACE_READ_BELOW`, separated by
//! colons as in `PATH`. Without the variable every file may be named. The kernel resolves the name
//! relative to an open directory (`openat2` with `RESOLVE_BENEATH`), so that neither `..` nor a
//! symbolic link leads out of it.
//!
//! Not covered: a name that another program exchanges after this check. The server confines the
//! process as well, where the kernel has Landlock.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use rustix::fd::OwnedFd;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};

/// The variable that names the directories.
const VARIABLE: &str = "HEADRACE_READ_BELOW";

/// A directory that documents may read below, held open.
struct Root {
    path: PathBuf,
    directory: OwnedFd,
}

/// Rejects a path outside the directories of `HEADRACE_READ_BELOW`.
///
/// # Errors
/// The path leads out of all of them. A path that does not exist is left to its reader.
pub(crate) fn check(path: &Path) -> Result<(), String> {
    static ROOTS: OnceLock<Option<Vec<Root>>> = OnceLock::new();
    match ROOTS.get_or_init(|| std::env::var_os(VARIABLE).as_deref().map(open_roots)) {
        Some(roots) => check_below(roots, path),
        None => Ok(()),
    }
}

/// Opens a regular file that a document names. A pipe or a device might never end.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = File::from(openat(CWD, path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok(file)
}

fn check_below(roots: &[Root], path: &Path) -> Result<(), String> {
    if roots.iter().any(|root| is_below(root, path)) {
        return Ok(());
    }
    Err("it is outside the directories that may be read here".to_owned())
}

/// Opens the directories. One that cannot be opened allows no file.
fn open_roots(names: &OsStr) -> Vec<Root> {
    let opened = std::env::split_paths(names).filter_map(|path| {
        let path = path.canonicalize().ok()?;
        let directory = openat(CWD, &path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
        Some(Root { path, directory })
    });
    opened.collect()
}

/// Returns true if an absolute path lies below a root, which may also be the file itself.
fn is_below(root: &Root, path: &Path) -> bool {
    // Without "." and doubled separators, which would hide the root at the beginning.
    let path: PathBuf = path
        .components()
        .filter(|it| *it != Component::CurDir)
        .collect();
    let Ok(below) = path.strip_prefix(&root.path) else {
        return false;
    };
    if below.as_os_str().is_empty() {
        return true;
    }
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    match openat2(&root.directory, below, flags, Mode::empty(), resolve) {
        Ok(_) => true,
        // A missing file is reported where it is read, and a missing system call allows none.
        Err(error) => error == rustix::io::Errno::NOENT && !below.components().any(is_upwards),
    }
}

fn is_upwards(component: Component<'_>) -> bool {
    component == Component::ParentDir
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_paths_below_a_root_are_allowed() {
        let all = tempfile::tempdir().expect("a directory");
        let all = all.path().canonicalize().expect("its path");
        let (work, secret) = (all.join("work"), all.join("secret"));
        fs::create_dir_all(work.join("below")).expect("directories");
        fs::create_dir(all.join("work2")).expect("a directory");
        for file in [
            work.join("a"),
            work.join("below/b"),
            secret.clone(),
            all.join("work2/c"),
        ] {
            fs::write(file, "").expect("a file");
        }
        symlink(&secret, work.join("link")).expect("a link");
        symlink("../secret", work.join("relative")).expect("a link");
        symlink("below", work.join("inside")).expect("a link");
        symlink("/", work.join("below/root")).expect("a link");
        let roots = open_roots(work.as_os_str());
        let allowed = |name: &str| check_below(&roots, &work.join(name)).is_ok();
        for name in [
            "",
            "a",
            "./a",
            "below/b",
            "inside/b",
            "below/../a",
            "missing",
            "missing/x",
        ] {
            assert!(allowed(name), "{name}");
        }
        let long = format!("/{}{}", "./".repeat(2100), "etc/passwd");
        let within = format!("{}{}", "./".repeat(2100), "a");
        assert!(allowed(&within));
        for name in [
            "link",
            "relative",
            "../secret",
            "below/../../secret",
            "below/root/etc/passwd",
            "../work2/c",
            "missing/../../secret",
            "/etc/passwd",
            "/proc/self/environ",
            &long,
        ] {
            assert!(!allowed(name), "{name}");
        }
        // A file can be a root, and allows only itself.
        let file = open_roots(work.join("a").as_os_str());
        assert!(check_below(&file, &work.join("a")).is_ok());
        assert!(check_below(&file, &work.join("below/b")).is_err());
        assert!(check_below(&open_roots(OsStr::new("")), &work.join("a")).is_err());
    }
}
