//! One queueing discipline or class, with typed options.

use model::host::fix::discipline::{Discipline, Hook, HtbClass};
use model::host::fix::names::ClassId;
use units::DataRate;

use super::SetError;
use super::tree::{RTM_NEWQDISC, RTM_NEWTCLASS, TCA_HTB_INIT, TCA_KIND, TCA_OPTIONS, open, remove, tcmsg};
use crate::netlink::Request;
use crate::netlink::change::{CREATE, REPLACE};
use crate::qdisc::ROOT;
use crate::rtnetlink::qdisc::{Tbf, put_tbf};

/// Puts a discipline in the place of what hangs there.
///
/// # Errors
/// What the kernel says; [`crate::Reason::Absent`] where it has no such discipline.
pub fn set(index: u32, hook: Hook, discipline: &Discipline) -> Result<(), SetError> {
    let mut netlink = open()?;
    let handle = if matches!(discipline, Discipline::Htb { .. }) { HTB_HANDLE } else { 0 };
    if handle != 0 && hook == Hook::Root {
        // Another kind may have the number.
        remove(&mut netlink, index)?;
    }
    let mut request = tcmsg(index, handle, parent(hook));
    request.put_text(TCA_KIND, discipline.kind());
    put_options(&mut request, discipline);
    let what = format!("set the qdisc {} on {hook}", discipline.kind());
    netlink.change(RTM_NEWQDISC, CREATE | REPLACE, request.bytes()).map_err(SetError::netlink(what))
}

/// Makes a class of `htb`, or changes it.
///
/// # Errors
/// What the kernel says.
pub fn set_class(index: u32, hook: Hook, class: ClassId, htb: &HtbClass) -> Result<(), SetError> {
    let mut request = tcmsg(index, u32::from(class.major) << 16 | u32::from(class.minor), parent(hook));
    request.put_text(TCA_KIND, "htb");
    request.nest(TCA_OPTIONS, |options| put_class(options, htb));
    let changed = open()?.change(RTM_NEWTCLASS, CREATE | REPLACE, request.bytes());
    changed.map_err(SetError::netlink(format!("set the class {class} of htb")))
}

/// Takes away what a device has, so that the kernel puts in its default.
///
/// # Errors
/// What the kernel says.
pub fn unset(index: u32) -> Result<(), SetError> {
    remove(&mut open()?, index)
}

fn parent(hook: Hook) -> u32 {
    match hook {
        Hook::Root => ROOT,
        Hook::Class(class) => u32::from(class.major) << 16 | u32::from(class.minor),
    }
}

fn put_options(request: &mut Request, discipline: &Discipline) {
    let put = |options: &mut Request, kind: u16, value: Option<u32>| {
        if let Some(value) = value {
            options.put_u32(kind, value);
        }
    };
    match *discipline {
        Discipline::Mq {} | Discipline::PfifoFast {} | Discipline::Pfifo { limit_packets: None } => {}
        Discipline::Pfifo { limit_packets: Some(limit) } => {
            request.put(TCA_OPTIONS, &limit.to_ne_bytes()); // struct tc_fifo_qopt
        }
        Discipline::Fq { limit_packets, flow_limit_packets, maxrate } => {
            request.nest(TCA_OPTIONS, |options| {
                put(options, TCA_FQ_PLIMIT, limit_packets);
                put(options, TCA_FQ_FLOW_PLIMIT, flow_limit_packets);
                put(options, TCA_FQ_FLOW_MAX_RATE, maxrate.map(|rate| narrow(rate.bytes_per_second())));
            });
        }
        Discipline::FqCodel { limit_packets, target_us, interval_us } => {
            request.nest(TCA_OPTIONS, |options| {
                put(options, TCA_FQ_CODEL_TARGET, target_us);
                put(options, TCA_FQ_CODEL_LIMIT, limit_packets);
                put(options, TCA_FQ_CODEL_INTERVAL, interval_us);
            });
        }
        Discipline::Tbf { rate, burst, limit } => put_tbf(request, Tbf { rate, burst, limit }),
        Discipline::Htb { default_class } => {
            // struct tc_htb_glob: version, rate to quantum, default class, debug, a count
            let fields = [HTB_VERSION, RATE_TO_QUANTUM, default_class.into(), 0, 0].map(u32::to_ne_bytes).concat();
            request.nest(TCA_OPTIONS, |options| {
                options.put(TCA_HTB_INIT, &fields);
            });
        }
    }
}

