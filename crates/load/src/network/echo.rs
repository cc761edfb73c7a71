//! The side that sends every message back.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::thread;
use std::time::Duration;

use super::wire::{self, LARGEST_MESSAGE, NetworkError};

/// Interval of the checks for a stop.
const LOOK: Duration = Duration::from_millis(50);

/// A host that answers.
#[derive(Debug)]
pub struct Answering {
    listener: TcpListener,
    token: [u8; 64],
}

impl Answering {
    /// Listens at an address, for hosts that know the token.
    ///
    /// # Errors
    /// If the address is none of this host's or in use, or the token is too long.
    pub fn listen(
        address: impl ToSocketAddrs + ToString,
        token: &str,
    ) -> Result<Self, NetworkError> {
        let token = wire::token(token)?;
        let failed = format!("listening at {}", address.to_string());
        let listener = TcpListener::bind(address).map_err(NetworkError::system(failed))?;
        Ok(Answering { listener, token })
    }

    /// Returns the listening address.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn address(&self) -> Result<SocketAddr, NetworkError> {
        let address = self.listener.local_addr();
        address.map_err(NetworkError::system("the address listened at"))
    }
}

/// Answers one host after the other while `goes_on` returns true. A host that stops, or does not
/// know the token, is left.
///
/// # Errors
/// If no host can connect any more.
pub fn answer(
    answering: &Answering,
    mut goes_on: impl FnMut() -> bool,
) -> Result<(), NetworkError> {
    let failed = || NetworkError::system("waiting for a connection");
    let listener = &answering.listener;
    listener.set_nonblocking(true).map_err(failed())?;
    while goes_on() {
        match listener.accept() {
            Ok((stream, _)) => {
                // An error of one host does not affect the next.
                let _ = serve(stream, &answering.token, &mut goes_on);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(LOOK),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed()(error)),
        }
    }
    Ok(())
}

fn serve(
    mut stream: TcpStream,
    token: &[u8; 64],
    goes_on: &mut impl FnMut() -> bool,
) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    wire::prepare(&stream)?;
    if !wire::let_in(&mut stream, token)? {
        return Ok(());
    }
    let mut message = Vec::new();
    loop {
        let (size, count) = wire::receive_header(&mut stream)?;
        if size == 0 || size > LARGEST_MESSAGE {
            return Ok(());
        }
        message.resize(size as usize, 0);
        for _ in 0..count {
            stream.read_exact(&mut message)?;
            stream.write_all(&message)?;
        }
        if !goes_on() {
            return Ok(());
        }
    }
}
