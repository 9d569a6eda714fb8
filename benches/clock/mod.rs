//! CPU time of the current thread.

use std::time::Instant;

/// A clock of the thread's CPU time, or of wall time where the kernel does not report CPU time.
pub(super) struct Clock {
    begun: Instant,
    on_core: Option<f64>,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self { begun: Instant::now(), on_core: on_core() }
    }

    pub(super) fn seconds(&self) -> f64 {
        match (self.on_core, on_core()) {
            (Some(begun), Some(now)) => now - begun,
            _ => self.begun.elapsed().as_secs_f64(),
        }
    }
}

/// Returns the CPU seconds of this thread on Linux.
pub(super) fn on_core() -> Option<f64> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = times.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}
