//! Who takes part in a test: linerate, iperf3 and uiperf3, each as a client and as a server.
//!
//! * [`linerate`]: this program
//! * [`iperf3`]: the program whose protocol it speaks
//! * [`uiperf3`]: another program that speaks it
//! * [`chromium`]: a browser
//! * [`process`]: what they are: processes that are waited for, and that never outlive their test
//! * [`shell`]: a shell on a host of namespaces

#[cfg(feature = "web")]
pub mod chromium;
pub mod iperf3;
pub mod linerate;
pub mod process;
pub mod shell;
pub mod uiperf3;
