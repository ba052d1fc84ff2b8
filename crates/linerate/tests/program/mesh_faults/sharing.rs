//! Two hubs on one PostgreSQL: `kill -9` of either, and of the database.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use tempfile::TempDir;

use super::cluster::Cluster;
use super::world::{AGENTS, HUB, OnDisk, World};

const OTHER: &str = "hub2";
/// One name for both hubs: agents go on to the next address where the first does not answer.
const HOSTS: &str = "127.0.0.1 localhost mesh.test\n127.0.0.2 mesh.test\n";

/// Two hubs of one name, and two agents that know them by it.
fn world(cluster: &Cluster, files: &TempDir) -> World {
    let (database, hosts) = (files.path().join("database"), files.path().join("hosts"));
    fs::write(&database, cluster.database()).unwrap();
    fs::set_permissions(&database, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&hosts, HOSTS).unwrap();
    let mut world = World::empty(&format!("mount --bind {} /etc/hosts", hosts.display()));
    let how = format!("--name mesh.test --database-file {}", database.display());
    world.hub(HUB, &format!("{how} --listen 127.0.0.1:8443"));
    world.hub(OTHER, &format!("{how} --listen 127.0.0.2:8443 --authority $F/hub/made"));
    world.join("https://mesh.test:8443");
    world
}

fn wait_for_lease(world: &World) {
    world.wait("a run", |world| AGENTS.iter().any(|agent| !world.files(agent, OnDisk::Lease).is_empty()));
}

#[test]
fn whichever_hub_is_killed_the_other_goes_on_and_no_run_is_lost_or_carried_out_twice() {
    let (cluster, files) = (Cluster::start(), TempDir::new().unwrap());
    let mut world = world(&cluster, &files);
    for killed in [HUB, OTHER] {
        wait_for_lease(&world);
        world.kill(killed);
        let known = world.results().len();
        world.wait("results at the other hub", |world| world.results().len() > known + 1);
        world.start_process(killed);
        world.wait("that it listens again", |world| world.log(killed).matches("listening on").count() == 2);
    }
    wait_for_lease(&world);
    cluster.kill();
    // The run goes on, and its result waits.
    world.wait("a result on disk", |world| AGENTS.iter().any(|agent| !world.files(agent, OnDisk::Record).is_empty()));
    cluster.run();
    let known = world.results().len();
    world.wait("results after the database is back", |world| world.results().len() > known + 1);
    let rows = world.settle();
    assert!(rows.len() >= 6, "{rows:#?}");
}

#[test]
fn database_that_is_not_there_or_lets_nobody_in_is_said_with_the_way_out_and_without_its_password() {
    let cluster = Cluster::start();
    let mut world = World::empty("true");
    let database = cluster.url("locked", "postgres").replace("locked@", "locked:not-this@");
    let refused = world.run(&format!("$L hub init $F/x --name h --database '{database}' 2>&1; test $? = 4"));
    assert!(refused.contains("does not let user locked in") && refused.contains("PGPASSFILE"), "{refused}");
    assert!(!refused.contains("not-this"), "{refused}");
    let nowhere = world.run("$L hub init $F/x --name h --database postgres://u@127.0.0.1:1/d 2>&1; test $? = 3");
    assert!(nowhere.contains("cannot connect to postgres://u@127.0.0.1:1/d"), "{nowhere}");
    let wrong = world.run("$L hub init $F/x --name h --database mysql://u:not-this@h/d 2>&1; test $? = 2");
    assert!(wrong.contains("begins with postgres://") && wrong.contains("--database"), "{wrong}");
    world.run("test ! -e $F/x");
}
