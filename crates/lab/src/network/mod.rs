//! Networks made of namespaces, from a [blueprint](crate::blueprint), and gone without a trace.
//!
//! A host is a network namespace without a name on disk. Its first process holds it, and ends with the process that
//! raised the network, however that ends; then the kernel removes namespaces, devices and all processes in them by
//! itself.
//!
//! * [`Network`]: raising, changing, and its end
//! * [`Host`]: programs in a host
//! * [`kept`]: networks that outlive the command that raised them, and how others find them
//! * [`place`]: the directory of labs

mod control;
mod devices;
mod error;
mod files;
mod given;
mod host;
pub mod kept;
pub mod place;
mod raise;
mod sysctl;

use std::sync::{Mutex, PoisonError};
use std::thread;

use linux::namespaces::{Entrance, rights};
use linux::tap::Tap;
use path::Seed;

use crate::blueprint::{Alteration, Blueprint, Cable, What};
use crate::relay::Wire;
pub use error::RaiseError;
pub(crate) use files::FACTS;
pub use host::{FIXES, Host, RECORDED_FACTS};
pub use sysctl::SysctlTrouble;

/// A network of hosts. It is gone with all of its processes when this value is dropped.
#[derive(Debug)]
pub struct Network {
    hosts: Vec<Host>,
    /// For each cable its two ends, until they are taken.
    ends: Vec<[Option<Tap>; 2]>,
    cables: Vec<Cable>,
    seed: Seed,
}

impl Network {
    /// Makes all hosts with their devices, addresses and routes. No packet gets from one to another before the cables
    /// are driven by a [relay](crate::relay).
    ///
    /// It takes `CAP_SYS_ADMIN` and `CAP_NET_ADMIN`: as root, or after [`linux::namespaces::rights::acquire`].
    ///
    /// # Errors
    /// See [`RaiseError`]. Nothing is left of what was made until then.
    pub fn raise(blueprint: &Blueprint) -> Result<Self, RaiseError> {
        check_rights()?;
        let place = place::directory()?;
        let names = files::names(blueprint);
        let mut network = Self {
            hosts: Vec::with_capacity(blueprint.hosts.len()),
            ends: blueprint.cables.iter().map(|_| [None, None]).collect(),
            cables: blueprint.cables.clone(),
            seed: blueprint.seed,
        };
        for host in &blueprint.hosts {
            let made =
                on_scratch_thread(|| raise::host(host, &place, &names)).map_err(RaiseError::seen_from_outside)?;
            for (device, tap) in host.devices.iter().zip(made.taps) {
                network.ends[device.cable][device.end] = Some(tap);
            }
            let entrance = Entrance::of(&made.init).map_err(|source| RaiseError::Host {
                host: host.name.clone(),
                step: "keeping a way in",
                needs: "a free descriptor",
                source,
            })?;
            network.hosts.push(Host {
                name: host.name.clone(),
                addresses: host.addresses.clone(),
                init: made.init,
                entrance,
                own: made.own,
                given: Mutex::new(made.given),
            });
        }
        Ok(network)
    }

    /// The hosts, in the order of the blueprint.
    #[must_use]
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// The host of this name.
    #[must_use]
    pub fn host(&self, name: &str) -> Option<&Host> {
        self.hosts.iter().find(|host| host.name == name)
    }

    /// The cables for a [relay](crate::relay), which then owns their ends; none the second time. The devices exist as
    /// long as the relay has them, so it is to end before the network does.
    pub fn wires(&mut self) -> Vec<Wire> {
        let ends = self.ends.iter_mut().map(|[one, other]| Some([one.take()?, other.take()?]));
        let wires = (0..).zip(&self.cables).zip(ends).filter_map(|((number, cable), taps)| {
            Some(Wire {
                name: cable.name.clone(),
                taps: taps?,
                stages: cable.chains.clone(),
                reporters: cable.reporters.clone(),
                seed: self.seed.part(number),
            })
        });
        wires.collect()
    }

    /// Changes something in a host, whatever its time.
    ///
    /// # Errors
    /// See [`RaiseError`].
    pub fn alter(&self, alteration: &Alteration) -> Result<(), RaiseError> {
        let host = &self.hosts[alteration.host];
        let gone = |source| RaiseError::Host {
            host: host.name.clone(),
            step: "entering it",
            needs: "that it is still there",
            source,
        };
        if let What::CpuShare(share) = &alteration.what {
            return host.init.set_duty(share.and_then(raise::duty_cycle)).map_err(gone);
        }
        let altered = host.run(|| {
            let mut given = host.given.lock().unwrap_or_else(PoisonError::into_inner);
            devices::Tools::open(&host.name, &mut given)?.alter(&alteration.what)
        });
        let altered = altered.map_err(gone)?;
        altered.map_err(RaiseError::seen_from_outside)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // All at once; each is then waited for.
        self.hosts.iter().for_each(|host| host.init.kill());
    }
}

fn check_rights() -> Result<(), RaiseError> {
    match rights::missing() {
        Ok(missing) if missing.is_empty() => Ok(()),
        Ok(missing) => Err(RaiseError::Rights { missing: missing.join(" and ") }),
        // Then the first call that takes them tells.
        Err(_) => Ok(()),
    }
}

fn on_scratch_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let scratch = scope.spawn(work);
        scratch.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
