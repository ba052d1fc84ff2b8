//! Readers of single values, for the argument parser.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use measure::http::url::Url;
use measure::one_way::socket::PortRange;
use measure::tools::{self, Tool};
use model::spec::Dscp;
use units::{ByteCount, DataRate, Mss, WallTime, duration};

use chart::Form;

/// A rate above zero.
pub fn rate(text: &str) -> Result<DataRate, String> {
    let rate: DataRate = text.parse().map_err(|error: units::ParseError| error.to_string())?;
    if rate.is_zero() {
        return Err("a rate of zero would never send; leave the option out for no cap".to_owned());
    }
    Ok(rate)
}

/// A file, or nothing where `LINERATE_ARCHIVE` is set and empty, as scripts leave it: the parser of paths takes that for an option without
/// its value.
pub fn archive_file() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(|text| {
        let is_variable = std::env::var_os("LINERATE_ARCHIVE").is_some_and(|value| value.is_empty());
        if text.is_empty() && !is_variable { Err("a file has a name") } else { Ok(PathBuf::from(text)) }
    })
}

/// An amount above zero.
pub fn bytes(text: &str) -> Result<ByteCount, String> {
    let bytes: ByteCount = text.parse().map_err(|error: units::ParseError| error.to_string())?;
    if bytes == ByteCount::ZERO {
        return Err("nothing would be sent".to_owned());
    }
    Ok(bytes)
}

/// The address of a file that can be fetched.
pub fn http_url(text: &str) -> Result<String, String> {
    text.parse::<Url>().map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// What an echo carries: an IP packet has at most 65,535 bytes, with its own header of 20 to 60 and that of ICMP of 8.
pub fn echo_size(text: &str) -> Result<ByteCount, String> {
    const MOST: u64 = 65_467;
    let bytes: ByteCount = text.parse().map_err(|error: units::ParseError| error.to_string())?;
    if bytes.get() > MOST { Err(format!("an echo carries at most {MOST} bytes")) } else { Ok(bytes) }
}

/// What a test packet is padded with: a jumbo frame holds 8,900 bytes beside all heads.
pub fn padding(text: &str) -> Result<ByteCount, String> {
    const MOST: u64 = 8_900;
    let bytes: ByteCount = text.parse().map_err(|error: units::ParseError| error.to_string())?;
    if bytes.get() > MOST { Err(format!("a test packet has at most {MOST} bytes of padding")) } else { Ok(bytes) }
}

/// A range of UDP ports: `8760-9960`.
pub fn ports(text: &str) -> Result<PortRange, String> {
    let parse = |port: &str| port.trim().parse::<u16>().ok().filter(|port| *port > 0);
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (parse(first), parse(last)) {
        (Some(first), Some(last)) if first <= last => Ok(PortRange { first, last }),
        _ => Err("a range of ports looks like 8760-9960".to_owned()),
    }
}

/// A span of time, zero allowed.
pub fn span(text: &str) -> Result<Duration, String> {
    duration::parse(text).map_err(|error| error.to_string())
}

/// A span of time above zero.
pub fn span_above_zero(text: &str) -> Result<Duration, String> {
    let time = span(text)?;
    if time.is_zero() {
        return Err("must be longer than nothing".to_owned());
    }
    Ok(time)
}

/// How long a test of NDT7 may take: it is over after 10 s.
#[cfg(feature = "ndt7")]
pub fn ndt_length(text: &str) -> Result<Duration, String> {
    let time = span_above_zero(text)?;
    if time > measure::ndt7::LENGTH {
        return Err("a test of NDT7 takes 10 s at most".to_owned());
    }
    Ok(time)
}

/// A span of whole seconds, zero allowed: an iperf3 knows no other.
pub fn whole_seconds(text: &str) -> Result<Duration, String> {
    let time = span(text)?;
    if time.subsec_nanos() > 0 {
        return Err("an iperf3 leaves out whole seconds".to_owned());
    }
    Ok(time)
}

/// Spacing of samples: 100 µs is where reading the kernel's state starts to disturb the flow.
pub fn sample_spacing(text: &str) -> Result<Duration, String> {
    const LEAST: Duration = Duration::from_micros(100);
    let time = span_above_zero(text)?;
    if time < LEAST {
        return Err(format!("sampling is possible every {} or slower", duration::show(LEAST)));
    }
    Ok(time)
}

/// A time by this host's zone, or how long ago.
pub fn moment(text: &str) -> Result<WallTime, String> {
    if let Ok(ago) = duration::parse(text) {
        let nanos = units::duration::nanos(ago);
        return Ok(WallTime::from_unix_nanos(linux::clock::wall_now().unix_nanos().saturating_sub(nanos)));
    }
    let at = |time: Timestamp| u64::try_from(time.as_nanosecond()).ok().map(WallTime::from_unix_nanos);
    let instant = text.parse::<Timestamp>().ok();
    let local = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::system()).ok().as_ref().map(Zoned::timestamp);
    let found = instant.or_else(local).and_then(at);
    found.ok_or_else(|| "a time is 2026-11-20, 2026-11-20T14:30, or 3h for three hours ago".to_owned())
}

