//! Claims about the data path, on loopback connections of this kernel.

use std::io::Read;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::thread;

use units::ByteCount;

use super::*;
use crate::sockets::{self, Direction, Switch};

fn connected() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

/// A pattern in which every offset below 64 KiB is recognisable.
fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| ((i / 256 + i) % 256).to_le_bytes()[0]).collect()
}

/// Runs `send` with offsets until `len` bytes are sent, and returns what arrived.
fn carried(
    len: usize,
    nonblocking: bool,
    mut send: impl FnMut(BorrowedFd<'_>, usize) -> io::Result<Progress>,
) -> Vec<u8> {
    let (client, mut server) = connected();
    client.set_nonblocking(nonblocking).unwrap();
    let reader = thread::spawn(move || {
        let mut received = Vec::new();
        server.read_to_end(&mut received).unwrap();
        received
    });
    let mut sent = 0;
    while sent < len {
        match send(client.as_fd(), sent).unwrap() {
            Progress::Moved(moved) => sent += moved,
            Progress::WouldBlock => wait_writable(&client),
            other => panic!("{other:?}"),
        }
    }
    drop(client);
    reader.join().unwrap()
}

fn wait_writable(socket: &TcpStream) {
    let mut poll = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
    // SAFETY: one valid pollfd.
    unsafe { libc::poll(&raw mut poll, 1, -1) };
}

const LEN: usize = 5_000_000;

#[test]
fn copied_bytes_arrive_whole() {
    let data = pattern(LEN);
    assert!(carried(LEN, true, |fd, at| send_copy(fd, &data[at..])) == data);
}

#[test]
fn bytes_of_a_memory_file_arrive_whole() {
    let data = pattern(LEN);
    let file = Memfd::filled(&data).unwrap();
    assert_eq!(file.len(), LEN as u64);
    for nonblocking in [true, false] {
        assert!(carried(LEN, nonblocking, |fd, at| file.send(fd, at as u64, 300_000)) == data);
    }
}

#[test]
fn memory_file_ends_and_cannot_be_changed() {
    let file = Memfd::filled(b"payload").unwrap();
    let (client, _server) = connected();
    assert_eq!(file.send(client.as_fd(), 4, 100).unwrap(), Progress::Moved(3));
    assert_eq!(file.send(client.as_fd(), 7, 100).unwrap(), Progress::EndOfStream);
    assert!(rustix::io::write(&file, b"x").is_err());
}

#[test]
fn spliced_bytes_arrive_whole_also_where_the_socket_takes_part_of_the_pipe() {
    const HELD: usize = 250_000;
    let data = pattern(HELD);
    let expected: Vec<u8> = data.iter().copied().cycle().take(LEN).collect();
    for nonblocking in [true, false] {
        let mut pipe = SplicePipe::holding(&data).unwrap();
        assert_eq!(pipe.capacity(), HELD);
        let received = carried(LEN, nonblocking, |fd, at| pipe.send(fd, HELD - at % HELD));
        assert!(received == expected);
        assert_eq!(pipe.queued(), 0);
    }
}

#[test]
fn a_payload_is_lent_again_and_again_up_to_what_is_wanted() {
    let data = pattern(100_000);
    let mut pipe = SplicePipe::holding(&data).unwrap().repeated(350_000).unwrap();
    assert_eq!((pipe.capacity(), pipe.queued()), (350_000, 0));
    let received = carried(350_000, false, |fd, at| pipe.send(fd, 350_000 - at));
    assert!(received.chunks(100_000).all(|chunk| *chunk == data[..chunk.len()]));
    let mut smaller = SplicePipe::holding(&data).unwrap().repeated(1).unwrap();
    assert_eq!(smaller.capacity(), 100_000);
    assert!(carried(100_000, false, |fd, at| smaller.send(fd, 100_000 - at)) == data);
}

#[test]
fn every_splice_starts_anew_and_takes_no_more_than_asked() {
    let data = pattern(100_000);
    let mut pipe = SplicePipe::holding(&data).unwrap();
    let received = carried(5_000, false, |fd, _| pipe.send(fd, 50));
    assert!(received.chunks(50).all(|chunk| *chunk == data[..50]));
}

#[test]
fn pipe_holds_as_much_as_the_kernel_lets_it() {
    let held = SplicePipe::holding(&vec![1; 16 << 20]).unwrap().capacity();
    assert!((64 << 10..=16 << 20).contains(&held), "{held}");
    assert!(SplicePipe::holding(&[]).is_err());
}

#[test]
fn range_outside_of_the_buffer_is_refused() {
    let buffer = FrozenBuffer::new(100, |_| ()).unwrap();
    let (client, _server) = connected();
    assert!(ZeroCopySender::new().send(client.as_fd(), &buffer, 0..101).is_err());
    assert!(ZeroCopySender::new().send(client.as_fd(), &buffer, 50..50).is_err());
}

#[test]
fn zero_copy_sends_arrive_whole_and_loopback_says_that_it_copied() {
    let data = pattern(LEN);
    let buffer = FrozenBuffer::new(LEN, |bytes| bytes.copy_from_slice(&data)).unwrap();
    let mut sender = ZeroCopySender::new();
    let mut total = Reaped::default();
    let mut sends = 0;
    let received = carried(LEN, false, |fd, at| {
        sockets::set_zerocopy(fd, Switch::On)?;
        let progress = sender.send(fd, &buffer, at..LEN.min(at + 100_000))?;
        let reaped = sender.reap(fd)?;
        total.completed += reaped.completed;
        total.copied += reaped.copied;
        if progress == Progress::NoBuffers {
            return send_copy(fd, &buffer[at..LEN.min(at + 100_000)]);
        }
        sends += 1;
        Ok(progress)
    });
    assert!(received == data);
    assert_eq!(total.completed + sender.outstanding(), sends);
    assert_eq!(total.copied, total.completed, "loopback copies");
}

#[test]
fn outstanding_zero_copy_sends_end_once_the_peer_has_read() {
    let buffer = FrozenBuffer::new(10_000, |_| ()).unwrap();
    let (client, mut server) = connected();
    sockets::set_zerocopy(&client, Switch::On).unwrap();
    let mut sender = ZeroCopySender::new();
    assert_eq!(sender.send(client.as_fd(), &buffer, 0..10_000).unwrap(), Progress::Moved(10_000));
    server.read_exact(&mut [0; 10_000]).unwrap();
    let mut poll = libc::pollfd { fd: client.as_raw_fd(), events: 0, revents: 0 };
    // SAFETY: one valid pollfd. The notice raises POLLERR.
    assert_eq!(unsafe { libc::poll(&raw mut poll, 1, 10_000) }, 1);
    assert_eq!(sender.reap(client.as_fd()).unwrap(), Reaped { completed: 1, copied: 1 });
    assert_eq!(sender.outstanding(), 0);
}

#[test]
fn discarded_bytes_are_counted_and_gone() {
    let (client, server) = connected();
    assert_eq!(send_copy(client.as_fd(), &pattern(10_000)).unwrap(), Progress::Moved(10_000));
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(receive_discard(server.as_fd(), 4_000).unwrap(), Progress::Moved(4_000));
    let mut rest = [0; 100];
    assert_eq!(receive_copy(server.as_fd(), &mut rest).unwrap(), Progress::Moved(100));
    assert_eq!(rest[..], pattern(4_100)[4_000..]);
    assert_eq!(receive_discard(server.as_fd(), usize::MAX >> 1).unwrap(), Progress::Moved(5_900));
    assert_eq!(receive_discard(server.as_fd(), 1).unwrap(), Progress::EndOfStream);
    assert_eq!(receive_copy(server.as_fd(), &mut rest).unwrap(), Progress::EndOfStream);
}

#[test]
fn empty_queue_would_block() {
    let (client, server) = connected();
    server.set_nonblocking(true).unwrap();
    assert_eq!(receive_discard(server.as_fd(), 100).unwrap(), Progress::WouldBlock);
    assert_eq!(receive_copy(server.as_fd(), &mut [0; 9]).unwrap(), Progress::WouldBlock);
    drop(client);
}

#[test]
fn full_send_buffer_would_block_on_every_path() {
    let (client, _server) = connected();
    client.set_nonblocking(true).unwrap();
    sockets::set_buffer_size(&client, Direction::Send, ByteCount::new(65_536)).unwrap();
    let buffer = FrozenBuffer::new(1 << 20, |_| ()).unwrap();
    let file = Memfd::filled(&buffer).unwrap();
    while let Progress::Moved(_) = send_copy(client.as_fd(), &buffer).unwrap() {}
    assert_eq!(send_copy(client.as_fd(), &buffer).unwrap(), Progress::WouldBlock);
    assert_eq!(file.send(client.as_fd(), 0, 1 << 20).unwrap(), Progress::WouldBlock);
    let mut pipe = SplicePipe::holding(&buffer).unwrap();
    assert_eq!(pipe.send(client.as_fd(), 1 << 20).unwrap(), Progress::WouldBlock);
    assert!(pipe.queued() > 0, "what the socket did not take stays in the pipe");
}

#[test]
fn reset_and_broken_pipe_are_told_apart() {
    let (client, server) = connected();
    // Closing with data unread resets the connection.
    send_copy(client.as_fd(), b"unread").unwrap();
    let mut one = [0];
    receive_copy(server.as_fd(), &mut one).unwrap();
    drop(server);
    assert_eq!(receive_copy(client.as_fd(), &mut one).unwrap(), Progress::Reset);
    assert_eq!(send_copy(client.as_fd(), b"more").unwrap(), Progress::BrokenPipe);
    let mut pipe = SplicePipe::holding(&[1; 4096]).unwrap();
    assert_eq!(pipe.send(client.as_fd(), 4096).unwrap(), Progress::BrokenPipe);
    assert_eq!(Memfd::filled(b"x").unwrap().send(client.as_fd(), 0, 1).unwrap(), Progress::BrokenPipe);
}
