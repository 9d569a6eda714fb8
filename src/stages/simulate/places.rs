//! Places for conversations, over all lanes, and which lane's next wave takes them first. It plays nothing.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Places for conversations, over all lanes: however many lanes there are, no more conversations than places are in memory.
///
/// The lane that misses most goes first, among equals the one that came first. So lanes draw level and end together, where one
/// that fell behind would else play its last waves alone, with most of the requests that may be in flight unused.
#[derive(Debug)]
pub struct Places {
    most: u32,
    hall: Mutex<Hall>,
}

/// What is missing, most first, then who came first.
type Turn = (Reverse<u32>, u64);

/// The free places and who waits for some.
#[derive(Debug)]
struct Hall {
    free: u32,
    line: BTreeMap<Turn, Arc<Notify>>,
    came: u64,
}

impl Hall {
    /// Calls the one whose turn it is.
    fn call(&self) {
        if let Some((_, bell)) = self.line.first_key_value() {
            bell.notify_one();
        }
    }
}

impl Places {
    /// Makes so many places, at least one.
    #[must_use]
    pub fn new(most: u32) -> Self {
        let most = most.max(1);
        Self { most, hall: Mutex::new(Hall { free: most, line: BTreeMap::new(), came: 0 }) }
    }

    /// Waits for the places of a wave of a lane that misses so many counts, until all of them are free at once; nobody who misses less
    /// goes before it meanwhile. A wave that is larger than all places takes all.
    pub(super) async fn take(&self, wanted: u32, missing: u32) -> Taken<'_> {
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
    pub(super) fn free(&self) -> u32 {
        self.hall().free
    }
}

/// Somebody in the line, until it is dropped.
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
        // Places may be left for the next one; also where this one is gone before its turn.
        hall.call();
    }
}

/// Places that are taken, until they are dropped.
#[derive(Debug)]
pub(super) struct Taken<'a> {
    places: &'a Places,
    many: u32,
}

impl Taken<'_> {
    /// Hands one of the places over, to be given back by itself; none is left after the last.
    pub(super) fn one(&mut self) -> Option<Self> {
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
        assert!(waiting.iter_mut().all(|take| take.now_or_never().is_none()), "no place is free");
        let gone = all.one();
        assert!(gone.is_some());
        drop(gone);
        // Three are wanted by the first in the line; nobody who wants less goes before it.
        assert!(waiting.iter_mut().all(|take| take.now_or_never().is_none()));
        drop(all);
        let mut waiting = waiting.into_iter();
        let [mut few, many, one, mut last] = std::array::from_fn(|_| waiting.next().expect("four wait"));
        let many = many.now_or_never().expect("it misses most and came first");
        assert!(few.as_mut().now_or_never().is_none(), "one that misses more waits");
        let one = one.now_or_never().expect("it misses as much and came later");
        assert!(few.as_mut().now_or_never().is_none(), "all four are taken");
        assert!(last.as_mut().now_or_never().is_none());
        drop(many);
        // Whoever gives up keeps nobody waiting.
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
        assert!(wave.one().is_none(), "two were taken");
        drop(wave);
        assert_eq!(places.free(), 1);
        drop(first);
        assert_eq!(places.free(), 2);
        drop(second);
        assert_eq!(places.free(), 3);
    }

    /// Whatever the order of ends, everybody gets a turn and nothing is lost.
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
            guest.await.expect("nobody panics");
        }
        assert_eq!(places.free(), 5);
    }
}
