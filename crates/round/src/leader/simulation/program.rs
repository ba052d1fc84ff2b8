//! A program at a simulated host: its words in virtual time.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use units::MonoTime;

use super::answer;
use super::host::{Hosts, Load, Nature, Presence, code, number};
use crate::clock::Clock;
use crate::process::{Next, Piece, Process};
use crate::task::LISTENING;

/// What a program is told.
#[derive(Debug)]
pub(super) struct Words(Vec<String>);

impl Words {
    pub(super) fn new(arguments: &[OsString]) -> Self {
        Self(arguments.iter().map(|word| word.to_str().unwrap().to_owned()).collect())
    }

    fn at(&self, place: usize) -> &str {
        self.0.get(place).map_or("", String::as_str)
    }

    /// The value of an option in nanoseconds or milliseconds.
    fn time(&self, option: &str) -> Duration {
        let place = self.0.iter().position(|word| word == option).unwrap();
        let text = self.at(place + 1);
        match text.strip_suffix("ns") {
            Some(nanos) => Duration::from_nanos(nanos.parse().unwrap()),
            None => Duration::from_millis(text.trim_end_matches("ms").parse().unwrap()),
        }
    }
}

/// A program that runs at a simulated host.
#[derive(Debug)]
pub(super) struct Played {
    hosts: Arc<Hosts>,
    host: usize,
    /// What it prints, and its end at last; one without an end runs on.
    script: VecDeque<(MonoTime, Event)>,
    ended: Option<ExitStatus>,
    /// The flow that it measures, from when.
    flow: Option<(usize, MonoTime)>,
}

#[derive(Debug)]
enum Event {
    Output(Vec<u8>),
    Talk(&'static str),
    End(i32),
}

impl Played {
    pub(super) fn new(hosts: Arc<Hosts>, host: usize, words: &Words) -> Self {
        let begun = hosts.clock.now();
        let mut played = Self { hosts, host, script: VecDeque::new(), ended: None, flow: None };
        let factor = if let Nature::Slow(factor) = played.nature() { factor } else { 1 };
        let after = |time: Duration| begun + time.saturating_mul(factor);
        match (words.at(0), words.at(1)) {
            ("--version", _) => played.prints(after(LOGIN), answer::version(), 0),
            ("host", _) => {
                let at = after(LOGIN * 10);
                let snapshot = answer::snapshot(played.nature(), &played.hosts.clock, at);
                played.prints(at, snapshot, 0);
            }
            ("serve", _) => {
                played.script.push_back((after(LOGIN), Event::Talk(LISTENING)));
                played.script.push_back((after(LOGIN) + words.time("--within"), Event::End(3)));
            }
            ("probe", _) => {
                let to = number(words.at(2));
                let presence = played.hosts.presence(to, begun);
                let echo = answer::echo([host, to], played.nature(), presence);
                played.prints(after(Duration::from_secs(1)), echo, i32::from(presence == Presence::Gone));
            }
            ("test", peer) => {
                let to = number(peer);
                let at = after(LOGIN) + words.time("--time");
                let presence = played.hosts.presence(to, at);
                let contention = played.hosts.flow([host, to]);
                let code = if presence == Presence::There { 0 } else { 3 };
                played.prints(at, answer::flow([host, to], played.nature(), presence, contention), code);
                played.flow = Some((to, begun));
            }
            other => unreachable!("nobody asks a host for {other:?}"),
        }
        played.suffer(begun);
        played
    }

    fn nature(&self) -> Nature {
        self.hosts.natures[self.host]
    }

    fn prints(&mut self, at: MonoTime, output: Vec<u8>, code: i32) {
        self.script.push_back((at, Event::Output(output)));
        self.script.push_back((at, Event::End(code)));
    }

