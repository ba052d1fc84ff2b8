//! A program that does nothing: what the kernel counts as its run time is what the measuring itself takes
//! (`kernel.bpf_stats_enabled`).

use std::io;

use super::assemble::Assembler;
use super::layout::TCX_NEXT;
use super::program::{Hook, Link, Program};

/// Passes each packet of a device in both directions, until it is dropped.
#[derive(Debug)]
pub struct EmptyProgram {
    #[expect(dead_code, reason = "the kernel takes the programs off when the files are closed")]
    attached: Vec<(Program, Link)>,
}

impl EmptyProgram {
    /// Behind the programs that are at the device with this index in the network namespace of the calling thread.
    ///
    /// # Errors
    /// The kernel's, without `CAP_BPF` and `CAP_NET_ADMIN` or before Linux 6.6.
    pub fn attach(interface: u32) -> io::Result<Self> {
        let instructions = Assembler::new().end_with(TCX_NEXT).bytes().map_err(io::Error::other)?;
        let one = |hook| {
            let program = Program::load(&instructions, hook)?;
            let link = program.attach(interface, hook)?;
            Ok((program, link))
        };
        Ok(Self { attached: [Hook::Ingress, Hook::Egress].into_iter().map(one).collect::<io::Result<_>>()? })
    }
}
