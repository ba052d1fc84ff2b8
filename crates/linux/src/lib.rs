//! The Linux kernel's interfaces that linerate uses; the only crate with unsafe code.
//!
//! Everything here is synchronous and knows nothing of tests, runs or hosts as linerate means them: it turns system
//! calls, sockets and files of the kernel into types, keeps the kernel's names (`tcpi_rtt`), and says why where
//! something cannot be read. What the numbers mean is decided elsewhere.
//!
//! | Module | What it gives |
//! |---|---|
//! | [`clock`] | the monotonic and the wall clock, absolute sleep, CPU time of thread and process |
//! | [`affinity`] | which CPUs the calling thread may use |
//! | [`contention`] | CPU time that was wanted and not given: steal, run-queue delay, quotas |
//! | [`tcp_info`] | `struct tcp_info`, each field absent where the kernel is too old for it |
//! | [`sockets`] | sockets and their options: congestion control, buffers, pacing, marking |
//! | [`bpf`] | small programs in the kernel: bytes of a device in buckets of time |
//! | [`bulk`] | moving bytes: copies, `sendfile`, `splice`, `MSG_ZEROCOPY`, batches of datagrams |
//! | [`icmp`] | sockets that speak ICMP, and their error queue |
//! | [`host`] | kernel, name, boot and processors of this host |
//! | [`counters`] | all that a host counts: protocols, CPUs, devices, drivers, queueing disciplines |
//! | [`ethtool`] | what the driver of a device says |
//! | [`facts`] | all that netlink tells of devices, routes and settings, as facts of a snapshot |
//! | [`links`] | devices and the addresses they carry |
//! | [`memory`] | what of this process the kernel can bring back by itself |
//! | [`packet_ring`] | headers of TCP packets as they pass |
//! | [`packet_socket`] | frames that a device receives, counted by VLAN and protocol |
//! | [`tracepoint`] | events of the kernel, with their fields, as perf gives them |
//! | [`qdisc`] | queueing disciplines and their counts |
//! | [`netns`] | network namespaces: naming, entering, making |
//! | [`namespaces`] | hosts made of namespaces, and programs in them |
//! | [`mounts`] | what a thread sees at which place of the file system |
//! | [`monitor`] | being told when a setting is changed, and by whom |
//! | [`set`] | settings of devices and routes, read whole and made again |
//! | [`rtnetlink`] | devices, addresses, routes and queueing disciplines, made and changed |
//! | [`sock_diag`] | the sockets of a namespace, listed or asked for one by one |
//! | [`tap`] | network devices whose cable is a file descriptor |
//! | [`readiness`] | waiting for many files at once, to the microsecond |
//! | [`random`] | bits that nobody can guess |
//! | [`netlink`] | asking the kernel over netlink |
//!
//! What cannot be read is [`Unavailable`], with the [`Reason`].
#![allow(unsafe_code)]

pub mod affinity;
pub mod bpf;
pub mod bulk;
mod classic_bpf;
pub mod clock;
pub mod contention;
pub mod counters;
pub mod ethtool;
pub mod facts;
pub mod host;
pub mod icmp;
mod kernel_text;
pub mod links;
pub mod memory;
pub mod monitor;
pub mod mounts;
pub mod namespaces;
pub mod netlink;
pub mod netns;
pub mod packet_ring;
pub mod packet_socket;
pub mod qdisc;
pub mod random;
pub mod readiness;
#[cfg(test)]
mod recorded;
pub mod rtnetlink;
#[cfg(test)]
mod sandbox;
pub mod set;
pub mod sock_diag;
pub mod sockets;
pub mod tap;
pub mod tcp_info;
pub mod tracepoint;
mod unavailable;

pub use unavailable::{Reason, Unavailable};
