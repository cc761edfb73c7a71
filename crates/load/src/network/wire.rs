//! Handshake and headers of the network measurement.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Bytes of the largest message that is answered.
pub const LARGEST_MESSAGE: u32 = 64 << 20;

/// Timeout for the other side of a connection.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// Greeting of a connection: the protocol and its version.
const GREETING: &[u8; 16] = b"headrace-net-1\r\n";

/// Bytes of a token, filled up with zeros.
const TOKEN: usize = 64;

/// First byte of a reply.
const WELCOME: u8 = b'+';
const REFUSED: u8 = b'-';

/// Errors of the network measurement.
#[derive(thiserror::Error, Debug)]
pub enum NetworkError {
    /// The other side cannot be reached, or is gone.
    #[error("{what}: {source}")]
    System {
        /// Action that failed.
        what: String,
        /// Why it failed.
        source: io::Error,
    },
    /// The other side does not know the token.
    #[error("the other side refused the token: start both with the same --token")]
    Refused,
    /// The other side is something else.
    #[error("the other side is not `headrace bench net answer`; check the address and the port")]
    Stranger,
    /// The token is too long.
    #[error("expected a token of 1 to {TOKEN} bytes")]
    Token,
    /// A message's size is none.
    #[error("message size {0} B: expected 1 B to 64 MiB")]
    Size(u64),
    /// The caller broke off.
    #[error("interrupted")]
    Interrupted,
}

impl NetworkError {
    pub(super) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> NetworkError {
        let what = what.into();
        move |source| NetworkError::System {
            what,
            source: patience_named(source),
        }
    }
}

/// A read or write that timed out fails with EAGAIN (socket(7), `SO_RCVTIMEO`), which does not name
/// the timeout.
fn patience_named(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => io::Error::new(
            io::ErrorKind::TimedOut,
            format!("no data was transferred for {} s", PATIENCE.as_secs()),
        ),
        _ => error,
    }
}

/// A token as it goes over the wire.
pub(super) fn token(text: &str) -> Result<[u8; TOKEN], NetworkError> {
    let mut token = [0; TOKEN];
    let bytes = text.as_bytes();
    if bytes.is_empty() || bytes.len() > TOKEN {
        return Err(NetworkError::Token);
    }
    token[..bytes.len()].copy_from_slice(bytes);
    Ok(token)
}

/// Prepares a connection: small messages are sent at once, and reads and writes have timeouts.
pub(super) fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))
}

/// Greets the side that answers.
pub(super) fn greet(stream: &mut TcpStream, token: &[u8; TOKEN]) -> Result<(), NetworkError> {
    let failed = || NetworkError::system("greeting the other side");
    stream.write_all(GREETING).map_err(failed())?;
    stream.write_all(token).map_err(failed())?;
    let mut answer = [0];
    match stream.read_exact(&mut answer) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            return Err(NetworkError::Stranger);
        }
        Err(error) => return Err(failed()(error)),
    }
    match answer[0] {
        WELCOME => Ok(()),
        REFUSED => Err(NetworkError::Refused),
        _ => Err(NetworkError::Stranger),
    }
}

/// Accepts a host that knows the token; returns true if it does.
pub(super) fn let_in(stream: &mut TcpStream, token: &[u8; TOKEN]) -> io::Result<bool> {
    let (mut greeting, mut theirs) = ([0; 16], [0; TOKEN]);
    stream.read_exact(&mut greeting)?;
    if greeting != *GREETING {
        return Ok(false);
    }
    stream.read_exact(&mut theirs)?;
    // Every byte is compared, so that time tells nothing of the token.
    let differ = theirs
        .iter()
        .zip(token)
        .fold(0, |sum, (one, other)| sum | (one ^ other));
    let known = differ == 0;
    stream.write_all(&[if known { WELCOME } else { REFUSED }])?;
    Ok(known)
}

/// Announces messages of a size; size 0 ends the measurement.
pub(super) fn send_header(stream: &mut TcpStream, size: u32, count: u32) -> io::Result<()> {
    let mut header = [0; 8];
    header[..4].copy_from_slice(&size.to_be_bytes());
    header[4..].copy_from_slice(&count.to_be_bytes());
    stream.write_all(&header)
}

/// Receives a header: size and count of the following messages.
pub(super) fn receive_header(stream: &mut TcpStream) -> io::Result<(u32, u32)> {
    let (mut size, mut count) = ([0; 4], [0; 4]);
    stream.read_exact(&mut size)?;
    stream.read_exact(&mut count)?;
    Ok((u32::from_be_bytes(size), u32::from_be_bytes(count)))
}
