//! Remarks as sentences.

use std::fmt;

use model::spec::Family;
use units::duration::show;
use units::{DataRate, PacketCount};

use super::{Observation, Retransmission, SizeSource, Stamps};
use crate::segments::SegmentSize;

impl fmt::Display for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Segments(size) => segments(f, size),
            Self::Retransmission(again) => retransmission(f, again),
            Self::DatagramsLost { lost, sent, rate } => {
                write!(f, "{lost} of {sent} datagrams were lost, {}, sent at {rate}", percent(*lost, *sent))
            }
            Self::LossLimit { again, rtt, limit, goodput } => write!(
                f,
                "{} loss and {} RTT allow one TCP stream about {limit} (Mathis, segments of {} bytes{}); it reached {goodput}",
                percent(again.again, again.segments),
                show(*rtt),
                again.mss,
                assumed(again.mss_is),
            ),
            Self::RampUp { until, fastest, goodput } => write!(
                f,
                "for the first {} the rate was below half of its fastest, {fastest}; over the whole run it was {goodput}",
                show(*until),
            ),
            Self::ReceiverLater { by } => write!(
                f,
                "the receiver ended {} after the sender: data in flight and in buffers took that long to arrive",
                show(*by),
            ),
            Self::Asymmetry { out, back, retransmits, rtt, peer } => {
                write!(f, "to {peer} {out}, from it {back}, {}", times(*out, *back))?;
                if let Some((out, back)) = retransmits {
                    write!(f, "; retransmits: {out} and {back}")?;
                }
                if let Some((out, back)) = rtt {
                    write!(f, "; RTT {} and {}", show(*out), show(*back))?;
                }
                Ok(())
            }
        }
    }
}

fn segments(f: &mut fmt::Formatter<'_>, size: &SegmentSize) -> fmt::Result {
    let family = if size.packet.family == Family::Ipv4 { "IPv4" } else { "IPv6" };
    let stamps = if size.packet.stamps == Stamps::Yes { "with" } else { "without" };
    let windows =
        if size.windows == 1 { "the one congestion window printed is" } else { "all congestion windows printed are" };
    write!(
        f,
        "{windows} a multiple of {} bytes: the segment size, as packets of {} bytes over {family} {stamps} time stamps have it",
        size.mss, size.packet.mtu,
    )
}

fn retransmission(f: &mut fmt::Formatter<'_>, again: &Retransmission) -> fmt::Result {
    write!(
        f,
        "{} {} retransmitted of about {}, {}, at {} (segments of {} bytes{})",
        again.again,
        if again.again.get() == 1 { "segment was" } else { "segments were" },
        again.segments,
        percent(again.again, again.segments),
        again.rate,
        again.mss,
        assumed(again.mss_is),
    )
}

fn assumed(known: SizeSource) -> &'static str {
    match known {
        SizeSource::Printed => "",
        SizeSource::Assumed => ", assumed",
    }
}

/// Two digits that mean something.
fn percent(part: PacketCount, whole: PacketCount) -> String {
    let percent = part.share_of(whole).unwrap_or(0.0) * 100.0;
    match percent {
        p if p >= 1.0 => format!("{p:.1} %"),
        p if p >= 0.01 => format!("{p:.2} %"),
        p if p >= 0.0001 => format!("{p:.5} %"),
        p => format!("{p:.8} %"),
    }
}

fn times(a: DataRate, b: DataRate) -> String {
    let (more, less) = if a > b { (a, b) } else { (b, a) };
    match more.share_of(less) {
        Some(factor) => format!("{factor:.1} times as fast one way as the other"),
        None => "nothing at all one way".to_owned(),
    }
}
