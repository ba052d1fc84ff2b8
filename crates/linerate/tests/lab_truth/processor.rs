//! A host with a share of a processor has that share.

use super::stage::{holds, keep, test, two_hosts, within};

#[test]
fn a_program_gets_the_share_of_a_processor_that_its_host_has() {
    let text = two_hosts("", "", &test("ping", "")).replace("[hosts.near]\n", "[hosts.near]\ncpu-share = 0.3\n");
    holds(|| {
        let network = keep("slow", &text);
        let output = network.exec("near", &["sh", "-c", BUSY]).output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        let numbers: Vec<f64> = told.split_whitespace().map(|number| number.parse().unwrap()).collect();
        let [run, wait, _, began, run_then, wait_then, _, ended] = numbers[..] else { panic!("{told:?}") };
        let (time, used) = (ended - began, run_then - run);
        // What it waited for while others had the processor was its time as well.
        let share = (used + wait_then - wait) / time;
        let claim = within(0.255..=0.345, share, "of the time it could run");
        (claim.and_then(|()| within(0.0..=0.345, used / time, "of a processor it had")), Vec::new())
    });
}

/// Some seconds of work, with what the kernel counts before and after it: nanoseconds on a processor, nanoseconds of
/// waiting for one, turns (Documentation/scheduler/sched-stats.rst); and the clock.
const BUSY: &str = "look() { cat /proc/$$/schedstat; date +%s%N; }; \
                    look; i=0; while [ $i -lt 1500000 ]; do i=$((i+1)); done; look";
