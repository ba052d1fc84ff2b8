//! JSON in a file: one object, several, or one event a line, with lines between them that are none.

use serde::de::{Deserialize, DeserializeSeed};
use serde_json::Value;

use super::json;
use super::object::{Filled, Object};
use crate::Format;
use crate::anomaly::Anomalies;
use crate::command::{Command, after_prompt};
use crate::evidence::{Evidence, mtr};
use crate::limits::{MAX_BROKEN_OBJECTS, MAX_TESTS};
use crate::own::{self, OwnDocument};
use crate::parsed::ParsedTest;
use crate::source::unquoted;

/// All tests of a text in which some line starts with a brace, and the text without them: as many lines, those of JSON
/// and of its commands empty. `None` where there is no JSON.
pub(crate) fn read(text: &str, outside: &mut Anomalies) -> (Vec<ParsedTest>, Vec<Evidence>, Option<String>) {
    let indented = without_indentation(text);
    let text = indented.as_deref().unwrap_or(text);
    if start_of_object(text).is_none() {
        return (Vec::new(), Vec::new(), None);
    }
    let mut reading = DocumentReader {
        tests: Vec::new(),
        evidence: Vec::new(),
        command: None,
        stream: None,
        rest: String::new(),
        outside,
    };
    let mut position = Position { rest: text, line: 1 };
    let mut broken = 0;
    while let Some(offset) = start_of_object(position.rest) {
        reading.between(position.skip(offset));
        let line = position.line;
        if let Some(own) = own::read(position.rest, line) {
            let end = own.bytes;
            reading.own(own, line);
            reading.blank(position.skip(end));
            continue;
        }
        let mut object = Object::default();
        let mut objects = serde_json::Deserializer::from_str(position.rest);
        match Filled(&mut object).deserialize(&mut objects) {
            Ok(()) => {
                let end = objects.into_iter::<serde::de::IgnoredAny>().byte_offset();
                if object.get("client_version").is_some() {
                    // What was asked for, with -d: a part of a text.
                    reading.between(position.skip(end));
                } else {
                    reading.object(object, line);
                    reading.blank(position.skip(end));
                }
            }
            Err(error) if error.is_eof() && object.get("start").is_some() => {
                let found = format!("the file ends within it, in line {}", line + error.line().saturating_sub(1));
                reading.outside.add(line, "a whole object of iperf3", &found);
                let cut = Value::String("interrupted: the output ends before the test".to_owned());
                object.entries.push(("error".to_owned(), cut));
                reading.object(object, line);
                let end = position.rest.len();
                reading.blank(position.skip(end));
            }
            Err(error) if broken < MAX_BROKEN_OBJECTS => {
                broken += 1;
                // The next try is at the next line that starts with a brace.
                let down = error.line().saturating_sub(1);
                let found = position.rest.lines().nth(down).unwrap_or_default();
                reading.outside.add(line + down, format!("JSON of iperf3 ({error})"), found);
                let end = position.rest.find("\n{").map_or(position.rest.len(), |end| end + 1);
                reading.blank(position.skip(end));
            }
            _ => {
                reading.outside.add(line, format!("fewer than {MAX_BROKEN_OBJECTS} broken objects"), "one more");
                let end = position.rest.len();
                reading.blank(position.skip(end));
            }
        }
    }
    reading.between(position.rest);
    reading.end_stream();
    (reading.tests, reading.evidence, Some(reading.rest))
}

/// A text whose objects are indented, with them at the start of their lines.
fn without_indentation(text: &str) -> Option<String> {
    indentation_of_object(text).map(|blanks| {
        text.lines().fold(String::with_capacity(text.len()), |mut all, line| {
            let inside = unquoted(line);
            let own = inside.len() - inside.trim_start().len();
            all.push_str(&inside[own.min(blanks)..]);
            all.push('\n');
            all
        })
    })
}

/// What is still to be read, and which line of the file it starts in.
struct Position<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Position<'a> {
    /// Goes on by `bytes`; returns what lies behind then.
    fn skip(&mut self, bytes: usize) -> &'a str {
        let (behind, rest) = self.rest.split_at(bytes);
        self.line += behind.bytes().filter(|byte| *byte == b'\n').count();
        self.rest = rest;
        behind
    }
}

struct DocumentReader<'a> {
    tests: Vec<ParsedTest>,
    evidence: Vec<Evidence>,
    command: Option<Command>,
    /// Events of a test that has not ended.
    stream: Option<(usize, Object)>,
    /// What is no JSON, line by line.
    rest: String,
    outside: &'a mut Anomalies,
}

