//! An assembler for eBPF: typed instructions, jumps to labels (Documentation/bpf/standardization/instruction-set.rst).

use std::collections::BTreeMap;

/// A register. `R10` is the frame pointer, `R1` to `R5` are lost in calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Reg {
    /// The result of calls and of the program.
    R0 = 0,
    /// The first argument.
    R1,
    /// The second argument.
    R2,
    /// The third argument.
    R3,
    /// The fourth argument.
    R4,
    /// The fifth argument.
    R5,
    /// Kept over calls.
    R6,
    /// Kept over calls.
    R7,
    /// Kept over calls.
    R8,
    /// Kept over calls.
    R9,
    /// The frame, which ends there.
    R10,
}

/// The right side of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// What a register holds.
    Of(Reg),
    /// A number, extended by its sign.
    Value(i32),
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Self {
        Self::Of(reg)
    }
}

impl From<i32> for Operand {
    fn from(value: i32) -> Self {
        Self::Value(value)
    }
}

/// An operation on 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Alu {
    /// Sum.
    Add = 0x00,
    /// Difference.
    Sub = 0x10,
    /// Product.
    Mul = 0x20,
    /// Quotient, unsigned.
    Div = 0x30,
    /// Bits of either.
    Or = 0x40,
    /// Bits of both.
    And = 0x50,
    /// Shift left.
    Lsh = 0x60,
    /// Shift right, unsigned.
    Rsh = 0x70,
    /// Bits of one of both.
    Xor = 0xa0,
    /// Copy.
    Mov = 0xb0,
}

/// When a jump is taken. Comparisons are unsigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum When {
    /// Both are equal.
    Equal = 0x10,
    /// The left is greater.
    Greater = 0x20,
    /// They differ.
    NotEqual = 0x50,
}

/// Bytes of an access to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Width {
    /// 4.
    Word = 0x00,
    /// 2.
    Half = 0x08,
    /// 1.
    Byte = 0x10,
    /// 8.
    Double = 0x18,
}

/// A place in memory: an address in a register, and an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At(pub Reg, pub i16);

