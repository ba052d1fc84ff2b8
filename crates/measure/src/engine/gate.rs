//! All streams start at once, or not at all.

use std::sync::{Condvar, Mutex, PoisonError};

use units::MonoTime;

/// Holds the streams' threads until the test runs.
#[derive(Debug, Default)]
pub struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default, Clone, Copy)]
enum State {
    #[default]
    Closed,
    Open(MonoTime),
    Abandoned,
}

impl Gate {
    /// Lets the threads go; the test starts at `start`.
    pub fn open(&self, start: MonoTime) {
        self.change(State::Open(start));
    }

    /// Sends the threads home, unless they have gone already.
    pub fn abandon(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, State::Closed) {
            *state = State::Abandoned;
            self.changed.notify_all();
        }
    }

    /// Waits for the start; `None` where the test was abandoned.
    #[must_use]
    pub fn wait(&self) -> Option<MonoTime> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *state {
                State::Open(start) => return Some(start),
                State::Abandoned => return None,
                State::Closed => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn change(&self, to: State) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = to;
        self.changed.notify_all();
    }
}
