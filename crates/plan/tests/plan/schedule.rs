//! Schedules: nothing runs beside what it must not, and not much later than it could.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use plan::Plan;
use plan::schedule::{Schedule, Slot};
use plan::task::Weight;
use proptest::prelude::*;

/// A plan of so many hosts, with more of the file behind it.
fn plan(hosts: usize, rest: &str) -> Plan {
    let mut text = "title = \"t\"\n[times]\ngap = \"2s\"\n".to_owned();
    for host in 0..hosts {
        text.push_str(&format!("[hosts.h{host}]\naddress = \"10.0.0.{host}\"\n"));
    }
    Plan::parse("p.toml", &(text + rest)).unwrap_or_else(|error| panic!("{error}"))
}

fn names(hosts: impl IntoIterator<Item = usize>) -> String {
    format!("[{}]", hosts.into_iter().map(|host| format!("\"h{host}\"")).collect::<Vec<_>>().join(", "))
}

fn mesh(hosts: usize) -> String {
    format!("[groups.g]\nmesh = {}\n", names(0..hosts))
}

const TCP: &str = "[[tests]]\nkind = \"tcp\"\ntime = \"10s\"\n";

/// What must hold for every schedule: all tests are there, and none disturbs another.
fn assert_sound(plan: &Plan, schedule: &Schedule) {
    let wanted: BTreeSet<_> =
        (0..plan.tests.len()).flat_map(|test| plan.pairs(test).into_iter().map(move |pair| (test, pair))).collect();
    let there: BTreeSet<_> = schedule.slots.iter().map(|slot| (slot.test, slot.pair)).collect();
    assert_eq!((there, schedule.slots.len()), (wanted.clone(), wanted.len()));
    assert_undisturbed(plan, schedule);
}

fn assert_undisturbed(plan: &Plan, schedule: &Schedule) {
    let mut used: BTreeMap<String, Vec<Slot>> = BTreeMap::new();
    for slot in schedule.slots.iter().filter(|slot| slot.weight == Weight::Heavy) {
        for host in [slot.pair.from, slot.pair.to] {
            let host = &plan.hosts[host];
            used.entry(host.machine.clone().unwrap_or_else(|| host.name.clone())).or_default().push(*slot);
        }
        for segment in plan.way(slot.pair.from, slot.pair.to, None) {
            if plan.segments[segment].use_ == plan::plan::Use::InTurn {
                used.entry(plan.segments[segment].name.clone()).or_default().push(*slot);
            }
        }
    }
    for (what, mut slots) in used {
        slots.sort_by_key(|slot| slot.begins);
        slots.dedup();
        for two in slots.windows(2) {
            assert!(two[0].begins + two[0].lasts + schedule.gap <= two[1].begins, "{what}: {two:?}");
        }
    }
}

/// How much longer the heavy part is than it must be.
fn excess(schedule: &Schedule) -> f64 {
    let heavy = |until: Duration| (until - schedule.light).as_secs_f64();
    heavy(schedule.length) / heavy(schedule.least).max(1e-9) - 1.0
}

#[test]
fn a_mesh_takes_as_long_as_its_busiest_host_or_as_its_odd_one_out() {
    for hosts in [2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 16, 21, 30, 33, 50] {
        let plan = plan(hosts, &(mesh(hosts) + TCP));
        let schedule = Schedule::new(&plan);
        assert_sound(&plan, &schedule);
        let rounds = if hosts % 2 == 0 { 2 * (hosts - 1) } else { 2 * hosts };
        assert_eq!(schedule.least, Duration::from_secs(12) * u32::try_from(rounds).unwrap(), "{hosts} hosts");
        // Where there are many, the last fiftieth is not waited for.
        let most = if hosts <= 16 { 0.0 } else { 0.02 };
        assert!(excess(&schedule) <= most, "{hosts} hosts: {:.3}", excess(&schedule));
    }
}

/// Sites with so many hosts each behind an uplink that is used in turn, around a core.
fn sites(sizes: &[usize]) -> (usize, String) {
    let mut text = "[hosts.core]\nforwards = true\n".to_owned();
    let (mut hosts, mut links) = (0, String::new());
    let mut link = |name: String, between: [String; 2], shared: bool| {
        let [one, other] = between;
        links.push_str(&format!(
            "[[segments]]\nname = \"{name}\"\nbetween = [\"{one}\", \"{other}\"]\nshared = {shared}\n"
        ));
    };
    for (site, size) in sizes.iter().enumerate() {
        text.push_str(&format!("[hosts.site{site}]\nforwards = true\n"));
        link(format!("uplink{site}"), [format!("site{site}"), "core".to_owned()], true);
        for _ in 0..*size {
            link(format!("port{hosts}"), [format!("h{hosts}"), format!("site{site}")], false);
            hosts += 1;
        }
    }
    (hosts, text + &links)
}

