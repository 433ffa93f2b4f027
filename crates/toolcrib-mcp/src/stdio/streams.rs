//! Standard input and output, taken away from everybody else.

use std::io;

use tokio::io::{AsyncRead, AsyncWrite};

pub(super) type Input = Box<dyn AsyncRead + Send + Unpin>;
pub(super) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Takes them. Pipes and sockets, by which programs talk to each other, are driven by the reactor; everything
/// else by threads that may block.
#[cfg(unix)]
pub(super) fn take() -> io::Result<(Input, Output)> {
    let streams = match sockets()? {
        Some(streams) => streams,
        None if both_are_pipes() => {
            let (input, output) = rmcp::transport::stdio_pipes();
            (Box::new(input) as Input, Box::new(output) as Output)
        }
        None => {
            let input = std::fs::File::from(rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3)?);
            let output = std::fs::File::from(rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3)?);
            let (input, output) = (tokio::fs::File::from_std(input), tokio::fs::File::from_std(output));
            (Box::new(input) as Input, Box::new(output) as Output)
        }
    };
    let nothing = std::fs::File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(streams)
}

/// Two sockets, which is what Node's clients give to their children.
#[cfg(unix)]
fn sockets() -> io::Result<Option<(Input, Output)>> {
    use rustix::fs::FileType;
    if kind(io::stdin()) != Some(FileType::Socket) || kind(io::stdout()) != Some(FileType::Socket) {
        return Ok(None);
    }
    let open = |fd: std::os::fd::OwnedFd| {
        let stream = std::os::unix::net::UnixStream::from(fd);
        stream.set_nonblocking(true)?;
        tokio::net::UnixStream::from_std(stream)
    };
    let input = open(rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3)?)?;
    let output = open(rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3)?)?;
    Ok(Some((Box::new(input), Box::new(output))))
}

/// Then `stdio_pipes` opens both anew, so that they live on when descriptors 0 and 1 mean something else.
#[cfg(unix)]
fn both_are_pipes() -> bool {
    use rustix::fs::FileType;
    cfg!(target_os = "linux")
        && kind(io::stdin()) == Some(FileType::Fifo)
        && kind(io::stdout()) == Some(FileType::Fifo)
        && std::path::Path::new("/proc/self/fd/1").exists()
}

#[cfg(unix)]
fn kind(fd: impl std::os::fd::AsFd) -> Option<rustix::fs::FileType> {
    let stat = rustix::fs::fstat(fd).ok()?;
    Some(rustix::fs::FileType::from_raw_mode(stat.st_mode))
}

#[cfg(not(unix))]
pub(super) fn take() -> io::Result<(Input, Output)> {
    let (input, output) = rmcp::transport::stdio_pipes();
    Ok((Box::new(input), Box::new(output)))
}