impl DocumentReader<'_> {
    fn object(&mut self, object: Object, line: usize) {
        match object.get("event").and_then(Value::as_str).map(str::to_owned) {
            Some(event) => self.event(&event, object, line),
            None if self.report_of_mtr(&object, line) => {}
            // With --json-stream-full-output the whole follows its parts.
            None if self.is_whole_of_last(&object) => {}
            None => {
                self.end_stream();
                self.test(object, Format::Iperf3Json, line);
            }
        }
    }

    /// mtr's object beside those of iperf3.
    fn report_of_mtr(&mut self, object: &Object, line: usize) -> bool {
        let shown = object.get("report").and_then(mtr::read_json);
        let is_report = shown.is_some();
        self.evidence.extend(shown.into_iter().flatten().map(|shows| Evidence { line, host: None, shows }));
        is_report
    }

    /// A document of linerate's, which may stand among those of others.
    fn own(&mut self, own: OwnDocument, line: usize) {
        self.end_stream();
        self.evidence.extend(own.evidence);
        if let Some(found) = own.complaint {
            self.outside.add(line, "a document of linerate", &found);
        }
    }

    fn event(&mut self, event: &str, object: Object, line: usize) {
        let data = object.entries.into_iter().find(|(key, _)| key == "data").map_or(Value::Null, |(_, data)| data);
        if event == "start" {
            self.end_stream();
        }
        let (_, stream) = self.stream.get_or_insert_with(|| (line, Object::default()));
        match event {
            "interval" => stream.intervals.take(&data),
            "start" | "end" | "error" | "server_output_json" | "server_output_text" => {
                stream.entries.push((event.to_owned(), data));
            }
            _ => self.outside.add(line, "an event of iperf3", event),
        }
        if event == "end" {
            // Errors may follow, so the test is kept open.
            stream.entries.push(("ended".to_owned(), Value::Bool(true)));
        }
    }

    fn end_stream(&mut self) {
        let Some((line, mut stream)) = self.stream.take() else { return };
        if stream.get("ended").is_none() && stream.get("error").is_none() {
            stream
                .entries
                .push(("error".to_owned(), Value::String("interrupted: the output ends before the test".to_owned())));
        }
        self.test(stream, Format::Iperf3JsonStream, line);
    }

    fn is_whole_of_last(&self, object: &Object) -> bool {
        let cookie = |object: &Object| Some(object.get("start")?.get("cookie")?.clone());
        let whole = cookie(object);
        whole.is_some() && self.stream.as_ref().and_then(|(_, stream)| cookie(stream)) == whole
    }

    fn test(&mut self, mut object: Object, format: Format, line: usize) {
        if self.tests.len() >= MAX_TESTS {
            self.outside.add(line, format!("at most {MAX_TESTS} tests"), "one more");
        } else if let Some(mut parsed) = json::read(&mut object, format, line) {
            if let Some(command) = self.command.take() {
                let options = parsed.options.clone();
                let target = parsed.target.clone();
                command.tell(&mut parsed, line);
                parsed.options = json::both(&options, parsed.options);
                parsed.target = parsed.target.or(target);
            }
            self.tests.push(parsed);
        } else if !object.is_of_debug_output() && !self.within(&object, line) {
            self.outside.add(line, "the keys `start`, `intervals` and `end` of iperf3, or `error`", &object.keys());
        }
    }

    /// Objects of iperf3 within one of a script or an archive; whether there are any.
    fn within(&mut self, object: &Object, line: usize) -> bool {
        let before = self.tests.len();
        for value in object.entries.iter().map(|(_, value)| value) {
            self.nested(0, value, line);
        }
        self.tests.len() > before
    }

    fn nested(&mut self, depth: usize, value: &Value, line: usize) {
        match value {
            Value::Object(entries) if entries.contains_key("start") && entries.contains_key("end") => {
                // Its intervals are read once more, as those of an object that stands alone.
                if let Ok(object) = Object::deserialize(value) {
                    self.test(object, Format::Iperf3Json, line);
                }
            }
            Value::Object(entries) if depth < MAX_DEPTH => {
                entries.values().for_each(|inner| self.nested(depth + 1, inner, line));
            }
            Value::Array(list) if depth < MAX_DEPTH => {
                list.iter().for_each(|inner| self.nested(depth + 1, inner, line));
            }
            _ => {}
        }
    }

    /// Lines that are no JSON. A command there is that of the next object where nothing but warnings stands between.
    fn between(&mut self, text: &str) {
        let mut pending = String::new();
        for line in text.split_inclusive('\n') {
            match Command::parse(after_prompt(line.trim_end()).unwrap_or("")) {
                // The lines of an earlier command belong to the text after it.
                Some(command) if command.prints_json() => {
                    self.rest.push_str(&std::mem::take(&mut pending));
                    self.command = Some(command);
                    self.blank(line);
                }
                _ => pending.push_str(line),
            }
        }
        // What stands between the objects of a list.
        if !pending.is_empty() && pending.trim().bytes().all(|byte| matches!(byte, b'[' | b']' | b',' | b' ' | b'\n')) {
            return self.blank(&pending);
        }
        self.rest.push_str(&pending);
    }

    /// Keeps the number of lines.
    fn blank(&mut self, text: &str) {
        self.rest.extend(text.matches('\n'));
    }
}

/// How deep objects of iperf3 are looked for in those of others.
const MAX_DEPTH: usize = 4;

/// How far the first object of a text is moved to the right by the `> ` of a mail or the blanks of a page; `None` where it
/// stands at the start of a line.
fn indentation_of_object(text: &str) -> Option<usize> {
    if start_of_object(text).is_some() || !text.contains('{') {
        return None;
    }
    text.lines().find_map(|line| {
        let inside = unquoted(line);
        let bare = inside.trim_start();
        begins_object(bare).then(|| inside.len() - bare.len())
    })
}

/// Where the next object starts: at the start of a line, or in a list of objects.
fn start_of_object(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let line = &text[at..];
        let inside = line.trim_start_matches(['[', ',', ' ', '\t']);
        let in_list = line.starts_with(['[', ',']);
        if (in_list || inside.len() == line.len()) && begins_object(inside) {
            return Some(text.len() - inside.len());
        }
        at += line.find('\n')? + 1;
    }
}

/// Whether a text begins as an object does; braces of wikis and shells (`{code}`, `{a,b}`) are none.
fn begins_object(text: &str) -> bool {
    text.strip_prefix('{').is_some_and(|inside| inside.trim_start().starts_with(['"', '}']) || inside.trim().is_empty())
}
