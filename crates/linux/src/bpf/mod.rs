//! Small programs in the kernel (eBPF), made of instruction tables: nothing is needed to build them, and nothing stays behind,
//! since programs, maps and links go with their files.
//!
//! * [`assemble`]: instructions with labels, and their bytes
//! * [`meter`]: bytes and packets of a device in buckets of time
//!
//! * [`empty`]: what the kernel's measuring of a program takes
//!
//! Inside: `call` is bpf(2), `layout` where things lie, `map` an array and `ring` records that programs and this process share (`mapping`),
//! `counting` what the meter's program does, with `flow_bit` and with `sample`, the packets of which it keeps the beginning; `program` loads and
//! attaches.
//!
//! Numbers and layouts: `include/uapi/linux/bpf.h` of Linux 6.18.

pub mod assemble;
mod call;
mod counting;
pub mod empty;
mod flow_bit;
mod layout;
mod map;
mod mapping;
pub mod meter;
mod program;
mod ring;
mod sample;
#[cfg(test)]
mod tests;
