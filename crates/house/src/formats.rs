//! The JSON schemas under `docs/formats/`, which are generated from the types of `model`.

use std::path::Path;

use anyhow::Result;

use crate::violation::Violation;

/// Where the schemas are.
pub const FOLDER: &str = "docs/formats";

/// How to write them anew.
const HOW: &str = "UPDATE_FORMATS=1 cargo test -p house";

/// Every format with its file name and its text.
///
/// # Errors
/// When a schema cannot be written as JSON, which no schema does.
pub fn texts() -> Result<Vec<(&'static str, String)>> {
    let mut texts = Vec::new();
    let of_audit =
        [("audit.schema.json", audit::report::schema()), ("comparison.schema.json", audit::compare::schema())];
    let of_rounds =
        [("grid.schema.json", diagnose::grid::schema()), ("schedule.schema.json", plan::schedule::report::schema())];
    let of_simulations = [
        ("simulated-flow.schema.json", sim::report::schema()),
        ("sweep.schema.json", sweep::report::schema()),
        ("tuning.schema.json", tune::answer::schema()),
        ("trace.schema.json", capture::report::schema()),
        ("trace-join.schema.json", capture::ends::schema()),
        ("trace-live.schema.json", capture::live::schema()),
    ];
    let of_simulations = of_simulations.into_iter().chain(gateways::schemas());
    let all = model::schema::all().into_iter().chain(of_audit).chain(of_rounds).chain(of_simulations);
    let of_diagnoses = diagnose::diagnosis::schemas().into_iter().chain(diagnose::score::schemas());
    let of_diagnoses = of_diagnoses.chain(diagnose::next::examination::schemas()).chain(diagnose::proof::schemas());
    let all = all.chain(mesh::check::schemas());
    for (name, schema) in all.chain(audit::fix::report::schemas()).chain(of_diagnoses) {
        texts.push((name, format!("{}\n", serde_json::to_string_pretty(&schema)?)));
    }
    Ok(texts)
}

/// Writes every format into a folder.
///
/// # Errors
/// When a file cannot be written.
pub fn write(folder: &Path, formats: &[(&str, String)]) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    for (name, text) in formats {
        std::fs::write(folder.join(name), text)?;
    }
    Ok(())
}

/// Every file of a folder that is not what the types say: different, missing, or of no type.
///
/// # Errors
/// When the folder cannot be read.
pub fn check(folder: &Path, formats: &[(&str, String)]) -> Result<Vec<Violation>> {
    let mut found = Vec::new();
    for (name, text) in formats {
        if std::fs::read_to_string(folder.join(name)).ok().as_ref() != Some(text) {
            found.push(Violation::of_file(&format!("{FOLDER}/{name}"), format!("differs from its type: run {HOW}")));
        }
    }
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".schema.json") && !formats.iter().any(|(known, _)| *known == name) {
            found.push(Violation::of_file(
                &format!("{FOLDER}/{name}"),
                "belongs to no type of model::schema: delete it",
            ));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_right_until_the_type_or_the_folder_changes() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let formats = [("a.schema.json", "{}\n".to_owned())];
        write(folder.path(), &formats)?;
        assert_eq!(check(folder.path(), &formats)?, []);
        let changed = [("a.schema.json", "{\"type\":\"object\"}\n".to_owned())];
        assert!(check(folder.path(), &changed)?[0].to_string().contains("UPDATE_FORMATS=1"));
        assert!(check(folder.path(), &[])?[0].to_string().contains("belongs to no type"));
        Ok(())
    }
}
