//! What an element of a path is.

use std::fmt::Debug;

use units::MonoTime;

use crate::grain::Grain;
use crate::outlet::Outlet;
use crate::spec::ElementSpec;
use crate::train::Train;

/// A state machine that packets go through.
///
/// It is called in the order of time, at exact instants: those at which trains come, and those it asked for itself with
/// [`due`](Self::due). The instant of a call is [`Outlet::now`]. What is let through, dropped or changed is said to the
/// outlet; what is neither is held.
pub trait Element: Debug + Send {
    /// Takes a train. Where the element [takes trains ahead](Self::takes_ahead), the instant of the call may be one that is
    /// still to come.
    fn offer(&mut self, train: Train, out: &mut Outlet<'_>);

    /// When something held will come out, or may: the element is called then. `None` where nothing is held.
    fn due(&self) -> Option<MonoTime> {
        None
    }

    /// Lets out what is due by now.
    fn advance(&mut self, out: &mut Outlet<'_>) {
        let _ = out;
    }

    /// Whether it may be given a train before the instant at which that comes, since nothing else can change what becomes
    /// of it. This saves a call for each train at the element before.
    fn takes_ahead(&self) -> bool {
        false
    }

    /// Lets packets that wait come out in larger groups from now on.
    fn coarsen(&mut self, grain: Grain) {
        let _ = grain;
    }

    /// Goes on with other settings from now on, keeping what it holds. They are of the kind it was made from.
    fn adopt(&mut self, spec: &ElementSpec, out: &mut Outlet<'_>);
}
