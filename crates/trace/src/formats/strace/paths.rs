//! Classification of paths, and joining of paths.

use std::borrow::Cow;

use super::kinds;
use super::syntax;
use crate::Kind;

/// Why a path or an annotation is no file with storage behind it; none if it
/// is one.
pub(super) fn not_a_file(path: &[u8]) -> Option<&'static Kind> {
    let in_directory = |directory: &[u8]| {
        path.strip_prefix(directory)
            .is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
    };
    if path.first() == Some(&b'/') {
        // /dev/shm and /dev/hugepages hold files, in memory.
        return if in_directory(b"/dev/shm") || in_directory(b"/dev/hugepages") {
            None
        } else if in_directory(b"/dev") {
            Some(&kinds::DEVICE)
        } else if in_directory(b"/proc") || in_directory(b"/sys") {
            Some(&kinds::KERNEL)
        } else if path.starts_with(b"/memfd:") || path.starts_with(b"/anon_hugepage") {
            Some(&kinds::ANONYMOUS)
        } else {
            None
        };
    }
    None
}

/// The same for what -y printed.
pub(super) fn annotation_not_a_file(annotation: &[u8]) -> Option<&'static Kind> {
    const SOCKETS: [&[u8]; 9] = [
        b"socket:", b"TCP", b"UDP", b"UNIX", b"NETLINK", b"RAW", b"PING", b"SCTP", b"L2CAP",
    ];
    // With -xx all is in hexadecimal, but for a device's numbers.
    let in_hexadecimal;
    let start = match annotation.first() {
        Some(b'\\') => {
            in_hexadecimal = syntax::unescape(annotation);
            &in_hexadecimal[..]
        }
        _ => annotation,
    };
    if start.first() == Some(&b'/') {
        if memchr::memmem::find(annotation, b"<char ").is_some()
            || memchr::memmem::find(annotation, b"<block ").is_some()
        {
            return Some(&kinds::DEVICE);
        }
        return not_a_file(start);
    }
    if start.starts_with(b"pipe:") {
        return Some(&kinds::PIPE);
    }
    if SOCKETS.iter().any(|it| start.starts_with(it)) {
        return Some(&kinds::SOCKET);
    }
    Some(&kinds::ANONYMOUS)
}

/// The path within an annotation, without ` (deleted)`, which old versions
/// print inside.
pub(super) fn annotated_path(annotation: &[u8]) -> Cow<'_, [u8]> {
    const DELETED: &[u8] = b" (deleted)";
    match syntax::unescape(annotation) {
        Cow::Borrowed(path) => Cow::Borrowed(path.strip_suffix(DELETED).unwrap_or(path)),
        Cow::Owned(mut path) => {
            if path.ends_with(DELETED) {
                path.truncate(path.len() - DELETED.len());
            }
            Cow::Owned(path)
        }
    }
}

/// Joins a path to a directory and takes out `.`, `..` and empty steps, by
/// their text alone: symbolic links are not known here.
pub(super) fn join(directory: &str, path: &str, into: &mut String) {
    into.clear();
    if !path.starts_with('/') {
        into.push_str(directory);
    } else {
        into.push('/');
    }
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." if into == "/" => {}
            ".." if !into.is_empty() && last(into) != ".." => {
                let parent = into.rfind('/').map_or(0, |at| at.max(1));
                into.truncate(parent);
            }
            step => {
                if !into.is_empty() && !into.ends_with('/') {
                    into.push('/');
                }
                into.push_str(step);
            }
        }
    }
    if into.is_empty() {
        into.push('.');
    }
}

/// The last step of a path.
pub(super) fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_by_their_text() {
        let mut joined = String::new();
        for (directory, path, expected) in [
            ("/home", "a/b", "/home/a/b"),
            ("/home", "/a//b/", "/a/b"),
            ("/home", "./a/../b", "/home/b"),
            ("/home", "../../../b", "/b"),
            ("/home", ".", "/home"),
            ("/", "x", "/x"),
            ("/home", "/", "/"),
            ("", "a/./b", "a/b"),
            ("", "../a", "../a"),
            ("", "a/../../b", "../b"),
            ("", ".", "."),
        ] {
            join(directory, path, &mut joined);
            assert_eq!(joined, expected, "{directory} + {path}");
        }
    }

    #[test]
    fn descriptors_without_storage_are_told_apart() {
        let cases: [(&[u8], Option<&str>); 18] = [
            (b"/tmp/x", None),
            (b"/device/x", None),
            (b"/dev/shm/x", None),
            (b"/dev/pts/0", Some(kinds::DEVICE.name)),
            (b"\\x2f\\x74", None),
            (b"\\x2f\\x70\\x72\\x6f\\x63", Some(kinds::KERNEL.name)),
            (b"\\x2f\\x64<char 1:3>", Some(kinds::DEVICE.name)),
            (b"\\x70\\x69\\x70\\x65\\x3a", Some(kinds::PIPE.name)),
            (b"/dev/null<char 1:3>", Some(kinds::DEVICE.name)),
            (b"/data/disk<block 8:0>", Some(kinds::DEVICE.name)),
            (b"/proc/self/maps", Some(kinds::KERNEL.name)),
            (b"/memfd:q", Some(kinds::ANONYMOUS.name)),
            (b"pipe:[10197]", Some(kinds::PIPE.name)),
            (b"socket:[5]", Some(kinds::SOCKET.name)),
            (b"TCP:[127.0.0.1:38361]", Some(kinds::SOCKET.name)),
            (b"UNIX-STREAM:[1->2]", Some(kinds::SOCKET.name)),
            (b"anon_inode:[eventfd]", Some(kinds::ANONYMOUS.name)),
            (b"", Some(kinds::ANONYMOUS.name)),
        ];
        for (annotation, expected) in cases {
            assert_eq!(
                annotation_not_a_file(annotation).map(|it| it.name),
                expected
            );
        }
    }
}
