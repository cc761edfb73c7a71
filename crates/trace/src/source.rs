//! Source of a trace's bytes: a file, a pipe or standard input, plain or compressed with gzip.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use flate2::bufread::GzDecoder;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;

use crate::{Error, Input};

/// Called before each read, and while there is no input; reading ends if it returns true.
pub type Stop = Arc<dyn Fn() -> bool + Send + Sync>;

/// Duration for which to wait before asking again.
const WAIT: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

/// Magic numbers of compressed files, and the programs that read them.
const COMPRESSED: [(&[u8], &str); 3] = [
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\xfd7zXZ\0", "xz"),
    (b"BZh", "bzip2"),
];
const GZIP: &[u8] = b"\x1f\x8b";
/// Where a file of tar has its magic.
const TAR_MAGIC: (usize, &[u8]) = (257, b"ustar");
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

/// Opens a file that can be read more than once.
pub(crate) fn open_file(path: &Path) -> Result<Input, Error> {
    let (name, kind) = kind_of(path)?;
    if kind.is_fifo() {
        return Err(Error::File {
            file: name,
            found: "is a pipe".into(),
            expected: "a file, since it is read more than once".into(),
        });
    }
    opened(name, File::open(path))
}

/// Opens a file, a pipe, or standard input under the name `-`. Reading and
/// waiting end with an error once `stop` says so.
pub(crate) fn open_stream(path: &Path, stop: Stop) -> Result<Input, Error> {
    if path.as_os_str() == "-" {
        let input = io::stdin().as_fd().try_clone_to_owned();
        let waiting = input.map(|it| Waiting {
            file: it.into(),
            stop,
        });
        return opened("standard input".into(), waiting);
    }
    let (name, kind) = kind_of(path)?;
    if kind.is_file() {
        let file = File::open(path);
        return opened(name, file.map(|file| Stoppable { file, stop }));
    }
    // Else a pipe without a writer would keep open() waiting.
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
    opened(name, file.map(|file| Waiting { file, stop }))
}

fn opened(name: String, file: io::Result<impl Read + Send + 'static>) -> Result<Input, Error> {
    match file {
        Ok(file) => Ok(Input {
            name,
            bytes: Box::new(file),
        }),
        Err(source) => Err(Error::System { file: name, source }),
    }
}

fn kind_of(path: &Path) -> Result<(String, std::fs::FileType), Error> {
    let name = path.display().to_string();
    match std::fs::metadata(path) {
        Err(source) => Err(Error::System { file: name, source }),
        Ok(found) if found.is_dir() => Err(Error::File {
            file: name,
            found: "is a directory".into(),
            expected: "a trace file".into(),
        }),
        Ok(found) => Ok((name, found.file_type())),
    }
}

/// A file whose reading can be ended.
struct Stoppable {
    file: File,
    stop: Stop,
}

impl Read for Stoppable {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match (self.stop)() {
            true => Err(interrupted()),
            false => self.file.read(into),
        }
    }
}

fn interrupted() -> io::Error {
    io::Error::other("reading was interrupted")
}

/// A pipe that is read when it has something.
struct Waiting {
    file: File,
    stop: Stop,
}

impl Read for Waiting {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut polled = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut polled, Some(&WAIT)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {
                    if (self.stop)() {
                        return Err(interrupted());
                    }
                }
                Ok(_) => match self.file.read(into) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    done => return done,
                },
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Decompresses the input, which its beginning identifies; returns the
/// beginning of the content.
pub(crate) fn decompressed(
    input: Input,
    beginning: Vec<u8>,
    length: u64,
) -> Result<(Input, Vec<u8>), Error> {
    let Input { name, bytes } = input;
    let other = COMPRESSED.iter().find(|it| beginning.starts_with(it.0));
    if let Some((_, program)) = other {
        return Err(Error::File {
            expected: format!("gzip or no compression, as from `{program} -dc {name}`"),
            file: name,
            found: format!("is compressed with {program}"),
        });
    }
    if !beginning.starts_with(GZIP) {
        return unpacked(Input { name, bytes }, beginning);
    }
    let whole = io::Cursor::new(beginning).chain(bytes);
    let mut bytes: Box<dyn Read + Send> = Box::new(Gzip::new(whole));
    let beginning = read_beginning(&mut bytes, &name, length)?;
    unpacked(Input { name, bytes }, beginning)
}

/// Refuses archives, in which traces are published.
fn unpacked(input: Input, beginning: Vec<u8>) -> Result<(Input, Vec<u8>), Error> {
    let (at, magic) = TAR_MAGIC;
    let is_tar = beginning.get(at..).is_some_and(|it| it.starts_with(magic));
    let (program, unpack) = match (is_tar, beginning.starts_with(ZIP_MAGIC)) {
        (true, _) => ("tar", "tar -xOf"),
        (_, true) => ("zip", "unzip -p"),
        _ => return Ok((input, beginning)),
    };
    Err(Error::File {
        found: format!("is an archive of {program}"),
        expected: format!("a trace, as from `{unpack} {} FILE`", input.name),
        file: input.name,
    })
}

/// Reads up to `length` bytes.
pub(crate) fn read_beginning(
    bytes: &mut Box<dyn Read + Send>,
    name: &str,
    length: u64,
) -> Result<Vec<u8>, Error> {
    let mut beginning = Vec::new();
    match bytes.by_ref().take(length).read_to_end(&mut beginning) {
        Ok(_) => Ok(beginning),
        Err(source) => Err(Error::System {
            file: name.into(),
            source,
        }),
    }
}

/// Reads the members of a gzip file one after the other, and tells damage from other errors.
struct Gzip<R> {
    /// The member at hand; none at the end.
    member: Option<GzDecoder<BufReader<R>>>,
}

impl<R: Read> Gzip<R> {
    fn new(input: R) -> Self {
        let input = BufReader::with_capacity(64 << 10, input);
        Self {
            member: Some(GzDecoder::new(input)),
        }
    }

    /// Goes to the member behind one that has ended. Zeros behind the last one are padding, as in
    /// gzip(1).
    fn next_member(&mut self, mut input: BufReader<R>) -> io::Result<()> {
        loop {
            let waiting = input.fill_buf()?;
            let Some(other) = waiting.iter().position(|byte| *byte != 0) else {
                let zeros = waiting.len();
                if zeros == 0 {
                    return Ok(());
                }
                input.consume(zeros);
                continue;
            };
            if waiting[other] != GZIP[0] {
                return Err(io::Error::other(
                    "other bytes follow its gzip data: expected the end of the file, or more gzip \
                     data; `gzip -dc` gives the data before them",
                ));
            }
            input.consume(other);
            self.member = Some(GzDecoder::new(input));
            return Ok(());
        }
    }
}

impl<R: Read> Read for Gzip<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        while let Some(member) = &mut self.member {
            match member.read(into) {
                Ok(0) => {
                    if let Some(member) = self.member.take() {
                        self.next_member(member.into_inner())?;
                    }
                }
                Ok(count) => return Ok(count),
                Err(error) => return Err(damage(error)),
            }
        }
        Ok(0)
    }
}

/// Adds the fault of the gzip data to an error.
fn damage(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            io::Error::other("its gzip data is truncated: expected a complete gzip file")
        }
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => io::Error::other(format!(
            "its gzip data is corrupt ({error}): expected an intact gzip file"
        )),
        _ => error,
    }
}
