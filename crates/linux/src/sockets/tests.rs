//! Claims about socket options, on live sockets of this kernel.

use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use units::{ByteCount, DataRate, Mss};

use super::*;

fn connected() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

#[test]
fn opened_sockets_have_the_family_asked_for() {
    for family_asked in [Family::V4, Family::V6] {
        for transport in [Transport::Tcp, Transport::Udp] {
            assert_eq!(family(open(family_asked, transport).unwrap()).unwrap(), family_asked);
        }
    }
}

#[test]
fn congestion_control_is_what_was_set() {
    let socket = open(Family::V4, Transport::Tcp).unwrap();
    set_congestion_control(&socket, "reno").unwrap();
    assert_eq!(congestion_control(&socket).unwrap(), "reno");
}

#[test]
fn unknown_congestion_control_is_named_along_with_those_that_exist() {
    let socket = open(Family::V4, Transport::Tcp).unwrap();
    let error = set_congestion_control(&socket, "nonesuch").unwrap_err();
    assert!(error.to_string().contains("nonesuch") && error.to_string().contains("reno"), "{error}");
}

#[test]
fn buffer_size_is_reported_doubled_and_bounded() {
    let socket = open(Family::V4, Transport::Tcp).unwrap();
    for direction in [Direction::Send, Direction::Receive] {
        let got = set_buffer_size(&socket, direction, ByteCount::new(50_000)).unwrap();
        assert_eq!(got, ByteCount::new(100_000));
        assert_eq!(buffer_size(&socket, direction).unwrap(), got);
        let bounded = set_buffer_size(&socket, direction, ByteCount::new(1 << 40)).unwrap();
        assert!(bounded < ByteCount::new(1 << 32));
    }
}

#[test]
fn pacing_limit_beyond_32_bits_of_bytes_is_kept() {
    let socket = open(Family::V4, Transport::Tcp).unwrap();
    assert_eq!(pacing_limit(&socket).unwrap(), PacingLimit::Unlimited);
    let fast = PacingLimit::Limited(DataRate::from_bps(100_000_000_000));
    assert_eq!(set_pacing_limit(&socket, fast).unwrap(), fast);
    assert_eq!(set_pacing_limit(&socket, PacingLimit::Unlimited).unwrap(), PacingLimit::Unlimited);
}

#[test]
fn dscp_is_kept_by_both_families() {
    let cs1 = Dscp::new(8).unwrap();
    for (family, transport) in
        [(Family::V4, Transport::Tcp), (Family::V6, Transport::Tcp), (Family::V6, Transport::Udp)]
    {
        let socket = open(family, transport).unwrap();
        set_dscp(&socket, cs1).unwrap();
        assert_eq!(dscp(&socket).unwrap(), cs1);
    }
    assert_eq!(Dscp::new(64), Err(DscpError { code: 64 }));
}

#[test]
fn ipv6_socket_marks_its_ipv4_packets_too() {
    let socket = open(Family::V6, Transport::Udp).unwrap();
    set_dscp(&socket, Dscp::new(46).unwrap()).unwrap();
    assert_eq!(SockRef::from(&socket).tos_v4().unwrap(), 46 << 2);
}

#[test]
fn max_segment_bounds_the_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = open(Family::V4, Transport::Tcp).unwrap();
    set_max_segment(&socket, Mss::new(1000).unwrap()).unwrap();
    socket.connect(&listener.local_addr().unwrap().into()).unwrap();
    // Twelve bytes of each segment hold the time stamps, where those are on.
    assert!([988, 1000].contains(&max_segment(&socket).unwrap()));
}

#[test]
fn path_mtu_of_loopback_is_that_of_the_device() {
    let (client, _server) = connected();
    assert_eq!(path_mtu(&client).unwrap().get(), 65_535);
    let unconnected = UdpSocket::bind("127.0.0.1:0").unwrap();
    assert_eq!(path_mtu(&unconnected).unwrap_err().raw_os_error(), Some(libc::ENOTCONN));
}

#[test]
fn modes_of_path_mtu_discovery_are_kept_by_both_families() {
    use PathMtuDiscovery::{Always, Fragment, Interface, InterfaceOrFragment, PerRoute, Probe};
    for family in [Family::V4, Family::V6] {
        let socket = open(family, Transport::Udp).unwrap();
        for mode in [Always, Fragment, Interface, InterfaceOrFragment, PerRoute, Probe] {
            set_path_mtu_discovery(&socket, mode).unwrap();
            assert_eq!(path_mtu_discovery(&socket).unwrap(), mode);
        }
    }
}

