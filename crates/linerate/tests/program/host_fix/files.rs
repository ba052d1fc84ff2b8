//! What keeps a fix over the next start, and who wins against whom.

use model::host::snapshot::Snapshot;

use crate::actors::world::World;

/// A host whose /etc is a folder of the test.
fn world() -> World {
    let mut world = World::new();
    world.run(
        "mkdir -p $F/etc/sysctl.d $F/etc/NetworkManager; cp /etc/passwd /etc/group $F/etc/; \
         echo 'net.ipv4.tcp_ecn = 1' > $F/etc/sysctl.d/95-site.conf; mount --bind $F/etc /etc; \
         sysctl -qw net.ipv4.tcp_ecn=1",
    );
    world
}

fn winner(world: &mut World) -> String {
    let snapshot: Snapshot = world.document("host snapshot --json");
    let provenance = snapshot.provenance.value().unwrap();
    provenance.settings["net.ipv4.tcp_ecn"].winning().unwrap().file.clone()
}

#[test]
fn the_snapshot_names_our_file_as_the_winner_until_the_undo() {
    let mut world = world();
    assert_eq!(winner(&mut world), "/etc/sysctl.d/95-site.conf");
    let before = world.run("find /etc -type f -exec md5sum {} + | sort");
    let fixed = world.fix("TCP-ECN-ACTIVE --role sender --yes --persist");
    let kept = fixed.kept_in.unwrap();
    assert_eq!(kept.files, ["/etc/sysctl.d/99-linerate.conf"]);
    assert!(kept.overruled.is_empty() && kept.lost.is_empty());
    assert_eq!(winner(&mut world), "/etc/sysctl.d/99-linerate.conf");
    let text = world.run("cat /etc/sysctl.d/99-linerate.conf");
    assert!(text.contains("# TCP-ECN-ACTIVE\nnet.ipv4.tcp_ecn = 2\n"), "{text}");
    // What it says is what the kernel takes.
    world.run("sysctl -qw net.ipv4.tcp_ecn=1; sysctl -qp /etc/sysctl.d/99-linerate.conf");
    assert_eq!(world.run("cat /proc/sys/net/ipv4/tcp_ecn"), "2");
    let undone = world.run("$L host undo");
    assert!(undone.contains("taken out of /etc/sysctl.d/99-linerate.conf"), "{undone}");
    assert_eq!(world.run("find /etc -type f -exec md5sum {} + | sort"), before);
    assert_eq!(winner(&mut world), "/etc/sysctl.d/95-site.conf");
}

#[test]
fn the_script_for_a_device_does_what_the_fix_did() {
    let mut world = world();
    world.run(
        "ip link add west type veth peer name east; ip link set west up; ip link set east up; \
         mkdir -p /etc/systemd/system/multi-user.target.wants; \
         ln -s /usr/lib/systemd/system/NetworkManager.service /etc/systemd/system/multi-user.target.wants/",
    );
    let plan = "[[steps]]\nlink = \"west\"\noperation = { tx-queue-length = { packets = \"10000\" } }\n\
                [[steps]]\nlink = \"west\"\noperation = { mtu = { bytes = \"9000\" } }\n";
    std::fs::write(world.folder.path().join("plan.toml"), plan).unwrap();
    let before = world.settings();
    let fixed = world.fix("$F/plan.toml --yes --persist");
    let file = fixed.kept_in.unwrap().files.remove(0);
    let fixed = world.settings();
    if file.contains("dispatcher.d") {
        world.run("ip link set west mtu 1500 txqueuelen 1000");
        world.run(&format!("{file} east up && {file} west down && {file} west up"));
        assert_eq!(world.settings(), fixed);
    } else {
        let rules = world.run(&format!("cat {file}"));
        assert!(rules.contains("KERNEL==\"west\"") && rules.contains("ip link set dev $name mtu 9000"), "{rules}");
    }
    world.run("$L host undo");
    assert_eq!(world.settings(), before);
    assert!(world.ends(&format!("test -e {file}")).1 != 0);
}
