//! What ends a program with the connection that it was started by.

/// The input of what runs in the background is nothing, so the guard reads a copy of the connection's. It dies with the
/// program, and holds none of its outputs.
pub(super) const SCRIPT: &str = "exec 3<&0; \"$@\" </dev/null 3<&- & program=$!; \
    { read -r _ <&3; kill \"$program\"; } >/dev/null 2>&1 & guard=$!; \
    wait \"$program\"; code=$?; kill \"$guard\" 2>/dev/null; exit \"$code\"";
