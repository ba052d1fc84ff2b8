//! A plan as a playbook of Ansible, for sites that keep their tuning there.
//!
//! A sysctl and a module have tasks of their own, which keep them over the next start; all else is the command that a person
//! would type. Texts are JSON, which is YAML as well, so that nothing in them is read otherwise.

use std::fmt::Write;

use super::exact::Commands;
use super::plan::{FixPlan, PlannedStep};
use super::{Operation, Target};

/// The playbook of a plan for `hosts`, a pattern of the site's inventory. `commands` are those of each step.
#[must_use]
pub fn playbook(plan: &FixPlan, commands: &[Commands], hosts: &str) -> String {
    let mut text = String::from("# From `linerate host fix --ansible`.\n---\n");
    let _ = writeln!(text, "- name: {}", quoted(&title(plan)));
    let _ = writeln!(text, "  hosts: {}\n  become: true\n  tasks:", quoted(hosts));
    for (step, commands) in plan.steps.iter().zip(commands) {
        task(&mut text, step, commands);
    }
    for by_hand in &plan.by_hand {
        let _ = writeln!(text, "    # by hand, for {}: {}", by_hand.rules.join(", "), one_line(&by_hand.text));
    }
    text
}

fn title(plan: &FixPlan) -> String {
    let rules = plan.rules();
    if rules.is_empty() { "network tuning".to_owned() } else { rules.join(", ") }
}

fn task(text: &mut String, step: &PlannedStep, commands: &Commands) {
    let target = Target {
        namespace: step.namespace.as_deref().unwrap_or_default(),
        link: step.link.as_deref().unwrap_or_default(),
    };
    let why = if step.rules.is_empty() { String::new() } else { format!("{}: ", step.rules.join(", ")) };
    let _ = writeln!(text, "    - name: {}", quoted(&format!("{why}{}", step.operation.command(&target))));
    match &step.operation {
        Operation::Sysctl { key, value } if step.namespace.is_none() => {
            let _ = writeln!(
                text,
                "      ansible.posix.sysctl:\n        name: {}\n        value: {}\n        sysctl_file: \"{}\"\n        \
                 sysctl_set: true\n        state: present",
                quoted(key),
                quoted(value),
                crate::persist::SYSCTL_FILES[0],
            );
        }
        Operation::Module { name } => {
            let _ = writeln!(
                text,
                "      community.general.modprobe:\n        name: {}\n        state: present\n        persistent: present",
                quoted(name)
            );
        }
        _ => {
            let line = commands.apply.join(" && ");
            let _ = writeln!(text, "      ansible.builtin.shell:\n        cmd: {}", quoted(&line));
        }
    }
}

/// A text as YAML reads it, whatever is in it.
fn quoted(text: &str) -> String {
    foreign::terminal::json(serde_json::Value::String(text.to_owned()).to_string())
}

fn one_line(text: &str) -> String {
    foreign::terminal::line(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(operation: Operation<String>) -> PlannedStep {
        PlannedStep {
            rules: vec!["TCP-ECN-ACTIVE".to_owned()],
            namespace: None,
            link: Some("eth0".to_owned()),
            operation,
            disruption: None,
            lowers: false,
        }
    }

    #[test]
    fn sysctls_have_their_own_task_and_all_else_its_command() {
        let steps = vec![
            step(Operation::Sysctl { key: "net.ipv4.tcp_ecn".to_owned(), value: "2".to_owned() }),
            step(Operation::Mtu { bytes: "9000".to_owned() }),
        ];
        let plan = FixPlan { steps, ..FixPlan::default() };
        let commands = ["sysctl -w net.ipv4.tcp_ecn=2", "ip link set dev eth0 mtu 9000"]
            .map(|line| Commands { apply: vec![line.to_owned()], undo: None });
        let text = playbook(&plan, &commands, "dtns");
        assert!(text.contains("  hosts: \"dtns\"\n  become: true\n"), "{text}");
        assert!(
            text.contains("ansible.posix.sysctl:\n        name: \"net.ipv4.tcp_ecn\"\n        value: \"2\"\n"),
            "{text}"
        );
        assert!(text.contains("cmd: \"ip link set dev eth0 mtu 9000\"\n"), "{text}");
    }

    #[test]
    fn no_value_begins_a_line_of_the_playbook() {
        let value = "2\"\n    - name: evil\n      ansible.builtin.shell: \"id".to_owned();
        let plan = FixPlan {
            steps: vec![step(Operation::Sysctl { key: "net.ipv4.tcp_ecn".to_owned(), value })],
            ..FixPlan::default()
        };
        let text = playbook(&plan, &[Commands { apply: Vec::new(), undo: None }], "all");
        assert!(!text.lines().any(|line| line.trim_start().starts_with("- name: evil")), "{text}");
    }
}
