//! What lies between hosts: segments, and ways over them.

use document::{DocumentError, Key};

use super::names::Names;
use super::text::{SegmentText, WayText};
use crate::plan::{DeclaredPath, Segment, Use};
use crate::topology::across;

pub(super) fn segments(texts: Vec<SegmentText>, names: &mut Names<'_>) -> Vec<Segment> {
    let list = Key::top("segments");
    let mut segments = Vec::with_capacity(texts.len());
    for (number, text) in texts.into_iter().enumerate() {
        let key = list.nth(number).at("between");
        // A segment with an unknown end is entered all the same, so that no more complaints come of it.
        let (one, other) = names.pair(&key, &text.between).unwrap_or_default();
        let use_ = if text.shared { Use::InTurn } else { Use::AtOnce };
        segments.push(Segment { name: text.name, between: [one, other], rate: text.rate, use_ });
    }
    segments
}

pub(super) fn ways(texts: Vec<WayText>, segments: &[Segment], names: &mut Names<'_>) -> Vec<DeclaredPath> {
    let list = Key::top("ways");
    texts.into_iter().enumerate().filter_map(|(number, text)| way(&text, &list.nth(number), segments, names)).collect()
}

fn way(text: &WayText, key: &Key, segments: &[Segment], names: &mut Names<'_>) -> Option<DeclaredPath> {
    let from = names.host(&key.at("from"), &text.from);
    let to = names.host(&key.at("to"), &text.to);
    let network = names.network(&key.at("network"), text.network.as_deref())?;
    let over = key.at("over");
    let found = text.over.iter().enumerate().map(|(number, name)| names.segment(&over.nth(number), name));
    let segments_passed: Vec<usize> = found.collect::<Vec<_>>().into_iter().collect::<Option<_>>()?;
    let (from, to) = (from?, to?);
    let mut here = Some(from);
    for (number, &segment) in segments_passed.iter().enumerate() {
        here = here.and_then(|here| across(segments[segment].between, here));
        if here.is_none() {
            names.desk.complain(
                &over.nth(number),
                DocumentError::Keys("this segment does not begin where the one before ends"),
            );
            return None;
        }
    }
    if here != Some(to) {
        names.desk.complain(&over, DocumentError::Keys("the last segment does not end at `to`"));
    }
    Some(DeclaredPath { from, to, network, over: segments_passed })
}
