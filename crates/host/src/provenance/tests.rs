//! Claims about who wins, on planted files.

use model::host::provenance::Origin;

use super::*;
use crate::files::FilesInMemory;

fn held(files: &[(&str, &str)]) -> FilesInMemory {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
    FilesInMemory { files: files.collect(), links: BTreeMap::new() }
}

fn running(values: &[(&str, &str)]) -> BTreeMap<String, Option<String>> {
    values.iter().map(|(key, value)| ((*key).to_owned(), Some((*value).to_owned()))).collect()
}

/// The winner's value, and its file with the line.
fn winning(found: &Found, key: &str) -> Option<(String, String)> {
    let definition = found.provenance.settings.get(key)?.winning()?;
    Some((definition.value.clone(), format!("{}:{}", definition.file, definition.line)))
}

fn won(value: &str, place: &str) -> Option<(String, String)> {
    Some((value.to_owned(), place.to_owned()))
}

const RMEM: &str = "net.core.rmem_max";

#[test]
fn files_are_applied_by_their_names_and_not_by_their_directories() {
    let files = held(&[
        ("/usr/lib/sysctl.d/90-late.conf", "# late\nnet.core.rmem_max = 3\n"),
        ("/etc/sysctl.d/10-early.conf", "net.core.rmem_max=1\n"),
        ("/run/sysctl.d/50-middle.conf", "net/core/rmem_max=2\n"),
    ]);
    let found = find(&files, &running(&[(RMEM, "2")]));
    assert_eq!(winning(&found, RMEM), won("3", "/usr/lib/sysctl.d/90-late.conf:2"));
    let setting = &found.provenance.settings[RMEM];
    assert_eq!(setting.definitions.iter().map(|each| each.value.as_str()).collect::<Vec<_>>(), ["1", "2", "3"]);
    assert_eq!(setting.running_differs, Some(true));
}

#[test]
fn file_of_the_same_name_in_a_higher_directory_masks() {
    let files = held(&[
        ("/usr/lib/sysctl.d/50-dtn.conf", "net.core.rmem_max = 3\n"),
        ("/etc/sysctl.d/50-dtn.conf", "net.core.rmem_max = 1\n"),
    ]);
    let found = find(&files, &running(&[(RMEM, "1")]));
    assert_eq!(winning(&found, RMEM), won("1", "/etc/sysctl.d/50-dtn.conf:1"));
    let setting = &found.provenance.settings[RMEM];
    assert!(setting.definitions[0].masked && setting.running_differs == Some(false), "{setting:?}");
    let masked = &found.provenance.files["/usr/lib/sysctl.d/50-dtn.conf"];
    assert_eq!(masked.masked_by.as_deref(), Some("/etc/sysctl.d/50-dtn.conf"));
}

#[test]
fn link_to_nothing_masks_too() {
    let mut files = held(&[("/usr/lib/sysctl.d/50-dtn.conf", "net.core.rmem_max = 3\n")]);
    files.links.insert("/etc/sysctl.d/50-dtn.conf".to_owned(), "/dev/null".to_owned());
    let found = find(&files, &running(&[(RMEM, "1")]));
    assert_eq!(winning(&found, RMEM), None);
    assert_eq!(found.provenance.settings[RMEM].running_differs, None);
}

#[test]
fn main_file_is_read_by_sysctl_only_and_last() {
    let files = held(&[
        ("/etc/sysctl.conf", "net.core.rmem_max = 9\n"),
        ("/etc/sysctl.d/99-z.conf", "net.core.rmem_max = 1\n"),
    ]);
    let found = find(&files, &running(&[]));
    assert_eq!(winning(&found, RMEM), won("1", "/etc/sysctl.d/99-z.conf:1"));
    let setting = &found.provenance.settings[RMEM];
    let after = &setting.definitions[setting.winner_after_sysctl_system.unwrap()];
    assert_eq!((after.value.as_str(), after.file.as_str()), ("9", "/etc/sysctl.conf"));
}

