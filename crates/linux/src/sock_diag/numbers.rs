//! Numbers of address families and attributes, in requests and answers.

pub(super) const AF_INET: u8 = 2; // include/linux/socket.h
pub(super) const AF_INET6: u8 = 10;

// include/uapi/linux/inet_diag.h of 6.18
pub(super) const INET_DIAG_INFO: u16 = 2;
pub(super) const INET_DIAG_VEGASINFO: u16 = 3;
pub(super) const INET_DIAG_CONG: u16 = 4;
pub(super) const INET_DIAG_SKMEMINFO: u16 = 7;
pub(super) const INET_DIAG_SHUTDOWN: u16 = 8;
pub(super) const INET_DIAG_BBRINFO: u16 = 16;