/// A program being written.
#[derive(Debug, Default)]
pub struct Assembler {
    instructions: Vec<[u8; 8]>,
    labels: BTreeMap<&'static str, usize>,
    jumps: Vec<(usize, &'static str)>,
}

/// Why a program cannot be assembled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AssembleError {
    /// A jump goes nowhere.
    #[error("there is no label `{0}`")]
    NoLabel(&'static str),
    /// A jump goes too far.
    #[error("the jump to `{0}` is too long")]
    TooFar(&'static str),
}

impl Assembler {
    /// An empty program.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// `to op= operand`.
    pub fn alu(&mut self, op: Alu, to: Reg, operand: impl Into<Operand>) -> &mut Self {
        let (code, source, value) = source(operand.into());
        self.push(Instruction { code: ALU64 | op as u8 | code, to, from: source, offset: 0, value })
    }

    /// `to = operand`.
    pub fn mov(&mut self, to: Reg, operand: impl Into<Operand>) -> &mut Self {
        self.alu(Alu::Mov, to, operand)
    }

    /// `to = memory`, extended by zeros.
    pub fn load(&mut self, width: Width, to: Reg, from: At) -> &mut Self {
        self.push(Instruction { code: LDX_MEM | width as u8, to, from: from.0, offset: from.1, value: 0 })
    }

    /// `memory = register`.
    pub fn store(&mut self, width: Width, to: At, from: Reg) -> &mut Self {
        self.push(Instruction { code: STX_MEM | width as u8, to: to.0, from, offset: to.1, value: 0 })
    }

    /// `memory = 0`, 8 bytes of it.
    pub fn clear(&mut self, to: At) -> &mut Self {
        self.push(Instruction { to: to.0, offset: to.1, ..Instruction::bare(ST_MEM | Width::Double as u8) })
    }

    /// `memory += register`, 8 bytes; `R1` is lost.
    pub fn add_to(&mut self, to: At, amount: impl Into<Operand>) -> &mut Self {
        self.load(Width::Double, Reg::R1, to).alu(Alu::Add, Reg::R1, amount).store(Width::Double, to, Reg::R1)
    }

    /// `register = memory; memory += register`, 8 bytes, in one step for all CPUs.
    pub fn fetch_add(&mut self, memory: At, register: Reg) -> &mut Self {
        self.atomic(memory, Atomic { register, operation: FETCH_ADD })
    }

    /// `memory = register`, 8 bytes, which no CPU sees before what was written ahead of it. The register is lost.
    pub fn publish(&mut self, memory: At, register: Reg) -> &mut Self {
        // CPUs of this architecture show stores in their order; others need the barrier that an exchange is.
        if cfg!(target_arch = "x86_64") {
            return self.store(Width::Double, memory, register);
        }
        self.atomic(memory, Atomic { register, operation: EXCHANGE })
    }

    fn atomic(&mut self, memory: At, atomic: Atomic) -> &mut Self {
        let Atomic { register, operation } = atomic;
        self.push(Instruction { code: STX_ATOMIC, to: memory.0, from: register, offset: memory.1, value: operation })
    }

    /// `to = number`, all 64 bits of it.
    pub fn number(&mut self, to: Reg, value: u64) -> &mut Self {
        let [b0, b1, b2, b3, b4, b5, b6, b7] = value.to_le_bytes();
        self.instructions.push([LD_IMM64, to as u8, 0, 0, b0, b1, b2, b3]);
        self.instructions.push([0, 0, 0, 0, b4, b5, b6, b7]);
        self
    }

    /// Calls a function of the kernel by its number (`enum bpf_func_id`).
    pub fn call(&mut self, function: i32) -> &mut Self {
        self.push(Instruction { value: function, ..Instruction::bare(CALL) })
    }

    /// `to = map`, by the number of its file.
    pub fn map(&mut self, to: Reg, file: i32) -> &mut Self {
        let slot = PSEUDO_MAP_FD << 4 | to as u8;
        let number = file.to_le_bytes();
        self.instructions.push([LD_IMM64, slot, 0, 0, number[0], number[1], number[2], number[3]]);
        self.instructions.push([0; 8]);
        self
    }

    /// Names this place.
    pub fn label(&mut self, name: &'static str) -> &mut Self {
        self.labels.insert(name, self.instructions.len());
        self
    }

    /// Goes on at a label.
    pub fn jump(&mut self, label: &'static str) -> &mut Self {
        self.jumps.push((self.instructions.len(), label));
        self.push(Instruction::bare(JUMP))
    }

    /// Goes on at a label where a comparison holds.
    pub fn jump_if(&mut self, left: Reg, when: When, right: impl Into<Operand>, label: &'static str) -> &mut Self {
        let (code, source, value) = source(right.into());
        self.jumps.push((self.instructions.len(), label));
        self.push(Instruction { code: JUMP | when as u8 | code, to: left, from: source, offset: 0, value })
    }

    /// Ends with a number of 32 bits.
    pub fn end_with(&mut self, value: i32) -> &mut Self {
        self.push(Instruction { value, ..Instruction::bare(MOV32) }).push(Instruction::bare(EXIT))
    }

    /// The bytes of the program.
    ///
    /// # Errors
    /// See [`AssembleError`].
    pub fn bytes(&self) -> Result<Vec<u8>, AssembleError> {
        let mut instructions = self.instructions.clone();
        for (from, label) in &self.jumps {
            let to = self.labels.get(label).ok_or(AssembleError::NoLabel(label))?;
            let distance = i64::try_from(*to).unwrap_or(i64::MAX) - i64::try_from(*from).unwrap_or(0) - 1;
            let distance = i16::try_from(distance).map_err(|_| AssembleError::TooFar(label))?;
            instructions[*from][2..4].copy_from_slice(&distance.to_le_bytes());
        }
        Ok(instructions.concat())
    }

    fn push(&mut self, instruction: Instruction) -> &mut Self {
        let Instruction { code, to, from, offset, value } = instruction;
        let (offset, value) = (offset.to_le_bytes(), value.to_le_bytes());
        let registers = (from as u8) << 4 | to as u8;
        self.instructions.push([code, registers, offset[0], offset[1], value[0], value[1], value[2], value[3]]);
        self
    }
}

/// An operation on memory that no other CPU comes between.
#[derive(Clone, Copy)]
struct Atomic {
    register: Reg,
    operation: i32,
}

/// One instruction, before its bytes.
#[derive(Clone, Copy)]
struct Instruction {
    code: u8,
    to: Reg,
    from: Reg,
    offset: i16,
    value: i32,
}

impl Instruction {
    /// One without operands.
    const fn bare(code: u8) -> Self {
        Self { code, to: Reg::R0, from: Reg::R0, offset: 0, value: 0 }
    }
}

fn source(operand: Operand) -> (u8, Reg, i32) {
    match operand {
        Operand::Of(reg) => (FROM_REGISTER, reg, 0),
        Operand::Value(value) => (0, Reg::R0, value),
    }
}

// Classes, modes and sizes (include/uapi/linux/bpf_common.h and bpf.h)
const ALU64: u8 = 0x07;
const LDX_MEM: u8 = 0x61;
const STX_MEM: u8 = 0x63;
const ST_MEM: u8 = 0x62;
const STX_ATOMIC: u8 = 0xdb;
const FETCH_ADD: i32 = 0x01;
const EXCHANGE: i32 = 0xe1;
const LD_IMM64: u8 = 0x18;
const MOV32: u8 = 0xb4;
const JUMP: u8 = 0x05;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;
const FROM_REGISTER: u8 = 0x08;
const PSEUDO_MAP_FD: u8 = 1;