    /// What is wrong with the host is wrong with what it says from then on.
    fn suffer(&mut self, begun: MonoTime) {
        match self.nature() {
            Nature::Hangs(since) | Nature::Floods(since) => self.script.retain(|(at, _)| *at < since),
            Nature::Cut(since) => {
                self.script.retain(|(at, _)| *at < since);
                if !self.is_scripted_to_end() {
                    let noticed = since.max(begun) + SSH_NOTICES;
                    self.script.push_back((noticed, Event::Talk("client_loop: send disconnect: Broken pipe")));
                    self.script.push_back((noticed, Event::End(255)));
                }
            }
            Nature::Honest | Nature::Lies | Nature::Clock(_) | Nature::Slow(_) | Nature::Busy => {}
        }
    }

    fn is_scripted_to_end(&self) -> bool {
        self.script.iter().any(|(_, event)| matches!(event, Event::End(_)))
    }

    fn ends(&mut self, status: ExitStatus) {
        if self.ended.replace(status).is_some() {
            return;
        }
        self.hosts.alive.fetch_sub(1, Ordering::Relaxed);
        if let Some((to, from)) = self.flow {
            let load = Load { hosts: [self.host, to], from, until: self.hosts.clock.now() };
            self.hosts.loads.lock().unwrap().push(load);
        }
    }

    /// Whether it floods, now or within a time.
    fn floods(&self, until: MonoTime) -> Option<MonoTime> {
        let Nature::Floods(since) = self.nature() else { return None };
        let next = since.max(self.hosts.clock.now() + FLOOD_EVERY);
        (!self.is_scripted_to_end() && self.ended.is_none() && next <= until).then_some(next)
    }
}

impl Process for Played {
    fn next(&mut self, at_most: Duration) -> Next {
        let clock = self.hosts.clock.clone();
        let until = clock.now() + at_most;
        if let Some((at, _)) = self.script.front()
            && *at <= until
            && let Some((at, event)) = self.script.pop_front()
        {
            clock.set(at.max(clock.now()));
            return match event {
                Event::Output(bytes) => Next::Piece(Piece::Output(bytes)),
                Event::Talk(text) => Next::Piece(Piece::Talk(text.as_bytes().to_vec())),
                Event::End(number) => {
                    self.ends(code(number));
                    Next::All
                }
            };
        }
        if self.ended.is_some() {
            return Next::All;
        }
        if let Some(at) = self.floods(until) {
            clock.set(at);
            return Next::Piece(Piece::Output(vec![b'x'; 1 << 16]));
        }
        clock.set(until);
        Next::Nothing
    }

    fn has_ended(&mut self) -> bool {
        self.ended.is_some()
    }

    fn ask_to_end(&mut self) -> io::Result<()> {
        if matches!(self.nature(), Nature::Honest | Nature::Lies | Nature::Clock(_) | Nature::Busy) {
            let soon = self.hosts.clock.now() + LOGIN;
            self.script.retain(|(at, _)| *at <= soon);
            if !self.is_scripted_to_end() {
                self.script.push_back((soon, Event::End(143)));
            }
        }
        Ok(())
    }

    fn wait(&mut self, at_most: Duration) -> io::Result<bool> {
        let until = self.hosts.clock.now() + at_most;
        while self.ended.is_none() && self.hosts.clock.now() < until {
            self.next(until.since(self.hosts.clock.now()));
        }
        Ok(self.ended.is_some())
    }

    fn kill(&mut self) -> io::Result<()> {
        self.script.clear();
        self.ends(std::os::unix::process::ExitStatusExt::from_raw(9));
        Ok(())
    }

    fn status(&mut self) -> io::Result<ExitStatus> {
        self.ended.ok_or_else(|| io::Error::other("it would be waited for without an end"))
    }
}

impl Drop for Played {
    fn drop(&mut self) {
        // As a process of this machine, it ends with whoever listens to it.
        let _ = self.kill();
    }
}

/// What a login takes, and a program until it says something.
const LOGIN: Duration = Duration::from_millis(60);
/// ServerAliveInterval times ServerAliveCountMax.
const SSH_NOTICES: Duration = Duration::from_secs(15);
const FLOOD_EVERY: Duration = Duration::from_millis(500);
