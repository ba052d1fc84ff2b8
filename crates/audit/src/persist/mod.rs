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

use std::collections::BTreeMap;

use model::host::snapshot::Snapshot;
use serde::{Deserialize, Serialize};

use crate::fix::Operation;
use crate::fix::plan::PlannedStep;

/// What reads a file at boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Product {
    /// systemd-sysctl and `sysctl --system`.
    Sysctl,
    /// systemd-modules-load.
    Modules,
    /// NetworkManager, when it has brought up a device.
    NetworkManager,
    /// udev, when a device appears.
    Udev,
}

/// The blocks of a fix by product, and what no file can keep.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lasting {
    /// Lines by product.
    pub lines: BTreeMap<Product, Vec<String>>,
    /// What is not kept.
    pub lost: Vec<Lost>,
}

/// What is gone after the next start of the host, whatever stands in files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lost {
    /// The setting.
    pub setting: String,
    /// Why, and what would keep it.
    pub reason: String,
}

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

    fn keep(&mut self, product: Product, step: &PlannedStep, lines: &[String]) {
        let comment = (!step.rules.is_empty()).then(|| format!("# {}", step.rules.join(", ")));
        let lines: Vec<&String> = comment.iter().chain(lines).collect();
        // Root reads these files: what a plan or a host says must not begin a line of its own there.
        if let Some(refused) = lines.iter().find_map(|line| foreign::file::line(line).err()) {
            return self.lose(step, format!("it is not written into a file: {refused}"));
        }
        self.lines.entry(product).or_default().extend(lines.into_iter().cloned());
    }

    fn lose(&mut self, step: &PlannedStep, reason: String) {
        let target = crate::fix::Target { namespace: "", link: step.link.as_deref().unwrap_or_default() };
        self.lost.push(Lost { setting: step.operation.command(&target), reason });
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

impl Product {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Sysctl, Self::Modules, Self::NetworkManager, Self::Udev];

    /// Where its file is; of sysctls the first place to be tried.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Sysctl => SYSCTL_FILES[0],
            Self::Modules => "/etc/modules-load.d/linerate.conf",
            Self::NetworkManager => "/etc/NetworkManager/dispatcher.d/99-linerate",
            Self::Udev => "/etc/udev/rules.d/99-linerate.rules",
        }
    }

    /// Every place where its file may be.
    #[must_use]
    pub fn paths(self) -> Vec<&'static str> {
        if self == Self::Sysctl { SYSCTL_FILES.to_vec() } else { vec![self.path()] }
    }

    /// Rights of the file. NetworkManager runs what only root can write and anybody can run.
    #[must_use]
    pub fn mode(self) -> u32 {
        if self == Self::NetworkManager { 0o755 } else { 0o644 }
    }

    /// How the file begins.
    #[must_use]
    fn head(self) -> &'static str {
        match self {
            Self::NetworkManager => "#!/bin/sh\n",
            _ => "",
        }
    }
}

/// Files are applied in the order of their names, so the first in which all settings win is taken. The last is behind
/// `99-sysctl.conf`, as which many systems read `/etc/sysctl.conf`.
pub const SYSCTL_FILES: [&str; 3] =
    ["/etc/sysctl.d/90-linerate.conf", "/etc/sysctl.d/99-linerate.conf", "/etc/sysctl.d/99-zz-linerate.conf"];

#[cfg(test)]
mod tests;
