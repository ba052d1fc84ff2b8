//! A path of 30 Mbit/s without any NIC that reports a link speed, as ordinary use meets it: what a test says there, what it
//! names next, and what `why` and a picture make of it.

use model::measurement::Heading;
use model::run::Run;

use crate::actors::world::World;

/// Two hosts, near shaped to 30 Mbit/s, with a linerate at 5301 of far.
fn network() -> World {
    let mut world = World::new();
    world.run(
        "mount -t tmpfs none /run; for host in near far; do ip netns add $host; ip -n $host link set lo up; done; \
         ip -n near link add out type veth peer name in netns far; \
         ip -n near addr add 192.0.2.1/24 dev out; ip -n far addr add 192.0.2.2/24 dev in; \
         ip -n near link set out up; ip -n far link set in up; \
         ip netns exec near tc qdisc add dev out root tbf rate 30mbit burst 32kb latency 50ms; near='ip netns exec near'; \
         mkfifo $F/serving; ip netns exec far $L serve --no-archive -p 5301 2> $F/serving & exec 8< $F/serving; read line <&8",
    );
    world
}

fn tested(world: &mut World, arguments: &str) -> Run {
    let printed = world.run(&format!("$near $L test 192.0.2.2 -p 5301 {arguments} --json"));
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{arguments}: {error}: {printed}"))
}

#[test]
fn datagrams_above_the_shaper_are_told_as_not_offered_and_the_next_step_looks_there() {
    let mut world = network();
    let said = world.run("$near $L test 192.0.2.2 -p 5301 -B 192.0.2.1 -u --rate 32Mbit/s -t 1s");
    assert!(said.contains("of the 32.0 Mbit/s asked for were offered"), "{said}");
    let next = "next, here: tc -s qdisc show dev out\n";
    assert!(said.contains(next), "{said}");
    let why = world.ends("$L why last").0;
    assert!(!why.contains("duplex"), "{why}");
    world.run("ip netns pids far | xargs kill");
}

#[test]
fn a_bbr_that_fills_the_shaper_is_told_to_change_nothing() {
    let mut world = network();
    let said = world.run("$near $L test 192.0.2.2 -p 5301 -C bbr -t 2s");
    assert!(!said.contains("--streams"), "{said}");
    assert!(said.contains("expected     unknown, no rate of the path is known"), "{said}");
    let picture = world.run("$L runs show last --plot $F/run.svg > /dev/null; cat $F/run.svg");
    assert!(picture.contains("Goodput") && !picture.contains("line rate"), "a virtual device makes up its speed");
    world.run("ip netns pids far | xargs kill");
}

#[test]
fn what_is_named_next_has_port_family_and_address_of_the_run() {
    let mut world = network();
    let said = world.run("$near $L test 192.0.2.2 -p 5301 -4 -B 192.0.2.1 -u --rate 5Mbit/s -t 1s");
    let next = "next, here: linerate test 192.0.2.2 --port 5301 --ipv4 --bind 192.0.2.1 --udp --rate ";
    assert!(said.contains(next), "{said}");
    world.run("ip netns pids far | xargs kill");
}

#[test]
fn the_idle_rtt_is_that_of_the_empty_queue() {
    let mut world = network();
    for _ in 0..5 {
        let run = tested(&mut world, "-C cubic -t 500ms");
        let latency = run.measurement.unwrap().latency.unwrap();
        let (idle, loaded) = (latency.idle.unwrap(), latency.loaded.unwrap());
        // The queue of the shaper holds 50 ms, and a cubic fills it.
        assert!(idle.median_us.unwrap() * 4 < loaded.median_us.unwrap(), "{idle:?} {loaded:?}");
        assert!(idle.max_us <= loaded.max_us, "{idle:?} {loaded:?}");
    }
    world.run("ip netns pids far | xargs kill");
}

#[test]
fn acknowledgments_that_wait_on_the_reverse_path_are_told_as_that() {
    let mut world = network();
    world.run("ip netns exec far tc qdisc add dev in root tbf rate 100kbit burst 2kb limit 10kb");
    let said = world.run("$near $L test 192.0.2.2 -p 5301 -C cubic -t 3s --expect 30Mbit/s");
    assert!(said.contains("next, here: linerate test 192.0.2.2 --port 5301 --reverse\n"), "{said}");
    let why = world.ends("$L why last").0;
    assert!(why.contains("reverse-path-full") && why.contains("on the reverse path"), "{why}");
    world.run("ip netns pids far | xargs kill");
}

/// What a command prints on a terminal of so many columns, which none of its lines is wider than.
fn on_terminal(world: &mut World, columns: &str, arguments: &str) -> String {
    let printed = world.run(&format!("script -qec \"stty cols {columns}; $L {arguments}\" /dev/null < /dev/null"));
    let most: usize = columns.parse().unwrap();
    assert!(printed.lines().all(|line| line.trim_end().chars().count() <= most), "{arguments}: {printed}");
    printed
}

#[test]
fn tables_of_runs_fit_the_terminal() {
    let mut world = network();
    let runs = ["--bytes 100kB", "--bytes 200kB --cca reno"].map(|arguments| tested(&mut world, arguments).id);
    let both = format!("runs compare {} {}", runs[0], runs[1]);
    let names = runs.map(|run| run.to_string().chars().take(13).collect::<String>());
    // The names in full make it 2 columns too wide; nothing else is left out.
    let shown = on_terminal(&mut world, "80", &both);
    assert!(
        shown.lines().any(|line| line.starts_with("run ") && names.iter().all(|name| line.contains(name))),
        "{shown}"
    );
    let shown = on_terminal(&mut world, "50", &both);
    assert!(shown.contains(&format!("run\r\n  A  {}\r\n  B  {}", names[0], names[1])), "{shown}");
    on_terminal(&mut world, "80", "runs show last --intervals");
    on_terminal(&mut world, "50", "runs list");
    world.run("ip netns pids far | xargs kill");
}

#[test]
fn a_list_of_runs_fits_the_terminal() {
    let mut world = network();
    let run = tested(&mut world, "--bytes 100kB");
    assert_eq!(run.measurement.unwrap().totals[0].heading, Heading::Outbound);
    let list = on_terminal(&mut world, "80", "runs list");
    let name: String = run.id.to_string().chars().take(13).collect();
    assert!(list.lines().any(|line| line.starts_with(&format!("{name}  "))), "{list}");
    let shown = world.run(&format!("$L runs show {name}"));
    assert!(shown.contains(&run.id.to_string()), "{shown}");
    world.run("ip netns pids far | xargs kill");
}
