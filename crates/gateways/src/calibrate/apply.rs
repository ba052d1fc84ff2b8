//! Calibrated settings put into an experiment.

use super::fit::Fitted;
use crate::cluster::settings::Settings;

/// An experiment's text with what records say, and what was left as the experiment has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The experiment, to be read as any other.
    pub text: String,
    /// Settings that the file sets itself: its own value stands.
    pub set_by_file: Vec<&'static str>,
}

/// Puts those settings into `[set]` that fit and that the file does not set itself.
///
/// # Errors
/// Where the text is not TOML, or a setting's place in it is taken by something else.
pub fn apply(text: &str, fitted: &[Fitted]) -> Result<Applied, String> {
    let mut file: toml::Table = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut set_by_file = Vec::new();
    for one in fitted.iter().filter(|one| one.is_used()) {
        let (table, key) = one.setting.split_once('.').ok_or("a setting has a table and a key")?;
        let set = inner(&mut file, "set")?;
        if table == "gateways" {
            if of_each_class(set, key, one.value)? == Set::ByFile {
                set_by_file.push(one.setting);
            }
            continue;
        }
        let place = inner(set, table)?;
        if place.contains_key(key) {
            set_by_file.push(one.setting);
        } else {
            place.insert(key.to_owned(), toml::Value::Float(one.value));
        }
    }
    let text = toml::to_string(&file).map_err(|error| error.to_string())?;
    Ok(Applied { text, set_by_file })
}

/// Whether a setting was put in or stood there.
#[derive(PartialEq, Eq)]
enum Set {
    Now,
    ByFile,
}

/// Puts a setting into each kind of gateway that does not have it; where the file names none, into the usual ones.
fn of_each_class(set: &mut toml::Table, key: &str, value: f64) -> Result<Set, String> {
    if !set.contains_key("gateways") {
        let mut usual = toml::Value::try_from(Settings::default().gateways).map_err(|error| error.to_string())?;
        for class in usual.as_array_mut().into_iter().flatten().filter_map(toml::Value::as_table_mut) {
            class.remove(key);
        }
        set.insert("gateways".to_owned(), usual);
    }
    let classes = set.get_mut("gateways").and_then(toml::Value::as_array_mut).ok_or("`gateways` is no list")?;
    let mut was_set = Set::ByFile;
    for class in classes {
        let class = class.as_table_mut().ok_or("a kind of gateways is no table")?;
        if !class.contains_key(key) {
            class.insert(key.to_owned(), toml::Value::Float(value));
            was_set = Set::Now;
        }
    }
    Ok(was_set)
}

fn inner<'a>(table: &'a mut toml::Table, key: &str) -> Result<&'a mut toml::Table, String> {
    let value = table.entry(key).or_insert_with(|| toml::Value::Table(toml::Table::new()));
    value.as_table_mut().ok_or_else(|| format!("`{key}` is no table"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::fit::Goodness;
    use crate::experiment::description::Experiment;

    #[test]
    fn what_fits_is_set_and_what_the_file_says_stands() {
        let one = |setting, value, goodness| Fitted { setting, value, from: String::new(), goodness };
        let fitted = [
            one("transfers.mean-size-gb", 1.5, Goodness::Measured),
            one("transfers.size-sigma", 0.7, Goodness::Distance(0.4)),
            one("transfers.largest-gb", 99.0, Goodness::Measured),
        ];
        let text = "name = \"x\"\npolicies = [\"oracle\"]\n[set.transfers]\nlargest-gb = 20.0\n";
        let applied = apply(text, &fitted).unwrap();
        assert_eq!(applied.set_by_file, ["transfers.largest-gb"]);
        let transfers = &Experiment::read(&applied.text).unwrap().cells[0].settings.transfers;
        assert_eq!((transfers.mean_size_gb, transfers.largest_gb), (1.5, 20.0));
        assert_eq!(transfers.size_sigma, 1.0, "a bad fit is not used");
        assert!(apply("set = 3", &fitted).is_err());
    }

    #[test]
    fn memory_goes_into_each_kind_of_gateway_that_does_not_have_it() {
        let setting = "gateways.memory-per-transfer-gb";
        let fitted = [Fitted { setting, value: 0.4, from: String::new(), goodness: Goodness::Explained(0.9) }];
        let head = "name = \"x\"\npolicies = [\"oracle\"]\n";
        let memory = |text: &str| {
            let applied = apply(text, &fitted).unwrap();
            let settings = Experiment::read(&applied.text).unwrap().cells[0].settings.clone();
            settings.gateways.iter().map(|class| class.memory_per_transfer_gb).collect::<Vec<_>>()
        };
        assert_eq!(memory(head), [0.4, 0.4], "the usual kinds");
        let own = "[set]\ngateways = [{ count = 2 }, { count = 3, memory-per-transfer-gb = 0.1 }]\n";
        assert_eq!(memory(&format!("{head}{own}")), [0.4, 0.1]);
    }
}
