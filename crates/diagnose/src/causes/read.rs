//! Reading the files of the catalogue.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Cause, PlaceKind, Spread, Usually};
use crate::signs::SignState;
use crate::signs::flow::FlowKind;

/// Why a file of causes cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// It is no such file.
    #[error("{file}: {source}")]
    Syntax {
        /// Name of the file in `crates/diagnose/causes/`, or as the caller gave it.
        file: String,
        /// What is wrong, with the line.
        source: Box<toml::de::Error>,
    },
    /// It names a sign or state that does not exist.
    #[error("{file}: cause {cause}: there is no sign `{sign}` with a state `{state}`; docs/causes.md lists them")]
    NoSuchState {
        /// Name of the file of causes.
        file: String,
        /// Name of the cause whose entry has the error.
        cause: String,
        /// Sign as it was written, which may be the part that does not exist.
        sign: String,
        /// State as it was written.
        state: String,
    },
    /// Parts that are no parts.
    #[error("{file}: cause {cause}: {what} must be above 0 and, all states of a sign together, at most 1")]
    NoPart {
        /// Name of the file of causes.
        file: String,
        /// Name of the cause whose entry has the error.
        cause: String,
        /// Of what.
        what: String,
    },
    /// A name given twice.
    #[error("{file}: there is a cause {cause} already")]
    Twice {
        /// Name of the file that has the second one.
        file: String,
        /// Name that both have.
        cause: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    cause: Vec<CauseText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CauseText {
    id: String,
    title: String,
    explanation: String,
    place: PlaceKind,
    usually: Option<Usually>,
    #[serde(default = "usual")]
    prior: f64,
    #[serde(default = "every")]
    spread: Spread,
    #[serde(default)]
    alone: bool,
    carries: Option<FlowKind>,
    #[serde(default)]
    by_load: bool,
    #[serde(default)]
    of_answers: bool,
    #[serde(default)]
    only_overlays: bool,
    #[serde(default)]
    only_idle: bool,
    #[serde(default)]
    only_slows: bool,
    #[serde(default)]
    only_one_way: bool,
    #[serde(default)]
    often_both_ways: bool,
    #[serde(default)]
    both_ways: bool,
    #[serde(default)]
    by_rules: bool,
    #[serde(default)]
    of_sender: bool,
    #[serde(default)]
    of_nic: bool,
    #[serde(default)]
    by_speed: bool,
    #[serde(default)]
    both_roles: Vec<String>,
    #[serde(default)]
    by_mtu: bool,
    #[serde(default)]
    shows: Shown,
    #[serde(default)]
    requires: Vec<String>,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    needs_on_whole_paths: Vec<String>,
    #[serde(default)]
    needs_of_host: Vec<String>,
    #[serde(default)]
    never: Vec<String>,
    #[serde(default)]
    hardly_elsewhere: bool,
    #[serde(default)]
    fastest_link: Option<String>,
    #[serde(default)]
    rules: BTreeMap<String, f64>,
    #[serde(default)]
    requires_of_host: Vec<String>,
    #[serde(default)]
    manner: Vec<MannerText>,
    test: String,
    #[serde(default)]
    commands: Vec<String>,
    #[serde(default)]
    fix: Vec<String>,
    remedy: String,
    verify: String,
    #[serde(default)]
    references: Vec<String>,
}

/// Another way in which a cause is at work.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct MannerText {
    title: String,
    /// How many of a hundred times it is this way, as a part of 1.
    share: f64,
    /// Whether it is told only of paths whose segments nobody knows.
    #[serde(default)]
    of_whole_paths: bool,
    /// What it is not told without; what the cause itself needs where it names nothing.
    #[serde(default)]
    needs: Vec<String>,
    shows: Shown,
    /// What it cannot be without, besides what the cause itself requires and shows in this way as well.
    #[serde(default)]
    requires: Vec<String>,
}

/// By sign and state.
type Shown = BTreeMap<String, BTreeMap<String, f64>>;

fn usual() -> f64 {
    1.0
}

fn every() -> Spread {
    Spread::Every
}

pub(super) fn catalogue(files: &[(&str, &str)]) -> Result<Vec<Cause>, CatalogueError> {
    let mut causes: Vec<Cause> = Vec::new();
    for (file, text) in files {
        let syntax = |source| CatalogueError::Syntax { file: (*file).to_owned(), source: Box::new(source) };
        let parsed: FileText = toml::from_str(text).map_err(syntax)?;
        for text in parsed.cause {
            let cause = settled(file, text)?;
            if causes.iter().any(|known| known.id == cause.id) {
                return Err(CatalogueError::Twice { file: (*file).to_owned(), cause: cause.id });
            }
            causes.push(cause);
        }
    }
    Ok(causes)
}

