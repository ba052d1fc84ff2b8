//! `scripts/setup` on machines that lack things: a PATH of stand-ins says what is installed and writes down what is run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use anyhow::Result;
use house::tree;
use tempfile::TempDir;

/// What the script itself needs on any machine.
const TOOLS: [&str; 13] =
    ["bash", "env", "sed", "cat", "sort", "tr", "paste", "mktemp", "rm", "uname", "touch", "chmod", "mkdir"];

/// What tests need.
const PROGRAMS: [&str; 20] = [
    "chromium",
    "ip",
    "tc",
    "ss",
    "nft",
    "ping",
    "ethtool",
    "iperf3",
    "nuttcp",
    "dumpcap",
    "kill",
    "prometheus",
    "promtool",
    "initdb",
    "python3",
    "pip3",
    "java",
    "npm",
    "dpkg-deb",
    "systemd-analyze",
];

/// What they need from the registries of Python and npm.
const FROM_REGISTRY: [&str; 7] = [
    "uiperf3/uiperf3.py",
    "axe-playwright-python/axe_playwright_python/axe.min.js",
    "oidc-provider-mock/oidc_provider_mock/_app.py",
    "duckdb/duckdb/__init__.py",
    "pyspark/pyspark/__init__.py",
    "moto/moto/server.py",
    "ndt7/node_modules/@m-lab/ndt7/src/ndt7.js",
];

/// A machine with a package manager that installs by making the program appear.
struct Machine(TempDir);

impl Machine {
    fn new() -> Result<Self> {
        let machine = Self(tempfile::tempdir()?);
        for tool in TOOLS {
            let found = Command::new("sh").args(["-c", &format!("command -v {tool}")]).output()?;
            let path = String::from_utf8(found.stdout)?;
            std::os::unix::fs::symlink(path.trim(), machine.folder().join(tool))?;
        }
        machine.has("cargo", "")?;
        machine.has("cc", "")?;
        Ok(machine)
    }

    fn folder(&self) -> &Path {
        self.0.path()
    }

    /// Puts a program there that does what the shell lines say.
    fn has(&self, program: &str, lines: &str) -> Result<()> {
        let path = self.folder().join(program);
        fs::write(&path, format!("#!/usr/bin/env bash\nhere={:?}\n{lines}\n", self.folder()))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(())
    }

    fn has_all_but(&self, missing: &[&str]) -> Result<()> {
        for program in PROGRAMS {
            if !missing.contains(&program) {
                self.has(program, "")?;
            }
        }
        for file in FROM_REGISTRY {
            let file = self.folder().join("linerate-tests").join(file);
            fs::create_dir_all(file.parent().unwrap_or(self.folder()))?;
            fs::write(file, "")?;
        }
        Ok(())
    }

    fn is_root(&self) -> Result<()> {
        self.has("id", "echo 0")
    }

    /// An apt-get that knows its packages only after `update` if it starts without lists.
    fn has_apt(&self, lists: Lists) -> Result<()> {
        if lists == Lists::Present {
            fs::write(self.folder().join("lists"), "")?;
        }
        self.has(
            "apt-get",
            r#"echo "apt-get $*" >>"$here/calls"
               case " $* " in
                   *' update '*) touch "$here/lists" ;;
                   *) [ -e "$here/lists" ] || { echo 'E: Unable to locate package'; exit 100; }
                      for last; do :; done
                      touch "$here/$last"; chmod +x "$here/$last" ;;
               esac"#,
        )
    }

    fn set_up(&self, arguments: &[&str]) -> Result<Output> {
        let script = tree::root().join("scripts/setup");
        Ok(Command::new(self.folder().join("bash"))
            .arg(script)
            .args(arguments)
            .env_clear()
            .env("PATH", self.folder())
            .env("SETUP_SBIN", "")
            .env("XDG_DATA_HOME", self.folder())
            .output()?)
    }

    fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.folder().join("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Lists {
    Present,
    Missing,
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn nothing_is_done_or_said_when_nothing_is_missing() -> Result<()> {
    let machine = Machine::new()?;
    machine.has_all_but(&[])?;
    machine.has_apt(Lists::Present)?;
    let output = machine.set_up(&["test"])?;
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!((said(&output).as_str(), output.stdout.len(), machine.calls().len()), ("", 0, 0));
    Ok(())
}

#[test]
fn root_installs_exactly_what_is_missing_without_a_question() -> Result<()> {
    let machine = Machine::new()?;
    machine.has_all_but(&["nuttcp"])?;
    machine.has_apt(Lists::Present)?;
    machine.is_root()?;
    let output = machine.set_up(&["test"])?;
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(machine.calls().len(), 1);
    assert!(
        machine.calls()[0].contains("-y") && machine.calls()[0].ends_with("install --no-install-recommends nuttcp")
    );
    Ok(())
}

#[test]
fn missing_package_lists_are_fetched_once() -> Result<()> {
    let machine = Machine::new()?;
    machine.has_all_but(&["ethtool"])?;
    machine.has_apt(Lists::Missing)?;
    machine.is_root()?;
    let output = machine.set_up(&["test"])?;
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(machine.calls().iter().filter(|call| call.ends_with(" update")).count(), 1);
    Ok(())
}

#[test]
fn a_user_without_rights_is_told_what_is_missing_and_the_command() -> Result<()> {
    let machine = Machine::new()?;
    machine.has_all_but(&["iperf3", "nft"])?;
    machine.has_apt(Lists::Present)?;
    machine.has("id", "echo 1000")?;
    machine.has("sudo", "exit 1")?;
    let output = machine.set_up(&["test"])?;
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("setup: missing: iperf3 ("), "{}", said(&output));
    let command = "install with: sudo apt-get install --no-install-recommends iperf3 nftables\n";
    assert!(said(&output).contains(command), "{}", said(&output));
    assert!(machine.calls().is_empty());
    Ok(())
}

#[test]
fn sudo_without_a_password_is_used() -> Result<()> {
    let machine = Machine::new()?;
    machine.has_all_but(&["nuttcp"])?;
    machine.has_apt(Lists::Present)?;
    machine.has("id", "echo 1000")?;
    machine.has("sudo", r#"[ "$1" = -n ] || exit 1; shift; [ "$1" = true ] || "$@""#)?;
    let output = machine.set_up(&["test"])?;
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(machine.calls().len(), 1);
    Ok(())
}

#[test]
fn fedora_is_told_its_own_names() -> Result<()> {
    let machine = Machine::new()?;
    machine.has_all_but(&["tc"])?;
    machine.has("dnf", "exit 1")?;
    let output = machine.set_up(&["--check", "test"])?;
    assert!(said(&output).contains("install with: sudo dnf install iproute-tc\n"), "{}", said(&output));
    Ok(())
}

#[test]
fn a_target_asks_only_for_what_it_needs() -> Result<()> {
    let machine = Machine::new()?;
    machine.has("ip", "")?;
    machine.has("tc", "")?;
    let output = machine.set_up(&["--check", "demo"])?;
    assert!(output.status.success(), "{}", said(&output));
    assert!(!machine.set_up(&["--check", "test"])?.status.success());
    Ok(())
}

#[test]
fn a_failed_installation_shows_what_the_package_manager_said() -> Result<()> {
    let machine = Machine::new()?;
    machine.has_all_but(&["nuttcp"])?;
    machine.has("apt-get", "echo 'E: no room on the disk'; exit 100")?;
    machine.is_root()?;
    let output = machine.set_up(&["test"])?;
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("E: no room on the disk") && said(&output).contains("install with:"));
    Ok(())
}
