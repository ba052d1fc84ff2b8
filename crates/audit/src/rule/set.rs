//! All rules there are: ours, which are compiled in, and a site's.

use super::compile::compile_file;
use super::{Rule, RuleFault};
use crate::expression::Language;
use crate::vocabulary::Vocabulary;

/// Rules that are ready to be asked.
#[derive(Debug)]
pub struct Rules {
    language: Language,
    rules: Vec<Rule>,
    faults: Vec<RuleFault>,
}

impl Rules {
    /// Our own.
    #[must_use]
    pub fn built_in() -> Self {
        let mut rules = Self::none();
        for (name, text) in BUILT_IN {
            rules.add(name, text);
        }
        rules
    }

    /// No rules yet.
    #[must_use]
    pub fn none() -> Self {
        Self { language: Language::new(Vocabulary::built_in()), rules: Vec::new(), faults: Vec::new() }
    }

    /// Adds the rules of a file. One that has the name of an earlier one takes its place, so that a site can change ours;
    /// one that cannot be used is left out and reported among the [`faults`](Self::faults).
    pub fn add(&mut self, name: &str, text: &str) {
        let mut added = Vec::new();
        compile_file(name, text, &mut self.language, &mut added, &mut self.faults);
        for rule in added {
            match self.rules.iter_mut().find(|known| known.id == rule.id) {
                Some(known) => *known = rule,
                None => self.rules.push(rule),
            }
        }
    }

    /// Every rule that can be asked.
    #[must_use]
    pub fn all(&self) -> &[Rule] {
        &self.rules
    }

    /// A rule by its name.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.id.eq_ignore_ascii_case(id))
    }

    /// Rules that cannot be used.
    #[must_use]
    pub fn faults(&self) -> &[RuleFault] {
        &self.faults
    }

    /// The language that the rules are written in.
    #[must_use]
    pub fn language(&self) -> &Language {
        &self.language
    }
}

/// The files that are compiled in, by name.
#[must_use]
pub fn built_in_texts() -> &'static [(&'static str, &'static str)] {
    &BUILT_IN
}

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        [$((concat!("rules/", $name), include_str!(concat!("../../rules/", $name)))),*]
    };
}

const BUILT_IN: [(&str, &str); 12] = built_in![
    "host.toml",
    "buffers.toml",
    "tcp.toml",
    "pacing.toml",
    "nic.toml",
    "mtu.toml",
    "cpu.toml",
    "loss.toml",
    "drops.toml",
    "path.toml",
    "method.toml",
    "drift.toml",
];

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
[[rule]]
id = "A-GOOD"
title = "Window scaling is off"
category = "site"
severity = "high"
per = "namespace"
condition = 'sysctl["net.ipv4.tcp_window_scaling"] == 0'
why = "Rates end at 64 KiB a round trip."
disruption = "none"
sources = ["site"]
"#;

    #[test]
    fn our_rules_can_all_be_used() {
        assert_eq!(Rules::built_in().faults(), []);
    }

    #[test]
    fn a_bad_condition_names_its_place_and_disables_only_itself() {
        let bad = GOOD.replace("A-GOOD", "B-BAD").replace("== 0'", "=== 0'");
        let unknown = GOOD.replace("A-GOOD", "C-BAD").replace("sysctl[", "link.mtu > 0 && sysctls[");
        let mut rules = Rules::none();
        rules.add("site.toml", &format!("# of the site\n{GOOD}{bad}{unknown}{}", GOOD.replace("A-", "D-")));
        assert_eq!(rules.all().iter().map(|rule| rule.id.as_str()).collect::<Vec<_>>(), ["A-GOOD", "D-GOOD"]);
        let places: Vec<_> =
            rules.faults().iter().map(|fault| (fault.rule.as_str(), fault.line, fault.column)).collect();
        // `condition = '` is 13 characters; the third `=` of the first is its 41st character, and `link` its first.
        assert_eq!(places, [("B-BAD", 20, 54), ("C-BAD", 31, 14)], "{:#?}", rules.faults());
        assert!(rules.faults()[1].to_string().starts_with("site.toml:31:14: rule C-BAD: "));
    }

    #[test]
    fn what_is_no_rule_at_all_is_reported_with_its_place() {
        let mut rules = Rules::none();
        rules.add("site.toml", &format!("{GOOD}[[rule]]\nid = \"X\"\nseverity = 7\n{}", GOOD.replace("A-", "B-")));
        assert_eq!(rules.all().len(), 2);
        assert_eq!((rules.faults()[0].line, rules.faults()[0].rule.as_str()), (14, "X"));
    }

    #[test]
    fn a_site_replaces_a_rule_of_ours_by_its_name() {
        let mut rules = Rules::none();
        rules.add("ours.toml", GOOD);
        rules.add("site.toml", &GOOD.replace("high", "low"));
        assert_eq!(rules.all().len(), 1);
        assert_eq!(rules.get("a-good").unwrap().severity, super::super::Severity::Low);
    }
}
