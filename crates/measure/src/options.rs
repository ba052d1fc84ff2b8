//! What a specification asks of each data socket.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use linux::sockets::{self, Direction, Dscp, PacingLimit, Switch};
use model::measurement::End;
use model::spec::{Protocol, TestSpec};
use units::ByteCount;

/// An option that the kernel would not take.
#[derive(Debug, thiserror::Error)]
pub enum OptionError {
    /// The congestion control is not there, or not allowed.
    #[error("the congestion control cannot be set")]
    CongestionControl(#[from] sockets::CongestionError),
    /// Any other option.
    #[error("{option} cannot be set")]
    Other {
        /// The option as a person knows it.
        option: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

/// How long a sender that the kernel blocks goes unaware that it should stop, where the stream cannot be closed.
const BLOCKED_SEND: Duration = Duration::from_millis(20);

/// Receive buffer of a datagram socket where none was asked for. The kernel's default holds 140 datagrams of 1,448
/// bytes, which a receiver that is off its processor for 2 ms at 1 Gbit/s overflows; the kernel cuts this to its limit.
const DATAGRAM_BUFFER: ByteCount = ByteCount::new(4 << 20);

/// Sets what must stand before a connection is made or accepted: the kernel derives the window scale and the segment
/// size from it.
///
/// # Errors
/// If the kernel refuses an option.
pub fn before_connection(socket: impl AsFd, spec: &TestSpec) -> Result<(), OptionError> {
    let fd = socket.as_fd();
    if let Some(window) = spec.window {
        sockets::set_buffer_size(fd, Direction::Send, window).map_err(other("the send buffer"))?;
        sockets::set_buffer_size(fd, Direction::Receive, window).map_err(other("the receive buffer"))?;
    }
    if let Some(dscp) = spec.dscp {
        let dscp = Dscp::new(dscp.get()).map_err(|error| other("the DSCP")(io::Error::other(error)))?;
        sockets::set_dscp(fd, dscp).map_err(other("the DSCP"))?;
    }
    match spec.protocol {
        Protocol::Tcp => {
            if let Some(mss) = spec.mss {
                sockets::set_max_segment(fd, mss).map_err(other("the segment size"))?;
            }
        }
        Protocol::Udp if spec.window.is_none() => {
            sockets::set_buffer_size(fd, Direction::Receive, DATAGRAM_BUFFER).map_err(other("the receive buffer"))?;
        }
        Protocol::Udp => {}
    }
    Ok(())
}

/// What to say of a buffer that the kernel made smaller than was asked for; nothing where it is as large.
#[must_use]
pub fn short_buffer(socket: impl AsFd, spec: &TestSpec, end: End) -> Option<String> {
    let asked = spec.window?;
    let (direction, name, limit) = match end {
        End::Sender => (Direction::Send, "send", "net.core.wmem_max"),
        End::Receiver => (Direction::Receive, "receive", "net.core.rmem_max"),
    };
    // The kernel reports twice the size.
    let given = ByteCount::new(sockets::buffer_size(socket, direction).ok()?.get() / 2);
    (given < asked).then(|| format!("the {name} buffer has {given} of the {asked} asked for: {limit} limits it"))
}

/// Sets what a connected socket needs. The pacing rate and the congestion control are the sender's: a receiver may run on
/// a host that knows neither.
///
/// # Errors
/// If the kernel refuses an option.
pub fn on_connection(socket: impl AsFd, spec: &TestSpec, end: End) -> Result<(), OptionError> {
    let fd = socket.as_fd();
    let sends = end == End::Sender;
    if let Some(rate) = spec.pace.filter(|_| sends) {
        sockets::set_pacing_limit(fd, PacingLimit::Limited(rate)).map_err(other("the pacing rate"))?;
    }
    if spec.protocol == Protocol::Tcp {
        congestion_control(fd, spec, end)?;
        sockets::set_send_timeout(fd, Some(BLOCKED_SEND)).map_err(other("the send timeout"))?;
        if spec.rate.is_some() {
            // Small writes at a rate must not wait for each other (RFC 896).
            sockets::set_no_delay(fd, Switch::On).map_err(other("TCP_NODELAY"))?;
        }
    }
    Ok(())
}

/// Sets the congestion control of a sender. Before it connects, if it can be: a socket that is established with BBR by its host's
/// default stays paced under any other (`sk_pacing_status`, net/ipv4/tcp_bbr.c, 6.18).
///
/// # Errors
/// If the kernel refuses it.
pub fn congestion_control(socket: impl AsFd, spec: &TestSpec, end: End) -> Result<(), OptionError> {
    let wanted = spec.congestion_control.as_ref().filter(|_| end == End::Sender && spec.protocol == Protocol::Tcp);
    wanted.map_or(Ok(()), |name| Ok(sockets::set_congestion_control(socket, name)?))
}

fn other(option: &'static str) -> impl Fn(io::Error) -> OptionError {
    move |source| OptionError::Other { option, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_that_the_kernel_cut_is_said() {
        let said = |window: u64, end| {
            let spec = TestSpec { window: Some(ByteCount::new(window)), ..TestSpec::default() };
            let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            before_connection(&socket, &spec).unwrap();
            short_buffer(&socket, &spec, end)
        };
        // No limit of a kernel is above 2 GiB.
        let sender = said(4 << 30, End::Sender).unwrap();
        assert!(
            sender.starts_with("the send buffer has ") && sender.ends_with("net.core.wmem_max limits it"),
            "{sender}"
        );
        let receiver = said(4 << 30, End::Receiver).unwrap();
        assert!(receiver.contains("of the 4.29 GB asked for: net.core.rmem_max"), "{receiver}");
        assert_eq!(said(16 << 10, End::Sender), None);
        assert_eq!(
            short_buffer(std::net::TcpListener::bind("127.0.0.1:0").unwrap(), &TestSpec::default(), End::Sender),
            None
        );
    }
}
