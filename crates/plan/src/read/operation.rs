//! Maintenance windows and budgets.

use std::time::Duration;

use document::{DocumentError, Key};
use units::WallTime;

use super::names::Names;
use super::text::{BudgetText, MaintenanceText};
use crate::operation::{Budget, Maintenance, Scope, Weekdays, Window};

pub(super) fn maintenance(texts: Vec<MaintenanceText>, names: &mut Names<'_>) -> Vec<Maintenance> {
    let list = Key::top("maintenance");
    let mut made = Vec::with_capacity(texts.len());
    for (number, text) in texts.into_iter().enumerate() {
        let key = list.nth(number);
        let scope = scope(&Named { hosts: &text.hosts, segments: &text.segments }, &key, names);
        match window(&text) {
            Ok(window) => made.push(Maintenance { about: text.about, scope, window }),
            Err(problem) => names.desk.complain(&key, DocumentError::Keys(problem)),
        }
    }
    made
}

pub(super) fn budgets(texts: Vec<BudgetText>, names: &mut Names<'_>) -> Vec<Budget> {
    let list = Key::top("budgets");
    let mut made = Vec::with_capacity(texts.len());
    for (number, text) in texts.into_iter().enumerate() {
        let key = list.nth(number);
        let scope = scope(&Named { hosts: &text.hosts, segments: &text.segments }, &key, names);
        if scope.is_whole() {
            names.desk.complain(&key, DocumentError::Keys("a budget is of `hosts` or of `segments`"));
        }
        made.push(Budget { scope, bytes_a_day: text.bytes_a_day });
    }
    made
}

/// Where, as written.
struct Named<'a> {
    hosts: &'a [String],
    segments: &'a [String],
}

fn scope(named: &Named<'_>, key: &Key, names: &mut Names<'_>) -> Scope {
    let hosts = names.hosts(&key.at("hosts"), named.hosts);
    let of_segments = key.at("segments");
    let found =
        named.segments.iter().enumerate().filter_map(|(number, name)| names.segment(&of_segments.nth(number), name));
    Scope { hosts, segments: found.collect() }
}

fn window(text: &MaintenanceText) -> Result<Window, &'static str> {
    match (&text.from, &text.until, &text.at, text.lasts) {
        (Some(from), Some(until), None, None) if text.days.is_empty() => {
            let moment = |text: &str| text.parse::<jiff::Timestamp>().ok().and_then(wall);
            let (from, until) = moment(from).zip(moment(until)).ok_or(A_MOMENT)?;
            if from < until { Ok(Window::Once { from, until }) } else { Err("`until` is after `from`") }
        }
        (None, None, Some(at), Some(lasts)) => {
            let days = if text.days.is_empty() { Some(Weekdays::ALL) } else { Weekdays::named(&text.days) };
            let days = days.ok_or("`days` are of `mon`, `tue`, `wed`, `thu`, `fri`, `sat`, `sun`")?;
            let at = time_of_day(at).ok_or("`at` is a time of day in UTC: `02:00`")?;
            if lasts > DAY {
                Err("a window of every week lasts a day at most")
            } else {
                Ok(Window::Weekly { days, at, lasts })
            }
        }
        _ => Err("maintenance has `from` and `until`, or `at` and `lasts` and perhaps `days`"),
    }
}

fn wall(moment: jiff::Timestamp) -> Option<WallTime> {
    u64::try_from(moment.as_nanosecond()).ok().map(WallTime::from_unix_nanos)
}

/// `02:00`, as the time since midnight.
fn time_of_day(text: &str) -> Option<Duration> {
    let time = text.parse::<jiff::civil::Time>().ok()?;
    let seconds = |value: i8, unit: u64| u64::try_from(value).ok().map(|value| value * unit);
    let whole = seconds(time.hour(), 3_600)? + seconds(time.minute(), 60)? + seconds(time.second(), 1)?;
    Some(Duration::from_secs(whole))
}

const A_MOMENT: &str = "`from` and `until` are moments with a time zone: `2026-12-01T02:00:00Z`";
const DAY: Duration = Duration::from_secs(86_400);
