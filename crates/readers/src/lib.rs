//! Every reader of foreign bytes as a function of bytes, with the claims that hold whatever the bytes are.
//!
//! The fuzzer in `fuzz/` feeds these functions, and the ordinary tests replay the fuzzer's corpus through them. A new
//! reader of foreign bytes gets an entry in [`ALL`] and a folder in `fuzz/corpus/`.

mod captured;
pub mod extreme;
mod gateways;
mod ndt7;
mod owamp_messages;
mod watched;

use std::fmt::Debug;
use std::slice::Chunks;

use archive::export::read_export;
use audit::fix::Target;
use audit::fix::plan::FixPlan;
use audit::scope::HostFacts;
use audit::{Case, Inputs, Keep, Profile, Rules};
pub use captured::{capture_file, captured_compressed, captured_ends, captured_packet, captured_segments};
pub use gateways::{cmsd_recording, gateway_experiment, gateway_records, gateway_status};
use host::files::FilesInMemory;
use host::fix::Planned;
use host::saved::{self, ethtool};
use host::{provenance, recorded};
use measure::echo::message;
use measure::http::body::{BodyCounter, Framing, framing};
use measure::http::head;
use measure::http::url::Url;
use model::host::fix::{Change, sysctl, talk};
use model::host::snapshot::Snapshot;
use model::series::packed;
pub use ndt7::{ndt7_frames, ndt7_report};
pub use owamp_messages::{owamp_control, owamp_records, stamp};
use path::Seed;
use plan::partners::PartnerList;
use plan::{Plan, PlanError, Schedule};
use scenario::{Scenario, ScenarioError};
use units::{ByteCount, DataRate, duration};
pub use watched::int_report;
use wire::client::ClientDialogue;
use wire::server::{self, ServerDialogue};

/// A reader, by the name that its corpus has.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// What `make fuzz NAME=...` calls it, and its folder in `fuzz/corpus/`.
    pub name: &'static str,
    /// Reads any bytes; panics when a claim does not hold.
    pub read: fn(&[u8]),
}

/// All of them.
pub const ALL: [Reader; 38] = [
    Reader { name: "capture_file", read: capture_file },
    Reader { name: "captured_compressed", read: captured_compressed },
    Reader { name: "captured_ends", read: captured_ends },
    Reader { name: "captured_packet", read: captured_packet },
    Reader { name: "captured_segments", read: captured_segments },
    Reader { name: "cmsd_recording", read: cmsd_recording },
    Reader { name: "gateway_experiment", read: gateway_experiment },
    Reader { name: "gateway_records", read: gateway_records },
    Reader { name: "gateway_status", read: gateway_status },
    Reader { name: "dialogue_of_client", read: dialogue_of_client },
    Reader { name: "dialogue_of_server", read: dialogue_of_server },
    Reader { name: "echo_message", read: echo_message },
    Reader { name: "exported_run", read: exported_run },
    Reader { name: "fix_plan", read: fix_plan },
    Reader { name: "foreign_output", read: foreign_output },
    Reader { name: "host_snapshot", read: host_snapshot },
    Reader { name: "http", read: http },
    Reader { name: "frame", read: frame },
    Reader { name: "helper_question", read: helper_question },
    Reader { name: "ndt7_frames", read: ndt7_frames },
    Reader { name: "ndt7_report", read: ndt7_report },
    Reader { name: "owamp_control", read: owamp_control },
    Reader { name: "owamp_records", read: owamp_records },
    Reader { name: "packed_samples", read: packed_samples },
    Reader { name: "partners", read: partners },
    Reader { name: "perfsonar_result", read: perfsonar_result },
    Reader { name: "plan", read: plan },
    Reader { name: "psconfig", read: psconfig },
    Reader { name: "quantities", read: quantities },
    Reader { name: "recorded_drops", read: recorded_drops },
    Reader { name: "recorded_facts", read: recorded_facts },
    Reader { name: "rule_file", read: rule_file },
    Reader { name: "saved_output", read: saved_output },
    Reader { name: "scenario", read: scenario },
    Reader { name: "sosreport", read: sosreport },
    Reader { name: "stamp", read: stamp },
    Reader { name: "int_report", read: int_report },
    Reader { name: "sysctl_files", read: sysctl_files },
];

/// More than any exported run in the corpus; the limit itself is an input of the reader.
const MAX_EXPORT_BYTES: u64 = 64 << 10;

