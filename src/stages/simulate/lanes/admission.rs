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
pub struct Places {
    most: u32,
    hall: Mutex<Hall>,
}

/// Queue priority: most missing counts first, then order of arrival.
type Turn = (Reverse<u32>, u64);

/// The free permits and the queue of waiting batches.
#[derive(Debug)]
struct Hall {
    free: u32,
    line: BTreeMap<Turn, Arc<Notify>>,
    came: u64,
}

impl Hall {
    /// Wakes the first batch in the queue.
    fn call(&self) {
        if let Some((_, bell)) = self.line.first_key_value() {
            bell.notify_one();
        }
    }
}

impl Places {
    /// Creates `most` permits, at least one.
    #[must_use]
    pub fn new(most: u32) -> Self {
        let most = most.max(1);
        Self { most, hall: Mutex::new(Hall { free: most, line: BTreeMap::new(), came: 0 }) }
    }

    /// Waits until `wanted` permits are free at once and takes them, for a batch of a lane with `missing` counts.
    ///
    /// Meanwhile no batch with fewer missing counts goes first. If `wanted` exceeds the total, all permits are taken.
    pub(crate) async fn take(&self, wanted: u32, missing: u32) -> Taken<'_> {
        let wanted = wanted.min(self.most);
        let waiting = Waiting::new(self, missing);
        loop {
            {
                let mut hall = self.hall();
                let is_first = hall.line.first_key_value().is_some_and(|(turn, _)| *turn == waiting.turn);
                if is_first && hall.free >= wanted {
                    hall.free -= wanted;
                    return Taken { places: self, many: wanted };
                }
            }
            waiting.bell.notified().await;
        }
    }

    fn hall(&self) -> MutexGuard<'_, Hall> {
        self.hall.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(crate) fn free(&self) -> u32 {
        self.hall().free
    }
}

/// An entry of the queue; leaves it when dropped.
struct Waiting<'a> {
    places: &'a Places,
    turn: Turn,
    bell: Arc<Notify>,
}

impl<'a> Waiting<'a> {
    fn new(places: &'a Places, missing: u32) -> Self {
        let bell = Arc::new(Notify::new());
        let mut hall = places.hall();
        let turn = (Reverse(missing), hall.came);
        hall.came += 1;
        hall.line.insert(turn, Arc::clone(&bell));
        drop(hall);
        Self { places, turn, bell }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut hall = self.places.hall();
        hall.line.remove(&self.turn);
        // Permits may be left for the next entry, also if this one was cancelled before its turn.
        hall.call();
    }
}

/// Permits that are taken; returned when dropped.
#[derive(Debug)]
pub(crate) struct Taken<'a> {
    places: &'a Places,
    many: u32,
}

impl Taken<'_> {
    /// Splits off one permit, to be returned on its own. None if no permit is left.
    pub(crate) fn one(&mut self) -> Option<Self> {
        self.many = self.many.checked_sub(1)?;
        Some(Self { places: self.places, many: 1 })
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if self.many > 0 {
            let mut hall = self.places.hall();
            hall.free += self.many;
            hall.call();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn who_misses_most_goes_first() {
        let places = Places::new(4);
        let mut all = places.take(9, 0).await;
        let mut waiting =
            [(2, 5), (3, 20), (1, 20), (1, 1)].map(|(wanted, missing)| Box::pin(places.take(wanted, missing)));
        assert!(waiting.iter_mut().all(|take| take.now_or_never().is_none()), "no permit is free");
        let gone = all.one();
        assert!(gone.is_some());
        drop(gone);
        // The first in the queue wants three; no smaller request goes first.
        assert!(waiting.iter_mut().all(|take| take.now_or_never().is_none()));
        drop(all);
        let mut waiting = waiting.into_iter();
        let [mut few, many, one, mut last] = std::array::from_fn(|_| waiting.next().expect("four batches are waiting"));
        let many = many.now_or_never().expect("it has the most missing counts and came first");
        assert!(few.as_mut().now_or_never().is_none(), "a batch with more missing counts is waiting");
        let one = one.now_or_never().expect("it has equally many missing counts and came later");
        assert!(few.as_mut().now_or_never().is_none(), "all four permits are taken");
        assert!(last.as_mut().now_or_never().is_none());
        drop(many);
        // A cancelled request does not block the others.
        drop(few);
        drop(last.await);
        drop(one);
        assert_eq!(places.free(), 4);
    }

    #[tokio::test]
    async fn places_are_handed_on_one_by_one() {
        let places = Places::new(3);
        let mut wave = places.take(2, 1).await;
        let (first, second) = (wave.one(), wave.one());
        assert!(wave.one().is_none(), "only two permits were taken");
        drop(wave);
        assert_eq!(places.free(), 1);
        drop(first);
        assert_eq!(places.free(), 2);
        drop(second);
        assert_eq!(places.free(), 3);
    }

    /// In any order of completion, every request is served and no permit is lost.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_crowd_passes_through() {
        let places = Arc::new(Places::new(5));
        let crowd = (0..200_u32).map(|who| {
            let places = Arc::clone(&places);
            tokio::spawn(async move {
                for round in 0..5 {
                    let mut taken = places.take(1 + (who + round) % 7, (who * 7 + round) % 11).await;
                    let one = taken.one();
                    tokio::task::yield_now().await;
                    drop(taken);
                    tokio::task::yield_now().await;
                    drop(one);
                }
            })
        });
        for guest in crowd.collect::<Vec<_>>() {
            guest.await.expect("no task panics");
        }
        assert_eq!(places.free(), 5);
    }
}
