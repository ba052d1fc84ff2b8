//! Claims about `struct tcp_info`, on bytes of a real kernel and on a live socket.
//!
//! `recorded_6_18.hex`: Linux 6.18.44 x86-64, a fresh network namespace with loopback only. A client with
//! `TCP_CONGESTION` cubic and `SO_MAX_PACING_RATE` 125,000,000 connects, sends 100 times 10,000 bytes and reads two
//! bytes of answer after each; then `getsockopt(client, IPPROTO_TCP, TCP_INFO)` with room for 512 bytes. Complete.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;

use super::*;

fn recorded() -> Vec<u8> {
    crate::recorded::bytes(include_str!("recorded_6_18.hex"))
}

#[test]
fn recorded_record_reads_as_what_happened() {
    let info = TcpInfo::from_bytes(&recorded());
    assert_eq!(info.as_bytes().len(), RECORD_LEN);
    assert_eq!(info.tcpi_state(), Some(1));
    assert_eq!(info.tcpi_options(), Some(7), "time stamps, SACK and window scale");
    assert_eq!((info.tcpi_snd_wscale(), info.tcpi_rcv_wscale()), (Some(10), Some(10)));
    assert_eq!((info.tcpi_delivery_rate_app_limited(), info.tcpi_fastopen_client_fail()), (Some(1), Some(0)));
    assert_eq!(info.tcpi_rto(), Some(204_000));
    assert_eq!((info.tcpi_snd_mss(), info.tcpi_rcv_mss()), (Some(65_483), Some(536)));
    assert_eq!((info.tcpi_rtt(), info.tcpi_rttvar(), info.tcpi_min_rtt()), (Some(15), Some(2), Some(6)));
    assert_eq!((info.tcpi_snd_cwnd(), info.tcpi_snd_ssthresh()), (Some(10), Some(0x7fff_ffff)));
    assert_eq!((info.tcpi_pacing_rate(), info.tcpi_max_pacing_rate()), (Some(125_000_000), Some(125_000_000)));
    assert_eq!((info.tcpi_bytes_acked(), info.tcpi_bytes_received()), (Some(1_000_001), Some(200)));
    assert_eq!((info.tcpi_data_segs_in(), info.tcpi_data_segs_out()), (Some(100), Some(100)));
    assert_eq!((info.tcpi_segs_in(), info.tcpi_segs_out()), (Some(103), Some(103)));
    assert_eq!(info.tcpi_delivery_rate(), Some(10_913_833_333));
    assert_eq!(info.tcpi_busy_time(), Some(8_000));
    assert_eq!((info.tcpi_delivered(), info.tcpi_bytes_sent()), (Some(101), Some(1_000_000)));
    assert_eq!((info.tcpi_snd_wnd(), info.tcpi_rcv_wnd()), (Some(221_184), Some(65_536)));
    assert_eq!((info.tcpi_total_retrans(), info.tcpi_total_rto()), (Some(0), Some(0)));
}

/// The lengths are those of kernels: 104 before 3.15, 192 of 4.10, 232 of 5.4, 248 of 6.7, 280 of 6.18.
#[test]
fn field_is_present_exactly_where_the_length_covers_it() {
    let record = recorded();
    for length in [0, 1, 7, 104, 192, 232, 248, 280] {
        let info = TcpInfo::from_bytes(&record[..length]);
        for field in FIELDS {
            let covered = field.offset + field.bytes <= length;
            assert_eq!(info.value(field).is_some(), covered, "{} at length {length}", field.name);
        }
    }
}

#[test]
fn accessors_follow_the_length() {
    let record = recorded();
    let of = |length: usize| TcpInfo::from_bytes(&record[..length]);
    assert_eq!(of(0).tcpi_state(), None);
    assert_eq!((of(104).tcpi_total_retrans(), of(104).tcpi_pacing_rate()), (Some(0), None));
    assert_eq!((of(192).tcpi_sndbuf_limited(), of(192).tcpi_delivered()), (Some(0), None));
    assert_eq!((of(232).tcpi_snd_wnd(), of(232).tcpi_rcv_wnd()), (Some(221_184), None));
    assert_eq!((of(248).tcpi_total_rto_time(), of(248).tcpi_received_ce()), (Some(0), None));
    assert_eq!(of(280).tcpi_accecn_opt_seen(), Some(0));
    assert_eq!(of(279).tcpi_accecn_opt_seen(), None);
}

#[test]
fn fields_lie_side_by_side_up_to_the_record_length() {
    let mut end = 0;
    for field in FIELDS {
        assert!(field.offset == end || field.shift > 0, "{} starts at {}, not {end}", field.name, field.offset);
        assert_eq!(field.offset % field.bytes, 0, "{} is aligned", field.name);
        end = field.offset + field.bytes;
    }
    assert_eq!(end, RECORD_LEN);
}

#[test]
fn bit_fields_are_taken_apart() {
    let info = TcpInfo::from_bytes(&[0, 0, 0, 0, 0, 0, 0xb7, 0b101]);
    assert_eq!((info.tcpi_snd_wscale(), info.tcpi_rcv_wscale()), (Some(7), Some(11)));
    assert_eq!((info.tcpi_delivery_rate_app_limited(), info.tcpi_fastopen_client_fail()), (Some(1), Some(2)));
}

#[test]
fn longer_record_of_a_later_kernel_is_cut_and_read() {
    let mut record = recorded();
    record.resize(4096, 0xff);
    let info = TcpInfo::from_bytes(&record);
    assert_eq!(info.as_bytes(), &record[..CAPACITY]);
    assert_eq!(info.tcpi_bytes_sent(), Some(1_000_000));
}

#[test]
fn live_connection_counts_its_bytes_at_both_ends() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    client.write_all(&[7; 5000]).unwrap();
    server.read_exact(&mut [0; 5000]).unwrap();

    let received = TcpInfo::read(server.as_fd()).unwrap();
    assert_eq!(received.tcpi_bytes_received(), Some(5000));
    let sent = TcpInfo::read(client.as_fd()).unwrap();
    assert_eq!((sent.tcpi_state(), sent.tcpi_bytes_sent()), (Some(1), Some(5000)), "{sent:?}");
}

#[test]
fn raw_record_fills_no_more_than_its_slot() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut slot = [0xaa; 128];
    assert_eq!(read_into(listener.as_fd(), &mut slot[..104]).unwrap(), 104);
    assert_eq!(slot[104..], [0xaa; 24]);
    assert_eq!(TcpInfo::from_bytes(&slot[..104]).tcpi_state(), Some(10), "TCP_LISTEN");
    assert_eq!(read_into(listener.as_fd(), &mut []).unwrap(), 0);
}

#[test]
fn socket_that_is_not_tcp_is_an_error() {
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    assert!(TcpInfo::read(udp.as_fd()).is_err());
}
