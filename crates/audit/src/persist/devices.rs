//! Scripts and rules for devices: who brings a device up sets it up, so the place is where that is done last.

use foreign::file::is_plain_in_udev;
use foreign::shell::word;
use model::host::interface::Interface;
use model::host::snapshot::Snapshot;

use super::lasting::Lasting;
use super::product::Product;
use crate::fix::plan::PlannedStep;
use crate::fix::{Operation, Target, exact, route};

pub(super) fn add(lasting: &mut Lasting, step: &PlannedStep, host: &Snapshot) {
    if let Operation::Governor { name } = &step.operation {
        if !is_plain_in_udev(name) {
            return lasting.lose(step, "its names have signs that udev would read".to_owned());
        }
        let line = format!("ACTION==\"add\", SUBSYSTEM==\"cpu\", ATTR{{cpufreq/scaling_governor}}=\"{name}\"");
        return lasting.keep(Product::Udev, step, &[line]);
    }
    if let Some(name) = by_network_manager(host) {
        return match device(step, host) {
            Some(device) => lasting.keep(Product::NetworkManager, step, &script(step, &device, host)),
            None => lasting.lose(step, format!("{name} knows no single device for it")),
        };
    }
    match &step.operation {
        Operation::Route { .. } => {
            lasting.lose(step, "write the metrics where the route is defined".to_owned());
        }
        Operation::Interrupts { .. } => {
            lasting.lose(step, "interrupts come only when the device is up, which udev does not see".to_owned());
        }
        _ => match host.own().zip(step.link.as_deref()).and_then(|(own, link)| own.interface(link)) {
            Some(interface) => match rule(&step.operation, interface) {
                Some(rule) => lasting.keep(Product::Udev, step, &[rule]),
                None => lasting.lose(step, "its names have signs that udev would read".to_owned()),
            },
            None => lasting.lose(step, "there is no such device".to_owned()),
        },
    }
}

/// The name of NetworkManager where it runs or will.
fn by_network_manager(host: &Snapshot) -> Option<&'static str> {
    let service = host.services.each.get("NetworkManager")?.value()?;
    (service.running || service.enabled == Some(true)).then_some("NetworkManager")
}

/// The device whose coming up is waited for.
fn device(step: &PlannedStep, host: &Snapshot) -> Option<String> {
    match &step.operation {
        Operation::Route { to, .. } => route::only(host.own()?, to)?.interface.clone(),
        _ => step.link.clone(),
    }
}

/// Lines of a script that NetworkManager runs with the device and what happened to it (NetworkManager-dispatcher(8)).
fn script(step: &PlannedStep, device: &str, host: &Snapshot) -> Vec<String> {
    let mut lines = vec![format!("if [ \"$1\" = {} ] && [ \"$2\" = up ]; then", word(device))];
    lines.extend(exact::exact(step, host).apply.into_iter().map(|command| format!("  {command}")));
    lines.push("fi".to_owned());
    lines
}

/// A line of udev(7). Hardware is known by its address, because its name may be given after the line is read; what is
/// made of software has no other name than its own.
/// None where a name in it would end a quote or be a pattern.
fn rule(operation: &Operation<String>, interface: &Interface) -> Option<String> {
    let address = interface.link.value().and_then(|link| link.address.as_deref());
    let known_by = match (interface.is_virtual(), address) {
        (Some(false), Some(address)) => format!("DRIVERS==\"?*\", ATTR{{address}}==\"{address}\""),
        _ => format!("KERNEL==\"{}\"", interface.name),
    };
    let command = operation.command(&Target { namespace: "", link: STAND_IN });
    // The line stands between quotes of udev, and within those between quotes of a shell; it has no way to write either.
    let plain_names = is_plain_in_udev(&interface.name) && address.is_none_or(is_plain_in_udev);
    if !plain_names || command.contains(['\'', '"', '\\']) {
        return None;
    }
    let command = command.replace('$', "$$").replace('%', "%%").replace(STAND_IN, "$name");
    Some(format!(
        "ACTION==\"add\", SUBSYSTEM==\"net\", {known_by}, \
         RUN+=\"/bin/sh -c 'PATH=/usr/sbin:/usr/bin:/sbin:/bin; {command}'\""
    ))
}

/// Stands for the device while signs are doubled; no device has such a name.
const STAND_IN: &str = "/device/";
