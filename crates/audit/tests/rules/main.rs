//! The rules as data: each fires on one host and passes on another, and is never passed by a host that does not say.

#[cfg(test)]
mod cases;
#[cfg(test)]
mod incidents;
#[cfg(test)]
mod page;
#[cfg(test)]
mod plant;
#[cfg(test)]
mod real;
#[cfg(test)]
mod snapshot;
#[cfg(test)]
mod support;
#[cfg(test)]
mod underlay;
