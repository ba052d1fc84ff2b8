//! Asking every rule about a host.

use std::collections::BTreeMap;

use crate::expression::{Ground, Language, Unvalued, View};
use crate::fact::{Fact, FactMap, Missing, Reason};
use crate::fix::{Operation, Target};
use crate::inputs::Inputs;
use crate::profile::{Profile, Role};
use crate::report::{
    Answer, Finding, LackedFact, Other, Report, RuleCounts, Step, Subject, Summary, Unknown, UsedFact, shown,
};
use crate::rule::{Rule, Rules, Unit};
use crate::scope::{HostFacts, LinkFacts, Per, Scope};

/// One host to be audited.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// Facts of the host that the rule is asked of.
    pub host: &'a HostFacts,
    /// What is wanted of it.
    pub profile: &'a Profile,
    /// What is known besides.
    pub inputs: &'a Inputs,
    /// Which answers are kept with their facts.
    pub keep: Keep,
}

/// Which answers a report holds in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Findings and what is unknown; the rest is counted.
    Findings,
    /// All of them.
    Everything,
}

/// Asks every rule.
#[must_use]
pub fn audit(rules: &Rules, case: &Case<'_>) -> Report {
    let profile = case.profile.complete(case.host);
    let mut facts = case.inputs.facts.clone();
    facts.insert("profile".to_owned(), Fact::Map(profile.facts));
    let summary = Summary { rules: rules.all().len(), ..Summary::default() };
    let mut report = Report {
        host: case.host.name.clone(),
        made_for: Some(case.host.identity.clone()).filter(|identity| !identity.name.is_empty()),
        profile: profile.values,
        summary,
        findings: Vec::new(),
        unknown: Vec::new(),
        others: Vec::new(),
        faults: rules.faults().to_vec(),
    };
    let worst = BTreeMap::new();
    let mut questions = Questions { rules, roles: &profile.roles, keep: case.keep, report: &mut report, worst };
    questions.ask_everywhere(case.host, case.inputs.before.as_ref(), &facts);
    let worst = questions.worst;
    report.summary.by_rule = by_rule(rules, &worst);
    report.findings.sort_by(|a, b| (a.severity, &a.rule, &a.subject).cmp(&(b.severity, &b.rule, &b.subject)));
    report.unknown.sort_by(|a, b| (a.severity, &a.rule, &a.subject).cmp(&(b.severity, &b.rule, &b.subject)));
    report
}

/// Each rule once. One that nobody asked is for nothing that this host has.
fn by_rule(rules: &Rules, worst: &BTreeMap<String, Answer>) -> RuleCounts {
    let mut counts = RuleCounts::default();
    for rule in rules.all() {
        match worst.get(&rule.id).copied().unwrap_or(Answer::NotApplicable) {
            Answer::Fail => counts.fail += 1,
            Answer::Unknown => counts.unknown += 1,
            Answer::Pass => counts.pass += 1,
            Answer::NotApplicable => counts.not_applicable += 1,
        }
    }
    counts
}

struct Questions<'a> {
    /// The worst answer of each rule so far.
    worst: BTreeMap<String, Answer>,
    rules: &'a Rules,
    roles: &'a [Role],
    keep: Keep,
    report: &'a mut Report,
}

impl Questions<'_> {
    fn ask_everywhere(&mut self, host: &HostFacts, before: Option<&HostFacts>, inputs: &FactMap) {
        let whole = Scope::of_host(host, before, inputs);
        self.ask_all(&whole, &[Per::Host]);
        for namespace in &host.namespaces {
            let inside = whole.in_namespace(namespace);
            self.ask_all(&inside, &[Per::Namespace]);
            for link in &namespace.links {
                let of_link: &[Per] = if is_nic(link) { &[Per::Link, Per::Nic] } else { &[Per::Link] };
                self.ask_all(&inside.on_link(link), of_link);
            }
            for route in &namespace.routes {
                self.ask_all(&inside.on_route(route), &[Per::Route]);
            }
        }
    }

    fn ask_all(&mut self, scope: &Scope<'_>, pers: &[Per]) {
        let language = self.rules.language();
        let ground = language.ground(scope);
        let place = Place { language, scope, ground: &ground };
        for rule in self.rules.all().iter().filter(|rule| pers.contains(&rule.per)) {
            let for_others = !rule.roles.is_empty() && !rule.roles.iter().any(|role| self.roles.contains(role));
            if for_others {
                self.count(rule, &place, Answer::NotApplicable);
            } else {
                self.ask(rule, &place);
            }
        }
    }

    fn ask(&mut self, rule: &Rule, place: &Place<'_>) {
        let applies = rule.when.as_ref().map_or(Ok(true), |when| yes(when.evaluate(place.ground)));
        let answer = match applies {
            Ok(false) => return self.count(rule, place, Answer::NotApplicable),
            Ok(true) => yes(rule.condition.evaluate(place.ground)),
            Err(unvalued) => Err(unvalued),
        };
        match answer {
            Ok(false) => self.count(rule, place, Answer::Pass),
            Ok(true) => {
                self.report.summary.fail += 1;
                self.note(rule, Answer::Fail);
                self.report.findings.push(place.finding(rule));
            }
            Err(unvalued) => {
                self.report.summary.unknown += 1;
                self.note(rule, Answer::Unknown);
                self.report.unknown.push(place.unknown(rule, &unvalued));
            }
        }
    }

    fn note(&mut self, rule: &Rule, answer: Answer) {
        match self.worst.get_mut(&rule.id) {
            Some(worst) => *worst = answer.max(*worst),
            None => drop(self.worst.insert(rule.id.clone(), answer)),
        }
    }

    fn count(&mut self, rule: &Rule, place: &Place<'_>, answer: Answer) {
        self.note(rule, answer);
        let summary = &mut self.report.summary;
        if answer == Answer::Pass {
            summary.pass += 1;
        } else {
            summary.not_applicable += 1;
        }
        if self.keep == Keep::Everything {
            let facts = if answer == Answer::Pass { place.used(rule) } else { Vec::new() };
            self.report.others.push(Other { rule: rule.id.clone(), subject: place.subject(rule), answer, facts });
        }
    }
}

