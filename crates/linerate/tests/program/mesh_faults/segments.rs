//! Segments of samples: a store of S3 whose hub is killed, and a directory on a full disk, which DuckDB and Spark read.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use model::series::packed;
use serde_json::Value;

use super::world::{AGENTS, HUB, World};
use crate::actors::from_registry;

/// Moto's server of S3, with an empty bucket.
const SERVER: &str = r#"
import sys
sys.path.insert(0, sys.argv[1])
import boto3, logging, threading, time
from moto.server import ThreadedMotoServer
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=9000)
server.start()
boto3.client("s3", endpoint_url="http://127.0.0.1:9000").create_bucket(Bucket="samples")
print("ready", flush=True)
threading.Event().wait()
"#;

/// Brings all objects of the bucket into a directory.
const FETCH: &str = r#"
import sys
sys.path.insert(0, sys.argv[1])
import boto3, os
bucket = boto3.resource("s3", endpoint_url="http://127.0.0.1:9000").Bucket("samples")
for one in bucket.objects.all():
    file = os.path.join(sys.argv[2], one.key)
    os.makedirs(os.path.dirname(file), exist_ok=True)
    bucket.download_file(one.key, file)
"#;

const DUCKDB: &str = r#"
import sys
sys.path.insert(0, sys.argv[1])
import duckdb, json
print(json.dumps(duckdb.sql(open(sys.argv[2]).read()).fetchall(), default=str))
"#;

