//! The package for Debian: what is in it runs, and its services are such as systemd takes.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

const SERVICES: [&str; 3] = ["linerate-hub.service", "linerate-agent.service", "linerate-helper.service"];

/// Units of the system that services name.
const OF_SYSTEM: [&str; 5] =
    ["sysinit.target", "basic.target", "shutdown.target", "network-online.target", "multi-user.target"];

/// Runs something that must end well, and returns all that it prints.
#[track_caller]
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(output.status.success(), "{command:?}: {said}");
    said
}

#[test]
fn package_has_the_program_and_services_that_systemd_takes() {
    let folder = TempDir::new().unwrap();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pack = repository.join("scripts/package");
    let said = run(Command::new(pack).arg(env!("CARGO_BIN_EXE_linerate")).arg(folder.path()).env("LEVEL", "1"));
    let (package, _) = said.split_once(": ").unwrap();
    let root = folder.path().join("root");
    run(Command::new("dpkg-deb").arg("--extract").arg(package).arg(&root));
    let version = run(Command::new(root.join("usr/bin/linerate")).arg("--version"));
    let named = run(Command::new("dpkg-deb").args(["--field", package, "Version"]));
    assert_eq!(version.trim(), format!("linerate {}", named.trim()));

    let system = root.join("etc/systemd/system");
    fs::create_dir_all(&system).unwrap();
    for unit in OF_SYSTEM {
        fs::write(system.join(unit), "[Unit]\nDescription=of the system\n").unwrap();
    }
    for service in SERVICES {
        let verified = run(Command::new("systemd-analyze").arg("verify").arg("--root").arg(&root).arg(service));
        assert_eq!(verified.trim(), "", "{service}");
        let text = fs::read_to_string(root.join("usr/lib/systemd/system").join(service)).unwrap();
        let start = text.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/linerate ")).unwrap();
        let mut command: Vec<&str> =
            start.split(' ').take_while(|word| word.starts_with(char::is_alphabetic)).collect();
        command.push("--help");
        run(Command::new(root.join("usr/bin/linerate")).args(command));
        for user in text.lines().filter_map(|line| line.strip_prefix("User=")) {
            let accounts = fs::read_to_string(root.join("usr/lib/sysusers.d/linerate.conf")).unwrap();
            assert!(accounts.lines().any(|line| line.split(' ').nth(1) == Some(user)), "{user}");
        }
    }
    // Whatever is exposed beyond this was exposed by a change of the unit.
    let exposed = |service: &str, most: &str| {
        run(Command::new("systemd-analyze")
            .args(["security", "--offline=yes", "--threshold", most, "--root"])
            .arg(&root)
            .arg(service));
    };
    exposed("linerate-hub.service", "30");
    exposed("linerate-agent.service", "40");
}
