//! What is found in generated series and meshes, on seeds that nothing was tuned on.

mod families;
mod incidents;
mod shapes;
mod watching;
