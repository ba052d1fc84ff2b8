use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

/// A root with these files, and what lists them all again.
struct Root(tempfile::TempDir);

impl Root {
    fn with(files: &[(&str, &str)]) -> Self {
        let root = Self(tempfile::tempdir().unwrap());
        for (path, content) in files {
            let place = root.0.path().join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, content).unwrap();
        }
        root
    }

    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.0.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(self.0.path()).unwrap().to_str().unwrap().to_owned();
                    found.insert(name, fs::read(&path).unwrap());
                }
            }
        }
        found
    }

    /// Writes `net.ipv4.tcp_ecn = 2` as fix `fix`, and says who wins by the resolver afterwards.
    fn keep(&self, fix: u64) -> (Written, String) {
        let written = write(self.0.path(), fix, &sysctl("2"), &running()).unwrap();
        let found = crate::provenance::find(&Disk::below(self.0.path()), &running());
        (written, found.provenance.settings["net.ipv4.tcp_ecn"].winning().unwrap().file.clone())
    }
}

fn sysctl(value: &str) -> Lasting {
    let lines = vec!["# TCP-ECN-ACTIVE".to_owned(), format!("net.ipv4.tcp_ecn = {value}")];
    Lasting { lines: [(Product::Sysctl, lines)].into(), lost: Vec::new() }
}

fn running() -> BTreeMap<String, Option<String>> {
    [("net.ipv4.tcp_ecn".to_owned(), Some("2".to_owned()))].into()
}

#[test]
fn the_name_is_the_first_under_which_the_resolver_says_that_we_win() {
    let cases: [(&[(&str, &str)], &str); 4] = [
        (&[], "/etc/sysctl.d/90-linerate.conf"),
        (&[("usr/lib/sysctl.d/50-default.conf", "net.ipv4.tcp_ecn = 1")], "/etc/sysctl.d/90-linerate.conf"),
        (&[("etc/sysctl.d/95-site.conf", "net.ipv4.tcp_ecn = 1")], "/etc/sysctl.d/99-linerate.conf"),
        (&[("etc/sysctl.d/99-sysctl.conf", "net.ipv4.tcp_ecn = 1")], "/etc/sysctl.d/99-zz-linerate.conf"),
    ];
    for (files, name) in cases {
        let root = Root::with(files);
        let (written, winner) = root.keep(1);
        assert_eq!((written.files, winner.as_str()), (vec![name.to_owned()], name));
        assert!(written.overruled.is_empty());
    }
}

#[test]
fn who_overrules_even_so_is_named_with_file_and_line() {
    let root = Root::with(&[("etc/sysctl.conf", "# old\nnet.ipv4.tcp_ecn = 1\n")]);
    let (written, winner) = root.keep(1);
    assert_eq!(winner, "/etc/sysctl.d/90-linerate.conf", "systemd-sysctl does not read sysctl.conf by that name");
    let other = &written.overruled[0];
    assert_eq!((other.by.as_str(), other.when), ("/etc/sysctl.conf:2", "after sysctl --system"));
    let root = Root::with(&[("etc/sysctl.d/99-zzz.conf", "net.ipv4.tcp_ecn = 1")]);
    let (written, _) = root.keep(1);
    assert_eq!((written.overruled[0].when, written.overruled[0].value.as_str()), ("at boot", "1"));
}

#[test]
fn a_file_that_would_lose_moves_to_a_name_that_wins_with_all_that_is_in_it() {
    let root = Root::with(&[]);
    root.keep(1);
    fs::write(root.0.path().join("etc/sysctl.d/95-site.conf"), "net.ipv4.tcp_ecn = 1").unwrap();
    let (_, winner) = root.keep(2);
    assert_eq!(winner, "/etc/sysctl.d/99-linerate.conf");
    let files = root.files();
    assert!(!files.contains_key("etc/sysctl.d/90-linerate.conf"));
    let text = String::from_utf8(files["etc/sysctl.d/99-linerate.conf"].clone()).unwrap();
    assert!(block::holds(&text, 1) && block::holds(&text, 2));
}

#[test]
fn taking_fixes_out_leaves_every_byte_as_it_was() {
    let site = [("etc/sysctl.d/95-site.conf", "net.ipv4.tcp_ecn = 1\n"), ("etc/modules-load.d/x.conf", "x\n")];
    let root = Root::with(&site);
    let before = root.files();
    let mut lasting = sysctl("2");
    lasting.lines.insert(Product::Modules, vec!["tcp_bbr".to_owned()]);
    lasting.lines.insert(Product::NetworkManager, vec!["true".to_owned()]);
    write(root.0.path(), 1, &lasting, &running()).unwrap();
    let between = root.files();
    let script = root.0.path().join("etc/NetworkManager/dispatcher.d/99-linerate");
    assert_eq!(fs::metadata(script).unwrap().permissions().mode() & 0o7777, 0o755);
    root.keep(2);
    assert_eq!(remove(root.0.path(), 2).unwrap(), ["/etc/sysctl.d/99-linerate.conf"]);
    assert_eq!(root.files(), between);
    assert_eq!(remove(root.0.path(), 1).unwrap().len(), 3);
    assert_eq!(root.files(), before);
    assert!(remove(root.0.path(), 1).unwrap().is_empty(), "twice is once");
}

#[test]
fn where_one_file_cannot_be_written_none_is() {
    // A directory in the place of the second file.
    let root = Root::with(&[("etc/modules-load.d/linerate.conf/x", ""), ("etc/sysctl.d/95-site.conf", "")]);
    let before = root.files();
    let mut lasting = sysctl("2");
    lasting.lines.insert(Product::Modules, vec!["tcp_bbr".to_owned()]);
    let error = write(root.0.path(), 1, &lasting, &running()).unwrap_err();
    assert_eq!(error.path, "/etc/modules-load.d/linerate.conf");
    assert_eq!(root.files(), before);
}
