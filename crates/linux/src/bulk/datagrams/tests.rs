//! Claims about batches of datagrams, on loopback sockets of this kernel.

use std::net::UdpSocket;
use std::os::fd::AsFd;

use units::ByteCount;

use super::*;
use crate::bulk::Progress;
use crate::sockets::{self, Direction, Switch};

fn connected() -> (UdpSocket, UdpSocket) {
    let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    sender.connect(receiver.local_addr().unwrap()).unwrap();
    (sender, receiver)
}

fn shape(messages: usize, message_bytes: usize) -> BatchShape {
    BatchShape { messages, message_bytes }
}

#[test]
fn batch_arrives_in_order_with_lengths_and_source() {
    let (sender, receiver) = connected();
    let mut batch = SendBatch::new(shape(8, 100));
    for index in 0..8u8 {
        batch.payload_mut(index.into()).fill(index);
        batch.set_length(index.into(), 10 + usize::from(index));
    }
    assert_eq!(batch.send(sender.as_fd(), 0..8, Wait::ForFirst).unwrap(), Progress::Moved(8));
    assert_eq!(batch.bytes_in(0..8), 8 * 10 + 28);

    let mut room = ReceiveBatch::new(shape(16, 1500));
    assert_eq!(room.receive(receiver.as_fd(), Wait::ForFirst).unwrap(), Progress::Moved(8));
    for (index, datagram) in (0u8..).zip(room.iter()) {
        assert_eq!(datagram.payload, vec![index; 10 + usize::from(index)]);
        assert_eq!(datagram.source(), Some(sender.local_addr().unwrap()));
        assert_eq!(datagram.report(), Report::default());
        assert_eq!((datagram.datagrams(), datagram.segments().count()), (1, 1));
    }
}

#[test]
fn part_of_a_batch_can_be_sent() {
    let (sender, receiver) = connected();
    let mut batch = SendBatch::new(shape(4, 1));
    (0..4u8).for_each(|index| batch.payload_mut(index.into())[0] = index);
    assert_eq!(batch.send(sender.as_fd(), 2..4, Wait::Never).unwrap(), Progress::Moved(2));
    let mut room = ReceiveBatch::new(shape(4, 10));
    room.receive(receiver.as_fd(), Wait::Never).unwrap();
    assert_eq!(room.iter().map(|datagram| datagram.payload[0]).collect::<Vec<_>>(), [2, 3]);
    assert!(batch.send(sender.as_fd(), 2..5, Wait::Never).is_err());
    assert!(batch.send(sender.as_fd(), 2..2, Wait::Never).is_err());
}

#[test]
fn kernel_cuts_one_message_into_datagrams() {
    let (sender, receiver) = connected();
    let mut batch = SendBatch::new(shape(1, 2500));
    batch.set_segment_bytes(Some(1000)).unwrap();
    assert_eq!(batch.send(sender.as_fd(), 0..1, Wait::ForFirst).unwrap(), Progress::Moved(1));
    let mut room = ReceiveBatch::new(shape(8, 2000));
    assert_eq!(room.receive(receiver.as_fd(), Wait::ForFirst).unwrap(), Progress::Moved(3));
    assert_eq!(room.iter().map(|datagram| datagram.bytes).collect::<Vec<_>>(), [1000, 1000, 500]);
    batch.set_segment_bytes(None).unwrap();
    batch.send(sender.as_fd(), 0..1, Wait::ForFirst).unwrap();
    room.receive(receiver.as_fd(), Wait::ForFirst).unwrap();
    assert_eq!(room.iter().map(|datagram| datagram.bytes).collect::<Vec<_>>(), [2500]);
}

#[test]
fn receiver_with_gro_gets_them_joined_with_their_size() {
    let (sender, receiver) = connected();
    sockets::set_receive_gro(&receiver, Switch::On).unwrap();
    let mut batch = SendBatch::new(shape(1, 2500));
    batch.payload_mut(0)[1000..2000].fill(1);
    batch.payload_mut(0)[2000..].fill(2);
    batch.set_segment_bytes(Some(1000)).unwrap();
    batch.send(sender.as_fd(), 0..1, Wait::ForFirst).unwrap();
    let mut room = ReceiveBatch::new(shape(8, 65_536));
    assert_eq!(room.receive(receiver.as_fd(), Wait::ForFirst).unwrap(), Progress::Moved(1));
    let joined = room.iter().next().unwrap();
    assert_eq!((joined.bytes, joined.datagrams()), (2500, 3));
    assert_eq!(joined.report().segment_bytes, Some(1000));
    assert_eq!(joined.segments().collect::<Vec<_>>(), [&[0; 1000][..], &[1; 1000], &[2; 500]]);
}

#[test]
fn largest_number_of_segments_goes_and_one_more_does_not() {
    let (sender, _receiver) = connected();
    let most = max_segments(crate::host::kernel_version().unwrap());
    let mut batch = SendBatch::new(shape(1, 500 * (most + 1)));
    batch.set_segment_bytes(Some(500)).unwrap();
    let error = batch.send(sender.as_fd(), 0..1, Wait::Never).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
    batch.set_length(0, 500 * most);
    assert_eq!(batch.send(sender.as_fd(), 0..1, Wait::Never).unwrap(), Progress::Moved(1));
}

#[test]
fn largest_message_goes_and_one_byte_more_does_not() {
    let (sender, receiver) = connected();
    let mut batch = SendBatch::new(shape(1, MAX_MESSAGE_BYTES + 1));
    batch.set_segment_bytes(Some(1448)).unwrap();
    let error = batch.send(sender.as_fd(), 0..1, Wait::Never).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::EMSGSIZE));
    batch.set_length(0, MAX_MESSAGE_BYTES);
    assert_eq!(batch.send(sender.as_fd(), 0..1, Wait::Never).unwrap(), Progress::Moved(1));
    let mut room = ReceiveBatch::new(shape(100, 2000));
    assert_eq!(room.receive(receiver.as_fd(), Wait::Never).unwrap(), Progress::Moved(46));
}

