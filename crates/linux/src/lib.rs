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
//! | [`tcp_info`] | `struct tcp_info`, each field absent where the kernel is too old for it |
//! | [`sockets`] | sockets and their options: congestion control, buffers, pacing, marking |
//! | [`bulk`] | moving bytes: copies, `sendfile`, `splice`, `MSG_ZEROCOPY`, batches of datagrams |
//! | [`host`] | kernel, name, boot and processors of this host |
#![allow(unsafe_code)]

pub mod affinity;
pub mod bulk;
pub mod clock;
pub mod host;
pub mod sockets;
pub mod tcp_info;
