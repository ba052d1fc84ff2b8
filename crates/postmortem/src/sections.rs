//! What the record of an incident says, in the sections of a post-mortem.

use std::fmt::Write as _;
use std::time::Duration;

use diagnose::causes::Catalogue;
use diagnose::diagnosis::{Diagnosis, Ranked};
use mesh::clock;
use mesh::incident::{Incident, Occurrence, Symptom, TimelineEntry};
use mesh::notify;
use units::{WallTime, duration};

/// A section of a post-mortem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// By which it is found again.
    pub key: String,
    /// Heading of the section.
    pub title: String,
    /// Markdown.
    pub text: String,
}

/// All that is known of an incident.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// What it is about.
    pub incident: &'a Incident,
    /// Its diagnosis, where there is one.
    pub diagnosis: Option<&'a Diagnosis>,
    /// All incidents of the hub.
    pub all: &'a [Incident],
    /// When it is asked.
    pub now: WallTime,
}

/// The title of the document.
#[must_use]
pub fn title(incident: &Incident) -> String {
    format!("Incident {}: {}", incident.id, incident.subject)
}

/// All sections, in their order.
#[must_use]
pub fn sections(record: &Record<'_>) -> Vec<Section> {
    let section = |key: &str, title: &str, text| Section { key: key.to_owned(), title: title.to_owned(), text };
    vec![
        section("summary", "Incident summary", record.summary()),
        section("lead-up", "Lead-up", record.lead_up()),
        section("fault", "Fault", record.fault()),
        section("impact", "Impact", record.impact()),
        section("detection", "Detection", record.detection()),
        section("response", "Response", record.response()),
        section("recovery", "Recovery", record.recovery()),
        section("timeline", "Timeline", record.timeline()),
        section("root-cause", "Root cause", record.root_cause()),
        section("recurrence", "Recurrence", record.recurrence()),
        section("lessons", "Lessons learned", record.lessons()),
        section("actions", "Corrective actions", record.actions()),
    ]
}