#[test]
fn sizes_that_cannot_be_are_refused() {
    let mut batch = SendBatch::new(shape(1, 10));
    for bytes in [0, MAX_MESSAGE_BYTES + 1, 1 << 20] {
        assert_eq!(batch.set_segment_bytes(Some(bytes)), Err(SegmentError { bytes }));
    }
    assert_eq!(SendBatch::new(shape(1 << 20, 0)).shape(), shape(MAX_MESSAGES, 1));
}

#[test]
fn small_room_keeps_the_beginning_and_the_true_length() {
    let (sender, receiver) = connected();
    let mut batch = SendBatch::new(shape(2, 1400));
    batch.payload_mut(1)[..16].fill(9);
    batch.send(sender.as_fd(), 0..2, Wait::ForFirst).unwrap();
    let mut room = ReceiveBatch::new(shape(4, 16));
    room.receive(receiver.as_fd(), Wait::ForFirst).unwrap();
    let second = room.iter().nth(1).unwrap();
    assert_eq!((second.payload, second.bytes), (&[9; 16][..], 1400));
}

#[test]
fn drops_of_a_full_receive_buffer_are_reported() {
    let (sender, receiver) = connected();
    sockets::set_receive_drops(&receiver, Switch::On).unwrap();
    sockets::set_buffer_size(&receiver, Direction::Receive, ByteCount::new(4096)).unwrap();
    let mut batch = SendBatch::new(shape(100, 1000));
    assert_eq!(batch.send(sender.as_fd(), 0..100, Wait::ForFirst).unwrap(), Progress::Moved(100));
    let mut room = ReceiveBatch::new(shape(100, 1000));
    let Progress::Moved(kept) = room.receive(receiver.as_fd(), Wait::Never).unwrap() else { panic!("none kept") };
    batch.send(sender.as_fd(), 0..1, Wait::ForFirst).unwrap();
    room.receive(receiver.as_fd(), Wait::Never).unwrap();
    let drops = room.iter().next().unwrap().report().drops;
    assert_eq!(drops, Some(u32::try_from(100 - kept).unwrap()));
    assert_eq!(sockets::memory(&receiver).unwrap().drops, drops);
}

#[test]
fn kernel_time_of_receipt_is_reported() {
    let (sender, receiver) = connected();
    sockets::set_receive_time(&receiver, Switch::On).unwrap();
    let before = crate::clock::wall_now();
    SendBatch::new(shape(1, 1)).send(sender.as_fd(), 0..1, Wait::ForFirst).unwrap();
    let mut room = ReceiveBatch::new(shape(1, 1));
    room.receive(receiver.as_fd(), Wait::ForFirst).unwrap();
    let received_at = room.iter().next().unwrap().report().received_at.unwrap();
    assert!(before <= received_at && received_at <= crate::clock::wall_now());
}

#[test]
fn the_hop_limit_of_what_arrives_is_reported_in_both_families() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let receiver = UdpSocket::bind(address).unwrap();
        let sender = UdpSocket::bind(address).unwrap();
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        sockets::set_receive_hop_limit(&receiver, Switch::On).unwrap();
        SendBatch::new(shape(1, 1)).send(sender.as_fd(), 0..1, Wait::ForFirst).unwrap();
        let mut room = ReceiveBatch::new(shape(1, 1));
        room.receive(receiver.as_fd(), Wait::ForFirst).unwrap();
        assert_eq!(room.iter().next().unwrap().report().hop_limit, Some(64), "{address}");
    }
}

#[test]
fn unconnected_socket_sends_to_the_destination_of_the_batch_over_ipv6() {
    let receiver = UdpSocket::bind("[::1]:0").unwrap();
    let sender = UdpSocket::bind("[::1]:0").unwrap();
    let mut batch = SendBatch::new(shape(1, 5));
    batch.set_destination(Some(receiver.local_addr().unwrap()));
    batch.send(sender.as_fd(), 0..1, Wait::ForFirst).unwrap();
    let mut room = ReceiveBatch::new(shape(1, 5));
    room.receive(receiver.as_fd(), Wait::ForFirst).unwrap();
    assert_eq!(room.iter().next().unwrap().source(), Some(sender.local_addr().unwrap()));
}

#[test]
fn empty_queue_would_block_and_leaves_the_batch_empty() {
    let (_sender, receiver) = connected();
    let mut room = ReceiveBatch::new(shape(4, 100));
    assert_eq!(room.receive(receiver.as_fd(), Wait::Never).unwrap(), Progress::WouldBlock);
    assert_eq!(room.iter().len(), 0);
}

#[test]
fn batch_moves_between_threads() {
    let (sender, receiver) = connected();
    let mut batch = SendBatch::new(shape(2, 50));
    batch.send(sender.as_fd(), 0..2, Wait::ForFirst).unwrap();
    std::thread::spawn(move || batch.send(sender.as_fd(), 0..2, Wait::ForFirst).unwrap()).join().unwrap();
    let mut room = ReceiveBatch::new(shape(8, 50));
    assert_eq!(room.receive(receiver.as_fd(), Wait::ForFirst).unwrap(), Progress::Moved(4));
}

#[test]
fn older_kernels_cut_into_fewer_segments() {
    assert_eq!(max_segments(KernelVersion { major: 6, minor: 8 }), 64);
    assert_eq!(max_segments(KernelVersion { major: 6, minor: 18 }), 128);
    assert_eq!(max_segments(KernelVersion { major: 5, minor: 15 }), 64);
}
