//! JSON in a file: one object, several, or one event a line, with lines between them that are none.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::json;
use crate::foreign::Format;
use crate::foreign::anomaly::Anomalies;
use crate::foreign::command::{Command, after_prompt};
use crate::foreign::limits::{MAX_BROKEN_OBJECTS, MAX_TESTS};
use crate::foreign::told::Told;

/// All tests of a text in which some line starts with a brace.
pub(crate) fn read(text: &str, outside: &mut Anomalies) -> Vec<Told> {
    let mut reading = Reading { tests: Vec::new(), command: None, stream: None, outside };
    let mut place = Place { rest: text, line: 1 };
    let mut broken = 0;
    while let Some(offset) = start_of_object(place.rest) {
        let first = place.line;
        reading.between(place.skip(offset), first);
        let line = place.line;
        let mut objects = serde_json::Deserializer::from_str(place.rest).into_iter::<Object>();
        match objects.next() {
            Some(Ok(object)) => {
                let end = objects.byte_offset();
                reading.object(object, line);
                place.skip(end);
            }
            Some(Err(error)) if broken < MAX_BROKEN_OBJECTS => {
                broken += 1;
                // The next try is at the next line that starts with a brace.
                let down = error.line().saturating_sub(1);
                let found = place.rest.lines().nth(down).unwrap_or_default();
                reading.outside.add(line + down, format!("JSON of iperf3 ({error})"), found);
                place.skip(place.rest.find('\n').map_or(place.rest.len(), |end| end + 1));
            }
            _ => {
                reading.outside.add(line, format!("fewer than {MAX_BROKEN_OBJECTS} broken objects"), "one more");
                place.skip(place.rest.len());
            }
        }
    }
    reading.between(place.rest, place.line);
    reading.end_stream();
    reading.tests
}

/// What is still to be read, and which line of the file it starts in.
struct Place<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Place<'a> {
    /// Goes on by `bytes`; returns what lies behind then.
    fn skip(&mut self, bytes: usize) -> &'a str {
        let (behind, rest) = self.rest.split_at(bytes);
        self.line += behind.bytes().filter(|byte| *byte == b'\n').count();
        self.rest = rest;
        behind
    }
}

struct Reading<'a> {
    tests: Vec<Told>,
    command: Option<Command>,
    /// Events of a test that has not ended.
    stream: Option<(usize, Object)>,
    outside: &'a mut Anomalies,
}

impl Reading<'_> {
    fn object(&mut self, object: Object, line: usize) {
        match object.get("event").and_then(Value::as_str).map(str::to_owned) {
            Some(event) => self.event(&event, object, line),
            // With --json-stream-full-output the whole follows its parts.
            None if self.is_whole_of_last(&object) => {}
            None => {
                self.end_stream();
                self.test(&object, Format::Iperf3Json, line);
            }
        }
    }

    fn event(&mut self, event: &str, object: Object, line: usize) {
        let data = object.0.into_iter().find(|(key, _)| key == "data").map_or(Value::Null, |(_, data)| data);
        if event == "start" {
            self.end_stream();
        }
        let (_, stream) = self.stream.get_or_insert_with(|| (line, Object(Vec::new())));
        match event {
            "interval" => match stream.0.iter_mut().find(|(key, _)| key == "intervals") {
                Some((_, Value::Array(intervals))) => intervals.push(data),
                _ => stream.0.push(("intervals".to_owned(), Value::Array(vec![data]))),
            },
            "start" | "end" | "error" | "server_output_json" | "server_output_text" => {
                stream.0.push((event.to_owned(), data));
            }
            _ => self.outside.add(line, "an event of iperf3", event),
        }
        if event == "end" {
            // Errors may follow, so the test is kept open.
            stream.0.push(("ended".to_owned(), Value::Bool(true)));
        }
    }

    fn end_stream(&mut self) {
        let Some((line, mut stream)) = self.stream.take() else { return };
        if stream.get("ended").is_none() && stream.get("error").is_none() {
            stream
                .0
                .push(("error".to_owned(), Value::String("interrupted: the output ends before the test".to_owned())));
        }
        self.test(&stream, Format::Iperf3JsonStream, line);
    }

    fn is_whole_of_last(&self, object: &Object) -> bool {
        let cookie = |object: &Object| Some(object.get("start")?.get("cookie")?.clone());
        let whole = cookie(object);
        whole.is_some() && self.stream.as_ref().and_then(|(_, stream)| cookie(stream)) == whole
    }

    fn test(&mut self, object: &Object, format: Format, line: usize) {
        if self.tests.len() >= MAX_TESTS {
            self.outside.add(line, format!("at most {MAX_TESTS} tests"), "one more");
        } else if let Some(mut told) = json::read(object, format, line) {
            if let Some(command) = self.command.take() {
                let asked = told.asked.clone();
                let target = told.target.clone();
                command.tell(&mut told, line);
                told.asked = json::both(&asked, told.asked);
                told.target = told.target.or(target);
            }
            self.tests.push(told);
        } else {
            self.outside.add(line, "the keys `start`, `intervals` and `end` of iperf3, or `error`", &object.keys());
        }
    }

    /// Lines that are no JSON: iperf3 prints warnings there, people their commands.
    fn between(&mut self, text: &str, first: usize) {
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            match Command::parse(after_prompt(line).unwrap_or(line)) {
                Some(command) => self.command = Some(command),
                None => self.outside.add(first + index, "JSON of iperf3", line),
            }
        }
    }
}

/// Where the next line starts that starts with a brace.
fn start_of_object(text: &str) -> Option<usize> {
    if text.starts_with('{') { Some(0) } else { text.find("\n{").map(|at| at + 1) }
}

/// An object with its keys in order, repeated ones included: iperf3 writes `error` twice, first the cause.
#[derive(Debug, Clone)]
pub(crate) struct Object(Vec<(String, Value)>);

impl Object {
    /// The first value of `key`.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.all(key).next()
    }

    /// All values of `key`.
    pub(crate) fn all<'a>(&'a self, key: &str) -> impl Iterator<Item = &'a Value> {
        self.0.iter().filter(move |(found, _)| found == key).map(|(_, value)| value)
    }

    fn keys(&self) -> String {
        self.0.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>().join(" ")
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Object, M::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Object(entries))
            }
        }
        input.deserialize_map(Keys)
    }
}
