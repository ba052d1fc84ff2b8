//! From what a rule proposes to steps that can be applied, and in plain words what cannot.

use audit::fix::{Operation, Target, mask};
use model::host::fix::discipline::Hook;
use model::host::fix::names::{
    BondPolicy, ClassId, CpuList, CpuMask, DeviceName, FeatureName, GovernorName, ModuleName, NameError, NamespaceName,
    Prefix, SysctlKey,
};
use model::host::fix::{Change, Step, Unfit, sysctl};

use super::tc;

/// What becomes of an operation that a rule proposes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Planned {
    /// A program can apply it and take it back.
    Step(Step),
    /// A person has to do it.
    Advice {
        /// What to do.
        text: String,
        /// Why no program does it.
        because: &'static str,
    },
}

/// Why an operation is no step.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// A name in it is none.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A number in it is none, such as a placeholder that a person is to fill in.
    #[error("`{text}` is not {expected}")]
    Number {
        /// What is there.
        text: String,
        /// What was expected.
        expected: &'static str,
    },
    /// Options of `tc` that are not understood.
    #[error(transparent)]
    Options(#[from] tc::OptionError),
    /// A value that may not be written.
    #[error(transparent)]
    Unfit(#[from] Unfit),
}

/// The step that an operation is at its target.
///
/// # Errors
/// Where a name or a value in it is none; see [`StepError`].
pub fn plan(operation: &Operation<String>, target: &Target<'_>) -> Result<Planned, StepError> {
    if let Some(because) = advice(operation) {
        return Ok(Planned::Advice { text: operation.command(target), because });
    }
    let step = Step { namespace: namespace(target.namespace)?, change: change(operation, target.link)? };
    step.check()?;
    Ok(Planned::Step(step))
}

/// Why a person has to do it, where one has to.
fn advice(operation: &Operation<String>) -> Option<&'static str> {
    match operation {
        Operation::BootParameter { .. } => Some(
            "the kernel command line takes effect with the next boot, and each boot loader has its own place for it",
        ),
        Operation::StopService { .. } => Some(
            "services belong to the service manager: only its own programs stop them for good, and this one runs none",
        ),
        Operation::Advice { .. } => Some("no program can do it"),
        _ => None,
    }
}

fn namespace(text: &str) -> Result<Option<NamespaceName>, NameError> {
    // A snapshot calls Docker's namespaces by their file.
    let name = text.strip_prefix("/run/netns/").or_else(|| text.strip_prefix("/run/docker/netns/"));
    let name = name.or_else(|| text.strip_prefix("/var/run/docker/netns/")).unwrap_or(text);
    (!name.is_empty()).then(|| NamespaceName::new(name)).transpose()
}

fn change(operation: &Operation<String>, link: &str) -> Result<Change, StepError> {
    let device = || DeviceName::new(link);
    Ok(match operation {
        Operation::Sysctl { key, value } => {
            let key = SysctlKey::new(key.as_str())?;
            let value = sysctl::checked(key.as_str(), value).map_err(Unfit::from)?;
            Change::Sysctl { key, value }
        }
        Operation::Route { to, metrics } => {
            let everywhere = if to == "default" { "0.0.0.0/0" } else { to };
            Change::Route { to: Prefix::new(everywhere)?, metrics: metrics.clone() }
        }
        Operation::Governor { name } => Change::Governor { name: GovernorName::new(name.as_str())? },
        Operation::Smt { on } => Change::Smt { on: *on },
        Operation::IdleStates { longest_exit_us } => Change::IdleStates { longest_exit_us: *longest_exit_us },
        Operation::Module { name } => Change::Module { name: ModuleName::new(name.as_str())? },
        Operation::Interrupts { cpus } => Change::Interrupts { device: device()?, cpus: CpuList::new(cpus.as_str())? },
        Operation::Steering { cpus } => {
            let mask = mask::of_list(cpus).ok_or_else(|| not_a(cpus, "a list of CPUs, such as 0-3,8"))?;
            Change::Steering { device: device()?, cpus: CpuMask::new(mask)? }
        }
        Operation::Qdisc { parent, kind, handle, options } => {
            let hook = Hook::try_from(parent.clone())?;
            let discipline = tc::discipline(kind, handle.as_deref(), options.as_deref().unwrap_or_default())?;
            Change::Qdisc { device: device()?, hook, discipline }
        }
        Operation::Class { parent, class, options } => Change::Class {
            device: device()?,
            hook: Hook::try_from(parent.clone())?,
            class: ClassId::try_from(class.clone())?,
            htb: tc::class(options)?,
        },
        Operation::NoQdisc {} => Change::NoQdisc { device: device()? },
        other => return of_device(other, device()?),
    })
}

