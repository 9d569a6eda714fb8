//! Admission control: limits the number of conversations in memory over all lanes and orders the waiting batches.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// A priority semaphore over all lanes: at most this many conversations are in memory at once.
///
/// The lane with the most missing counts goes first, ties in order of arrival. Lanes therefore progress evenly and end
/// together; otherwise a lane that fell behind would play its last batches alone and leave most of the request
/// concurrency unused.
#[derive(Debug)]
pub struct Admission {
    total: u32,
    state: Mutex<State>,
}

/// Queue priority: most missing counts first, then order of arrival.
type Priority = (Reverse<u32>, u64);

/// The free permits and the queue of waiting batches.
#[derive(Debug)]
struct State {
    free: u32,
    queue: BTreeMap<Priority, Arc<Notify>>,
    arrivals: u64,
}

impl State {
    /// Wakes the first batch in the queue.
    fn wake_first(&self) {
        if let Some((_, wake)) = self.queue.first_key_value() {
            wake.notify_one();
        }
    }
}

impl Admission {
    /// Creates `total` permits, at least one.
    #[must_use]
    pub fn new(total: u32) -> Self {
        let total = total.max(1);
        Self { total, state: Mutex::new(State { free: total, queue: BTreeMap::new(), arrivals: 0 }) }
    }

    /// Waits until `requested` permits are free at once and takes them, for a batch of a lane with `missing` counts.
    ///
    /// Meanwhile no batch with fewer missing counts goes first. If `requested` exceeds the total, all permits are taken.
    pub(crate) async fn take(&self, requested: u32, missing: u32) -> Permits<'_> {
        let requested = requested.min(self.total);
        let entry = QueueEntry::new(self, missing);
        loop {
            {
                let mut state = self.state();
                let is_first = state.queue.first_key_value().is_some_and(|(priority, _)| *priority == entry.priority);
                if is_first && state.free >= requested {
                    state.free -= requested;
                    return Permits { admission: self, count: requested };
                }
            }
            entry.wake.notified().await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(crate) fn free(&self) -> u32 {
        self.state().free
    }
}

/// An entry of the queue; leaves it when dropped.
struct QueueEntry<'a> {
    admission: &'a Admission,
    priority: Priority,
    wake: Arc<Notify>,
}

impl<'a> QueueEntry<'a> {
    fn new(admission: &'a Admission, missing: u32) -> Self {
        let wake = Arc::new(Notify::new());
        let mut state = admission.state();
        let priority = (Reverse(missing), state.arrivals);
        state.arrivals += 1;
        state.queue.insert(priority, Arc::clone(&wake));
        drop(state);
        Self { admission, priority, wake }
    }
}

impl Drop for QueueEntry<'_> {
    fn drop(&mut self) {
        let mut state = self.admission.state();
        state.queue.remove(&self.priority);
        // Permits may be left for the next entry, also if this one was cancelled before its turn.
        state.wake_first();
    }
}

/// Permits that are taken; returned when dropped.
#[derive(Debug)]
pub(crate) struct Permits<'a> {
    admission: &'a Admission,
    count: u32,
}

impl Permits<'_> {
    /// Splits off one permit, to be returned on its own. None if no permit is left.
    pub(crate) fn split_one(&mut self) -> Option<Self> {
        self.count = self.count.checked_sub(1)?;
        Some(Self { admission: self.admission, count: 1 })
    }
}

impl Drop for Permits<'_> {
    fn drop(&mut self) {
        if self.count > 0 {
            let mut state = self.admission.state();
            state.free += self.count;
            state.wake_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn the_lane_with_most_missing_goes_first() {
        let admission = Admission::new(4);
        let mut all = admission.take(9, 0).await;
        let mut entry =
            [(2, 5), (3, 20), (1, 20), (1, 1)].map(|(requested, missing)| Box::pin(admission.take(requested, missing)));
        assert!(entry.iter_mut().all(|take| take.now_or_never().is_none()), "no permit is free");
        let first_permit = all.split_one();
        assert!(first_permit.is_some());
        drop(first_permit);
        // The first in the queue wants three; no smaller request goes first.
        assert!(entry.iter_mut().all(|take| take.now_or_never().is_none()));
        drop(all);
        let mut entry = entry.into_iter();
        let [mut few, three, one, mut last] = std::array::from_fn(|_| entry.next().expect("four batches are waiting"));
        let three = three.now_or_never().expect("it has the most missing counts and came first");
        assert!(few.as_mut().now_or_never().is_none(), "a batch with more missing counts is waiting");
        let one = one.now_or_never().expect("it has equally many missing counts and came later");
        assert!(few.as_mut().now_or_never().is_none(), "all four permits are taken");
        assert!(last.as_mut().now_or_never().is_none());
        drop(three);
        // A cancelled request does not block the others.
        drop(few);
        drop(last.await);
        drop(one);
        assert_eq!(admission.free(), 4);
    }

    #[tokio::test]
    async fn permits_are_released_one_by_one() {
        let admission = Admission::new(3);
        let mut batch = admission.take(2, 1).await;
        let (first, second) = (batch.split_one(), batch.split_one());
        assert!(batch.split_one().is_none(), "only two permits were taken");
        drop(batch);
        assert_eq!(admission.free(), 1);
        drop(first);
        assert_eq!(admission.free(), 2);
        drop(second);
        assert_eq!(admission.free(), 3);
    }

    /// In any order of completion, every request is served and no permit is lost.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn many_waiting_lanes_are_all_admitted() {
        let admission = Arc::new(Admission::new(5));
        let tasks = (0..200_u32).map(|lane| {
            let admission = Arc::clone(&admission);
            tokio::spawn(async move {
                for round in 0..5 {
                    let mut permits = admission.take(1 + (lane + round) % 7, (lane * 7 + round) % 11).await;
                    let single = permits.split_one();
                    tokio::task::yield_now().await;
                    drop(permits);
                    tokio::task::yield_now().await;
                    drop(single);
                }
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.expect("no task panics");
        }
        assert_eq!(admission.free(), 5);
    }
}
