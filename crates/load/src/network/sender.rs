//! The side that sends messages and measures how long it takes until they are back.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use super::wire::{self, LARGEST_MESSAGE, NetworkError};

/// Duration for which it is tried to connect.
const CONNECT: Duration = Duration::from_secs(5);

/// Messages that are sent before those that count: the connection's window grows.
const WARM_UP: u32 = 5;

/// Messages in a row, between which it is looked whether to go on.
const ROW: u32 = 100;

/// Round trips of messages of one size.
#[derive(Clone, Debug)]
pub struct RoundTrips {
    /// Bytes of a message.
    pub size: u32,
    /// Round-trip times, in nanoseconds.
    pub times: Histogram<u64>,
}

/// Sends messages of each size, each for at least `duration` and at least ten times, to a host that
/// answers. `goes_on` is called with the size that is next or still in progress.
///
/// # Errors
/// If the host cannot be reached, refuses the token, or breaks off.
pub fn ask(
    address: &str,
    token: &str,
    sizes: &[u32],
    duration: Duration,
    mut goes_on: impl FnMut(u32) -> bool,
) -> Result<Vec<RoundTrips>, NetworkError> {
    let token = wire::token(token)?;
    if let Some(&size) = sizes
        .iter()
        .find(|size| **size == 0 || **size > LARGEST_MESSAGE)
    {
        return Err(NetworkError::Size(size.into()));
    }
    let mut stream = connect(address)?;
    wire::greet(&mut stream, &token)?;
    let mut message = vec![0x5a; sizes.iter().copied().max().unwrap_or(0) as usize];
    let mut all = Vec::new();
    for &size in sizes {
        let message = &mut message[..size as usize];
        exchange(&mut stream, message, WARM_UP, &mut |_| {})?;
        // 3 digits are valid, and it grows as needed.
        let times = Histogram::new(3).unwrap_or_else(|_| unreachable!());
        let mut trips = RoundTrips { size, times };
        let began = Instant::now();
        while trips.times.len() < 10 || began.elapsed() < duration {
            if !goes_on(size) {
                return Err(NetworkError::Interrupted);
            }
            let large = size > 1 << 16;
            exchange(
                &mut stream,
                message,
                if large { 2 } else { ROW },
                &mut |time| {
                    let _ = trips.times.record(time);
                },
            )?;
        }
        all.push(trips);
    }
    let ended = wire::send_header(&mut stream, 0, 0);
    ended.map_err(NetworkError::system("ending the connection"))?;
    Ok(all)
}

fn connect(address: &str) -> Result<TcpStream, NetworkError> {
    let failed = || NetworkError::system(format!("connecting to {address}"));
    let mut last = None;
    for address in address.to_socket_addrs().map_err(failed())? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(stream) => {
                wire::prepare(&stream).map_err(failed())?;
                return Ok(stream);
            }
            Err(error) => last = Some(error),
        }
    }
    let none = || std::io::Error::other("the host name resolves to no address");
    Err(failed()(last.unwrap_or_else(none)))
}

/// Sends messages back and forth and reports the time of each.
fn exchange(
    stream: &mut TcpStream,
    message: &mut [u8],
    count: u32,
    tell: &mut dyn FnMut(u64),
) -> Result<(), NetworkError> {
    let mut work = || -> std::io::Result<()> {
        wire::send_header(stream, message.len() as u32, count)?;
        for _ in 0..count {
            let began = Instant::now();
            stream.write_all(message)?;
            stream.read_exact(message)?;
            tell(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX));
        }
        Ok(())
    };
    work().map_err(NetworkError::system(format!(
        "messages of {} B there and back",
        message.len()
    )))
}
