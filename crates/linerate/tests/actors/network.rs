//! Three hosts at one switch, each a namespace with a name.

use std::fs;

use model::played::Finding;
use model::round::{Round, Tested};
use model::run::Run;

use crate::actors::world::World;

/// Hosts a, b and c: the namespaces h1, h2 and h3 with 192.0.2.1 to 3.
pub struct Network {
    pub world: World,
}

impl Network {
    pub fn new() -> Self {
        let mut world = World::new();
        world.run(
            "mount -t tmpfs none /run; ip link add lan type bridge; ip link set lan up; \
             for n in 1 2 3; do ip netns add h$n; ip link add port$n type veth peer name eth0 netns h$n; \
             ip link set port$n master lan up; ip -n h$n addr add 192.0.2.$n/24 dev eth0; \
             ip -n h$n link set eth0 up; ip -n h$n link set lo up; done",
        );
        Self { world }
    }

    /// A plan of the three, each in its namespace.
    pub fn plan(&mut self, tests: &str) {
        self.plan_of("[hosts.b]\naddress = \"192.0.2.2\"\nnetns = \"h2\"", tests);
    }

    /// The same with another way to b.
    pub fn plan_of(&mut self, b: &str, tests: &str) {
        let plan = format!("{HEAD}\n{b}\n{SEGMENTS}\n{tests}");
        fs::write(self.world.folder.path().join("plan.toml"), plan).unwrap();
    }

    /// Runs it.
    #[track_caller]
    pub fn round(&mut self, options: &str) -> Round {
        self.world.document(&format!("round $F/plan.toml --json --overtime 1h --patience 5min {options}"))
    }

    /// Puts an `ssh` before the machine's own: its targets are namespaces, and `before` may do otherwise. It reads what it
    /// is told as the real one does: options, `--`, the target, the line for the shell there.
    pub fn ssh(&mut self, before: &str) {
        let script = format!(
            "#!/bin/sh\necho \"$@\" >> {folder}/ssh.log\nwhile [ \"$1\" != -- ]; do shift; done\n\
             target=$2; line=$3\n{before}\nexec ip netns exec \"$target\" sh -c \"$line\"\n",
            folder = self.world.folder.path().display()
        );
        let folder = self.world.folder.path().join("bin");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("ssh"), script).unwrap();
        self.world.run("chmod +x $F/bin/ssh; export PATH=$F/bin:$PATH");
    }

    /// Nothing runs in any host any more. What was told to end may take its time.
    pub fn is_left_empty(&mut self) {
        self.world.run("for n in 1 2 3; do while [ -n \"$(ip netns pids h$n)\" ]; do sleep 0.02; done; done");
    }
}

/// The run that a test found.
#[track_caller]
pub fn run_of(tested: &Tested) -> &Run {
    match &tested.finding {
        Finding::Run(run) => run,
        other => panic!("{other:?}"),
    }
}

const HEAD: &str = r#"
title = "three hosts"

[times]
gap = "100ms"

[hosts.a]
address = "192.0.2.1"
netns = "h1"

[hosts.c]
address = "192.0.2.3"
netns = "h3"

[hosts.switch]
forwards = true
"#;

const SEGMENTS: &str = r#"
[[segments]]
name = "cable-a"
between = ["a", "switch"]
rate = "10Gbit/s"

[[segments]]
name = "cable-b"
between = ["b", "switch"]

[[segments]]
name = "cable-c"
between = ["c", "switch"]
rate = "10Gbit/s"
"#;
