//! Scenario files: what comes with the program, what is refused, and what a network is worked out to.

mod blueprint;
mod library;
mod pages;
mod refusals;
mod strangers;