#[test]
fn name_written_out_wins_against_every_pattern_and_dashes_take_out() {
    let files = held(&[
        ("/etc/sysctl.d/10-one.conf", "net.ipv4.conf.eth0.rp_filter = 0\n-net.ipv4.conf.eth2.rp_filter\n"),
        ("/etc/sysctl.d/90-all.conf", "-net.ipv4.conf.*.rp_filter = 2\n"),
    ]);
    let keys = ["eth0", "eth1", "eth2", "eth3/100"].map(|name| format!("net.ipv4.conf.{name}.rp_filter"));
    let values: Vec<(&str, &str)> = keys.iter().map(|key| (key.as_str(), "2")).collect();
    let found = find(&files, &running(&values));
    let pattern = || won("2", "/etc/sysctl.d/90-all.conf:1");
    assert_eq!(winning(&found, &keys[0]), won("0", "/etc/sysctl.d/10-one.conf:1"));
    assert_eq!(winning(&found, &keys[1]), pattern());
    assert_eq!(winning(&found, &keys[2]), None);
    assert_eq!(winning(&found, &keys[3]), pattern());
    let definition = found.provenance.settings[&keys[1]].winning().unwrap();
    assert!(definition.failure_ignored && definition.pattern.as_deref() == Some("net.ipv4.conf.*.rp_filter"));
}

const PROFILE: [(&str, &str); 3] = [
    ("/etc/tuned/active_profile", "site-dtn\n"),
    ("/etc/tuned/profiles/site-dtn/tuned.conf", "[main]\ninclude=network-throughput\n[sysctl]\nnet.core.wmem_max=7\n"),
    (
        "/usr/lib/tuned/profiles/network-throughput/tuned.conf",
        "[main]\nsummary=x\n[sysctl]\nnet.core.rmem_max=16\nnet.core.wmem_max=16\n",
    ),
];

#[test]
fn tuned_wins_against_packages_and_loses_to_what_it_applies_again() {
    let mut files = PROFILE.to_vec();
    files.push(("/usr/lib/sysctl.d/99-package.conf", "net.core.rmem_max = 1\n"));
    let found = find(&held(&files), &running(&[]));
    let tuned = "/usr/lib/tuned/profiles/network-throughput/tuned.conf:4";
    assert_eq!(winning(&found, RMEM), won("16", tuned));
    assert_eq!(winning(&found, "net.core.wmem_max"), won("7", "/etc/tuned/profiles/site-dtn/tuned.conf:4"));
    assert_eq!(found.tuned.as_ref().unwrap().sysctls["net.core.wmem_max"], "7");
    assert_eq!(found.provenance.tuned_reapplies_sysctl, Some(true));

    files.push(("/etc/sysctl.d/10-site.conf", "net.core.rmem_max = 2\n"));
    let found = find(&held(&files), &running(&[]));
    assert_eq!(winning(&found, RMEM), won("2", "/etc/sysctl.d/10-site.conf:1"));

    files.push(("/etc/tuned/tuned-main.conf", "reapply_sysctl = 0\n"));
    let found = find(&held(&files), &running(&[]));
    assert_eq!(winning(&found, RMEM), won("16", tuned));
}

#[test]
fn profile_that_includes_itself_ends_and_one_that_is_missing_is_reported() {
    let files = held(&[
        ("/etc/tuned/active_profile", "a"),
        ("/etc/tuned/a/tuned.conf", "[main]\ninclude=a,b,../../etc\nnonsense\n[sysctl]\nnet.core.rmem_max=5\n"),
    ]);
    let found = find(&files, &running(&[]));
    assert_eq!(winning(&found, RMEM), won("5", "/etc/tuned/a/tuned.conf:5"));
    let reasons: Vec<_> = found.anomalies.iter().map(|anomaly| anomaly.reason.as_str()).collect();
    assert_eq!(reasons, ["not `name=value`", "no profile called `b`"]);
}

