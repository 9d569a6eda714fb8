//! Dry run: the offline engine replaces every served model, and time is simulated.
//!
//! The simulated clock stands still while there is work, and advances to the next end of a call when all tasks are
//! waiting; the runtime calls [`DryRun::idle`] for that. Waits, queues and limits thus add up as in a real run,
//! while only the time of the offline answers passes.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use tokio::sync::Semaphore;

use super::throttle::address_limits::ConfiguredLimits;
use super::usage::{Usage, part};

/// Expected cost of one ask to a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// Time from the request to the reply.
    pub latency: Duration,
    /// Prompt tokens counted by the server per estimated token.
    pub prompt_ratio: f64,
    /// Expected tokens of a reply; if unset, those of the offline answer, but at least `least`.
    pub completion: Option<u64>,
    /// Minimum number of tokens of a reply.
    pub least: u64,
    /// Expected number of unusable replies per call, each followed by a retry.
    pub reasks: f64,
}

impl Expected {
    /// Returns the expected usage of a call, given the usage of its offline answer. A retry sends the prompt again,
    /// with the reply.
    pub(super) fn usage(&self, offline: Usage) -> Usage {
        let prompt = part(offline.prompt, self.prompt_ratio);
        let completion = self.completion.unwrap_or(offline.completion.max(self.least));
        Usage {
            prompt: prompt + part(prompt + completion, self.reasks),
            completion: completion + part(completion, self.reasks),
            estimated: true,
            ..Usage::default()
        }
    }
}

/// Expectations by (model name, ask).
type Expectation = dyn Fn(&str, &str) -> Expected + Send + Sync;

/// Replaces the servers in a dry run.
pub struct DryRun {
    expectation: Box<Expectation>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    now: Duration,
    /// Waiting calls, by wake-up time and then by arrival.
    waiting: BTreeMap<(Duration, u64), Waker>,
    arrivals: u64,
    /// Amount of work that the runtime of the tasks does not see.
    busy: u64,
    models: BTreeMap<String, ServerClock>,
}

/// When a model may be called.
struct ServerClock {
    slots: Arc<Semaphore>,
    next_request: Duration,
    next_token: Duration,
}

impl std::fmt::Debug for DryRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DryRun").field("now", &self.now()).finish_non_exhaustive()
    }
}

impl DryRun {
    /// Creates a dry run that starts at time zero.
    pub fn new(expectation: impl Fn(&str, &str) -> Expected + Send + Sync + 'static) -> Self {
        Self { expectation: Box::new(expectation), state: Mutex::default() }
    }

