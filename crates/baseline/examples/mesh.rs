//! What a watched mesh of 20 hosts reports: quarters without a fault, then a fault of 30 % at one host each: `mesh [SEED [MESHES]]`.

use std::error::Error;

use baseline::mesh::{Element, Fault, Mesh};
use baseline::monitor::{Monitor, Subject};
use baseline::pool::Pooling;
use baseline::watch::WatchSettings;
use path::Seed;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seed = Seed(arguments.next().map_or(Ok(1), |seed| seed.parse())?);
    let meshes: u64 = arguments.next().map_or(Ok(5), |count| count.parse())?;
    let alarm_z = arguments.next().map_or(Ok(WatchSettings::default().alarm_z), |z| z.parse())?;
    let settings = WatchSettings { alarm_z, ..WatchSettings::default() };
    let (mut elements, mut series) = (0, 0);
    for mesh in 0..meshes {
        let monitor = watch(&Mesh { hosts: 20, rounds: 180, seed: seed.part(mesh), fault: None }, settings);
        let of_series = |subject: &Subject<_, _>| matches!(subject, Subject::Series(_));
        let count = monitor.incidents().iter().filter(|incident| of_series(&incident.subject)).count();
        series += count;
        elements += monitor.incidents().len() - count;
    }
    println!("{meshes} quarters of 20 hosts without a fault: {elements} incidents of hosts, {series} of single pairs");
    for element in [Element::Host(3), Element::From(3), Element::To(3)] {
        let (mut same_day, mut right, mut others, mut open) = (0, 0, 0, 0);
        for mesh in 0..meshes {
            let fault = Fault { element, rounds: (100, 180), drop: 0.3 };
            let monitor =
                watch(&Mesh { hosts: 20, rounds: 180, seed: seed.part(1000 + mesh), fault: Some(fault) }, settings);
            let during = monitor.incidents().iter().filter(|incident| incident.opened_s >= 50 * 86_400);
            let found = during.clone().find(|incident| incident.subject == Subject::Element(element));
            same_day += u64::from(found.is_some_and(|incident| incident.opened_s < 51 * 86_400));
            right += u64::from(found.is_some());
            open += u64::from(found.is_some_and(|incident| incident.recovered_s.is_none()));
            others += during.count() as u64 - u64::from(found.is_some());
        }
        println!(
            "{meshes} faults of 30 % of {element:?}: {same_day} found the same day, {right} at all, {open} open 40 days later, {others} other incidents"
        );
    }
    Ok(())
}

fn watch(mesh: &Mesh, settings: WatchSettings) -> Monitor<(usize, usize), Element> {
    let mut monitor = Monitor::new(settings, Pooling::default());
    mesh.pairs().into_iter().for_each(|(pair, elements)| monitor.add(pair, elements));
    for (round, results) in mesh.results().iter().enumerate() {
        monitor.round(results, i64::try_from(round).unwrap_or(0) * 43_200);
    }
    monitor
}
