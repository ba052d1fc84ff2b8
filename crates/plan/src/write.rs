//! A plan as a file that a person would have written: what is written is read as the same plan.

use std::fmt::Write;

use units::WallTime;

use crate::operation::{Scope, Trigger, Weekdays, Window};
use crate::plan::{Expectation, Group, Host, Plan, Reach, Shape, Times, Use, Ways};
use crate::task;
use crate::written::{bytes, key, rate, set, text, texts, time};

impl Plan {
    /// The plan as TOML.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut file = File::default();
        file.line("title", &text(&self.title));
        file.some("about", self.about.as_deref().map(text));
        file.times(self.times);
        for network in &self.networks {
            file.table(&format!("[networks.{}]", key(&network.name)));
            file.some("about", network.about.as_deref().map(text));
        }
        for host in &self.hosts {
            file.host(self, host);
        }
        file.between(self);
        for group in &self.groups {
            file.group(self, group);
        }
        file.tests(self);
        file.operation(self);
        file.0
    }

    fn named(&self, hosts: &[usize]) -> String {
        texts(&hosts.iter().map(|host| &self.hosts[*host].name).collect::<Vec<_>>())
    }

    fn pairs_named<'a>(&self, pairs: impl Iterator<Item = &'a (usize, usize)>) -> String {
        let pairs: Vec<String> = pairs.map(|(from, to)| self.named(&[*from, *to])).collect();
        format!("[{}]", pairs.join(", "))
    }

    fn network_named(&self, network: Option<usize>) -> Option<String> {
        network.map(|network| text(&self.networks[network].name))
    }
}

#[derive(Default)]
struct File(String);

impl File {
    fn table(&mut self, header: &str) {
        self.0.push('\n');
        self.0.push_str(header);
        self.0.push('\n');
    }

    fn line(&mut self, name: &str, value: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{name} = {value}");
    }

    fn some(&mut self, name: &str, value: Option<String>) {
        if let Some(value) = value {
            self.line(name, &value);
        }
    }

    fn times(&mut self, times: Times) {
        if times != Times::default() {
            self.table("[times]");
            self.some("every", times.every.map(time));
            self.some("light-every", times.light_every.map(time));
            self.line("gap", &time(times.gap));
        }
    }

    fn host(&mut self, plan: &Plan, host: &Host) {
        self.table(&format!("[hosts.{}]", key(&host.name)));
        self.some("address", host.address.as_deref().map(text));
        let addresses = host.addresses.iter();
        self.inline("addresses", addresses.map(|(network, address)| (&plan.networks[*network].name, address)));
        if !host.roles.is_empty() {
            self.line("roles", &texts(&host.roles));
        }
        self.inline("attributes", host.attributes.iter());
        match &host.reach {
            Some(Reach::Ssh(target)) => self.line("ssh", &text(target)),
            Some(Reach::Lab(host)) => self.line("lab", &text(host)),
            Some(Reach::Netns(netns)) => self.line("netns", &text(netns)),
            Some(Reach::Here) => self.line("here", &set()),
            None => {}
        }
        self.some("program", host.program.as_deref().map(text));
        self.some("serves", host.serves.then(set));
        self.some("port", host.port.map(|port| port.to_string()));
        self.some("http-port", host.http_port.map(|port| port.to_string()));
        self.some("machine", host.machine.as_deref().map(text));
        self.some("rate", host.rate.map(rate));
        self.some("forwards", host.forwards.then(set));
    }

