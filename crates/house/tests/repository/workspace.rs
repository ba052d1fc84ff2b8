//! What `cargo metadata` says about this workspace.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};
use house::dependencies::Dependency;
use house::levels::Crate;
use house::tree;

/// The workspace with all that it depends on.
pub(crate) struct Workspace(Metadata);

impl Workspace {
    /// Asks cargo. Linux only: what would be compiled elsewhere is of no use to anybody.
    pub(crate) fn read() -> Result<Self> {
        let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        let mut command = MetadataCommand::new();
        command.manifest_path(tree::root().join("Cargo.toml"));
        command.other_options(vec!["--filter-platform".to_owned(), platform, "--all-features".to_owned()]);
        Ok(Self(command.exec().context("cargo metadata")?))
    }

    /// Our crates, each with those of ours that it knows.
    pub(crate) fn crates(&self) -> Vec<Crate> {
        let ours: BTreeSet<String> = self.ours().map(|package| package.name.to_string()).collect();
        let knows = |package: &Package| {
            package.dependencies.iter().map(|to| to.name.clone()).filter(|to| ours.contains(to)).collect()
        };
        self.ours().map(|package| Crate { name: package.name.to_string(), knows: knows(package) }).collect()
    }

    /// Every dependency that one of our crates states, except for its tests: who needs what.
    pub(crate) fn direct_dependencies(&self) -> Vec<(String, String)> {
        let stated = |package: &Package| -> Vec<(String, String)> {
            let all = package.dependencies.iter().filter(|to| to.kind != DependencyKind::Development);
            all.map(|to| (package.name.to_string(), to.name.clone())).collect()
        };
        self.ours().flat_map(stated).collect()
    }

    /// All that is compiled and not ours.
    pub(crate) fn dependencies_from_outside(&self) -> Result<Vec<Dependency>> {
        let packages: BTreeMap<_, _> = self.0.packages.iter().map(|package| (&package.id, package)).collect();
        let nodes = &self.0.resolve.as_ref().context("cargo metadata resolved nothing")?.nodes;
        let used = nodes.iter().filter(|node| !self.0.workspace_members.contains(&node.id));
        let used = used.filter_map(|node| packages.get(&node.id));
        let dependency = |package: &&Package| Dependency {
            name: package.name.to_string(),
            version: package.version.clone(),
            licence: package.license.clone(),
        };
        Ok(used.map(dependency).collect())
    }

    fn ours(&self) -> impl Iterator<Item = &Package> {
        self.0.packages.iter().filter(|package| self.0.workspace_members.contains(&package.id))
    }
}
