//! What is found in generated series and meshes, on seeds that nothing was tuned on.

mod expectations;
mod families;
mod incidents;
mod shapes;
mod watching;
