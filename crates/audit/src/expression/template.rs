//! Text with expressions in braces: `{sysctl["net.ipv4.tcp_rmem"][0]} 131072 {want}`.

use foreign::shell::{is_harmless, word};

use super::fault::{Fault, Unvalued};
use super::{Expression, Ground, Language};
use crate::fact::Fact;
use crate::scope::Per;

/// A text, some parts of which are computed.
#[derive(Debug, Clone)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
enum Part {
    Text(String),
    Computed(Expression),
    /// The value that the rule recommends.
    Wanted,
}

impl Template {
    /// Compiles a text.
    ///
    /// # Errors
    /// Where a brace is not closed, or what stands between braces is no expression.
    pub fn compile(text: &str, language: &mut Language, per: Per) -> Result<Self, Fault> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((plain, after)) = rest.split_once('{') {
            if !plain.is_empty() {
                parts.push(Part::Text(plain.to_owned()));
            }
            let start = text.len() - after.len();
            let (inside, remaining) = after
                .split_once('}')
                .ok_or_else(|| Fault { message: "this brace is not closed".to_owned(), ..fault_at(text, start - 1) })?;
            if inside == "want" {
                parts.push(Part::Wanted);
            } else {
                let expression = language.compile(inside, per).map_err(|fault| {
                    let at = fault_at(text, start);
                    let column = if fault.line == 0 { at.column + fault.column } else { fault.column };
                    Fault { line: at.line + fault.line, column, message: fault.message }
                })?;
                parts.push(Part::Computed(expression));
            }
            rest = remaining;
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        Ok(Self { parts })
    }

    /// The facts it uses.
    pub fn slots(&self) -> impl Iterator<Item = usize> {
        let expressions = self.parts.iter().filter_map(|part| match part {
            Part::Computed(expression) => Some(expression),
            Part::Text(_) | Part::Wanted => None,
        });
        expressions.flat_map(|expression| expression.slots().iter().copied())
    }

    /// The text on one host.
    ///
    /// # Errors
    /// Where a part has no value.
    pub fn render(&self, ground: &Ground<'_>, wanted: Option<&Fact>) -> Result<String, Unvalued> {
        self.render_with(ground, wanted, &|value| value)
    }

    /// The text on one host as somebody may paste it into a shell: what a host says of itself stands in quotes unless it
    /// is harmless there.
    ///
    /// # Errors
    /// Where a part has no value.
    pub fn render_advice(&self, ground: &Ground<'_>, wanted: Option<&Fact>) -> Result<String, Unvalued> {
        let quoted = |value: String| if is_harmless(&value) { value } else { word(&value).into_owned() };
        self.render_with(ground, wanted, &quoted)
    }

    fn render_with(
        &self,
        ground: &Ground<'_>,
        wanted: Option<&Fact>,
        filtered: &dyn Fn(String) -> String,
    ) -> Result<String, Unvalued> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Computed(expression) => text.push_str(&filtered(expression.evaluate(ground)?.to_string())),
                Part::Wanted => {
                    let wanted = wanted.ok_or_else(|| Unvalued::Failed("there is no wanted value".to_owned()))?;
                    text.push_str(&filtered(wanted.to_string()));
                }
            }
        }
        Ok(text)
    }
}

fn fault_at(text: &str, byte: usize) -> Fault {
    let before = &text[..byte];
    let column = before.chars().rev().take_while(|&c| c != '\n').count();
    Fault { line: before.matches('\n').count(), column, message: String::new() }
}