/// How often a watcher compares everything: each time takes a few hundred milliseconds of a CPU on a large host.
pub fn watch_interval(text: &str) -> Result<Duration, String> {
    const LEAST: Duration = Duration::from_secs(1);
    let time = span(text)?;
    if time < LEAST { Err(format!("everything is read at most every {}", duration::show(LEAST))) } else { Ok(time) }
}

/// A file for a picture, of a kind that can be drawn.
pub fn picture(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match Form::of(&path) {
        Some(_) => Ok(path),
        None => Err("pictures are drawn as SVG or PNG; hint: end the name in .svg or .png".to_owned()),
    }
}

/// A file for a picture of a capture: also a time-sequence graph for xplot.
pub fn trace_picture(text: &str) -> Result<PathBuf, String> {
    if Path::new(text).extension().is_some_and(|extension| extension == "xpl") {
        return Ok(PathBuf::from(text));
    }
    picture(text)
        .map_err(|_| "pictures are drawn as SVG, PNG or XPL; hint: end the name in .svg, .png or .xpl".to_owned())
}

/// A segment size, in bytes: a bare number too, as iperf3 takes it, since nobody means MiB of a segment.
pub fn mss(text: &str) -> Result<Mss, String> {
    let bare = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok().map(ByteCount::new));
    let bytes = match bare.flatten() {
        Some(bytes) => bytes,
        None => text.parse().map_err(|error: units::ParseError| error.to_string())?,
    };
    let bytes = u32::try_from(bytes.get()).map_err(|_| format!("`{text}` is larger than any segment"))?;
    Mss::new(bytes).map_err(|error| error.to_string())
}

/// Another program that runs tests, by its name.
pub fn tool() -> impl TypedValueParser<Value = Tool> {
    let names = PossibleValuesParser::new(tools::ALL.map(|tool| tool.program()));
    names.try_map(|name| tools::named(&name).ok_or("no such tool"))
}

/// A code point by its number or its usual name (RFC 4594, RFC 8622).
pub fn dscp(text: &str) -> Result<Dscp, String> {
    const NAMES: [(&str, u8); 22] = [
        ("be", 0),
        ("le", 1),
        ("cs1", 8),
        ("af11", 10),
        ("af12", 12),
        ("af13", 14),
        ("cs2", 16),
        ("af21", 18),
        ("af22", 20),
        ("af23", 22),
        ("cs3", 24),
        ("af31", 26),
        ("af32", 28),
        ("af33", 30),
        ("cs4", 32),
        ("af41", 34),
        ("af42", 36),
        ("af43", 38),
        ("cs5", 40),
        ("ef", 46),
        ("cs6", 48),
        ("cs7", 56),
    ];
    let named = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|(_, value)| *value);
    let value = match named {
        Some(value) => value,
        None => {
            text.parse().map_err(|_| format!("`{text}` is no code point; write 0 to 63, or a name as ef or af41"))?
        }
    };
    Dscp::new(value).map_err(|error| error.to_string())
}

/// How sure an answer has to be.
pub fn confidence(text: &str) -> Result<f64, String> {
    let part: f64 = text.parse().map_err(|_| "a number such as 0.95 is expected".to_owned())?;
    if (0.5..1.0).contains(&part) { Ok(part) } else { Err("it is from 0.5 to below 1".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_that_would_never_end_is_refused() {
        assert!(rate("0Mbit/s").is_err());
        assert!(bytes("0B").is_err());
        assert!(span_above_zero("0s").is_err());
        assert!(sample_spacing("50us").unwrap_err().contains("100 µs"));
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        let given = moment("2026-11-20T14:30:00Z").unwrap();
        assert_eq!(given.unix_seconds(), 1_795_185_000);
        assert!(moment("2026-11-20").is_ok() && moment("2026-11-20T14:30").is_ok());
        assert!(moment("3h").unwrap() < moment("1min").unwrap());
        assert!(moment("yesterday").unwrap_err().contains("3h"));
    }

    #[test]
    fn code_points_have_names() {
        assert_eq!(dscp("EF").map(Dscp::get), Ok(46));
        assert_eq!(dscp("8").map(Dscp::get), Ok(8));
        assert!(dscp("184").unwrap_err().contains("four times"));
    }
}
