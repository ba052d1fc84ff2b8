//! `linerate round convert`.

use super::reading::{self, Form};
use crate::cli::Common;
use crate::cli::round::ConvertArgs;
use crate::commands::print;
use crate::exit::Exit;

pub fn run(common: &Common, args: &ConvertArgs) -> anyhow::Result<Exit> {
    let planned = reading::planned(&args.file)?;
    let (text, remarks) = match planned.form {
        Form::PsConfig => (planned.plan.to_toml(), planned.remarks),
        Form::Toml => {
            let exported = planned.plan.to_psconfig();
            (format!("{}\n", serde_json::to_string_pretty(&exported.template)?), exported.remarks)
        }
    };
    reading::tell(common, &remarks);
    print(text.as_bytes())
}
