//! Runs the same function on many items in several threads, with results in order.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many items a thread takes at a time.
const PORTION: usize = 32;

/// Returns the results for 0 to `count`, independent of the number of threads. Each thread has its own `new_state`.
pub(super) fn each<W, R: Send>(
    count: usize,
    threads: NonZeroUsize,
    new_state: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, usize) -> R + Sync,
) -> Vec<R> {
    let threads = threads.get().min(count.div_ceil(PORTION));
    if threads < 2 {
        let mut state = new_state();
        return (0..count).map(|at| work(&mut state, at)).collect();
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(count.div_ceil(PORTION)));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut state = new_state();
                loop {
                    let start = next.fetch_add(PORTION, Ordering::Relaxed);
                    if start >= count {
                        break;
                    }
                    let results: Vec<R> = (start..count.min(start + PORTION)).map(|at| work(&mut state, at)).collect();
                    done.lock().expect("no thread panics while it holds the lock").push((start, results));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no thread panics while it holds the lock");
    done.sort_unstable_by_key(|(start, _)| *start);
    done.into_iter().flat_map(|(_, results)| results).collect()
}
