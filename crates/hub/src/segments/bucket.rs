//! An object store that speaks S3.

use std::fmt;
use std::time::Duration;

use hyper::body::Bytes;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::{ObjectStoreExt as _, RetryConfig};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::error::TargetError;
use super::https::Connector;

/// A bucket, and what names of segments begin with there.
pub struct Bucket {
    shown: String,
    store: AmazonS3,
    prefix: Path,
}

impl Bucket {
    /// The bucket of an address `BUCKET/PREFIX`, with region, endpoint and credentials of the environment (`AWS_ACCESS_KEY_ID`,
    /// `AWS_ENDPOINT_URL`, ...) or of the machine. Nothing is asked of it yet.
    pub(super) fn open(address: &str) -> Result<Self, TargetError> {
        let (bucket, prefix) = address.split_once('/').unwrap_or((address, ""));
        let shown = format!("s3://{bucket}/{prefix}").trim_end_matches('/').to_owned();
        let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
        // Whoever names such an endpoint wants it: a store on the same host.
        let endpoints = [AmazonS3ConfigKey::Endpoint, AmazonS3ConfigKey::S3Endpoint];
        let is_plain =
            endpoints.iter().filter_map(|key| builder.get_config_value(key)).any(|url| url.starts_with("http://"));
        let retry = RetryConfig { max_retries: MOST_RETRIES, retry_timeout: PATIENCE, ..RetryConfig::default() };
        builder = builder.with_allow_http(is_plain).with_retry(retry).with_http_connector(Connector::new());
        let store = builder.build().map_err(|source| TargetError::Settings { shown: shown.clone(), source })?;
        Ok(Self { shown, store, prefix: Path::from(prefix) })
    }

    pub(super) fn put(&self, path: &str, bytes: Vec<u8>, mut stop: watch::Receiver<bool>) -> Result<(), TargetError> {
        let object = self.object(path);
        let written = runtime()?.block_on(async {
            tokio::select! {
                _ = stop.wait_for(|stopped| *stopped) => None,
                written = self.store.put(&object, bytes.into()) => Some(written),
            }
        });
        match written {
            None => Err(TargetError::Stopped),
            Some(written) => written.map(|_| ()).map_err(|source| self.failed(path, source)),
        }
    }

    pub(super) fn get(&self, path: &str) -> Result<Bytes, TargetError> {
        let object = self.object(path);
        let got = runtime()?.block_on(async { self.store.get(&object).await?.bytes().await });
        got.map_err(|source| self.failed(path, source))
    }

    fn object(&self, path: &str) -> Path {
        self.prefix.parts().chain(Path::from(path).parts()).collect()
    }

    fn failed(&self, path: &str, source: object_store::Error) -> TargetError {
        TargetError::Store { shown: format!("{self}/{path}"), source }
    }
}

/// A segment takes a second and comes a few times a day: each has a runtime of its own, which may end anywhere.
fn runtime() -> Result<Runtime, TargetError> {
    let failed = |source| TargetError::File { file: "a runtime for connections".into(), source };
    Builder::new_current_thread().enable_io().enable_time().build().map_err(failed)
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Bucket {
    /// Without its client, which knows the credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket").field("shown", &self.shown).finish_non_exhaustive()
    }
}

/// The hub tries again by itself, later.
const MOST_RETRIES: usize = 2;
const PATIENCE: Duration = Duration::from_secs(60);