fn settled(file: &str, text: CauseText) -> Result<Cause, CatalogueError> {
    let no_part =
        |what: &str| CatalogueError::NoPart { file: file.to_owned(), cause: text.id.clone(), what: what.to_owned() };
    let shows = shown(file, &text.id, &text.shows)?;
    let entry = Entry { file, cause: &text.id };
    let (requires, needs) = (entry.states(&text.requires, "requires")?, entry.states(&text.needs, "needs")?);
    let needs_on_whole_paths = entry.states(&text.needs_on_whole_paths, "needs-on-whole-paths")?;
    let never = entry.states(&text.never, "never")?;
    let fastest_link = text.fastest_link.as_deref().map(str::parse).transpose();
    let fastest_link = fastest_link.map_err(|_| no_part("the fastest link"))?;
    if let Some((rule, _)) = text.rules.iter().find(|(_, part)| !(**part > 0.0 && **part <= 1.0)) {
        return Err(no_part(rule));
    }
    if !(text.prior > 0.0 && text.prior.is_finite()) {
        return Err(no_part("the prior"));
    }
    let in_manners: f64 = text.manner.iter().map(|manner| manner.share).sum();
    let is_part = |manner: &MannerText| manner.share > 0.0 && manner.share < 1.0;
    if !text.manner.iter().all(is_part) || in_manners >= 1.0 {
        return Err(no_part("the share of a manner"));
    }
    let own = Cause {
        id: text.id,
        title: text.title,
        explanation: text.explanation,
        place: text.place,
        usually: text.usually,
        hardly_elsewhere: text.hardly_elsewhere,
        prior: text.prior * (1.0 - in_manners),
        spread: text.spread,
        alone: text.alone,
        carries: text.carries,
        by_load: text.by_load,
        of_answers: text.of_answers,
        of_whole_paths: false,
        only_overlays: text.only_overlays,
        only_idle: text.only_idle,
        only_slows: text.only_slows,
        only_one_way: text.only_one_way,
        often_both_ways: text.often_both_ways,
        both_ways: text.both_ways,
        by_rules: text.by_rules,
        of_sender: text.of_sender,
        of_nic: text.of_nic,
        both_roles: text.both_roles,
        by_speed: text.by_speed,
        by_mtu: text.by_mtu,
        shows,
        requires,
        needs,
        needs_on_whole_paths,
        needs_of_host: text.needs_of_host,
        never,
        fastest_link,
        manners: Vec::new(),
        rules: text.rules,
        requires_of_host: text.requires_of_host,
        test: text.test,
        commands: text.commands,
        fix: text.fix,
        remedy: text.remedy,
        verify: text.verify,
        references: text.references,
    };
    let manners: Result<_, _> =
        text.manner.into_iter().map(|manner| in_manner(file, &own, manner, text.prior)).collect();
    Ok(Cause { manners: manners?, ..own })
}

/// A cause of a file, to say where a slip is.
struct Entry<'a> {
    file: &'a str,
    cause: &'a str,
}

impl Entry<'_> {
    fn states(&self, of: &[String], key: &str) -> Result<Vec<SignState>, CatalogueError> {
        let state = |state: &String| {
            SignState::parse(state).ok_or_else(|| CatalogueError::NoSuchState {
                file: self.file.to_owned(),
                cause: self.cause.to_owned(),
                sign: key.to_owned(),
                state: state.clone(),
            })
        };
        of.iter().map(state).collect()
    }
}

/// The same cause at work in another way. A sign that the manner names is the manner's alone.
fn in_manner(file: &str, own: &Cause, manner: MannerText, prior: f64) -> Result<Cause, CatalogueError> {
    let named = shown(file, &own.id, &manner.shows)?;
    let mut shows = own.shows.clone();
    shows.retain(|seen, _| named.keys().all(|named| named.sign != seen.sign));
    shows.extend(named);
    // What another manner requires, this one does not.
    let mut requires: Vec<SignState> = own.requires.iter().copied().filter(|seen| shows.contains_key(seen)).collect();
    requires.extend(Entry { file, cause: &own.id }.states(&manner.requires, "requires")?);
    let mut needs = Entry { file, cause: &own.id }.states(&manner.needs, "needs")?;
    if needs.is_empty() {
        needs.clone_from(&own.needs);
    }
    let of_whole_paths = manner.of_whole_paths;
    Ok(Cause {
        requires,
        needs,
        of_whole_paths,
        title: manner.title,
        prior: prior * manner.share,
        shows,
        ..own.clone()
    })
}

fn shown(file: &str, cause: &str, text: &Shown) -> Result<BTreeMap<SignState, f64>, CatalogueError> {
    let no_part =
        |sign: &str| CatalogueError::NoPart { file: file.to_owned(), cause: cause.to_owned(), what: sign.to_owned() };
    let mut shows = BTreeMap::new();
    for (sign, states) in text {
        for (state, part) in states {
            let seen = SignState::named(sign, state).ok_or_else(|| CatalogueError::NoSuchState {
                file: file.to_owned(),
                cause: cause.to_owned(),
                sign: sign.clone(),
                state: state.clone(),
            })?;
            if !(*part > 0.0 && *part <= 1.0) {
                return Err(no_part(sign));
            }
            shows.insert(seen, *part);
        }
        if states.values().sum::<f64>() > 1.0 + 1e-9 {
            return Err(no_part(sign));
        }
    }
    Ok(shows)
}
