//! A control group that gives its processes a part of a processor.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A group of its own; it is removed with its owner.
pub struct Quota {
    directory: PathBuf,
}

static NEXT: AtomicU32 = AtomicU32::new(0);

impl Quota {
    /// A group whose processes together get `percent` of one processor, in slices of a tenth of a second.
    pub fn percent(percent: u32) -> Self {
        let name = format!("truth-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let (period, quota) = (100_000, 1_000 * percent);
        let old = Path::new("/sys/fs/cgroup/cpu");
        if old.join("cpu.cfs_quota_us").exists() {
            let group = Self { directory: make(&old.join(name)) };
            write(&group.directory.join("cpu.cfs_period_us"), &period.to_string());
            write(&group.directory.join("cpu.cfs_quota_us"), &quota.to_string());
            return group;
        }
        let group = Self { directory: make(&Path::new("/sys/fs/cgroup").join(name)) };
        write(&group.directory.join("cpu.max"), &format!("{quota} {period}"));
        group
    }

    /// The file to which a process writes its number to belong to the group.
    pub fn entrance(&self) -> PathBuf {
        self.directory.join("cgroup.procs")
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // It fails only where a process of the group has not ended yet.
        let _ = fs::remove_dir(&self.directory);
    }
}

fn make(directory: &Path) -> PathBuf {
    let made = fs::create_dir(directory);
    made.unwrap_or_else(|error| {
        panic!("{}: {error}: this test needs a control group it may make", directory.display())
    });
    directory.to_owned()
}

fn write(file: &Path, text: &str) {
    let written = fs::write(file, text);
    written.unwrap_or_else(|error| panic!("{}: {error}: this test needs the cpu controller", file.display()));
}
