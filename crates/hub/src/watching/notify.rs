//! Who is told: webhooks (this JSON, or as Slack reads it), Alertmanager, e-mail. `mesh::notify` says what and when.
//!
//! A message counts as sent before it is: it is told once, and if it cannot be delivered within a few attempts that is in the log.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;

use linux::clock;
use mesh::incident::{Event, EventKind, Incident, Status};
use mesh::notify::{Message, Route, Target, messages};
use serde_json::{Value, json};
use units::WallTime;

use super::Watching;
use super::mail::Mailer;
use crate::server::log::Log;
use crate::store::rows::Judgement;
use crate::store::{Store, StoreError};

/// A message with its target.
#[derive(Debug, Clone)]
pub struct Due {
    target: Target,
    message: Message,
    hosts: Vec<String>,
    since: WallTime,
    ended: Option<WallTime>,
}

impl Watching {
    /// The messages that are due now. They count as sent, on disk.
    ///
    /// # Errors
    /// Where the database refuses: nothing is sent then.
    pub fn messages(&self, store: &dyn Store, routes: &[Route], now: WallTime) -> Result<Vec<Due>, StoreError> {
        if routes.is_empty() {
            return Ok(Vec::new());
        }
        let mut state = self.state();
        let found = messages(&mut state.incidents, routes, now);
        let mut due = Vec::new();
        for message in found {
            state.changed(&[Event { incident: message.incident.clone(), kind: EventKind::Stepped }]);
            let route = routes.iter().find(|route| route.name == message.route);
            let (Some(route), Some(incident)) = (route, state.incidents.get(&message.incident)) else { continue };
            due.push(of(route, incident, message));
        }
        state.save(store, Judgement::default())?;
        Ok(due)
    }
}

fn of(route: &Route, incident: &Incident, message: Message) -> Due {
    let ended = incident.verified.or(incident.closed).filter(|_| incident.status >= Status::Verified);
    let hosts = incident.hosts.iter().cloned().collect();
    Due { target: route.target.clone(), message, hosts, since: incident.since, ended }
}

/// Sends messages on a thread of its own, so that a target that is slow holds up nothing.
#[derive(Debug)]
pub struct Notifier {
    queue: SyncSender<Due>,
    log: Log,
}

impl Notifier {
    /// Starts it.
    ///
    /// # Errors
    /// Where no thread can be had.
    pub fn start(log: Log, mailer: Option<Mailer>) -> io::Result<Self> {
        let (queue, waiting) = sync_channel(MOST_WAITING);
        let said = log.clone();
        thread::Builder::new()
            .name("notifications".to_owned())
            .spawn(move || work(&waiting, &said, mailer.as_ref()))?;
        Ok(Self { queue, log })
    }

    /// Queues messages.
    pub fn send(&self, due: Vec<Due>) {
        for one in due {
            if let Err(TrySendError::Full(one) | TrySendError::Disconnected(one)) = self.queue.try_send(one) {
                let Message { route, incident, .. } = one.message;
                self.log.say(
                    clock::wall_now(),
                    format_args!("{route}: no message about {incident}: too many messages wait"),
                );
            }
        }
    }
}

fn work(waiting: &Receiver<Due>, log: &Log, mailer: Option<&Mailer>) {
    while let Ok(due) = waiting.recv() {
        let mut outcome = Ok(());
        for pause in ATTEMPTS {
            thread::sleep(pause);
            outcome = deliver(&due, mailer);
            if outcome.is_ok() {
                break;
            }
        }
        if let Err(error) = outcome {
            let Message { route, incident, .. } = &due.message;
            log.say(clock::wall_now(), format_args!("{route}: no message about {incident}: {error}"));
        }
    }
}

fn deliver(due: &Due, mailer: Option<&Mailer>) -> io::Result<()> {
    let Due { message, .. } = due;
    match &due.target {
        Target::Webhook(url) => post(url, &serde_json::to_value(message).unwrap_or_default()),
        Target::Slack(url) => {
            let text = format!("*{}*\n```{}```", slack(&message.subject), slack(&message.text));
            post(url, &json!({ "text": text }))
        }
        Target::Alertmanager(url) => {
            let base = url.trim_end_matches('/');
            let mut alert = json!({
                "labels": {
                    "alertname": "linerate_incident",
                    "incident": message.incident,
                    "hosts": due.hosts.join(","),
                },
                "annotations": { "summary": message.subject, "description": message.text },
                "startsAt": clock_text(due.since),
            });
            if let Some(ended) = due.ended {
                alert["endsAt"] = clock_text(ended).into();
            }
            post(&format!("{base}/api/v2/alerts"), &json!([alert]))
        }
        Target::Email(to) => {
            // Settings without a relay are refused before a hub starts.
            let mailer = mailer.ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, "no relay is set"))?;
            mailer.send(to, message)
        }
    }
}

/// Slack's three characters of control.
fn slack(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn clock_text(at: WallTime) -> String {
    mesh::clock::shown(at)
}

fn post(url: &str, content: &Value) -> io::Result<()> {
    let rest = url.strip_prefix("http://").ok_or_else(|| {
        let only = "only http:// addresses are sent to: a local relay speaks TLS to others";
        io::Error::new(io::ErrorKind::Unsupported, only)
    })?;
    let (authority, path) = rest.split_once('/').map_or((rest, String::new()), |(host, path)| (host, path.to_owned()));
    let address = if authority.contains(':') { authority.to_owned() } else { format!("{authority}:80") };
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "its name has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(mut stream) => {
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                let body = content.to_string();
                let head = format!(
                    "POST /{path} HTTP/1.1\r\nhost: {authority}\r\ncontent-type: application/json\r\n\
                     content-length: {}\r\nconnection: close\r\n\r\n",
                    body.len()
                );
                stream.write_all(head.as_bytes())?;
                stream.write_all(body.as_bytes())?;
                return accepted(&mut stream);
            }
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// Whether the first line of an answer is a success.
fn accepted(stream: &mut TcpStream) -> io::Result<()> {
    let mut head = Vec::new();
    let mut piece = [0; 256];
    while !head.contains(&b'\n') && head.len() < 4096 {
        match stream.read(&mut piece)? {
            0 => break,
            count => head.extend_from_slice(&piece[..count]),
        }
    }
    let line = String::from_utf8_lossy(&head).lines().next().unwrap_or_default().to_owned();
    let status = line.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok());
    match status {
        Some(200..=299) => Ok(()),
        _ => Err(io::Error::other(format!("it answers `{}`", line.chars().take(80).collect::<String>()))),
    }
}

/// Messages that wait; further ones are left out and said to be.
const MOST_WAITING: usize = 256;
/// How long is waited before each attempt.
const ATTEMPTS: [Duration; 3] = [Duration::ZERO, Duration::from_secs(5), Duration::from_secs(30)];
const PATIENCE: Duration = Duration::from_secs(10);
