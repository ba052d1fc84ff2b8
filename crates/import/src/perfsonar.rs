//! Results of perfSONAR, as its HTTP archiver posts them: one run of pScheduler a document (pScheduler 5.2, `archiver-http`).
//!
//! * [`read`]: from the bytes of a request to a finding
//! * `values`: times, durations and numbers of such a document
//! * `findings`: what each type of test has measured

mod findings;
mod values;

use model::played::Finding;
use serde_json::Value;
use units::WallTime;

use values::{Object, moment, shortened};

pub use values::ArchivedError;

/// One run, in our nouns.
#[derive(Debug, Clone)]
pub struct Archived {
    /// When it began.
    pub began: WallTime,
    /// What was measured, by which a plan's test of this kind is found.
    pub kind: ArchivedKind,
    /// What the document calls the host that sends, or that asks: names and addresses, the surest first.
    pub from: Vec<String>,
    /// The same of the host that receives, or that answers.
    pub to: Vec<String>,
    /// What was found.
    pub finding: Finding,
}

/// What a run has measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArchivedKind {
    /// A flow of TCP.
    Tcp,
    /// A flow of UDP.
    Udp,
    /// RTTs, or losses in one direction.
    Echo,
    /// The largest packet that gets through.
    Mtu,
    /// The routers on the path.
    Hops,
}

/// Reads one run.
///
/// # Errors
/// See [`ArchivedError`]. A run that failed is a result: that nothing was measured.
pub fn read(bytes: &[u8]) -> Result<Archived, ArchivedError> {
    let document: Value = serde_json::from_slice(bytes)?;
    let whole = Object(&document);
    // pScheduler 5.2.4 left `test` out once; its task has it.
    let test = whole.object("test").or_else(|| whole.object("task")?.object("test"));
    let test = test.ok_or(ArchivedError::Lacks("test"))?;
    let word = test.text("type").ok_or(ArchivedError::Lacks("test.type"))?;
    let spec = test.object("spec").unwrap_or(Object(&Value::Null));
    let run = whole.object("run").unwrap_or(Object(&Value::Null));
    let schedule = whole.object("schedule").unwrap_or(Object(&Value::Null));
    let began =
        run.text("start-time").or_else(|| schedule.text("start")).ok_or(ArchivedError::Lacks("run.start-time"))?;
    let began = moment(began).ok_or(ArchivedError::Value("run.start-time"))?;
    let kind = match word {
        "throughput" if spec.flag("udp") => ArchivedKind::Udp,
        "throughput" => ArchivedKind::Tcp,
        "rtt" | "latency" | "latencybg" => ArchivedKind::Echo,
        "mtu" => ArchivedKind::Mtu,
        "trace" => ArchivedKind::Hops,
        other => return Err(ArchivedError::Type(shortened(other))),
    };
    let Ends { from, to } = ends(&whole, &spec)?;
    let context = findings::Context {
        began,
        from: from.first().map_or("", String::as_str),
        to: to.first().map_or("", String::as_str),
        spec,
        seconds: schedule.text("duration").and_then(values::seconds),
        software: software(&whole),
        number: number(&whole),
    };
    let finding = findings::finding(word, whole.object("result"), &context)?;
    Ok(Archived { began, kind, from, to, finding })
}

/// Who sends and who receives, by all names that the document has for them.
struct Ends {
    from: Vec<String>,
    to: Vec<String>,
}

fn ends(whole: &Object<'_>, spec: &Object<'_>) -> Result<Ends, ArchivedError> {
    let participants = whole.names("participants");
    let named = |key: &str, participant: Option<&String>| {
        let said = spec.text(key).map(ToOwned::to_owned);
        said.into_iter().chain(participant.cloned()).map(|name| shortened(&name)).collect::<Vec<String>>()
    };
    let last = participants.last().filter(|_| participants.len() > 1);
    let source = named("source", participants.first());
    let dest = named("dest", last);
    if source.is_empty() {
        return Err(ArchivedError::Lacks("participants"));
    }
    if dest.is_empty() {
        return Err(ArchivedError::Lacks("test.spec.dest"));
    }
    // `reverse` has the destination send.
    Ok(if spec.flag("reverse") { Ends { from: dest, to: source } } else { Ends { from: source, to: dest } })
}

/// The tool, whose name stands alone in documents of older versions.
fn software(whole: &Object<'_>) -> String {
    let tool = whole.object("tool").and_then(|tool| Some((tool.text("name")?, tool.text("version").unwrap_or(""))));
    let alone = || whole.text("tool").map(|name| (name, ""));
    let (name, version) = tool.or_else(alone).unwrap_or(("pScheduler", ""));
    shortened(format!("{name} {version}").trim())
}

/// The number of the run, which makes its name unique: the digits of its UUID.
fn number(whole: &Object<'_>) -> u128 {
    let href = whole.object("run").and_then(|run| run.text("href"));
    let id = href.and_then(|href| href.rsplit('/').next()).or_else(|| whole.text("id")).unwrap_or_default();
    let digits = id.chars().filter_map(|letter| letter.to_digit(16));
    digits.take(32).fold(0, |number, digit| number << 4 | u128::from(digit))
}
