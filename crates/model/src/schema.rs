//! The JSON schemas of the stored types, generated from the types themselves.

use schemars::{Schema, schema_for};

use crate::archived::{ArchiveCheck, ListedRun, RunComparison, RunExport};
use crate::bursts::BurstReport;
use crate::host::change::LoggedChange;
use crate::host::drops::DropInterval;
use crate::host::snapshot::Snapshot;
use crate::int::IntInterval;
use crate::played::Played;
use crate::probe::along::Along;
use crate::probe::download::Download;
use crate::probe::echo::EchoSeries;
use crate::probe::hops::Trace;
use crate::probe::one_way::{OneWayProbe, TwoWayProbe};
use crate::probe::path_mtu::PathMtu;
use crate::round::{Round, RoundSummary};
use crate::run::Run;
use crate::series::RunSamples;
use crate::transfer::{FlowInterval, Transfer};

/// Every format with the name of its file under `docs/formats/`.
#[must_use]
pub fn all() -> Vec<(&'static str, Schema)> {
    vec![
        ("run.schema.json", schema_for!(Run)),
        ("samples.schema.json", schema_for!(RunSamples)),
        ("run-export.schema.json", schema_for!(RunExport)),
        ("run-list.schema.json", schema_for!(ListedRun)),
        ("run-comparison.schema.json", schema_for!(RunComparison)),
        ("archive-check.schema.json", schema_for!(ArchiveCheck)),
        ("snapshot.schema.json", schema_for!(Snapshot)),
        ("change.schema.json", schema_for!(LoggedChange)),
        ("drops.schema.json", schema_for!(DropInterval)),
        ("played.schema.json", schema_for!(Played)),
        ("round.schema.json", schema_for!(Round)),
        ("round-summary.schema.json", schema_for!(RoundSummary)),
        ("probe-echo.schema.json", schema_for!(EchoSeries)),
        ("probe-hops.schema.json", schema_for!(Trace)),
        ("probe-mtu.schema.json", schema_for!(PathMtu)),
        ("probe-download.schema.json", schema_for!(Download)),
        ("probe-owamp.schema.json", schema_for!(OneWayProbe)),
        ("probe-twamp.schema.json", schema_for!(TwoWayProbe)),
        ("hop-tests.schema.json", schema_for!(Along)),
        ("transfer.schema.json", schema_for!(Transfer)),
        ("flows.schema.json", schema_for!(FlowInterval)),
        ("bursts.schema.json", schema_for!(BurstReport)),
        ("int.schema.json", schema_for!(IntInterval)),
    ]
}