const SPARK: &str = r#"
import sys
sys.path.insert(0, sys.argv[1])
import json
from pyspark.sql import SparkSession
settings = {"spark.ui.enabled": "false", "spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "1",
            "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
builder = SparkSession.builder.master("local[1]")
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("OFF")
rows = spark.sql(open(sys.argv[2]).read().rstrip().rstrip(";")).collect()
print(json.dumps([list(row) for row in rows], default=str))
"#;

/// Rows of each run, by the samples in the hub's database.
fn expected(world: &World) -> BTreeMap<String, u64> {
    let rows = |bytes: &[u8]| {
        let samples = packed::unpack(bytes).unwrap();
        samples.streams.iter().map(|stream| stream.at_us.len()).sum::<usize>() + samples.probes.sent_us.len()
    };
    let results = world.results().into_iter();
    results.filter_map(|record| Some((record.run?, rows(&record.samples?) as u64))).collect()
}

/// Has another program answer a query.
#[track_caller]
fn answer(world: &mut World, driver: Driver, query: &str) -> Vec<Vec<Value>> {
    let package = from_registry(driver.package);
    world.write("query", query);
    world.write("driver.py", driver.script);
    let line = format!(
        "python3 -W ignore $F/driver.py {} $F/query 2>$F/driver.log || {{ cat $F/driver.log; false; }}",
        package.display()
    );
    let printed = world.run(&line);
    serde_json::from_str(printed.lines().last().unwrap()).unwrap()
}

#[derive(Clone, Copy)]
struct Driver {
    package: &'static str,
    script: &'static str,
}

const BY_DUCKDB: Driver = Driver { package: "duckdb", script: DUCKDB };
const BY_SPARK: Driver = Driver { package: "pyspark", script: SPARK };

/// The rows of each run, by DuckDB.
#[track_caller]
fn found(world: &mut World, folder: &str) -> BTreeMap<String, u64> {
    let query = format!("SELECT run, count(*) FROM read_parquet('{folder}/*/*/*.parquet') GROUP BY run");
    let rows = answer(world, BY_DUCKDB, &query);
    rows.iter().map(|row| (row[0].as_str().unwrap().to_owned(), row[1].as_u64().unwrap())).collect()
}

/// The first query under a heading of the documentation, on this folder.
fn documented(heading: &str, folder: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/segments.md");
    let text = fs::read_to_string(page).unwrap();
    let section = text.split(&format!("\n### {heading}\n")).nth(1).unwrap();
    let query = &section[..=section.find(';').unwrap()];
    assert!(query.contains("/data/segments"), "{query}");
    query.replace("/data/segments", folder)
}

/// Makes the hub, with segments that are closed soon, starts it, and lets both agents join.
fn start(world: &mut World, segments: &str) {
    world.run(&format!(
        "$L hub init $F/hub/made --name 127.0.0.1 --listen 127.0.0.1:8443 --segments {segments} >/dev/null"
    ));
    world.run(r#"sed -i 's/^to = .*/&\nclose_after = "3s"\nruns = 3/' $F/hub/made/hub.toml"#);
    world.start_process(HUB);
    world.wait("that the hub listens", |world| world.log(HUB).contains("listening on"));
    world.join("https://127.0.0.1:8443");
}

/// Waits until the samples of all results are in segments.
fn wait_for_segments(world: &World) {
    world.wait("all segments", |world| {
        let store = world.store();
        world.results().iter().all(|record| record.samples.is_none() || store.segment_of(record.key).unwrap().is_some())
    });
}

#[test]
fn every_sampled_run_is_once_in_a_bucket_of_a_hub_that_is_killed_again_and_again() {
    let mut world = World::empty("true");
    world.run("export AWS_ACCESS_KEY_ID=k AWS_SECRET_ACCESS_KEY=s AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1 AWS_ENDPOINT_URL=http://127.0.0.1:9000");
    world.write("server.py", SERVER);
    let moto = from_registry("moto");
    world.run(&format!("python3 $F/server.py {} >$F/server.log 2>&1 &", moto.display()));
    world.wait("a server of S3", |world| world.log("server").contains("ready"));
    start(&mut world, "s3://samples/mesh");
    for kill in 1..=4_usize {
        let closed = |world: &World| {
            let store = world.store();
            let is_placed = |key| store.segment_of(key).unwrap().is_some();
            store.unwritten().unwrap().is_some()
                || world.results().iter().filter(|one| is_placed(one.key)).count() > kill
        };
        world.wait("a segment", closed);
        world.kill(HUB);
        world.start_process(HUB);
    }
    world.wait("more runs", |world| expected(world).len() > 5);
    world.settle();
    wait_for_segments(&world);
    world.write("fetch.py", FETCH);
    world.run(&format!("python3 $F/fetch.py {} $F/fetched", moto.display()));
    let folder = world.run("echo $F/fetched/mesh");
    let expected = expected(&world);
    assert!(expected.len() >= 5, "{expected:?}");
    assert_eq!(found(&mut world, &folder), expected, "{}", world.log(HUB));
}

#[test]
fn segments_follow_when_a_full_disk_has_room_and_duckdb_and_spark_read_them_by_the_documented_queries() {
    let mut world = World::empty("mkdir $F/segments && mount -t tmpfs -o size=4m tmpfs $F/segments");
    for size in ["64k", "4k", "512"] {
        world.run(&format!("dd if=/dev/zero of=$F/segments/.rest-{size} bs={size} 2>/dev/null || true"));
    }
    start(&mut world, "$F/segments");
    world.wait("a complaint", |world| world.log(HUB).contains("No space left on device"));
    let known = world.series();
    world.wait_for_results(&known);
    assert_eq!(world.run("find $F/segments -type f -not -name '.rest-*' | wc -l"), "0", "half a segment");
    world.run("rm $F/segments/.rest-*");
    world.settle();
    wait_for_segments(&world);
    let folder = world.run("echo $F/segments");
    let expected = expected(&world);
    assert_eq!(found(&mut world, &folder), expected, "{}", world.log(HUB));
    let duckdb = answer(&mut world, BY_DUCKDB, &documented("DuckDB", &folder));
    let spark = answer(&mut world, BY_SPARK, &documented("Spark", &folder));
    assert_eq!(duckdb, spark);
    let runs: u64 = duckdb.iter().map(|row| row[3].as_u64().unwrap()).sum();
    assert_eq!(runs, expected.len() as u64, "each run has probes: {duckdb:?}");
    let pairs: Vec<_> = duckdb.iter().map(|row| row[1].as_str().unwrap()).collect();
    assert!(AGENTS.iter().all(|agent| pairs.contains(agent)), "{duckdb:?}");
}
