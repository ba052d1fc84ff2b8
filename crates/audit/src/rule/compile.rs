//! From the text of a file to compiled rules, one at a time, so that a bad one disables only itself.

use toml::Spanned;

use super::document::{File, Written};
use super::{Rule, RuleFault};
use crate::expression::{Expression, Fault, Language, Template};
use crate::fix::Operation;
use crate::scope::Per;

/// Compiles every rule of a file.
pub(super) fn compile_file(
    name: &str,
    text: &str,
    language: &mut Language,
    rules: &mut Vec<Rule>,
    faults: &mut Vec<RuleFault>,
) {
    for part in parts(text) {
        let reader = Reader { file: name, part: part.text, first_line: part.first_line };
        match toml::from_str::<File>(part.text) {
            Err(error) => faults.push(reader.fault(error.span().map_or(0, |span| span.start), "", error.message())),
            Ok(file) => {
                for written in &file.rule {
                    match reader.compile(written, language) {
                        Ok(rule) => rules.push(rule),
                        Err(fault) => faults.push(*fault),
                    }
                }
            }
        }
    }
}

struct Part<'a> {
    text: &'a str,
    first_line: usize,
}

/// Cuts a file before each `[[rule]]`.
fn parts(text: &str) -> Vec<Part<'_>> {
    let (mut parts, mut start, mut first_line, mut at) = (Vec::new(), 0, 1, 0);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        if line.trim_end() == "[[rule]]" {
            parts.push(Part { text: &text[start..at], first_line });
            (start, first_line) = (at, index + 1);
        }
        at += line.len();
    }
    parts.push(Part { text: &text[start..], first_line });
    parts
}

struct Reader<'a> {
    file: &'a str,
    part: &'a str,
    first_line: usize,
}

impl Reader<'_> {
    fn compile(&self, written: &Written, language: &mut Language) -> Result<Rule, Box<RuleFault>> {
        let id = written.id.get_ref();
        let per = written.per;
        if id.is_empty() || !id.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-') {
            let message = "the name of a rule is of capital letters, digits and hyphens";
            return Err(Box::new(self.fault(written.id.span().start, id, message)));
        }
        let mut expression = |text: &Spanned<String>| {
            language.compile(text.get_ref(), per).map_err(|fault| self.within(text, id, &fault))
        };
        let when = written.when.as_ref().map(&mut expression).transpose()?;
        let condition = expression(&written.condition)?;
        let want = written.want.as_ref().map(&mut expression).transpose()?;
        let want_text = match &written.want_text {
            Some(text) => Some(self.template(text, id, language, per)?),
            None => None,
        };
        let mut change = |text: &Spanned<String>| self.template(text, id, language, per);
        let fix: Vec<Operation<Template>> =
            written.fix.iter().map(|operation| operation.try_map(&mut change)).collect::<Result<_, _>>()?;
        let (slots, deciding) = slots(when.as_ref(), &condition, want.as_ref(), want_text.as_ref());
        Ok(Rule {
            id: id.clone(),
            title: written.title.clone(),
            category: written.category.clone(),
            severity: written.severity,
            per,
            roles: written.roles.clone(),
            when,
            condition,
            want,
            want_text,
            unit: written.unit,
            why: one_line(&written.why),
            fix,
            lowers: written.lowers,
            disruption: written.disruption,
            explains: written.explains.clone(),
            sources: written.sources.clone(),
            caveat: written.caveat.as_deref().map(one_line),
            corrected: written.corrected.as_deref().map(one_line),
            slots,
            deciding,
            file: self.file.to_owned(),
        })
    }

    fn template(
        &self,
        text: &Spanned<String>,
        id: &str,
        language: &mut Language,
        per: Per,
    ) -> Result<Template, Box<RuleFault>> {
        Template::compile(text.get_ref(), language, per).map_err(|fault| self.within(text, id, &fault))
    }

    /// A fault within a text of the file, placed where it stands in the file.
    fn within(&self, text: &Spanned<String>, id: &str, fault: &Fault) -> Box<RuleFault> {
        let raw = &self.part[text.span()];
        let quotes = if raw.starts_with("'''") || raw.starts_with("\"\"\"") { 3 } else { 1 };
        // A line break right after the opening quotes is not part of the text.
        let opening = quotes + raw.get(quotes..).map_or(0, |rest| usize::from(quotes == 3 && rest.starts_with('\n')));
        let mut placed = self.fault(text.span().start + opening, id, &fault.message);
        placed.column = if fault.line == 0 { placed.column + fault.column } else { fault.column + 1 };
        placed.line += fault.line;
        Box::new(placed)
    }

    fn fault(&self, byte: usize, rule: &str, message: &str) -> RuleFault {
        let before = &self.part[..byte.min(self.part.len())];
        RuleFault {
            file: self.file.to_owned(),
            line: self.first_line + before.matches('\n').count(),
            column: before.chars().rev().take_while(|&c| c != '\n').count() + 1,
            rule: if rule.is_empty() { self.id_by_eye() } else { rule.to_owned() },
            message: message.to_owned(),
        }
    }

    /// The name of a rule that cannot be read as a whole.
    fn id_by_eye(&self) -> String {
        let line =
            self.part.lines().find_map(|line| line.trim_start().strip_prefix("id")?.trim_start().strip_prefix('='));
        line.unwrap_or_default().trim().trim_matches(['"', '\'']).to_owned()
    }
}

fn slots(
    when: Option<&Expression>,
    condition: &Expression,
    want: Option<&Expression>,
    want_text: Option<&Template>,
) -> (Vec<usize>, usize) {
    let mut slots: Vec<usize> = Vec::new();
    let mut add = |more: &mut dyn Iterator<Item = usize>| {
        for slot in more {
            if !slots.contains(&slot) {
                slots.push(slot);
            }
        }
        slots.len()
    };
    add(&mut condition.slots().iter().copied());
    let deciding = add(&mut when.iter().flat_map(|when| when.slots().iter().copied()));
    add(&mut want.iter().flat_map(|want| want.slots().iter().copied()));
    add(&mut want_text.iter().flat_map(|text| text.slots()));
    (slots, deciding)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
