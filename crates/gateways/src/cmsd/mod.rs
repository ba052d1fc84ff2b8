//! How cmsd, XRootD's cluster manager, chooses a server.
//!
//! * [`configuration`]: a policy as lines of its configuration
//! * [`load`]: five reported numbers and the weights of `cms.sched` become one load
//! * [`node`]: what the manager knows of each server, and its three ways to choose
//! * [`recorded`]: decisions of a real cluster, read and compared with ours
//!
//! Source: XRootD 5.5.3 (XrdCmsCluster.cc, XrdCmsMeter.cc, XrdCmsConfig.cc), and for the weighted draw 5.7.0.

pub mod configuration;
pub mod load;
pub mod node;
pub mod recorded;