/// Lists of hosts that others publish: whatever they hold, no host of a plan is an option or a line of its own.
pub fn partners(bytes: &[u8]) {
    let Ok(list) = PartnerList::read(bytes) else { return };
    assert!(list.hosts.is_sorted() && !list.hosts.is_empty());
    for host in &list.hosts {
        assert!(!host.starts_with('-') && !host.contains(char::is_whitespace), "{host}");
    }
}

/// What perfSONAR's archiver posts: whatever it holds, names are of DNS's length, and no more is lost than was sent.
pub fn perfsonar_result(bytes: &[u8]) {
    let Ok(archived) = import::perfsonar::read(bytes) else { return };
    assert!(!archived.from.is_empty() && !archived.to.is_empty());
    for name in archived.from.iter().chain(&archived.to) {
        assert!(name.len() <= 4 * 253 && !name.contains(char::is_control), "{name:?}");
    }
    if let model::played::Finding::Echo(echo) = &archived.finding {
        assert!(echo.summary.rtt.lost <= echo.summary.rtt.sent);
    }
    assert!(serde_json::to_vec(&archived.finding).is_ok());
}

/// What a server sends us. The first byte says in pieces of which size the rest arrives, which must not matter.
pub fn dialogue_of_client(bytes: &[u8]) {
    let hear = |pieces: Chunks<'_, u8>| {
        let mut dialogue = ClientDialogue::default();
        let mut heard = Vec::new();
        for piece in pieces {
            dialogue.feed(piece);
            loop {
                match dialogue.next_message() {
                    Ok(Some(message)) => heard.push(format!("{message:?}")),
                    Ok(None) => break,
                    Err(error) => return (heard, Some(error.to_string())),
                }
            }
        }
        (heard, None)
    };
    assert_pieces_do_not_matter(bytes, hear);
}

/// What a client sends us. The first byte says in pieces of which size the rest arrives, which must not matter.
pub fn dialogue_of_server(bytes: &[u8]) {
    let hear = |pieces: Chunks<'_, u8>| {
        let mut dialogue = ServerDialogue::default();
        let mut heard = Vec::new();
        for piece in pieces {
            dialogue.feed(piece);
            loop {
                match dialogue.next_message() {
                    Ok(Some(message)) => heard.push(format!("{message:?}{:?}", asked(&message))),
                    Ok(None) => break,
                    Err(error) => return (heard, Some(error.to_string())),
                }
            }
        }
        (heard, None)
    };
    assert_pieces_do_not_matter(bytes, hear);
}

/// The test that a client asks for: refused or not, no parameters may bring the server down.
fn asked(message: &server::ClientMessage) -> Option<bool> {
    let server::ClientMessage::Params(params) = message else { return None };
    Some(params.to_spec().is_ok())
}