fn of_device(operation: &Operation<String>, device: DeviceName) -> Result<Change, StepError> {
    let count = |text: &String| text.parse().map_err(|_| not_a(text, "a whole number"));
    Ok(match operation {
        Operation::Feature { name, on } => Change::Feature { device, name: FeatureName::new(name.as_str())?, on: *on },
        Operation::Rings { rx, tx } => {
            Change::Rings { device, rx: rx.as_ref().map(count).transpose()?, tx: tx.as_ref().map(count).transpose()? }
        }
        Operation::Channels { combined } => {
            Change::Channels { device, combined: Some(count(combined)?), rx: None, tx: None }
        }
        Operation::Coalesce { adaptive } => Change::Coalesce { device, adaptive: *adaptive },
        Operation::Pause { rx, tx } => Change::Pause { device, rx: *rx, tx: *tx },
        Operation::Eee { on } => Change::Eee { device, on: *on },
        Operation::Autonegotiation { on } => Change::Autonegotiation { device, on: *on },
        Operation::Spread { queues } => Change::Spread { device, queues: count(queues)? },
        Operation::Mtu { bytes } => Change::Mtu { device, bytes: count(bytes)? },
        Operation::TxQueueLength { packets } => Change::TxQueueLength { device, packets: count(packets)? },
        Operation::LargestAggregate { bytes } => Change::LargestAggregate { device, bytes: count(bytes)? },
        Operation::BondHash { policy } => Change::BondHash { device, policy: BondPolicy::new(policy.as_str())? },
        // All others have been taken before.
        _ => return Err(not_a(device.as_str(), "a place where this can be done")),
    })
}

fn not_a(text: &str, expected: &'static str) -> StepError {
    StepError::Number { text: text.to_owned(), expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(operation: &Operation<String>) -> Result<Planned, StepError> {
        plan(operation, &Target { namespace: "/run/docker/netns/ingress_sbox", link: "eth0" })
    }

    #[test]
    fn operations_become_steps_with_checked_values() {
        let text = str::to_owned;
        let step = |change| Planned::Step(Step { namespace: NamespaceName::new("ingress_sbox").ok(), change });
        let device = DeviceName::new("eth0").unwrap();
        let operation = Operation::Sysctl { key: text("net.ipv4.tcp_rmem"), value: text("4096 131072 536870912") };
        let key = SysctlKey::new("net.ipv4.tcp_rmem").unwrap();
        let expected = step(Change::Sysctl { key, value: text("4096 131072 536870912") });
        assert_eq!(planned(&operation).unwrap(), expected);
        let operation = Operation::Steering { cpus: text("0-3,8") };
        let expected = step(Change::Steering { device: device.clone(), cpus: CpuMask::new("10f").unwrap() });
        assert_eq!(planned(&operation).unwrap(), expected);
        let operation = Operation::Rings { rx: Some(text("8192")), tx: None };
        assert_eq!(planned(&operation).unwrap(), step(Change::Rings { device, rx: Some(8_192), tx: None }));
    }

    #[test]
    fn placeholders_and_values_out_of_range_are_no_steps() {
        let text = str::to_owned;
        for operation in [
            Operation::Sysctl { key: text("net.core.rmem_max"), value: text("4294967296") },
            Operation::Route { to: text("(the destination)"), metrics: text("mtu lock 1400") },
            Operation::Route { to: text("192.0.2.0/24"), metrics: text("initrwnd (the sender's initcwnd)") },
            Operation::Mtu { bytes: text("nine thousand") },
            Operation::Sysctl { key: text("kernel.core_pattern"), value: text("x") },
        ] {
            assert!(planned(&operation).is_err(), "{operation:?}");
        }
    }

    #[test]
    fn what_no_program_does_is_advice_with_its_reason() {
        let operation = Operation::StopService { unit: "irqbalance".to_owned() };
        let Planned::Advice { text, because } = planned(&operation).unwrap() else { panic!("a step") };
        assert!(text.contains("systemctl disable --now irqbalance") && because.contains("service manager"));
    }
}
