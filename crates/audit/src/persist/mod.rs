//! What has to stand in which file so that a fix is still there after the next start of the host.
//!
//! There is one file a product: sysctls, modules, and one for devices, which is a script that NetworkManager runs where that
//! brings the devices up, and a file of udev where not. A file holds one block a fix, between two comments, so that taking
//! a fix back takes out what it put in and nothing else.
//!
//! * [`Lasting::of`]: the blocks of a fix, and what no file can keep
//! * [`block`]: files with blocks
//! * `devices`: scripts and rules for devices

pub mod block;
mod devices;
mod lasting;
mod product;

use model::host::snapshot::Snapshot;

use crate::fix::Operation;
use crate::fix::plan::PlannedStep;

pub use lasting::{Lasting, Lost};
pub use product::{Product, SYSCTL_FILES};

impl Lasting {
    /// What keeps these steps, on the host of the snapshot.
    #[must_use]
    pub fn of(steps: &[PlannedStep], host: &Snapshot) -> Self {
        let mut lasting = Self::default();
        for step in steps {
            if let Some(namespace) = &step.namespace {
                let reason = format!("{namespace} is made anew by whatever makes it: set it there");
                lasting.lose(step, reason);
                continue;
            }
            match &step.operation {
                Operation::Sysctl { key, value } => match overruled(key, value, host) {
                    Some(reason) => lasting.lose(step, reason),
                    None => lasting.keep(Product::Sysctl, step, &[format!("{key} = {value}")]),
                },
                Operation::Module { name } => lasting.keep(Product::Modules, step, std::slice::from_ref(name)),
                Operation::Smt { .. } => {
                    lasting.lose(step, "the kernel command line keeps it: nosmt".to_owned());
                }
                Operation::IdleStates { .. } => {
                    lasting.lose(step, "a profile of TuneD keeps it: force_latency in [cpu]".to_owned());
                }
                _ => devices::add(&mut lasting, step, host),
            }
        }
        lasting
    }
}

/// Who sets a sysctl after all files, if somebody does: TuneD that does not read them again.
fn overruled(key: &str, value: &str, host: &Snapshot) -> Option<String> {
    let reapplies = host.provenance.value()?.tuned_reapplies_sysctl?;
    let profile = host.services.tuned_profile.value()?;
    let wanted = host.services.tuned_sysctls.value()?.get(key)?;
    let differs = wanted.split_whitespace().ne(value.split_whitespace());
    (!reapplies && differs).then(|| {
        format!(
            "TuneD sets it to {wanted} after the files (profile {profile}): write reapply_sysctl=1 into \
             /etc/tuned/tuned-main.conf, or choose a profile of your own"
        )
    })
}

#[cfg(test)]
mod tests;
