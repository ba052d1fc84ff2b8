//! Handshakes of TCP as `tcpdump` prints them: whether both ends offer window scaling.

use super::counted::RemovedScale;
use super::host_fact::{HostFact, WindowScales};
use super::shown::{Found, Shown};

/// Reads a SYN and the answer to it, which follows within a few lines.
pub(crate) fn read(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let (whole, used) = whole(lines)?;
    let syn = segment([&whole, "[S]"])?;
    if let Some(removed) = removed(&syn, before) {
        return Some(Found { shows: vec![Shown::Host(HostFact::ScaleRemoved(removed))], lines: used });
    }
    let near = (used..lines.len()).take(NEAR);
    let answers = near.filter_map(|at| {
        let (whole, used) = self::whole(&lines[at..])?;
        let answer = segment([&whole, "[S.]"])?;
        (answer.from == syn.to && answer.to == syn.from).then_some((at + used, answer.scale))
    });
    let (used, answered) = answers.into_iter().next()?;
    let scales = WindowScales { client: host(syn.from), server: host(syn.to), offered: syn.scale, answered };
    Some(Found { shows: vec![Shown::Host(HostFact::Handshake(scales))], lines: used })
}

fn host(endpoint: &str) -> String {
    endpoint.rsplit_once('.').map_or(endpoint, |(host, _)| host).to_owned()
}

/// The same SYN as it was seen before, at its sender, where it still had what it lacks here: one connection, one sequence number.
fn removed(syn: &Syn<'_>, before: &[&str]) -> Option<RemovedScale> {
    syn.scale.is_none().then_some(())?;
    let first = before.len().saturating_sub(NEAR);
    (first..before.len()).find_map(|at| {
        let (whole, _) = whole(&before[at..])?;
        let sent = segment([&whole, "[S]"])?;
        let is_same =
            (sent.from, sent.to, sent.sequence) == (syn.from, syn.to, syn.sequence) && sent.sequence.is_some();
        let offered = sent.scale.filter(|_| is_same)?;
        Some(RemovedScale { client: host(syn.from), server: host(syn.to), offered })
    })
}

/// A packet that a mail program may have broken, in one line, and how many lines it is: its length stands last.
fn whole(lines: &[&str]) -> Option<(String, usize)> {
    let first = lines.first()?;
    first.contains(": Flags [S").then_some(())?;
    let mut whole = first.trim().to_owned();
    let mut used = 1;
    while !whole.contains(" length ") && used < MOST_BROKEN {
        let Some(next) = lines.get(used).filter(|next| !next.trim().is_empty() && !next.contains(": Flags [")) else {
            break;
        };
        whole.push(' ');
        whole.push_str(next.trim());
        used += 1;
    }
    Some((whole, used))
}

/// Lines that a packet of some hundred letters becomes.
const MOST_BROKEN: usize = 4;

/// Other connections begin in between.
const NEAR: usize = 20;

struct Syn<'a> {
    from: &'a str,
    to: &'a str,
    sequence: Option<&'a str>,
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
    let sequence = rest.split_once("seq ").map(|(_, rest)| rest.split([',', ' ']).next().unwrap_or(rest));
    Some(Syn { from, to: to.trim(), sequence, scale: scale.and_then(|shift| shift.parse().ok()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_that_is_gone_where_the_syn_arrives_was_taken_out() {
        let text = "as it leaves:\n1.0 IP 10.0.0.1.50770 > 10.0.0.2.5201: Flags [S], seq 38,\nwin 64240, options [mss 1460,sackOK,nop,wscale 10], \
                    length 0\nas it arrives:\n1.1 IP 10.0.0.1.50770 > 10.0.0.2.5201: Flags [S], seq 38,\nwin 64240, options [mss \
                    1460,sackOK,nop,nop,nop,nop], length\n0";
        let lines: Vec<&str> = text.lines().collect();
        assert!(read(&lines[1..], &lines[..1], &mut Vec::new()).is_none(), "no answer");
        let found = read(&lines[4..], &lines[..4], &mut Vec::new()).expect("the same SYN");
        let removed = RemovedScale { client: "10.0.0.1".to_owned(), server: "10.0.0.2".to_owned(), offered: 10 };
        assert_eq!((found.shows, found.lines), (vec![Shown::Host(HostFact::ScaleRemoved(removed))], 3));
        let other: Vec<String> =
            lines.iter().map(|line| line.replace("1.1 IP 10.0.0.1.50770", "1.1 IP 10.0.0.1.50771")).collect();
        let other: Vec<&str> = other.iter().map(String::as_str).collect();
        assert!(read(&other[4..], &other[..4], &mut Vec::new()).is_none(), "another connection");
    }
}
