//! What is found in generated series and meshes, on seeds that nothing was tuned on.
#![allow(clippy::panic)] // Helpers of tests fail like tests.

mod expectations;
mod families;
mod incidents;
mod shapes;
mod watching;
