//! Why PostgreSQL does not do what it is asked.

/// Why PostgreSQL does not do what it is asked.
#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    /// It cannot be reached, or does not speak as it should.
    #[error("cannot connect to {address}")]
    Unreachable {
        /// Without a password.
        address: String,
        /// What connecting gave.
        source: postgres::Error,
    },
    /// It does not know the user or the password.
    #[error("{address} does not let user {user} in")]
    Password {
        /// Without a password.
        address: String,
        /// Who asked.
        user: String,
        /// What it says.
        source: postgres::Error,
    },
    /// It has no such database.
    #[error("{address}: there is no such database")]
    NoDatabase {
        /// Without a password.
        address: String,
        /// What it says.
        source: postgres::Error,
    },
    /// A request is refused, or its connection has broken.
    #[error("PostgreSQL refuses")]
    Refused(#[from] postgres::Error),
    /// All connections are in use for too long.
    #[error("all {0} connections to the database are in use")]
    Busy(usize),
    /// Certificates cannot be read or used.
    #[error("TLS to the database")]
    Tls(#[source] std::io::Error),
}
