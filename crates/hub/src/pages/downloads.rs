//! Files that sites have fetched, from the points of their series.

use mesh::clock;
use mesh::incident::{Metric, Series};
use plan::task::TestKind;
use web::source::SourceError;
use web::source::downloads::{DownloadResult, DownloadSeries, Ends};

use super::{HISTORY, HubSource, broken};

impl HubSource {
    /// The downloads of all tests of the plan that fetch a file.
    pub(super) fn fetched(&self) -> Result<Vec<DownloadSeries>, SourceError> {
        let Some(planned) = self.planned()? else { return Ok(Vec::new()) };
        let plan = planned.plan();
        let since = clock::earlier(linux::clock::wall_now(), HISTORY);
        let is_http = |test: &usize| plan.tests[*test].task.kind() == TestKind::Http;
        let mut all = Vec::new();
        for test in (0..plan.tests.len()).filter(is_http) {
            for pair in plan.pairs(test).into_iter().take(MOST_PAIRS) {
                // Who asks receives: the server sends.
                let [site, server] = [pair.from, pair.to].map(|host| plan.hosts[host].name.clone());
                let label = plan.tests[test].label.clone();
                let ends = Ends { from: server.clone(), to: site.clone(), test: label.clone() };
                let series = Series { from: server, to: site, test: label, family: None, metric: Metric::DownloadRate };
                let points = self.store.points(Some(&series), since).map_err(|error| broken(&error))?;
                let results = points.iter().map(|point| DownloadResult { at: point.at, goodput_bps: point.value });
                all.extend(DownloadSeries::of(ends, results.collect()));
            }
        }
        all.sort_by(|one, other| (&one.from, &one.to, &one.test).cmp(&(&other.from, &other.to, &other.test)));
        Ok(all)
    }
}

/// Pairs of a test that are shown; plans of downloads have tens.
const MOST_PAIRS: usize = 400;
