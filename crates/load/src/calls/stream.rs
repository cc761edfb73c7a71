//! A file that the C library has open, with its buffer.
#![expect(
    unsafe_code,
    reason = "fread and fwrite are measured themselves, and they are the C library's"
)]

use std::os::fd::{BorrowedFd, IntoRawFd, OwnedFd};
use std::ptr::NonNull;

use rustix::io::Errno;

use super::Result;

// The unlocked versions of fgetc, fputc and fwrite, which glibc uses in a program of one thread
// (libio/getc.c, `_IO_need_lock`). Here each stream is one thread's. The crate libc lacks them.
unsafe extern "C" {
    fn fgetc_unlocked(stream: *mut libc::FILE) -> libc::c_int;
    fn fputc_unlocked(byte: libc::c_int, stream: *mut libc::FILE) -> libc::c_int;
    fn fwrite_unlocked(
        buffer: *const libc::c_void,
        size: libc::size_t,
        count: libc::size_t,
        stream: *mut libc::FILE,
    ) -> libc::size_t;
}

/// A FILE, or none, by calls that do nothing.
#[derive(Debug, Default)]
pub struct Stream {
    file: Option<NonNull<libc::FILE>>,
    /// Stream position, if known, and a flag that the last call wrote. A seek or flush must
    /// separate writes from reads (C11, 7.21.5.3).
    position: Option<u64>,
    writes: bool,
    /// Its buffer, which must outlive it.
    _buffer: Vec<u8>,
}

/// The errno that the last call of the C library has left.
fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

impl Stream {
    /// Opens a stream on `descriptor` for reading and writing, with a buffer of `buffer` bytes.
    ///
    /// # Errors
    /// The error of fdopen(3).
    pub fn new(descriptor: OwnedFd, buffer: usize) -> Result<Stream> {
        let descriptor = descriptor.into_raw_fd();
        // SAFETY: the descriptor is ours alone, and from here on the FILE's.
        let file = unsafe { libc::fdopen(descriptor, c"r+".as_ptr()) };
        let Some(file) = NonNull::new(file) else {
            let error = last_error();
            // SAFETY: the descriptor has not been taken by fdopen.
            unsafe { libc::close(descriptor) };
            return Err(error);
        };
        let mut memory = vec![0_u8; buffer];
        let place = memory.as_mut_ptr().cast();
        // SAFETY: the FILE has not been used yet. The memory has the stated length, does not move
        // with the vector, and is freed after the FILE is closed. Without memory glibc would take
        // no notice of the size.
        let set = unsafe { libc::setvbuf(file.as_ptr(), place, libc::_IOFBF, buffer) };
        let stream = Stream {
            file: Some(file),
            // The descriptor stands wherever one that it was made from has left it.
            position: None,
            writes: false,
            _buffer: memory,
        };
        match set {
            0 => Ok(stream),
            _ => Err(Errno::INVAL),
        }
    }

