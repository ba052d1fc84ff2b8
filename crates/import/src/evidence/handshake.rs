//! Handshakes of TCP as `tcpdump` prints them: whether both ends offer window scaling.

use super::host_fact::{HostFact, WindowScales};
use super::shown::{Found, Shown};

/// Reads a SYN and the answer to it, which follows within a few lines.
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let syn = segment([lines.first()?, "[S]"])?;
    let near = lines.iter().enumerate().skip(1).take(NEAR);
    let (at, answer) = near
        .filter_map(|(at, line)| Some((at, segment([line, "[S.]"])?)))
        .find(|(_, answer)| answer.from == syn.to && answer.to == syn.from)?;
    let host = |endpoint: &str| endpoint.rsplit_once('.').map_or(endpoint, |(host, _)| host).to_owned();
    let scales =
        WindowScales { client: host(syn.from), server: host(syn.to), offered: syn.scale, answered: answer.scale };
    Some(Found { shows: vec![Shown::Host(HostFact::Handshake(scales))], lines: at + 1 })
}

/// Other connections begin in between.
const NEAR: usize = 20;

struct Syn<'a> {
    from: &'a str,
    to: &'a str,
    scale: Option<u8>,
}

/// `IP client.44112 > server.80: Flags [S], seq 1, win 64240, options [mss 1460,sackOK,nop,wscale 7], length 0`.
fn segment<'a>([line, flags]: [&'a str; 2]) -> Option<Syn<'a>> {
    let (ends, rest) = line.split_once(": Flags ")?;
    let rest = rest.strip_prefix(flags)?;
    let (before, to) = ends.split_once(" > ")?;
    let from = before.split_whitespace().last()?;
    // Without its options a line was cut, and says nothing of them.
    let options = rest.split_once("options [")?.1.split_once(']')?.0;
    let scale = options.split(',').find_map(|option| option.trim().strip_prefix("wscale "));
    Some(Syn { from, to: to.trim(), scale: scale.and_then(|shift| shift.parse().ok()) })
}
