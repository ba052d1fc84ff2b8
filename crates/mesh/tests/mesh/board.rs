//! The board, the journal and the observer, step by step.

use std::time::Duration;

use mesh::agent::{AgentJournal, JournalChange, JournalEntry};
use mesh::board::{AgentReply, AgentRequest, Board, Cancelling, Counted, Delivery, Present};
use mesh::clock;
use mesh::observer::LeaseObserver;
use mesh::rules::Rules;
use mesh::run::{
    CloseReason, Expiry, LeaseName, Obstacle, Outcome, Priority, REPORT_PATIENCE, Renewal, RequestNumber, Resource,
    RunId, RunRow, RunState, Verdict,
};
use plan::task::Weight;
use units::{ByteCount, MonoTime, WallTime};

const NOON: WallTime = WallTime::from_unix_nanos(1_795_435_200_000_000_000);
const KEEP: Duration = Duration::from_secs(20);
const MEASURED: Outcome = Outcome::Measured { bytes: ByteCount::new(1_000) };

fn run(from: &str, to: &str) -> RunRow {
    let host = |name: &str| Resource::Host(name.to_owned());
    RunRow {
        id: RunId(format!("tcp@g/{from}/{to}/0")),
        test: "tcp".to_owned(),
        group: "g".to_owned(),
        from: from.to_owned(),
        to: to.to_owned(),
        agent: from.to_owned(),
        priority: Priority::Periodic,
        weight: Weight::Heavy,
        not_before: NOON,
        deadline: clock::later(NOON, Duration::from_secs(3_600)),
        keep: KEEP,
        needs: vec![host(from), host(to)],
        passes: vec![host(from), host(to)],
        bytes: Some(ByteCount::new(1_000)),
        attempts: 0,
        state: RunState::Waiting,
    }
}

fn request(agent: &str, number: u64, inventory: &[LeaseName]) -> AgentRequest {
    AgentRequest {
        agent: agent.to_owned(),
        number: RequestNumber { boots: 1, number },
        room: 1,
        inventory: Some(inventory.to_vec()),
    }
}

fn ask(board: &mut Board, agent: &str, number: u64, inventory: &[LeaseName]) -> AgentReply {
    board.request(&request(agent, number, inventory), &Present::All, NOON)
}

fn board(runs: &[RunRow]) -> Board {
    let mut board = Board::new(Rules::default());
    board.plan(runs.to_vec());
    board
}

#[test]
fn two_runs_of_one_host_wait_for_each_other_and_strangers_do_not() {
    let mut board = board(&[run("a", "b"), run("b", "c"), run("c", "d")]);
    assert_eq!(ask(&mut board, "a", 1, &[]).leases.len(), 1);
    assert_eq!(ask(&mut board, "b", 1, &[]).leases.len(), 0, "b is in use");
    let of_c = ask(&mut board, "c", 1, &[]).leases;
    assert_eq!(of_c.len(), 1);
    let verdict = board.deliver(&Delivery { lease: of_c[0].name(), outcome: MEASURED }, NOON);
    assert_eq!(verdict, Verdict::Stored);
    assert_eq!(board.deliver(&Delivery { lease: of_c[0].name(), outcome: MEASURED }, NOON), Verdict::Duplicate);
}

#[test]
fn what_somebody_asked_for_goes_first_even_where_it_has_to_wait() {
    let wanted = RunRow { priority: Priority::OnDemand, id: RunId("wanted".to_owned()), ..run("a", "c") };
    let mut board = board(&[run("c", "d"), run("a", "b")]);
    let of_c = ask(&mut board, "c", 1, &[]).leases;
    board.ask(wanted.clone());
    assert_eq!(ask(&mut board, "a", 1, &[]).leases, [], "a is kept for what was asked for");
    board.deliver(&Delivery { lease: of_c[0].name(), outcome: MEASURED }, NOON);
    assert_eq!(ask(&mut board, "a", 2, &[]).leases[0].run.id, wanted.id);
}