    fn inline<'a>(&mut self, name: &str, entries: impl Iterator<Item = (&'a String, &'a String)>) {
        let entries: Vec<String> = entries.map(|(name, value)| format!("{} = {}", key(name), text(value))).collect();
        if !entries.is_empty() {
            self.line(name, &format!("{{ {} }}", entries.join(", ")));
        }
    }

    fn between(&mut self, plan: &Plan) {
        for segment in &plan.segments {
            self.table("[[segments]]");
            self.line("name", &text(&segment.name));
            self.line("between", &plan.named(&segment.between));
            self.some("rate", segment.rate.map(rate));
            self.some("shared", (segment.use_ == Use::InTurn).then(set));
        }
        for way in &plan.ways {
            self.table("[[ways]]");
            self.line("from", &text(&plan.hosts[way.from].name));
            self.line("to", &text(&plan.hosts[way.to].name));
            self.some("network", plan.network_named(way.network));
            let over: Vec<&String> = way.over.iter().map(|segment| &plan.segments[*segment].name).collect();
            self.line("over", &texts(&over));
        }
    }

    fn group(&mut self, plan: &Plan, group: &Group) {
        self.table(&format!("[groups.{}]", key(&group.name)));
        match &group.shape {
            Shape::Mesh(hosts) => self.line("mesh", &plan.named(hosts)),
            Shape::Disjoint { a, b, ways } => {
                self.line("disjoint", &format!("[{}, {}]", plan.named(a), plan.named(b)));
                self.some("one-way", (*ways == Ways::One).then(set));
            }
            Shape::List(pairs) => self.line("list", &plan.pairs_named(pairs.iter())),
        }
        self.some("network", plan.network_named(group.network));
        if !group.without.is_empty() {
            self.line("without", &plan.pairs_named(group.without.iter()));
        }
    }

    fn tests(&mut self, plan: &Plan) {
        for test in &plan.tests {
            self.table("[[tests]]");
            let mut keys = task::keys(&test.task).into_iter();
            keys.by_ref().take(1).for_each(|(name, value)| self.line(name, &value));
            if test.label != crate::read::test::usual_label(&test.task) {
                self.line("label", &text(&test.label));
            }
            if plan.groups.len() > 1 {
                self.line("group", &text(&plan.groups[test.group].name));
            }
            keys.for_each(|(name, value)| self.line(name, &value));
            // A flow has its family in its specification.
            let family = test.family.filter(|_| test.task.family().is_none());
            self.some("family", family.map(|family| text(task::name_of(family))));
            self.some("expect", test.expect.map(expectation));
            self.some("every", test.every.map(time));
            let when = match test.trigger {
                Trigger::TimeOrChange => None,
                Trigger::Time => Some(text("time")),
                Trigger::Change => Some(text("change")),
            };
            self.some("when", when);
        }
        for pair in &plan.expectations {
            self.table("[[expectations]]");
            for (name, hosts) in [("from", &pair.from), ("to", &pair.to)] {
                self.some(name, (!hosts.is_empty()).then(|| plan.named(hosts)));
            }
            self.some("network", plan.network_named(pair.network));
            self.line("expect", &expectation(pair.expect));
        }
    }

    fn operation(&mut self, plan: &Plan) {
        for maintenance in &plan.maintenance {
            self.table("[[maintenance]]");
            self.some("about", maintenance.about.as_deref().map(text));
            self.scope(plan, &maintenance.scope);
            match maintenance.window {
                Window::Once { from, until } => {
                    self.line("from", &text(&moment(from)));
                    self.line("until", &text(&moment(until)));
                }
                Window::Weekly { days, at, lasts } => {
                    self.some("days", (days != Weekdays::ALL).then(|| texts(&days.names())));
                    let minutes = at.as_secs() / 60;
                    self.line(
                        "at",
                        &text(&format!("{:02}:{:02}:{:02}", minutes / 60, minutes % 60, at.as_secs() % 60)),
                    );
                    self.line("lasts", &time(lasts));
                }
            }
        }
        for budget in &plan.budgets {
            self.table("[[budgets]]");
            self.scope(plan, &budget.scope);
            self.line("bytes-a-day", &bytes(budget.bytes_a_day));
        }
    }

    fn scope(&mut self, plan: &Plan, scope: &Scope) {
        self.some("hosts", (!scope.hosts.is_empty()).then(|| plan.named(&scope.hosts)));
        let segments: Vec<&String> = scope.segments.iter().map(|segment| &plan.segments[*segment].name).collect();
        self.some("segments", (!segments.is_empty()).then(|| texts(&segments)));
    }
}

/// As RFC 3339 has it.
fn moment(at: WallTime) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(at.unix_nanos())).map_or_else(|_| String::new(), |at| at.to_string())
}

fn expectation(expect: Expectation) -> String {
    match expect {
        Expectation::Rate(expected) => rate(expected),
        Expectation::Percent(percent) => text(&format!("{percent}%")),
        Expectation::Rtt(expected) => time(expected),
    }
}