    /// Returns the open descriptor.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        let file = self.file?;
        // SAFETY: the FILE is open as long as `self` has it, and so is its descriptor.
        unsafe {
            match libc::fileno(file.as_ptr()) {
                -1 => None,
                descriptor => Some(BorrowedFd::borrow_raw(descriptor)),
            }
        }
    }

    /// Goes to a place, unless it stands there: a seek costs a call, or the buffer.
    fn go_to(&mut self, file: NonNull<libc::FILE>, offset: u64, writes: bool) -> Result<()> {
        if self.position != Some(offset) || self.writes != writes {
            let to = libc::off_t::try_from(offset).map_err(|_| Errno::INVAL)?;
            // SAFETY: the FILE is open as long as `self` has it.
            if unsafe { libc::fseeko(file.as_ptr(), to, libc::SEEK_SET) } != 0 {
                return Err(last_error());
            }
        }
        (self.position, self.writes) = (Some(offset), writes);
        Ok(())
    }

    /// fread(3): how many bytes.
    ///
    /// # Errors
    /// The error of the call.
    pub fn read(&mut self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        let Some(file) = self.file else {
            return Ok(buffer.len());
        };
        self.go_to(file, offset, false)?;
        // SAFETY: the FILE is open, and the buffer is as long as is said.
        let read = unsafe {
            let place = buffer.as_mut_ptr().cast();
            libc::fread(place, 1, buffer.len(), file.as_ptr())
        };
        self.moved(file, read, buffer.len())
    }

    /// fwrite(3): how many bytes the C library has taken.
    ///
    /// # Errors
    /// The error of the call.
    pub fn write(&mut self, buffer: &[u8], offset: u64) -> Result<usize> {
        let Some(file) = self.file else {
            return Ok(buffer.len());
        };
        self.go_to(file, offset, true)?;
        // SAFETY: the FILE is open, and the buffer is as long as is said.
        let written = unsafe {
            let place = buffer.as_ptr().cast();
            libc::fwrite(place, 1, buffer.len(), file.as_ptr())
        };
        self.moved(file, written, buffer.len())
    }

    /// As [`read`](Stream::read), by calls of `call` bytes each: fgetc(3) for 1.
    ///
    /// # Errors
    /// The first error of the calls.
    pub fn read_by(&mut self, buffer: &mut [u8], offset: u64, call: usize) -> Result<usize> {
        let Some(file) = self.file else {
            return Ok(buffer.len());
        };
        self.go_to(file, offset, false)?;
        let wanted = buffer.len();
        let mut done = 0;
        if call == 1 {
            for byte in buffer {
                // SAFETY: the FILE is open, and only `self` has it.
                let Ok(read) = u8::try_from(unsafe { fgetc_unlocked(file.as_ptr()) }) else {
                    break;
                };
                *byte = read;
                done += 1;
            }
            return self.moved(file, done, wanted);
        }
        for part in buffer.chunks_mut(call.max(1)) {
            // SAFETY: the FILE is open, and the buffer is as long as is said.
            let read = unsafe {
                let place = part.as_mut_ptr().cast();
                libc::fread_unlocked(place, 1, part.len(), file.as_ptr())
            };
            done += read;
            if read < part.len() {
                break;
            }
        }
        self.moved(file, done, wanted)
    }

    /// As [`write`](Stream::write), by calls of `call` bytes each: fputc(3) for 1.
    ///
    /// # Errors
    /// The first error of the calls.
    pub fn write_by(&mut self, buffer: &[u8], offset: u64, call: usize) -> Result<usize> {
        let Some(file) = self.file else {
            return Ok(buffer.len());
        };
        self.go_to(file, offset, true)?;
        let mut done = 0;
        if call == 1 {
            for &byte in buffer {
                // SAFETY: the FILE is open, and only `self` has it.
                if unsafe { fputc_unlocked(libc::c_int::from(byte), file.as_ptr()) } < 0 {
                    break;
                }
                done += 1;
            }
            return self.moved(file, done, buffer.len());
        }
        for part in buffer.chunks(call.max(1)) {
            // SAFETY: the FILE is open, and the buffer is as long as is said.
            let written = unsafe {
                let place = part.as_ptr().cast();
                fwrite_unlocked(place, 1, part.len(), file.as_ptr())
            };
            done += written;
            if written < part.len() {
                break;
            }
        }
        self.moved(file, done, buffer.len())
    }

    fn moved(&mut self, file: NonNull<libc::FILE>, done: usize, wanted: usize) -> Result<usize> {
        self.position = self.position.map(|from| from + done as u64);
        // SAFETY: the FILE is open.
        if done < wanted && unsafe { libc::ferror(file.as_ptr()) } != 0 {
            return Err(last_error());
        }
        Ok(done)
    }

    /// fflush(3).
    ///
    /// # Errors
    /// The error of the call.
    pub fn flush(&mut self) -> Result<()> {
        let Some(file) = self.file.filter(|_| self.writes) else {
            return Ok(());
        };
        // SAFETY: the FILE is open.
        match unsafe { libc::fflush(file.as_ptr()) } {
            0 => Ok(()),
            _ => Err(last_error()),
        }
    }

    /// fclose(3).
    ///
    /// # Errors
    /// The error of the call: the last writes may not be in the file.
    pub fn close(mut self) -> Result<()> {
        self.close_once()
    }

    fn close_once(&mut self) -> Result<()> {
        let Some(file) = self.file.take() else {
            return Ok(());
        };
        // SAFETY: the FILE is open, and `self` was its only owner.
        match unsafe { libc::fclose(file.as_ptr()) } {
            0 => Ok(()),
            _ => Err(last_error()),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // The run is over, and has flushed its data.
        let _ = self.close_once();
    }
}