#[test]
fn a_lease_that_never_arrived_is_leased_again_and_only_then() {
    let mut board = board(&[run("a", "b")]);
    let first = ask(&mut board, "a", 1, &[]).leases.remove(0);
    // A copy of the first request says nothing new.
    assert_eq!(ask(&mut board, "a", 1, &[]).counted, Counted::Old);
    assert!(board.run(&first.run.id).unwrap().is_leased());
    // The agent has it: so it stays.
    assert_eq!(ask(&mut board, "a", 2, &[first.name()]).leases, []);
    // A newer request without it: the reply was lost.
    let second = ask(&mut board, "a", 3, &[]).leases.remove(0);
    assert_eq!((second.run.id.clone(), second.attempt), (first.run.id.clone(), 2));
    let late = Delivery { lease: first.name(), outcome: MEASURED };
    assert_eq!(board.deliver(&late, NOON), Verdict::Superseded);
    // Programs from before say nothing of what they have: nothing is concluded.
    let old = AgentRequest { inventory: None, ..request("a", 4, &[]) };
    assert_eq!(board.request(&old, &Present::All, NOON).leases, []);
    assert!(board.run(&first.run.id).unwrap().is_leased());
}

#[test]
fn a_lease_that_is_over_frees_its_hosts_and_a_late_result_counts() {
    let mut board = board(&[run("a", "b"), run("b", "c")]);
    let lease = ask(&mut board, "a", 1, &[]).leases.remove(0);
    let mut observer = LeaseObserver::new(Duration::from_secs(1));
    let at = |seconds: u64| MonoTime::from_nanos(seconds * 1_000_000_000);
    assert_eq!(observer.seen(&board.leases(), at(100)), []);
    assert_eq!(observer.seen(&board.leases(), at(130)), []);
    assert_eq!(board.renew(&lease.name()), Renewal::Renewed);
    assert_eq!(observer.seen(&board.leases(), at(140)), [], "it was made longer");
    let over = observer.seen(&board.leases(), at(171));
    assert_eq!(over.len(), 1);
    assert_eq!(board.expire(&over[0]), Expiry::Expired);
    assert_eq!(board.expire(&over[0]), Expiry::Outdated);
    assert_eq!(ask(&mut board, "b", 1, &[]).leases.len(), 1);
    assert_eq!(board.renew(&lease.name()), Renewal::Superseded);
    assert_eq!(ask(&mut board, "a", 2, &[lease.name()]).revoked, [lease.name()]);
    // The agent is back after two days: the run was given up, and its result is kept all the same.
    let days = clock::later(NOON, REPORT_PATIENCE * 2);
    assert!(board.close(days).contains(&lease.run.id));
    assert_eq!(board.run(&lease.run.id).unwrap().state, RunState::Closed { reason: CloseReason::NoReport });
    assert_eq!(board.deliver(&Delivery { lease: lease.name(), outcome: MEASURED }, days), Verdict::Late);
}

#[test]
fn a_hub_that_starts_anew_or_sees_a_calendar_jump_waits_for_longer_never_shorter() {
    let mut board = board(&[run("a", "b")]);
    let lease = ask(&mut board, "a", 1, &[]).leases.remove(0);
    let mut observer = LeaseObserver::new(Duration::ZERO);
    let ttl = units::duration::nanos(lease.ttl);
    assert_eq!(observer.seen(&board.leases(), MonoTime::from_nanos(0)), []);
    let mut fresh = LeaseObserver::new(Duration::ZERO);
    assert_eq!(fresh.seen(&board.leases(), MonoTime::from_nanos(ttl)), []);
    assert_eq!(observer.seen(&board.leases(), MonoTime::from_nanos(ttl)).len(), 1);
}

#[test]
fn a_run_whose_window_passed_says_what_was_in_the_way() {
    let mut in_the_way = run("a", "b");
    in_the_way.deadline = clock::later(NOON, KEEP);
    let waits = RunRow { id: RunId("waits".to_owned()), deadline: in_the_way.deadline, ..run("b", "c") };
    let mut board = board(&[in_the_way.clone(), waits.clone()]);
    ask(&mut board, "a", 1, &[]);
    let closed = board.close(waits.deadline);
    assert_eq!(closed, std::slice::from_ref(&waits.id));
    let busy = Obstacle::Busy(Resource::Host("b".to_owned()));
    assert_eq!(board.run(&waits.id).unwrap().state, RunState::Closed { reason: CloseReason::WindowPassed(busy) });
    assert_eq!(board.cancel(&in_the_way.id), Cancelling::TooLate);
}