fn put_class(options: &mut Request, htb: &HtbClass) {
    let (rate, ceil) = (htb.rate, htb.ceil.unwrap_or(htb.rate));
    let burst = |rate: DataRate| match htb.burst {
        Some(burst) => ticks(rate, burst.get()),
        None => ticks(rate, (rate.bytes_per_second() / 1_000).max(LEAST_BURST)),
    };
    // struct tc_htb_opt: two of struct tc_ratespec (rate, ceil), buffer, cbuffer, quantum, level, prio. A rate of
    // Ethernet frames takes no table (net/sched/sch_htb.c, htb_change_class).
    let mut settings = vec![0; 44];
    settings[1] = TC_LINKLAYER_ETHERNET;
    settings[8..12].copy_from_slice(&narrow(rate.bytes_per_second()).to_ne_bytes());
    settings[13] = TC_LINKLAYER_ETHERNET;
    settings[20..24].copy_from_slice(&narrow(ceil.bytes_per_second()).to_ne_bytes());
    settings[24..28].copy_from_slice(&burst(rate).to_ne_bytes());
    settings[28..32].copy_from_slice(&burst(ceil).to_ne_bytes());
    options.put(TCA_HTB_PARMS, &settings);
    options.put(TCA_HTB_RATE64, &rate.bytes_per_second().to_ne_bytes());
    options.put(TCA_HTB_CEIL64, &ceil.bytes_per_second().to_ne_bytes());
}

/// How long `bytes` take, in units of 64 ns (include/net/pkt_sched.h, PSCHED_SHIFT).
fn ticks(rate: DataRate, bytes: u64) -> u32 {
    let nanos = u128::from(bytes) * 1_000_000_000 / u128::from(rate.bytes_per_second().max(1));
    u32::try_from(nanos >> 6).unwrap_or(u32::MAX)
}

fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Its classes are named after it.
const HTB_HANDLE: u32 = 0x0001_0000;

/// What tc(8) gives (`r2q`).
const RATE_TO_QUANTUM: u32 = 10;

/// One frame of Ethernet and what surrounds it.
const LEAST_BURST: u64 = 1_600;

// include/uapi/linux/pkt_sched.h of 6.18
const HTB_VERSION: u32 = 3;
const TCA_HTB_PARMS: u16 = 1;
const TCA_HTB_RATE64: u16 = 6;
const TCA_HTB_CEIL64: u16 = 7;
const TCA_FQ_PLIMIT: u16 = 1;
const TCA_FQ_FLOW_PLIMIT: u16 = 2;
const TCA_FQ_FLOW_MAX_RATE: u16 = 7;
const TCA_FQ_CODEL_TARGET: u16 = 1;
const TCA_FQ_CODEL_LIMIT: u16 = 2;
const TCA_FQ_CODEL_INTERVAL: u16 = 3;
const TC_LINKLAYER_ETHERNET: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::{attributes, value};

    /// No kernel here has `fq`; the numbers are those of `tc qdisc replace dev eth0 root fq maxrate 2gbit limit 100000`.
    #[test]
    fn rate_of_fq_is_in_bytes_a_second() {
        let mut request = Request::new(&[]);
        let maxrate = Some(DataRate::from_bps(2_000_000_000));
        put_options(&mut request, &Discipline::Fq { limit_packets: Some(100_000), flow_limit_packets: None, maxrate });
        let options = attributes(request.bytes(), 0).next().unwrap().unwrap();
        let read: Vec<_> = options.nested().map(Result::unwrap).map(|part| (part.kind, value::u32(&part))).collect();
        assert_eq!(read, [(TCA_FQ_PLIMIT, Some(100_000)), (TCA_FQ_FLOW_MAX_RATE, Some(250_000_000))]);
    }
}