#[test]
fn connections_modules_and_command_line_are_told_with_their_lines() {
    let files = held(&[
        (
            "/etc/NetworkManager/system-connections/dtn.nmconnection",
            "[connection]\nid=dtn\ninterface-name=eth0\n[ethernet]\nmtu=9000\n[ethtool]\nring-rx=8192\nfeature-gro=false\n",
        ),
        ("/etc/modprobe.d/nic.conf", "# x\noptions mlx5-core prof_sel=3 \\\n  debug_mask=1\nblacklist floppy\n"),
        ("/proc/cmdline", "ro quiet iommu=pt sysctl.net.core.rmem_max=4 mlx5_core.prof_sel=2 x=\"a b\" -- iommu=off\n"),
    ]);
    let found = find(&files, &running(&[("module.mlx5_core.prof_sel", "3")]));
    let connection = "/etc/NetworkManager/system-connections/dtn.nmconnection";
    assert_eq!(winning(&found, "ethtool.eth0.ring-rx"), won("8192", &format!("{connection}:7")));
    assert_eq!(winning(&found, "link.eth0.mtu"), won("9000", &format!("{connection}:5")));
    assert_eq!(winning(&found, "module.mlx5_core.debug_mask"), won("1", "/etc/modprobe.d/nic.conf:2"));
    assert_eq!(winning(&found, "cmdline.iommu"), won("pt", "/proc/cmdline:1"));
    assert_eq!(winning(&found, RMEM), won("4", "/proc/cmdline:1"));
    assert_eq!(found.provenance.settings["module.mlx5_core.prof_sel"].definitions.len(), 2);
}

#[test]
fn connections_that_disagree_have_no_winner() {
    let connection = |mtu| format!("[connection]\ninterface-name=eth0\n[ethernet]\nmtu={mtu}\n");
    let (one, other) = (connection(1500), connection(9000));
    let directory = "/etc/NetworkManager/system-connections";
    let (first, second) = (format!("{directory}/a"), format!("{directory}/b"));
    let found = find(&held(&[(&first, &one), (&second, &other)]), &running(&[]));
    assert_eq!(found.provenance.settings["link.eth0.mtu"].winner, None);
    assert_eq!(found.provenance.settings["link.eth0.mtu"].definitions.len(), 2);
}

#[test]
fn package_of_a_file_is_named_whether_or_not_its_list_says_usr() {
    let files = held(&[
        ("/usr/lib/sysctl.d/50-a.conf", "net.core.rmem_max = 3\n"),
        ("/usr/lib/sysctl.d/50-b.conf", "net.core.rmem_max = 3\n"),
        ("/etc/sysctl.d/mine.conf", "net.core.rmem_max = 3\n"),
        ("/var/lib/dpkg/info/a:amd64.list", "/.\n/lib/sysctl.d/50-a.conf\n"),
        ("/var/lib/dpkg/info/b.list", "/usr/lib/sysctl.d/50-b.conf\n"),
    ]);
    let found = find(&files, &running(&[]));
    let package = |path: &str| found.provenance.files[path].package.clone();
    assert_eq!(package("/usr/lib/sysctl.d/50-a.conf").as_deref(), Some("a"));
    assert_eq!(package("/usr/lib/sysctl.d/50-b.conf").as_deref(), Some("b"));
    assert_eq!(package("/etc/sysctl.d/mine.conf").as_deref(), Some("none"));
}

#[test]
fn half_written_line_is_reported_with_its_place_and_the_rest_is_read() {
    let files =
        held(&[("/etc/sysctl.d/x.conf", "net.core.wmem_max = 5\nnet.core.rmem_max\n= 3\nnet.core.rmem_max = 6")]);
    let found = find(&files, &running(&[]));
    assert_eq!(winning(&found, RMEM), won("6", "/etc/sysctl.d/x.conf:4"));
    let lines: Vec<_> = found.anomalies.iter().map(|anomaly| anomaly.line).collect();
    assert_eq!(lines, [Some(2), Some(3)]);
}

#[test]
fn files_on_disk_that_are_none_or_vanish_do_no_harm() {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path().join("etc/sysctl.d");
    std::fs::create_dir_all(directory.join("directory.conf")).unwrap();
    std::os::unix::fs::symlink("/nonesuch", directory.join("gone.conf")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", directory.join("endless.conf")).unwrap();
    std::fs::write(directory.join("sound.conf"), "net.core.rmem_max = 8\n").unwrap();
    let found = find(&crate::files::Disk::below(root.path()), &running(&[]));
    assert_eq!(winning(&found, RMEM).unwrap().0, "8");
    assert!(found.provenance.settings[RMEM].definitions.iter().all(|each| each.origin == Origin::Sysctl));
}