/// Where rules are asked.
struct Place<'a> {
    language: &'a Language,
    scope: &'a Scope<'a>,
    ground: &'a Ground<'a>,
}

impl Place<'_> {
    fn finding(&self, rule: &Rule) -> Finding {
        let wanted = rule.want.as_ref().and_then(|want| want.evaluate(self.ground).ok());
        let in_words = rule.want_text.as_ref().and_then(|text| text.render(self.ground, wanted.as_ref()).ok());
        let value = wanted.as_ref().map(|value| shown(value, rule.unit));
        let wanted_text = match (value, in_words) {
            (Some(value), Some(words)) => Some(format!("{value} ({words})")),
            (value, words) => value.or(words),
        };
        Finding {
            rule: rule.id.clone(),
            subject: self.subject(rule),
            severity: rule.severity,
            title: rule.title.clone(),
            facts: self.used(rule),
            wanted: wanted_text,
            why: rule.why.clone(),
            fix: self.steps(rule, wanted.as_ref()),
            lowers: rule.lowers,
            disruption: rule.disruption,
            explains: rule.explains.clone(),
            caveat: rule.caveat.clone(),
        }
    }

    fn steps(&self, rule: &Rule, wanted: Option<&Fact>) -> Vec<Step> {
        let target = Target { namespace: self.scope.namespace(), link: self.scope.link().unwrap_or_default() };
        // A step whose value is not known is left out: the words of the recommendation say what it depends on.
        let known = rule.fix.iter().filter_map(|operation| {
            let operation: Result<Operation<String>, Unvalued> = operation.try_map(&mut |text| match operation {
                // Its text is a command or names one; all other operations make words of their values themselves.
                Operation::Advice { .. } => text.render_advice(self.ground, wanted),
                _ => text.render(self.ground, wanted),
            });
            operation.ok()
        });
        known
            .map(|operation| Step {
                command: operation.command(&target),
                undo: operation.undo(self.scope, &target),
                operation,
            })
            .collect()
    }

    fn unknown(&self, rule: &Rule, unvalued: &Unvalued) -> Unknown {
        let mut missing: Vec<LackedFact> = Vec::new();
        for &number in &rule.slots[..rule.deciding] {
            if let Err(why) = self.ground.value(number) {
                missing.push(LackedFact { name: self.name(number), missing: self.explained(number, why) });
            }
        }
        match unvalued {
            Unvalued::Lacks { slot: None, why } => missing.push(LackedFact {
                name: format!("part of {}", self.language.slot(rule.slots[0]).path),
                missing: Missing::new(Reason::Absent, why),
            }),
            Unvalued::Failed(why) => missing.push(LackedFact {
                name: "the condition".to_owned(),
                missing: Missing::new(Reason::Absent, format!("cannot be computed: {why}")),
            }),
            Unvalued::Lacks { slot: Some(_), .. } => {}
        }
        Unknown {
            rule: rule.id.clone(),
            subject: self.subject(rule),
            severity: rule.severity,
            missing,
            facts: self.used(rule),
        }
    }

    /// A reason with the way out, where the vocabulary knows one.
    fn explained(&self, number: usize, mut missing: Missing) -> Missing {
        if missing.detail.is_empty() && missing.reason == Reason::NotGiven {
            let entry = self.language.vocabulary().entry(&self.language.slot(number).path);
            missing.detail = entry.and_then(|entry| entry.ask.clone()).unwrap_or_default();
        }
        missing
    }

    fn used(&self, rule: &Rule) -> Vec<UsedFact> {
        let known = rule.slots[..rule.deciding].iter().filter_map(|&number| {
            let value = self.ground.value(number).ok()?;
            let path = &self.language.slot(number).path;
            let source = self.language.vocabulary().entry(path).map(|entry| entry.source_of(path));
            Some(UsedFact { name: self.name(number), value: value.to_json(), source: source.unwrap_or_default() })
        });
        known.collect()
    }

    fn name(&self, number: usize) -> String {
        let slot = self.language.slot(number);
        match slot.view {
            View::Value => slot.path.to_string(),
            View::Rate => format!("rate({})", slot.path),
            View::Increase => format!("increase({})", slot.path),
        }
    }

    fn subject(&self, rule: &Rule) -> Subject {
        let namespace = self.scope.namespace();
        let owned = |text: &str| Some(text.to_owned());
        Subject {
            namespace: if namespace.is_empty() || rule.per == Per::Host { None } else { owned(namespace) },
            link: self.scope.link().and_then(owned),
            route: self.scope.route().and_then(owned),
        }
    }
}

fn yes(value: Result<Fact, Unvalued>) -> Result<bool, Unvalued> {
    match value? {
        Fact::Bool(yes) => Ok(yes),
        other => Err(Unvalued::Failed(format!("gives {}, not yes or no", shown(&other, Unit::None)))),
    }
}

fn is_nic(link: &LinkFacts) -> bool {
    link.facts.contains_key("nic")
}