#[test]
fn a_budget_that_is_spent_stops_runs_until_the_next_day() {
    let text = "title = \"t\"\n[hosts.a]\naddress = \"192.0.2.1\"\n[hosts.b]\naddress = \"192.0.2.2\"\n[groups.g]\nmesh = [\"a\", \"b\"]\n[[budgets]]\nhosts = [\"b\"]\nbytes-a-day = \"1500B\"\n";
    let mut board = Board::new(Rules::of(&plan::Plan::parse("t.toml", text).unwrap()));
    let later = RunRow { id: RunId("2".to_owned()), deadline: clock::later(NOON, KEEP * 10_000), ..run("b", "a") };
    board.plan(vec![run("a", "b"), later]);
    let lease = ask(&mut board, "a", 1, &[]).leases.remove(0);
    board.deliver(&Delivery { lease: lease.name(), outcome: MEASURED }, NOON);
    assert_eq!(board.take_changes().usage[0].bytes, 1_000);
    assert_eq!(ask(&mut board, "b", 1, &[]).leases, []);
    let tomorrow = clock::later(NOON, Duration::from_secs(86_400));
    assert_eq!(board.request(&request("b", 2, &[]), &Present::All, tomorrow).leases.len(), 1);
}

#[test]
fn a_run_waits_for_a_host_that_is_not_connected() {
    let mut board = board(&[run("a", "b")]);
    let is_there = |agent: &str| agent != "b";
    let absent = Present::Those(&is_there);
    assert_eq!(board.request(&request("a", 1, &[]), &absent, NOON).leases, []);
    assert_eq!(ask(&mut board, "a", 2, &[]).leases.len(), 1);
}

#[test]
fn rows_are_stored_and_loaded_as_the_same() {
    let mut original = board(&[run("a", "b")]);
    ask(&mut original, "a", 1, &[]);
    let rows = original.take_changes();
    assert_eq!(original.take_changes(), mesh::board::Rows::default(), "taken once");
    let text = serde_json::to_string(&rows).unwrap();
    let mut again = Board::new(Rules::default());
    again.load(serde_json::from_str(&text).unwrap());
    assert_eq!(ask(&mut again, "a", 1, &[]).counted, Counted::Old);
    assert_eq!(again.leases(), original.leases());
    again.rejoin("a");
    assert_eq!(ask(&mut again, "a", 1, &[]).counted, Counted::Yes, "its disk is another one");
}

fn put(changes: Vec<JournalChange>) -> Vec<JournalEntry> {
    changes
        .into_iter()
        .filter_map(|change| match change {
            JournalChange::Put(entry) => Some(*entry),
            JournalChange::Remove(_) => None,
        })
        .collect()
}

#[test]
fn an_agent_that_is_killed_reports_what_it_had_begun_and_forgets_what_it_had_not() {
    let mut board = board(&[run("a", "b")]);
    let mut journal = AgentJournal::restore("a", 1, Vec::new());
    let asked = journal.request(1, MonoTime::from_nanos(0));
    let reply = board.request(&asked, &Present::All, NOON);
    journal.reply(reply);
    let not_begun = put(journal.take_changes());
    assert_eq!(AgentJournal::restore("a", 2, not_begun).request(1, MonoTime::default()).inventory, Some(vec![]));
    let lease = journal.next(MonoTime::from_nanos(1)).unwrap();
    assert_eq!(journal.next(MonoTime::from_nanos(1)), None, "it begins once");
    let begun = put(journal.take_changes());
    let mut again = AgentJournal::restore("a", 2, begun);
    let spool = again.spool();
    assert!(
        matches!(&spool[..], [Delivery { outcome: Outcome::Failed { reason }, .. }] if reason.contains("interrupted"))
    );
    assert_eq!(board.deliver(&spool[0], NOON), Verdict::Stored);
    again.acknowledged(&lease.name());
    assert_eq!(again.spool(), []);
}

#[test]
fn a_reply_to_an_older_request_and_a_lease_with_too_little_time_left_begin_nothing() {
    let mut board = board(&[run("a", "b")]);
    let mut journal = AgentJournal::restore("a", 1, Vec::new());
    let first = journal.request(1, MonoTime::from_nanos(0));
    let late = board.request(&first, &Present::All, NOON);
    let second = journal.request(1, MonoTime::from_nanos(0));
    journal.reply(late);
    assert_eq!(journal.next(MonoTime::from_nanos(1)), None);
    // The second request shows that the lease never arrived.
    journal.reply(board.request(&second, &Present::All, NOON));
    let eleven_seconds = MonoTime::from_nanos(11_000_000_000);
    assert_eq!(journal.next(eleven_seconds), None, "30 s from the request, less 11 s, is too short for 20 s");
    assert_eq!(journal.room(), 1);
}