impl Record<'_> {
    fn summary(&self) -> String {
        let Incident { subject, since, status, .. } = self.incident;
        let mut text = format!(
            "From {} on, results of {subject} were worse than before, for {}. The incident is {status}.\n",
            clock::shown(*since),
            span(*since, self.end())
        );
        if let Some(explanation) = &self.incident.explanation {
            let percent = 100.0 * explanation.probability;
            let _ = writeln!(
                text,
                "\nCause: **{}** at {} ({percent:.0} %, by {}).",
                explanation.cause, explanation.place, explanation.by
            );
        }
        text
    }

    fn lead_up(&self) -> String {
        let before = self.changes(|lead_s| lead_s >= 0);
        list(
            before.into_iter(),
            "No setting of these hosts was changed in the 48 h before, as far as their change logs know.",
        )
    }

    fn fault(&self) -> String {
        let Some(ranked) = self.ranked() else {
            return "Not explained: no diagnosis names a cause yet.\n".to_owned();
        };
        let evidence = ranked.speaks_for.iter().cloned();
        format!("{}\n\nWhat speaks for it:\n\n{}", ranked.title, list(evidence, "nothing was recorded"))
    }

    fn impact(&self) -> String {
        let hosts: Vec<&str> = self.incident.hosts.iter().map(String::as_str).collect();
        let line = |symptom: &Symptom| {
            let until = symptom.recovered.unwrap_or(self.now);
            format!("{}: {symptom}, for {}", symptom.subject, span(symptom.since, until))
        };
        let symptoms = list(self.incident.symptoms.iter().map(line), "nothing was recorded");
        format!("Hosts: {}. What was worse:\n\n{symptoms}", hosts.join(", "))
    }

    fn detection(&self) -> String {
        let Incident { since, opened, sent, .. } = self.incident;
        let told = match sent.len() {
            0 => "Nobody was notified: no route is set, or it was silenced.".to_owned(),
            count => format!("{count} messages were sent."),
        };
        format!("The hub opened it by itself {} after the first bad result. {told}\n", span(*since, *opened))
    }

    fn response(&self) -> String {
        let steps = self.happened(|occurrence| {
            matches!(
                occurrence,
                Occurrence::Acknowledged { .. }
                    | Occurrence::Explained { .. }
                    | Occurrence::NextTest { .. }
                    | Occurrence::Note { .. }
                    | Occurrence::Silenced { .. }
            )
        });
        list(steps.into_iter(), "Nobody has acknowledged it or left a note.")
    }

    fn recovery(&self) -> String {
        let steps = self.happened(|occurrence| {
            matches!(
                occurrence,
                Occurrence::Fixed { .. }
                    | Occurrence::Verified
                    | Occurrence::Reopened
                    | Occurrence::Accepted { .. }
                    | Occurrence::Closed { .. }
            )
        });
        let steps = list(steps.into_iter(), "It is not fixed yet.");
        match self.incident.verified {
            Some(verified) => {
                format!(
                    "Results were as before {} after the first bad one.\n\n{steps}",
                    span(self.incident.since, verified)
                )
            }
            None => steps,
        }
    }

    fn timeline(&self) -> String {
        let mut text = "| When | What |\n| --- | --- |\n".to_owned();
        for TimelineEntry { at, occurrence } in &self.incident.timeline {
            let what = occurrence.to_string().replace('|', "\\|").replace('\n', " ");
            let _ = writeln!(text, "| {} | {what} |", clock::shown(*at));
        }
        text
    }

    fn root_cause(&self) -> String {
        let before = self.changes(|lead_s| lead_s >= 0);
        let cause = self
            .incident
            .explanation
            .as_ref()
            .map_or_else(|| "Not known.".to_owned(), |explanation| format!("{explanation}."));
        match before.last() {
            Some(change) => format!("{cause} The last change before it: {change}.\n"),
            None => format!("{cause} What brought it about is in no change log.\n"),
        }
    }

    fn recurrence(&self) -> String {
        let own = self.incident;
        let place =
            |incident: &Incident| incident.explanation.as_ref().map(|one| (one.cause.clone(), one.place.clone()));
        // What turned out to be a part of another incident, of this one for instance, has not happened once more.
        let is_alike = |other: &&Incident| {
            let is_further = other.id != own.id && !other.is_part_of_another();
            is_further && (other.subject == own.subject || (place(own).is_some() && place(other) == place(own)))
        };
        let alike = self.all.iter().filter(is_alike);
        let line =
            |other: &Incident| format!("{}, since {}: {}", other.id, clock::shown(other.since), notify::subject(other));
        list(alike.map(line), "No other incident of the same subject or cause is on record.")
    }

    fn lessons(&self) -> String {
        let mut facts =
            vec![format!("found {} after the first bad result", span(self.incident.since, self.incident.opened))];
        if let Some(entry) =
            self.incident.timeline.iter().find(|entry| matches!(entry.occurrence, Occurrence::Fixed { .. }))
        {
            facts.push(format!("fixed {} after it was found", span(self.incident.opened, entry.at)));
        }
        facts.push(
            "what went well, what did not, and where luck helped: to be written by those who were there".to_owned(),
        );
        list(facts.into_iter(), "")
    }

    fn actions(&self) -> String {
        let Some(ranked) = self.ranked() else { return "To be written by those who were there.\n".to_owned() };
        let mut actions = vec![ranked.remedy.clone()];
        // What guests carry is not seen from the machine they run on.
        let of_guests = Catalogue::built_in().get(&ranked.cause).is_some_and(|cause| cause.only_overlays);
        let roles = if of_guests { " --role vm-host,overlay-node" } else { "" };
        actions.extend(ranked.fix.iter().map(|rule| format!("`linerate host fix {rule}{roles}`")));
        actions.push(format!("verify: {}", ranked.verify));
        list(actions.into_iter(), "")
    }

    /// What the diagnosis says of the cause that the incident has.
    fn ranked(&self) -> Option<&Ranked> {
        let cause = &self.incident.explanation.as_ref()?.cause;
        let mut rankings = self.diagnosis?.problems.iter().flat_map(|problem| &problem.ranking);
        rankings.find(|ranked| ranked.cause == *cause)
    }

    fn changes(&self, is_it: impl Fn(i64) -> bool) -> Vec<String> {
        let changes = self.incident.timeline.iter().filter_map(|entry| match &entry.occurrence {
            Occurrence::Configuration { change, lead_s } if is_it(*lead_s) => {
                let by = change.by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
                Some(format!(
                    "{}, {lead_s} s before the first bad result: {} on {}{by}",
                    clock::shown(change.at),
                    change.what,
                    change.host
                ))
            }
            _ => None,
        });
        changes.collect()
    }

    fn happened(&self, is_it: impl Fn(&Occurrence) -> bool) -> Vec<String> {
        let entries = self.incident.timeline.iter().filter(|entry| is_it(&entry.occurrence));
        entries.map(|entry| format!("{}: {}", clock::shown(entry.at), entry.occurrence)).collect()
    }

    fn end(&self) -> WallTime {
        self.incident.verified.or(self.incident.closed).unwrap_or(self.now)
    }
}

/// A list, or what is said where there is nothing.
fn list(lines: impl Iterator<Item = String>, none: &str) -> String {
    let text: String = lines.map(|line| format!("- {}\n", line.replace('\n', " "))).collect();
    if text.is_empty() { format!("{none}\n") } else { text }
}

fn span(from: WallTime, until: WallTime) -> String {
    let time = clock::between(from, until);
    match time.as_secs() {
        seconds if seconds >= 172_800 => format!("{} days", seconds / 86_400),
        seconds if seconds >= 7_200 => format!("{} h", seconds / 3_600),
        seconds if seconds >= 120 => format!("{} min", seconds / 60),
        seconds => duration::show(Duration::from_secs(seconds)),
    }
}
