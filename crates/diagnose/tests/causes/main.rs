//! The catalogue of causes: its page, and what it says of rounds made for the purpose.

mod page;
mod weighing;
mod world;