#[test]
fn an_uplink_that_is_used_in_turn_sets_the_pace() {
    for sizes in [vec![1, 3], vec![3, 3, 3], vec![1, 4, 2, 5], vec![8, 8, 8], vec![2; 12]] {
        let (hosts, links) = sites(&sizes);
        let plan = plan(hosts, &(links + &mesh(hosts) + TCP));
        let schedule = Schedule::new(&plan);
        assert_sound(&plan, &schedule);
        assert!(excess(&schedule) <= 0.05, "{sizes:?}: {:.3}", excess(&schedule));
    }
}

#[test]
fn hosts_of_one_machine_take_turns() {
    let text = "title = \"t\"\n[hosts.a4]\naddress = \"10.0.0.1\"\nmachine = \"a\"\n[hosts.a6]\naddress = \"fd00::1\"\n\
                machine = \"a\"\n[hosts.b]\naddress = \"b\"\n[hosts.c]\naddress = \"c\"\n[groups.g]\n\
                list = [[\"a4\", \"b\"], [\"a6\", \"c\"]]\n[[tests]]\nkind = \"tcp\"\n";
    let plan = Plan::parse("p.toml", text).unwrap();
    let schedule = Schedule::new(&plan);
    assert_sound(&plan, &schedule);
    assert_eq!(schedule.length, Duration::from_secs(24));
}

#[test]
fn light_tests_come_first_and_several_at_a_time() {
    let plan = plan(9, &(mesh(9) + TCP + "[[tests]]\nkind = \"ping\"\n"));
    let schedule = Schedule::new(&plan);
    assert_sound(&plan, &schedule);
    let heavy = schedule.slots.iter().filter(|slot| slot.weight == Weight::Heavy);
    assert!(heavy.map(|slot| slot.begins).min().unwrap() >= schedule.light);
    // Sixteen of a second on each host, eight at once.
    assert!((2..=3).contains(&schedule.light.as_secs()), "{:?}", schedule.light);
}

#[test]
fn the_hosts_that_are_left_move_up_into_the_time_of_one_that_failed() {
    let plan = plan(10, &(mesh(10) + TCP));
    let schedule = Schedule::new(&plan);
    let failed = Duration::from_secs(60);
    let rest = schedule.without(&plan, 3, failed);
    assert_undisturbed(&plan, &rest);
    let begun =
        |schedule: &Schedule| schedule.slots.iter().filter(|slot| slot.begins <= failed).copied().collect::<Vec<_>>();
    assert_eq!(begun(&rest), begun(&schedule), "what has begun stays as it is");
    assert!(rest.slots.iter().all(|slot| slot.begins <= failed || (slot.pair.from != 3 && slot.pair.to != 3)));
    let of_others = schedule.slots.iter().filter(|slot| slot.pair.from != 3 && slot.pair.to != 3);
    let begun_with_it = begun(&schedule).iter().filter(|slot| slot.pair.from == 3 || slot.pair.to == 3).count();
    assert_eq!(rest.slots.len(), of_others.count() + begun_with_it, "nobody else's tests are lost");
    assert!(rest.length <= schedule.length, "{:?}", rest.length);
}

#[test]
fn a_test_in_both_directions_at_once_is_in_the_schedule_once() {
    let plan = plan(6, &(mesh(6) + TCP + "bidir = true\n"));
    let schedule = Schedule::new(&plan);
    assert_sound(&plan, &schedule);
    assert_eq!((schedule.slots.len(), schedule.length), (15, Duration::from_secs(60)));
}

