//! Networks that outlive the command that raised them, and how other processes find them.
