//! Chains of elements, driven in virtual time: what holds for all, and what each element does to packets.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests fail like tests.

mod allocation;
mod buckets;
mod chain;
mod chance;
mod classes;
mod disciplines;
mod files;
mod middleboxes;
mod queues;
mod support;