fn assert_pieces_do_not_matter<T: PartialEq + Debug>(bytes: &[u8], hear: impl Fn(Chunks<'_, u8>) -> T) {
    if let Some((&size, stream)) = bytes.split_first() {
        let size = usize::from(size).max(1);
        assert_eq!(hear(stream.chunks(size)), hear(stream.chunks(1)), "pieces of {size} bytes are heard otherwise");
    }
}

/// What a raw or a ping socket hears, and what ICMP errors quote. The first byte says of which kind it is.
pub fn echo_message(bytes: &[u8]) {
    let Some((&kind, packet)) = bytes.split_first() else { return };
    let family = if kind & 1 == 0 { linux::sockets::Family::V4 } else { linux::sockets::Family::V6 };
    let header = if kind & 2 == 0 { message::Header::Absent } else { message::Header::Present };
    if let Some(reply) = message::read_reply(family, header, packet) {
        assert!(packet.ends_with(reply.payload), "the payload of a reply is its end");
    }
    // What is quoted is what was sent.
    if let Some(id) = message::read_quoted(family, packet) {
        let mut again = Vec::new();
        message::write_request(&mut again, family, id, *b"linerate", 0);
        assert_eq!(message::read_quoted(family, &again), Some(id));
    }
}

/// A stranger's snapshot: what is taken is audited, compared and shown without a panic, and no command or name of it acts on
/// a terminal.
pub fn host_snapshot(bytes: &[u8]) {
    let Ok(snapshot) = Snapshot::read(bytes) else { return };
    for (_, interface) in snapshot.interfaces() {
        assert!(foreign::device::is_name(&interface.name), "{:?} was taken for a device", interface.name);
    }
    let facts = HostFacts::of(&snapshot);
    assert!(audit::compare::changes(&facts.settings, &facts.settings).is_empty(), "a host differs from itself");
    let profile = Profile { rtt: Some(std::time::Duration::from_millis(100)), ..Profile::default() };
    let inputs = Inputs::default();
    static RULES: std::sync::LazyLock<Rules> = std::sync::LazyLock::new(Rules::built_in);
    let report = audit::audit(&RULES, &Case { host: &facts, profile: &profile, inputs: &inputs, keep: Keep::Findings });
    let steps = report.findings.iter().flat_map(|finding| &finding.fix);
    for line in steps.flat_map(|step| [Some(&step.command), step.undo.as_ref()]).flatten() {
        assert!(!line.chars().any(foreign::terminal::acts), "{line:?} acts on a terminal");
    }
}

/// A line of a recording of drops.
pub fn recorded_drops(bytes: &[u8]) {
    let Ok(interval) = host::drops::lines::parse(bytes) else { return };
    let shown = serde_json::to_value(&interval).map(|value| value.to_string()).unwrap_or_default();
    let series = host::drops::series::Series::of(vec![interval.clone(), interval]);
    for each in &series {
        let _ = (each.grown(), each.length(), host::drops::explain::suspects(each));
    }
    assert!(!shown.contains("\\u001b"), "an escape came through: {shown}");
}

/// What HTTP clients and servers send us. The first byte says in pieces of which size a body arrives, which must not
/// matter.
pub fn http(bytes: &[u8]) {
    let Some((&size, stream)) = bytes.split_first() else { return };
    if let Ok(text) = std::str::from_utf8(stream)
        && let Ok(url) = text.parse::<Url>()
    {
        let again = format!("http://{}{}", url.authority(), url.target).parse();
        assert_eq!(again.as_ref(), Ok(&url), "{text:?} is written otherwise than it is read");
    }
    if let Ok(Some((request, length))) = head::read_request(stream) {
        assert!(length <= stream.len() && request.fields.0.len() <= head::MAX_FIELDS);
    }
    let Ok(Some((response, length))) = head::read_response(stream) else { return };
    let Ok(framing) = framing(&response) else { return };
    let count = |size: usize| {
        let mut counter = BodyCounter::new(framing);
        let mut taken = 0;
        for piece in stream[length..].chunks(size) {
            taken += counter.feed(piece).map_err(|error| error.to_string())?;
        }
        Ok::<_, String>((counter.counted(), taken, counter.is_done()))
    };
    assert_eq!(count(usize::from(size).max(1)), count(1), "pieces of {size} bytes are counted otherwise");
    if let (Framing::Length(announced), Ok((counted, ..))) = (framing, count(64)) {
        assert!(counted <= announced, "more is counted than was announced");
    }
}

/// A run that somebody exported, and maybe edited.
pub fn exported_run(bytes: &[u8]) {
    let Ok(export) = read_export(bytes, MAX_EXPORT_BYTES) else { return };
    for stream in &export.samples.streams {
        assert!(
            stream.columns.iter().all(|column| column.values.len() == stream.at_us.len()),
            "columns of two lengths"
        );
    }
}

/// What another tool has printed.
pub fn foreign_output(bytes: &[u8]) {
    let import = import::read(bytes);
    for item in &import.evidence {
        assert!(!item.to_string().is_empty(), "evidence without text");
    }
    let source = import::round::Source {
        name: String::new(),
        import: import.clone(),
        written: units::WallTime::from_unix_nanos(0),
        digest: 0,
    };
    let together = import::round::of_files(&[source.clone(), source], &import::round::UserFacts::default());
    if let Some(round) = together.round {
        assert!(!round.members.is_empty() && !round.tests.is_empty(), "a round of nothing");
    }
    for test in &import.tests {
        for stream in &test.samples.streams {
            assert!(
                stream.columns.iter().all(|column| column.values.len() == stream.at_us.len()),
                "columns of two lengths"
            );
        }
        assert!(
            test.observations.iter().all(|observation| !observation.to_string().is_empty()),
            "an observation without text"
        );
    }
}

/// A frame of a device of the lab, behind eight bytes that say which of its packets are written.
pub fn frame(bytes: &[u8]) {
    let Some((chosen, frame)) = bytes.split_first_chunk::<8>() else { return };
    let [a, b, c, d, e, f, g, h] = *chosen;
    lab::relay::frame::claims(frame, u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
}

/// What a caller says to the privileged helper. Whatever it is, nothing in it leads to a file of its choice.
pub fn helper_question(bytes: &[u8]) {
    let Ok(question) = talk::Question::read(bytes) else { return };
    let written = serde_json::to_vec(&question).unwrap_or_default();
    assert_eq!(
        talk::Question::read(&written).as_ref(),
        Ok(&question),
        "a question is written otherwise than it is read"
    );
    let (talk::Question::Apply(talk::Order { steps, .. }) | talk::Question::Preview { steps }) = &question else {
        return;
    };
    for step in steps {
        let names = [step.namespace.as_ref().map(ToString::to_string), step.change.device().map(ToString::to_string)];
        for name in names.into_iter().flatten() {
            assert!(!name.contains('/') && name != ".." && name != ".", "{name:?} leads away");
        }
        if let Change::Sysctl { key, value } = &step.change {
            let file = sysctl::file(key.as_str());
            assert!(file.split('/').all(|part| !matches!(part, "" | "." | "..")), "{file:?} leads away");
            if let Ok(checked) = sysctl::checked(key.as_str(), value) {
                assert_eq!(sysctl::checked(key.as_str(), &checked).as_ref(), Ok(&checked));
            }
        }
        // It answers, whatever the answer is.
        let _ = step.check();
    }
}

/// What an archive of sosreport holds.
pub fn sosreport(bytes: &[u8]) {
    let Ok(snapshot) = saved::from_archive_bytes(bytes, "sosreport", units::WallTime::default()) else { return };
    let provenance = snapshot.provenance.value().into_iter().flat_map(|provenance| provenance.files.keys());
    assert!(provenance.into_iter().all(|path| !path.contains("/../")), "a path that leads out of the archive");
    assert_written_and_read_back(&snapshot);
}

/// What ethtool, sysctl, ip and tc have printed. The first byte says which of them.
pub fn saved_output(bytes: &[u8]) {
    let Some((&which, text)) = bytes.split_first() else { return };
    let text = &String::from_utf8_lossy(text);
    let unknown = match which % 10 {
        _ if which == b'm' => ethtool::module::read(text).unknown,
        0 => ethtool::features::read(text).unknown,
        1 => ethtool::tables::rings(text).unknown,
        2 => ethtool::tables::channels(text).unknown,
        3 => ethtool::tables::coalesce(text).unknown,
        4 => ethtool::tables::pause(text).unknown,
        5 => ethtool::driver::driver(text).unknown,
        6 => ethtool::driver::counters(text).unknown,
        7 => saved::sysctl::read(text).unknown,
        8 => saved::ip_link::read(text).unknown,
        _ => saved::tc::read(text, None).unknown,
    };
    let lines = text.lines().count();
    assert!(unknown.len() <= saved::MAX_UNKNOWN);
    assert!(unknown.iter().all(|(line, _)| (1..=lines).contains(&(*line as usize))), "a line that is not there");
}

/// Files that set sysctls at boot. The first lines name them: `path` and the rest up to a line of dashes.
pub fn sysctl_files(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut held = FilesInMemory::default();
    for part in text.split("\n---\n") {
        let (path, content) = part.split_once('\n').unwrap_or((part, ""));
        held.files.insert(format!("/{}", path.trim_matches('/')), content.as_bytes().to_vec());
    }
    let running = [("net.core.rmem_max", "1"), ("net.ipv4.conf.eth0.rp_filter", "2")];
    let running = running.map(|(key, value)| (key.to_owned(), Some(value.to_owned()))).into();
    let found = provenance::find(&held, &running);
    for (name, setting) in &found.provenance.settings {
        for winner in [setting.winner, setting.winner_after_sysctl_system].into_iter().flatten() {
            assert!(!setting.definitions[winner].masked, "{name}: a masked definition wins");
        }
        assert!(setting.definitions.len() <= provenance::MAX_DEFINITIONS);
    }
}

/// A plan of a fix, or the report of an audit. What is read is arranged without a word of a host, typed, and its text is
/// split into words of a command.
pub fn fix_plan(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let steps = match FixPlan::read(text) {
        Ok(plan) => plan.steps,
        Err(error) => return assert!(!error.to_string().is_empty(), "a refusal without a reason"),
    };
    let Ok(plan) = FixPlan::of(steps, &HostFacts::default()) else { return };
    for step in &plan.steps {
        let target = Target {
            namespace: step.namespace.as_deref().unwrap_or_default(),
            link: step.link.as_deref().unwrap_or_default(),
        };
        if let Ok(Planned::Step(typed)) = host::fix::plan(&step.operation, &target) {
            assert_eq!(typed.check(), Ok(()), "a step that is made may be tried");
        }
    }
    let written = serde_json::to_string(&plan).unwrap_or_default();
    if !plan.steps.is_empty() {
        assert_eq!(
            FixPlan::read(&written).map(|read| read.steps).ok(),
            Some(plan.steps),
            "what was written is what is read"
        );
    }
}

/// A file of rules. Whatever stands in it, what can be used is asked of a host, and what cannot is named with its place.
pub fn rule_file(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut rules = Rules::none();
    rules.add("site.toml", text);
    for fault in rules.faults() {
        assert!(fault.line >= 1 && fault.line <= text.split('\n').count() + 1, "a fault beyond the file: {fault}");
        assert!(!fault.message.is_empty(), "a refusal without a reason");
    }
    let (host, profile, inputs) = (HostFacts::default(), Profile::default(), Inputs::default());
    let report =
        audit::audit(&rules, &Case { host: &host, profile: &profile, inputs: &inputs, keep: Keep::Everything });
    assert_eq!(report.faults.len(), rules.faults().len());
}

/// Facts of hardware that a lab host does not have.
pub fn recorded_facts(bytes: &[u8]) {
    if let Err(message) = recorded::parse(bytes) {
        assert!(!message.is_empty(), "a refusal without a reason");
    }
}

fn assert_written_and_read_back(snapshot: &model::host::snapshot::Snapshot) {
    let written = serde_json::to_string(snapshot).unwrap_or_default();
    let again: Option<model::host::snapshot::Snapshot> = serde_json::from_str(&written).ok();
    assert_eq!(again.as_ref(), Some(snapshot), "what was read is not what is read after writing it");
}

/// Samples as they are stored and sent.
pub fn packed_samples(bytes: &[u8]) {
    let Ok(samples) = packed::unpack(bytes) else { return };
    let again = packed::unpack(&packed::pack(&samples)).ok();
    assert_eq!(again.as_ref(), Some(&samples), "what was read is not what is read after writing it");
}

/// Quantities as people type them. What is shown is rounded, but never to something that we do not read ourselves.
pub fn quantities(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(rate) = text.parse::<DataRate>() {
        assert!(rate.to_string().parse::<DataRate>().is_ok(), "{text:?} is shown as {rate}");
    }
    if let Ok(count) = text.parse::<ByteCount>() {
        assert!(count.to_string().parse::<ByteCount>().is_ok(), "{text:?} is shown as {count}");
    }
    if let Ok(time) = duration::parse(text) {
        let shown = duration::show(time);
        assert!(duration::parse(&shown).is_ok(), "{text:?} is shown as {shown}");
    }
}

/// The description of a lab. What is refused has a place; what is not can be worked out.
pub fn scenario(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Scenario::parse("any.toml", text) {
        Ok(scenario) => {
            let blueprint = scenario.blueprint(Seed(0));
            assert_eq!(blueprint.hosts.len(), scenario.hosts.len());
            let devices = blueprint.hosts.iter().flat_map(|host| &host.devices);
            assert!(devices.into_iter().all(|device| device.name.len() <= 15), "a name too long for a device");
        }
        Err(ScenarioError::Refused(complaints)) => assert!(!complaints.is_empty(), "refused for nothing"),
        Err(_) => {}
    }
}

/// A plan as a person writes it. What is refused has a place; what is not is written as the same, and has a schedule.
pub fn plan(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Plan::parse("any.toml", text) {
        Ok(plan) => assert_plan(&plan),
        Err(PlanError::Refused(complaints)) => assert!(!complaints.is_empty(), "refused for nothing"),
        Err(_) => {}
    }
}

/// A template of psConfig. What is refused says why; what is not is a plan.
pub fn psconfig(bytes: &[u8]) {
    if let Ok(imported) = Plan::from_psconfig("any.json", bytes) {
        assert!(imported.remarks.iter().all(|remark| !remark.what.is_empty()), "an observation without text");
        assert_plan(&imported.plan);
    }
}

fn assert_plan(plan: &Plan) {
    let written = plan.to_toml();
    let again = Plan::parse("again.toml", &written);
    assert!(again.is_ok_and(|again| again == *plan), "what was read is not what is read after writing it: {written}");
    let count: usize = (0..plan.tests.len()).map(|test| plan.pairs(test).len()).sum();
    // A schedule of many tests takes longer than a fuzzer waits.
    if count <= 500 {
        assert_eq!(Schedule::new(plan).slots.len(), count, "a test of a pair has no time, or two");
        assert!(plan.to_psconfig().template.is_object());
    }
}
