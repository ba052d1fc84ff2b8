//! Making one host.

use std::io;
use std::path::Path;
use std::time::Duration;

use linux::mounts;
use linux::namespaces::{self, DutyCycle, Init};
use linux::tap::Tap;

use super::devices::Tools;
use super::error::RaiseError;
use super::files::{self, Own};
use super::given::Given;
use super::sysctl;
use crate::blueprint;

/// A host that was made, with its ends of cables in the order of the blueprint.
pub(super) struct Made {
    pub(super) init: Init,
    pub(super) taps: Vec<Tap>,
    pub(super) own: Own,
    pub(super) given: Given,
}

/// Makes a host. The calling thread becomes a part of it, and is of no use for anything else after that.
pub(super) fn host(host: &blueprint::Host, place: &Path, names: &str) -> Result<Made, RaiseError> {
    let failed =
        |step, needs| move |source: io::Error| RaiseError::Host { host: host.name.clone(), step, needs, source };
    namespaces::separate()
        .map_err(failed("unshare", "CAP_SYS_ADMIN, and user.max_net_namespaces above what is in use"))?;
    mounts::keep_to_ourselves().map_err(failed("mounting", "CAP_SYS_ADMIN"))?;
    let own =
        files::show(place, names, host).map_err(failed("mounting /etc/hosts", "CAP_SYS_ADMIN, a file /etc/hosts"))?;
    mounts::mount_sysfs().map_err(failed("mounting /sys", UNCOVERED))?;
    namespaces::set_host_name(&host.name).map_err(failed("naming the host", "a name of at most 64 bytes"))?;
    sysctl::quieten_ipv6().map_err(|(key, trouble)| RaiseError::Sysctl { host: host.name.clone(), key, trouble })?;
    let mut given = Given::default();
    let taps = Tools::open(&host.name, &mut given)?.furnish(host)?;
    let duty = host.cpu_share.and_then(duty_cycle);
    let init = Init::start(duty).map_err(failed("mounting /proc", UNCOVERED))?;
    Ok(Made { init, taps, own, given })
}

/// The turns in which the programs of a host run that has this share of a processor.
pub(super) fn duty_cycle(share: f64) -> Option<DutyCycle> {
    (share < 1.0).then(|| {
        let on = TURN.mul_f64(share.max(0.0)).max(SHORTEST);
        DutyCycle { on, off: TURN.saturating_sub(on) }
    })
}

/// One turn of running and standing still: as long as those in which the kernel gives a group of processes its share, where
/// nobody says otherwise (`cpu.max`, Documentation/admin-guide/cgroup-v2.rst), and long against the cost of two signals for
/// each process.
const TURN: Duration = Duration::from_millis(100);

/// A host that never ran could not even be ended by its programs.
const SHORTEST: Duration = Duration::from_micros(100);

const UNCOVERED: &str = "CAP_SYS_ADMIN, and in a container that nothing is mounted over parts of it: \
                         `--security-opt systempaths=unconfined` of Docker and Podman";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_share_is_no_turns() {
        assert_eq!(duty_cycle(1.0), None);
        let quarter = DutyCycle { on: Duration::from_millis(25), off: Duration::from_millis(75) };
        assert_eq!(duty_cycle(0.25), Some(quarter));
        assert_eq!(duty_cycle(0.0).unwrap().on, SHORTEST);
    }
}
