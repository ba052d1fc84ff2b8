//! The other ends: our server on a thread, and two peers that speak what perfSONAR's 5.2.3 was recorded to say.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use measure::one_way::socket::PortRange;
use measure::serve::policy::Policy;
use measure::serve::probes::{ProbeConfig, ProbeServer};
use measure::stop::Stop;
use owamp::control::fetch::FetchAck;
use owamp::control::request::{AcceptSession, SessionRequest};
use owamp::control::{Accept, Protocol};
use owamp::estimate::ErrorEstimate;
use owamp::packet::SenderPacket;
use owamp::record::PacketRecord;
use owamp::time::NtpTime;

/// Longer than any answer takes on a machine that is not stuck.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs `work` with the port of a server on loopback.
pub(crate) fn serving(protocol: Protocol, work: impl FnOnce(u16)) {
    serving_with(protocol, Vec::new(), work);
}

/// The same with a server that hears these networks only.
pub(crate) fn serving_with(protocol: Protocol, allow: Vec<ipnet::IpNet>, work: impl FnOnce(u16)) {
    let config = ProbeConfig {
        protocol,
        bind: Some(Ipv4Addr::LOCALHOST.into()),
        port: 0,
        udp_ports: PortRange::ANY,
        policy: Policy { allow, ..Policy::default() },
    };
    let server = ProbeServer::open(config).unwrap();
    let port = server.address().unwrap().port();
    let stop = Stop::default();
    thread::scope(|scope| {
        let serving = scope.spawn(|| server.serve(&stop, &|_| {}));
        let ended = Ended(&stop);
        work(port);
        drop(ended);
        serving.join().unwrap().unwrap();
    });
}

/// Stops the server, also where the test panics.
struct Ended<'a>(&'a Stop);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Octets from text: pairs of hexadecimal digits, and `0*N` for N octets of zero.
fn octets(text: &str) -> Vec<u8> {
    let mut octets = Vec::new();
    for word in text.split_whitespace() {
        match word.strip_prefix("0*") {
            Some(count) => octets.resize(octets.len() + count.parse::<usize>().unwrap(), 0),
            None => {
                let digits = word.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
                octets.extend(digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()));
            }
        }
    }
    octets
}

const SESSION: &str = "7f000001eeadd5f5a41b97352b108304";
const REQUEST: &str = "01040001 00000001 00000002 25ed0000 7f000001 0*12 7f000001 0*12 0*16 00000000 \
    eeadd5f69c2e9899 0000000100000000 00000000 0*24 01000000 00000000 00000000 051eb851 0*16";

fn read(stream: &mut TcpStream, count: usize) -> Vec<u8> {
    let mut octets = vec![0; count];
    stream.read_exact(&mut octets).unwrap();
    octets
}

/// A server that says what an owampd said to an owping of two packets, whatever its client sends.
pub(crate) struct Owampd {
    pub(crate) port: u16,
    thread: JoinHandle<()>,
}

impl Owampd {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let thread = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            let records = "00000000 0001 0001 eeadd5f6a154c985 eeadd5f6a159c497 ff \
                00000001 0001 0001 eeadd5f6a673b42c eeadd5f6a6780778 ff";
            let request = REQUEST.replace("25ed0000", "25ed268f").replacen("0*16", SESSION, 1);
            let greeting =
                "0*12 00000001 22ba35b76a52f1b8721c3c5518ed9967 ef8879d092de9b1ce6518e922276bc3c 00000800 0*12";
            stream.write_all(&octets(greeting)).unwrap();
            // What the client sends, and what an owampd says to it.
            for (heard, said) in [
                (164, "0*32 eeadd5f48e4f765f 0*8".to_owned()),
                (144, format!("0000268f {SESSION} 0*28")),
                (32, "0*32".to_owned()),
                (64, "03 0*31".to_owned()),
                (48, format!("00010000 00000002 00000000 00000002 0*16 {request} 0*16 {records} 0*14 0*16")),
            ] {
                read(&mut stream, heard);
                stream.write_all(&octets(&said)).unwrap();
            }
        });
        Self { port, thread }
    }

    /// Its whole part was said.
    pub(crate) fn end(self) {
        self.thread.join().unwrap();
    }
}

/// A client that says what an owping said.
pub(crate) struct Owping {
    control: TcpStream,
}

impl Owping {
    /// A client that has agreed on open mode.
    pub(crate) fn greeted(port: u16) -> Self {
        let mut control = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        control.set_read_timeout(Some(PATIENCE)).unwrap();
        assert_eq!(read(&mut control, 64)[12..16], [0, 0, 0, 1], "open mode and no other");
        control.write_all(&octets("00000001 0*160")).unwrap();
        assert_eq!(read(&mut control, 48)[15], 0);
        Self { control }
    }

    /// Sends these packets of a session of `count`, and fetches what the server has of them.
    pub(crate) fn session(&mut self, count: u32, sequences: &[u32]) -> Vec<PacketRecord> {
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut request = octets(REQUEST);
        request[8..12].copy_from_slice(&count.to_be_bytes());
        request[12..14].copy_from_slice(&udp.local_addr().unwrap().port().to_be_bytes());
        self.control.write_all(&request).unwrap();
        let accepted = AcceptSession::parse(&read(&mut self.control, 48).try_into().unwrap());
        assert_eq!(accepted.accept, Accept::Ok);
        self.control.write_all(&octets("02 0*31")).unwrap();
        assert_eq!(read(&mut self.control, 32)[0], 0);
        udp.connect((Ipv4Addr::LOCALHOST, accepted.port)).unwrap();
        for sequence in sequences {
            let sent = NtpTime::from_bits(0xeead_d5f6_a154_c985);
            let packet = SenderPacket { sequence: *sequence, sent, error: ErrorEstimate::UNSYNCHRONISED };
            udp.send(&packet.emit::<14>()).unwrap();
        }
        let session: String = accepted.session.0.iter().map(|octet| format!("{octet:02x}")).collect();
        let stop = format!("03000000 00000001 0*8 {session} {count:08x} 00000000 0*8 0*16");
        self.control.write_all(&octets(&stop)).unwrap();
        let stopped = read(&mut self.control, 32);
        assert_eq!((stopped[0], stopped[7]), (3, 0), "the server has sent in no session");
        self.control.write_all(&octets(&format!("04 0*7 00000000 ffffffff {session} 0*16"))).unwrap();
        let ack = FetchAck::parse(&read(&mut self.control, 32).try_into().unwrap()).unwrap();
        assert_eq!((ack.accept, ack.next_sequence), (Accept::Ok, count));
        let echoed = SessionRequest::parse(&read(&mut self.control, request.len())).unwrap();
        assert_eq!((echoed.session, echoed.receiver.port), (accepted.session, accepted.port));
        read(&mut self.control, ack.skips_length());
        ack.read_records(&read(&mut self.control, ack.records_length()))
    }

    /// Sends what is no command, and finds the connection closed.
    pub(crate) fn nonsense(&mut self) {
        self.control.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let mut rest = Vec::new();
        // A reset is an end as well: the server closes with octets unread.
        let _ = self.control.read_to_end(&mut rest);
        assert!(rest.is_empty(), "{rest:?}");
    }
}
