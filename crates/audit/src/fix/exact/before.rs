//! What a setting was, as the command that brings it back.

use foreign::shell::word;

use super::{Place, queueing};
use crate::fix::command::switch;
use crate::fix::{Operation, route};

impl Place<'_> {
    /// The commands that bring back what was; none where the snapshot does not hold it.
    pub(super) fn undo(&self, operation: &Operation<String>) -> Option<Vec<String>> {
        let one = |operation: Operation<String>| Some(vec![operation.command(&self.target)]);
        let typed = |command: String| Some(vec![self.target.inside(&command)]);
        match operation {
            Operation::Sysctl { key, .. } => {
                let value = self.namespace.sysctl(key)?.to_owned();
                one(Operation::Sysctl { key: key.clone(), value })
            }
            Operation::Route { to, .. } => {
                let found = route::only(self.namespace, to)?;
                typed(route::command(found, &found.metrics)?)
            }
            Operation::Qdisc { .. } | Operation::Class { .. } | Operation::NoQdisc {} => {
                let commands = queueing::rebuilt(self.target.link, self.interface?.qdiscs.value()?)?;
                Some(commands.iter().map(|command| self.target.inside(command)).collect())
            }
            Operation::Interrupts { .. } => {
                let interrupts = self.interface?.interrupts.value()?;
                let line =
                    |number: u32, cpus: &str| format!("echo {} > /proc/irq/{number}/smp_affinity_list", word(cpus));
                interrupts.iter().map(|each| Some(line(each.number, each.allowed_cpus.as_deref()?))).collect()
            }
            Operation::Governor { .. } | Operation::Smt { .. } | Operation::IdleStates { .. } => {
                self.of_processors(operation)
            }
            _ => self.of_the_device(operation),
        }
    }

    fn of_the_device(&self, operation: &Operation<String>) -> Option<Vec<String>> {
        let (interface, name) = (self.interface?, word(self.target.link));
        let link = interface.link.value();
        let plain = |command: String| Some(vec![self.target.inside(&command)]);
        let same = |operation: Operation<String>| Some(vec![operation.command(&self.target)]);
        match operation {
            Operation::Feature { name, .. } => {
                let on = interface.features.value()?.get(name)?.wanted;
                same(Operation::Feature { name: name.clone(), on })
            }
            Operation::Rings { rx, tx } => {
                let was = interface.rings.value()?;
                let text =
                    |asked: &Option<String>, was: Option<u32>| asked.as_ref().and(was).map(|was| was.to_string());
                same(Operation::Rings { rx: text(rx, was.rx), tx: text(tx, was.tx) })
            }
            Operation::Channels { .. } => {
                same(Operation::Channels { combined: interface.channels.value()?.combined?.to_string() })
            }
            Operation::Coalesce { .. } => plain(coalescing(&name, interface.coalesce.value()?)),
            Operation::Pause { .. } => {
                let was = interface.pause.value()?;
                let (autoneg, rx, tx) = (switch(was.autonegotiation), switch(was.rx), switch(was.tx));
                plain(format!("ethtool -A {name} autoneg {autoneg} rx {rx} tx {tx}"))
            }
            Operation::Eee { .. } => same(Operation::Eee { on: interface.eee.value()?.enabled }),
            Operation::Autonegotiation { .. } => {
                same(Operation::Autonegotiation { on: interface.mode.value()?.autonegotiation? })
            }
            Operation::Mtu { .. } => same(Operation::Mtu { bytes: link?.mtu?.to_string() }),
            Operation::TxQueueLength { .. } => same(Operation::TxQueueLength { packets: link?.txqlen?.to_string() }),
            Operation::LargestAggregate { .. } => {
                let (gso, gro) = (link?.gso_ipv4_max?, link?.gro_ipv4_max?);
                plain(format!("ip link set dev {name} gso_ipv4_max_size {gso} gro_ipv4_max_size {gro}"))
            }
            Operation::BondHash { .. } => {
                same(Operation::BondHash { policy: link?.bond.as_ref()?.transmit_hash.clone()? })
            }
            Operation::Steering { .. } => {
                let queues = interface.queues.value()?.rx.iter().enumerate();
                let line = |(number, mask): (usize, &str)| {
                    format!("echo {} > /sys/class/net/{name}/queues/rx-{number}/rps_cpus", word(mask))
                };
                let lines = queues.map(|(number, queue)| Some(line((number, queue.rps_cpus.as_deref()?))));
                let line = lines.collect::<Option<Vec<_>>>()?.join("; ");
                Some(vec![self.target.in_its_sysfs(&line)])
            }
            _ => None,
        }
    }

    fn of_processors(&self, operation: &Operation<String>) -> Option<Vec<String>> {
        let processors = &self.host.processors;
        let folder = |number: u32| format!("/sys/devices/system/cpu/cpu{number}");
        match operation {
            Operation::Governor { .. } => {
                let line =
                    |number, was: &str| format!("echo {} > {}/cpufreq/scaling_governor", word(was), folder(number));
                let each = processors.each.iter();
                each.map(|processor| Some(line(processor.number, processor.governor.value()?))).collect()
            }
            Operation::Smt { .. } => {
                let was = processors.smt_control.value()?;
                Some(vec![format!("echo {} > /sys/devices/system/cpu/smt/control", word(was))])
            }
            _ => {
                let state = |processor: u32, number: usize, disabled: bool| {
                    format!("echo {} > {}/cpuidle/state{number}/disable", u8::from(disabled), folder(processor))
                };
                let mut lines = Vec::new();
                for processor in &processors.each {
                    let states = processor.idle_states.value()?.iter().enumerate();
                    lines.extend(states.map(|(number, was)| state(processor.number, number, was.disabled)));
                }
                Some(lines)
            }
        }
    }
}

fn coalescing(name: &str, was: &model::host::interface::tuning::Coalesce) -> String {
    let adaptive = |way: &str, on: Option<bool>| on.map(|on| format!(" adaptive-{way} {}", switch(on)));
    let numbers = ["rx-usecs", "rx-frames", "tx-usecs", "tx-frames"];
    let numbers = numbers.iter().filter_map(|number| Some(format!(" {number} {}", was.values.get(*number)?)));
    let ways = [adaptive("rx", was.adaptive_rx), adaptive("tx", was.adaptive_tx)];
    format!("ethtool -C {name}{}{}", ways.into_iter().flatten().collect::<String>(), numbers.collect::<String>())
}