/// The shortest time in which these jobs can be done, by trying every order: the best schedule starts each job at zero or
/// where another ends, so the earliest gap of some order has it.
fn shortest(jobs: &[(BTreeSet<usize>, u64)]) -> u64 {
    fn search(jobs: &[(BTreeSet<usize>, u64)], placed: &mut Vec<(usize, u64)>, best: &mut u64) {
        let end = placed.iter().map(|(job, start)| start + jobs[*job].1).max().unwrap_or(0);
        if end >= *best {
            return;
        }
        if placed.len() == jobs.len() {
            *best = end;
            return;
        }
        for job in (0..jobs.len()).filter(|job| placed.iter().all(|(other, _)| other != job)).collect::<Vec<_>>() {
            let conflicts: Vec<(u64, u64)> = placed
                .iter()
                .filter(|(other, _)| !jobs[*other].0.is_disjoint(&jobs[job].0))
                .map(|(other, start)| (*start, start + jobs[*other].1))
                .collect();
            let fits = |at: u64| conflicts.iter().all(|(from, until)| at + jobs[job].1 <= *from || at >= *until);
            let start = conflicts.iter().map(|(_, until)| *until).chain([0]).filter(|at| fits(*at)).min().unwrap();
            placed.push((job, start));
            search(jobs, placed, best);
            placed.pop();
        }
    }
    let mut best = u64::MAX;
    search(jobs, &mut Vec::new(), &mut best);
    best
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any pairs of up to forty hosts, of which some are in a mesh, with tests of several lengths.
    #[test]
    fn a_plan_at_random_is_within_a_twentieth_of_its_bound(
        hosts in 4..40_usize,
        pairs in prop::collection::btree_set((0..40_usize, 0..40_usize), 1..200),
        lengths in prop::collection::vec((1..40_u32, any::<bool>()), 1..4),
    ) {
        let pairs: Vec<String> = pairs.iter()
            .filter(|(from, to)| from % hosts != to % hosts)
            .map(|(from, to)| names([from % hosts, to % hosts])).collect();
        prop_assume!(!pairs.is_empty());
        let mut rest = mesh(hosts) + &format!("[groups.l]\nlist = [{}]\n", pairs.join(", "));
        for (number, (seconds, of_mesh)) in lengths.iter().enumerate() {
            let group = if *of_mesh { "g" } else { "l" };
            rest.push_str(&format!(
                "[[tests]]\nkind = \"tcp\"\nlabel = \"{number}\"\ntime = \"{seconds}s\"\ngroup = \"{group}\"\n"
            ));
        }
        let plan = plan(hosts, &rest);
        let schedule = Schedule::new(&plan);
        assert_sound(&plan, &schedule);
        // A few long tests cannot be cut to fit; what is possible there is for the test below to say.
        let heavy: Vec<_> = schedule.slots.iter().filter(|slot| slot.weight == Weight::Heavy).collect();
        let longest = heavy.iter().map(|slot| slot.lasts + schedule.gap).max().unwrap();
        let allowed = schedule.least.mul_f64(1.05).max(schedule.least + longest / 2);
        prop_assert!(schedule.length <= allowed, "{:?} of {:?}", schedule.length, schedule.least);
    }

    /// Few enough tests that all orders can be tried.
    #[test]
    fn a_small_plan_is_within_a_twentieth_of_the_optimum(
        tests in prop::collection::vec((0..5_usize, 0..5_usize, 1..30_u32), 1..7),
    ) {
        let tests: Vec<_> = tests.into_iter().filter(|(from, to, _)| from != to).collect();
        prop_assume!(!tests.is_empty());
        let mut rest = String::new();
        let mut jobs = Vec::new();
        for (number, (from, to, seconds)) in tests.iter().enumerate() {
            rest.push_str(&format!(
                "[groups.g{number}]\nlist = [{}]\n[[tests]]\nkind = \"tcp\"\ntime = \"{seconds}s\"\ngroup = \"g{number}\"\n",
                names([*from, *to])
            ));
            jobs.push((BTreeSet::from([*from, *to]), u64::from(*seconds) + 2));
        }
        let plan = plan(5, &rest);
        let schedule = Schedule::new(&plan);
        assert_sound(&plan, &schedule);
        let best = Duration::from_secs(shortest(&jobs));
        prop_assert!(schedule.least <= best, "{:?} is no bound of {best:?}", schedule.least);
        prop_assert!(schedule.length.as_secs_f64() <= best.as_secs_f64() * 1.05, "{:?} of {best:?}", schedule.length);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Large meshes, whole or with holes, some with an uplink that many share.
    #[test]
    fn a_mesh_of_up_to_a_hundred_hosts_is_within_a_twentieth_of_its_bound(
        sizes in prop::collection::vec(1..34_usize, 2..4),
        holes in prop::collection::btree_set((0..100_usize, 0..100_usize), 0..300),
        uplinks in any::<bool>(),
    ) {
        let (hosts, links) = sites(&sizes);
        let left_out: Vec<String> = holes.iter()
            .filter(|(from, to)| from % hosts != to % hosts)
            .map(|(from, to)| names([from % hosts, to % hosts])).collect();
        // Of three or four hosts the holes can be all there is.
        prop_assume!(left_out.iter().collect::<BTreeSet<_>>().len() < hosts * (hosts - 1));
        let holes = format!("without = [{}]\n", left_out.join(", "));
        let links = if uplinks { links } else { String::new() };
        let text = links + &mesh(hosts) + &holes + TCP;
        let plan = plan(hosts, &text);
        let schedule = Schedule::new(&plan);
        assert_sound(&plan, &schedule);
        prop_assert!(excess(&schedule) <= 0.05, "{hosts} hosts of {sizes:?}: {:.3}", excess(&schedule));
    }
}
