//! Queueing disciplines of devices, set.

use units::{ByteCount, DataRate};

use super::{Index, Rtnetlink};
use crate::netlink::change::{CREATE, REPLACE};
use crate::netlink::{NetlinkError, Request};
use crate::qdisc::{INGRESS, ROOT};

/// A token bucket (tc-tbf(8)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tbf {
    /// How fast it sends.
    pub rate: DataRate,
    /// How much it may send at once.
    pub burst: ByteCount,
    /// How much may wait.
    pub limit: ByteCount,
}

impl Rtnetlink {
    /// Gives a device a queue of so many packets (tc-pfifo(8)).
    ///
    /// # Errors
    /// What the kernel says.
    pub fn set_pfifo(&mut self, device: Index, packets: u32) -> Result<(), NetlinkError> {
        let mut request = qdisc_request(device, "pfifo");
        request.put(TCA_OPTIONS, &packets.to_ne_bytes()); // struct tc_fifo_qopt
        self.netlink.change(RTM_NEWQDISC, CREATE | REPLACE, request.bytes())
    }

    /// Gives a device a shaper.
    ///
    /// # Errors
    /// What the kernel says; `ENOENT` where it has no such discipline.
    pub fn set_tbf(&mut self, device: Index, tbf: Tbf) -> Result<(), NetlinkError> {
        let mut request = qdisc_request(device, "tbf");
        put_tbf(&mut request, tbf);
        self.netlink.change(RTM_NEWQDISC, CREATE | REPLACE, request.bytes())
    }

    /// Gives a device a discipline without settings, such as `fq`.
    ///
    /// # Errors
    /// What the kernel says; `ENOENT` where it has no such discipline.
    pub fn set_plain_qdisc(&mut self, device: Index, kind: &str) -> Result<(), NetlinkError> {
        self.netlink.change(RTM_NEWQDISC, CREATE | REPLACE, qdisc_request(device, kind).bytes())
    }

    /// Gives a device back the queue that the kernel gives it by itself.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn unset_qdisc(&mut self, device: Index) -> Result<(), NetlinkError> {
        match self.netlink.change(RTM_DELQDISC, 0, tc_request(device, 0, ROOT).bytes()) {
            // It has it already.
            Err(error) if matches!(error.errno(), Some(libc::ENOENT | libc::EINVAL)) => Ok(()),
            outcome => outcome,
        }
    }

    /// Gives a device the place where filters see what it receives.
    ///
    /// # Errors
    /// What the kernel says; `ENOENT` where it has none.
    pub fn set_ingress(&mut self, device: Index) -> Result<(), NetlinkError> {
        let mut request = tc_request(device, INGRESS_HANDLE, INGRESS);
        request.put_text(TCA_KIND, "ingress");
        self.netlink.change(RTM_NEWQDISC, CREATE | REPLACE, request.bytes())
    }
}

/// Adds the options of a shaper.
pub(crate) fn put_tbf(request: &mut Request, tbf: Tbf) {
    let narrow = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
    let rate = tbf.rate.bytes_per_second();
    // struct tc_tbf_qopt: two of struct tc_ratespec (rate, peak rate), limit, buffer, mtu. A rate of Ethernet
    // frames takes no table (net/sched/sch_tbf.c, tbf_change).
    let mut settings = vec![0; 36];
    settings[1] = TC_LINKLAYER_ETHERNET;
    settings[8..12].copy_from_slice(&narrow(rate).to_ne_bytes());
    settings[24..28].copy_from_slice(&narrow(tbf.limit.get()).to_ne_bytes());
    request.nest(TCA_OPTIONS, |options| {
        options.put(TCA_TBF_PARMS, &settings);
        options.put(TCA_TBF_RATE64, &rate.to_ne_bytes());
        options.put_u32(TCA_TBF_BURST, narrow(tbf.burst.get()));
    });
}

fn qdisc_request(device: Index, kind: &str) -> Request {
    let mut request = tc_request(device, 0, ROOT);
    request.put_text(TCA_KIND, kind);
    request
}

/// `struct tcmsg`, include/uapi/linux/rtnetlink.h.
fn tc_request(device: Index, handle: u32, parent: u32) -> Request {
    let mut request = Request::new(&[0; 20]);
    request.set_u32(4, device.get()).set_u32(8, handle).set_u32(12, parent);
    request
}

// include/uapi/linux/rtnetlink.h and pkt_sched.h of 6.18
const RTM_NEWQDISC: u16 = 36;
const RTM_DELQDISC: u16 = 37;
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_BURST: u16 = 6;
const TC_LINKLAYER_ETHERNET: u8 = 1;
const INGRESS_HANDLE: u32 = 0xffff_0000;
