//! The panels of a picture, from top to bottom.
//!
//! * [`goodput`]: what came through
//! * [`window`]: how much the sender let be on its way, and what held it back
//! * [`round_trip`]: how long the way was
//! * [`losses`]: what was retransmitted or lost
//! * [`limits`]: what the sender waited for

mod goodput;
mod limits;
mod losses;
mod rtt;
mod window;

use crate::panel::Panel;
use crate::run::story::Story;

/// All panels that the run's protocol has.
pub(crate) fn all(story: &Story<'_>) -> Vec<Panel> {
    let mut panels: Vec<Panel> = story.headings.iter().map(|heading| goodput::panel(story, *heading)).collect();
    if story.is_tcp() {
        panels.extend(story.headings.iter().map(|heading| window::panel(story, *heading)));
    }
    panels.push(rtt::panel(story));
    panels.extend(story.headings.iter().map(|heading| losses::panel(story, *heading)));
    if story.is_tcp() {
        panels.extend(story.headings.iter().map(|heading| limits::panel(story, *heading)));
    }
    panels
}
