//! `linerate demo` on a machine that has half of its CPU time for it.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use diagnose::proof::Chapter;
use tempfile::TempDir;

use crate::telling::{POLICED, demo};

/// Takes half of every CPU, in slices of 50 ms, until it is dropped.
struct Load {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    fn half() -> Self {
        let over = Arc::<AtomicBool>::default();
        let cpus = thread::available_parallelism().unwrap().get();
        let takes = |_| {
            let over = Arc::clone(&over);
            thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let until = Instant::now() + SLICE;
                    while Instant::now() < until {
                        std::hint::spin_loop();
                    }
                    // allow(sleep): the load itself is half of the time idle; nothing is waited for
                    thread::sleep(SLICE);
                }
            })
        };
        Self { threads: (0..cpus).map(takes).collect(), over: Arc::clone(&over) }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
    }
}

#[test]
fn incident_is_told_to_its_end_beside_a_load_that_takes_half_of_every_cpu() {
    let _load = Load::half();
    let place = TempDir::new().unwrap();
    let file = place.path().join("policed.toml");
    std::fs::write(&file, POLICED).unwrap();
    let output = demo(&place, &[file.to_str().unwrap(), "--json"]).stderr(Stdio::piped()).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{complaint}");
    let chapters: Vec<Chapter> = serde_json::from_slice(&output.stdout).unwrap();
    let [chapter] = chapters.as_slice() else { panic!("{} chapters", chapters.len()) };
    assert!(chapter.limited_by_emulation.is_empty() && chapter.is_fixed(), "{chapter:#?}");
}

const SLICE: Duration = Duration::from_millis(50);
