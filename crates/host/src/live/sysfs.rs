//! The view of /sys that belongs to a network namespace: /sys itself shows the devices of whoever mounted it.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use linux::mounts;
use model::host::fact::Missing;
use model::host::interface::link::Link;

use super::file;

/// The directory of the network devices.
pub(crate) struct Sysfs {
    base: PathBuf,
    /// Keeps the mount.
    private: Option<OwnedFd>,
}

impl Sysfs {
    /// A view of the calling thread's namespace where this process may make one, else /sys as it is.
    pub(crate) fn open() -> Self {
        let private = mounts::detached_sysfs().ok();
        let base = match &private {
            Some(mount) => format!("/proc/self/fd/{}", mount.as_raw_fd()).into(),
            None => "/sys".into(),
        };
        Self { base, private }
    }

    /// The directory of a device, if the device shown there is the one with this number and address.
    ///
    /// # Errors
    /// [`Missing::Denied`] where /sys shows another namespace and a view of one's own may not be made.
    pub(crate) fn directory(&self, name: &str, link: &Link) -> Result<PathBuf, Missing> {
        let directory = self.base.join("class/net").join(name);
        let is_this = |file: &str, expected: Option<String>| {
            expected.is_none() || file::optional(directory.join(file)) == expected
        };
        if is_this("ifindex", Some(link.index.to_string())) && is_this("address", link.address.clone()) {
            return Ok(directory);
        }
        // With a view of its own, a device that is not shown has gone.
        Err(if self.private.is_some() { Missing::Absent } else { Missing::Denied })
    }
}
