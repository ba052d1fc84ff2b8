//! How many transfers miss their deadline, by what was drawn, before and after tuning.

use sweep::parameter::Parameter;
use tune::split::{Misses, MissesInRange};
use tune::{Answer, Question};

use crate::axis::Quantity;
use crate::drawn;
use crate::font::Fonts;
use crate::header::Header;
use crate::layout;
use crate::palette::{BLUE, GREEN, VERMILLION};
use crate::panel::{Layer, Panel};
use crate::scene::{Colour, Dash, Pen};
use crate::span::{Axis, Span};
use crate::swept::quantity;
use crate::{ChartError, Form};

/// The picture: a panel for each quantity that was drawn would have no common axis, so it is that with the most parts.
///
/// # Errors
/// See [`ChartError`].
pub fn picture(question: &Question, answer: &Answer, form: Form) -> Result<Vec<u8>, ChartError> {
    let split = answer.by.iter().max_by_key(|split| split.parts.len()).ok_or(ChartError::NoAxis)?;
    let (_, parameter) = Parameter::find(&split.parameter).ok_or(ChartError::NoAxis)?;
    let fonts = Fonts::new()?;
    let mut panel = Panel::new("missed".to_owned(), "missed".to_owned(), Quantity::Share, 220.0);
    panel.top = 1.08;
    let mut curve = |text: &str, colour: Colour, of: &dyn Fn(&MissesInRange) -> Option<Misses>| {
        let point = |part: &MissesInRange| {
            let misses = of(part).filter(|misses| misses.draws > 0)?;
            Some((f64::midpoint(part.from, part.to), f64::from(misses.missed) / f64::from(misses.draws)))
        };
        let points: Vec<(f64, f64)> = split.parts.iter().filter_map(point).collect();
        if !points.is_empty() {
            panel.curve(vec![points.clone()], Pen::new(colour, 1.8, Dash::Solid), text.to_owned());
            panel.layers.push(Layer::Dots { samples: points, diameter: 4.0, colour });
        }
    };
    curve("as it is", VERMILLION, &|part| Some(part.present));
    if !answer.best.set.is_empty() {
        curve("the best", BLUE, &|part| Some(part.best));
    }
    curve("as it is, bursts in their own queue", GREEN, &|part| part.own_queue);
    let from = split.parts.iter().map(|part| part.from).fold(f64::INFINITY, f64::min);
    let to = split.parts.iter().map(|part| part.to).fold(f64::NEG_INFINITY, f64::max);
    let margin = ((to - from) * 0.02).max(1.0);
    let axis = Axis::Of { name: parameter.name, quantity: quantity(parameter.kind) };
    let span = Span { from_us: from - margin, to_us: to + margin, steady_us: None, axis };
    let header = Header {
        title: format!("Transfers that miss their deadline of {}", question.base.get("deadline")),
        lines: vec![format!("{} transfers with each choice of settings", answer.present.draws)],
        footer: format!("simulated: {}", answer.name),
        made_by: answer.program.clone(),
    };
    drawn(&layout::scene(&header, &[panel], span, &fonts), &fonts, form)
}