    /// Returns the simulated time.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.state().now
    }

    /// Advances the clock to the next end of a call, if all tasks are waiting.
    pub fn idle(&self) {
        let mut state = self.state();
        let Some((&(time, _), _)) = state.waiting.first_key_value().filter(|_| state.busy == 0) else { return };
        state.now = time;
        let later = state.waiting.split_off(&(time, u64::MAX));
        let awake = std::mem::replace(&mut state.waiting, later);
        drop(state);
        awake.into_values().for_each(Waker::wake);
    }

    /// Stops the clock until the guard is dropped, because work continues elsewhere.
    #[must_use]
    pub fn busy(self: &Arc<Self>) -> Busy {
        self.state().busy += 1;
        Busy(Arc::clone(self))
    }

    /// Returns the expectation for an ask to a model.
    pub(super) fn expected(&self, model: &str, ask: &str) -> Expected {
        (self.expectation)(model, ask)
    }

    /// Waits like a request: for its turn within the rate limits, for the concurrency limit, and for its reply.
    pub(super) async fn pass(&self, model: &str, limits: ConfiguredLimits, usage: &Usage, latency: Duration) {
        let (slots, turn) = self.turn(model, limits, usage);
        self.wait(turn).await;
        let _slot = slots.acquire_owned().await.expect("the semaphore is never closed");
        let end = self.now() + latency;
        self.wait(end).await;
    }

    /// Returns the semaphore of a model, and when its limits allow a request to start.
    fn turn(&self, model: &str, limits: ConfiguredLimits, usage: &Usage) -> (Arc<Semaphore>, Duration) {
        let mut state = self.state();
        let now = state.now;
        let clock = state.models.entry(model.to_owned()).or_insert_with(|| ServerClock {
            slots: Arc::new(Semaphore::new(limits.concurrency.clamp(1, Semaphore::MAX_PERMITS))),
            next_request: now,
            next_token: now,
        });
        let turn = now.max(clock.next_request).max(clock.next_token);
        if let Some(most) = limits.requests_per_minute {
            clock.next_request = turn + Duration::from_mins(1) / most.max(1);
        }
        if let Some(most) = limits.tokens_per_minute {
            let tokens = u32::try_from(usage.prompt + usage.completion).unwrap_or(u32::MAX);
            clock.next_token = turn + Duration::from_mins(1).mul_f64(f64::from(tokens) / f64::from(most.max(1)));
        }
        (Arc::clone(&clock.slots), turn)
    }

    async fn wait(&self, until: Duration) {
        let mut entry = None;
        poll_fn(|context| {
            let mut state = self.state();
            if let Some(entry) = entry.take() {
                state.waiting.remove(&entry);
            }
            if state.now >= until {
                return Poll::Ready(());
            }
            state.arrivals += 1;
            let at = (until, state.arrivals);
            state.waiting.insert(at, context.waker().clone());
            entry = Some(at);
            Poll::Pending
        })
        .await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops the clock of a dry run while it exists.
#[derive(Debug)]
pub struct Busy(Arc<DryRun>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.state().busy -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Returns how long a number of concurrent calls takes.
    fn elapsed(calls: u32, limits: ConfiguredLimits, usage: Usage) -> Duration {
        let expected = Expected { latency: SECOND, prompt_ratio: 1.0, completion: None, least: 0, reasks: 0.0 };
        let dry_run = Arc::new(DryRun::new(move |_, _| expected));
        let clock = Arc::clone(&dry_run);
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.on_thread_park(move || clock.idle()).build().unwrap();
        runtime.block_on(async {
            let mut calls: tokio::task::JoinSet<()> = (0..calls)
                .map(|_| {
                    let dry_run = Arc::clone(&dry_run);
                    async move { dry_run.pass("m", limits, &usage, SECOND).await }
                })
                .collect();
            while calls.join_next().await.is_some() {}
        });
        dry_run.now()
    }

    #[test]
    fn simulated_time_follows_concurrency_and_rate_limits() {
        let open = ConfiguredLimits { concurrency: 4, requests_per_minute: None, tokens_per_minute: None };
        let usage = Usage { prompt: 90, completion: 10, ..Usage::default() };
        assert_eq!(elapsed(1, open, usage), SECOND);
        assert_eq!(elapsed(12, open, usage), 3 * SECOND);
        assert_eq!(elapsed(13, open, usage), 4 * SECOND);
        // Twelve starts half a second apart, and the last reply.
        let slow = ConfiguredLimits { requests_per_minute: Some(120), ..open };
        assert_eq!(elapsed(12, slow, usage), Duration::from_millis(6500));
        let few = ConfiguredLimits { tokens_per_minute: Some(6000), ..open };
        assert_eq!(elapsed(6, few, usage), 6 * SECOND);
    }

    #[test]
    fn measurements_replace_assumptions() {
        let offline = Usage { prompt: 100, completion: 20, estimated: true, ..Usage::default() };
        let assumed = Expected { latency: SECOND, prompt_ratio: 1.0, completion: None, least: 40, reasks: 0.0 };
        let tokens = |expected: Expected| (expected.usage(offline).prompt, expected.usage(offline).completion);
        assert_eq!(tokens(assumed), (100, 40));
        assert_eq!(tokens(Expected { least: 10, ..assumed }), (100, 20));
        let measured = Expected { prompt_ratio: 1.2, completion: Some(30), reasks: 0.1, ..assumed };
        assert_eq!(tokens(measured), (120 + 15, 33));
    }
}