#[test]
fn switches_and_times_are_kept() {
    let socket = open(Family::V4, Transport::Tcp).unwrap();
    set_no_delay(&socket, Switch::On).unwrap();
    assert_eq!(no_delay(&socket).unwrap(), Switch::On);
    set_notsent_low_water(&socket, ByteCount::new(131_072)).unwrap();
    assert_eq!(notsent_low_water(&socket).unwrap(), ByteCount::new(131_072));
    set_user_timeout(&socket, Some(Duration::from_millis(1500))).unwrap();
    assert_eq!(user_timeout(&socket).unwrap(), Some(Duration::from_millis(1500)));
    set_send_timeout(&socket, Some(Duration::from_secs(3))).unwrap();
    assert_eq!(send_timeout(&socket).unwrap(), Some(Duration::from_secs(3)));
    set_receive_timeout(&socket, Some(Duration::from_secs(4))).unwrap();
    assert_eq!(receive_timeout(&socket).unwrap(), Some(Duration::from_secs(4)));
    set_receive_low_water(&socket, ByteCount::new(10_000)).unwrap();
    assert_eq!(receive_low_water(&socket).unwrap(), ByteCount::new(10_000));
    let (idle, interval) = (Duration::from_secs(7), Duration::from_secs(2));
    set_keepalive(&socket, Some(Keepalive { idle, interval, probes: 3 })).unwrap();
    assert!(SockRef::from(&socket).keepalive().unwrap());
    assert_eq!(SockRef::from(&socket).tcp_keepalive_time().unwrap(), idle);
    set_zerocopy(&socket, Switch::On).unwrap();
}

#[test]
fn two_sockets_share_a_port_only_where_both_allow_it() {
    let shared = || {
        let socket = open(Family::V4, Transport::Udp).unwrap();
        set_reuse_port(&socket, Switch::On).unwrap();
        socket
    };
    let first = shared();
    first.bind(&"127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap().into()).unwrap();
    let address = first.local_addr().unwrap();
    shared().bind(&address).unwrap();
    let alone = open(Family::V4, Transport::Udp).unwrap();
    set_reuse_address(&alone, Switch::Off).unwrap();
    assert_eq!(alone.bind(&address).unwrap_err().kind(), io::ErrorKind::AddrInUse);
}

#[test]
fn ipv6_socket_may_leave_ipv4_to_others() {
    let v6 = open(Family::V6, Transport::Udp).unwrap();
    set_only_v6(&v6, Switch::On).unwrap();
    v6.bind(&"[::]:0".parse::<std::net::SocketAddr>().unwrap().into()).unwrap();
    assert!(v6.only_v6().unwrap());
}

#[test]
fn socket_binds_to_a_device_that_exists() {
    let socket = open(Family::V4, Transport::Udp).unwrap();
    assert_eq!(bound_device(&socket).unwrap(), None);
    bind_to_device(&socket, Some("lo")).unwrap();
    assert_eq!(bound_device(&socket).unwrap().as_deref(), Some("lo"));
    let error = bind_to_device(open(Family::V4, Transport::Udp).unwrap(), Some("nonesuch0")).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ENODEV));
}

#[test]
fn cookies_differ_and_memory_tells_the_buffers() {
    let (client, server) = connected();
    assert_ne!(cookie(&client).unwrap(), cookie(&server).unwrap());
    let memory = memory(&client).unwrap();
    assert_eq!(memory.sndbuf.map(u64::from), Some(buffer_size(&client, Direction::Send).unwrap().get()));
    assert_eq!(memory.drops, Some(0));
}

#[test]
fn incoming_cpu_is_one_of_this_host() {
    let (client, _server) = connected();
    let online = crate::affinity::online_cpus().unwrap();
    assert!(incoming_cpu(&client).unwrap().is_none_or(|cpu| online.contains(&cpu)));
    set_incoming_cpu(&client, 0).unwrap();
}

#[test]
fn datagram_reports_can_be_switched_on() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    set_receive_drops(&socket, Switch::On).unwrap();
    set_receive_time(&socket, Switch::On).unwrap();
    assert_eq!(receives_gro(&socket).unwrap(), Switch::Off);
    set_receive_gro(&socket, Switch::On).unwrap();
    assert_eq!(receives_gro(&socket).unwrap(), Switch::On);
}
