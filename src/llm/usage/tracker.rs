//! Usage statistics: calls, tokens and cost.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use super::budget::Weight;
use super::fault::CountedFault;
use super::pricing::{Price, Usage};
use crate::llm::tokens::prefix_cache::{Prefixes, Prompt};
use crate::schema::{Message, RejectReason};

/// Totals over calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Calls answered in this process.
    pub made: u64,
    /// Calls answered from the journal.
    pub journal: u64,
    /// Calls without an answer.
    pub failed: u64,
    /// HTTP requests of these calls, including those of earlier processes.
    pub requests: u64,
    /// Unusable replies that were requested again, including those of earlier processes.
    pub reasks: u64,
    /// Tokens of these calls.
    pub usage: Usage,
    /// Tokens among them that are estimated.
    pub estimated: u64,
    /// Total cost in USD; `None` if a price is unknown.
    pub usd: Option<f64>,
}

impl Totals {
    /// All counts zero, without cost.
    pub const FREE: Self = Self {
        made: 0,
        journal: 0,
        failed: 0,
        requests: 0,
        reasks: 0,
        usage: Usage { prompt: 0, cached: 0, completion: 0, reasoning: 0, estimated: false },
        estimated: 0,
        usd: Some(0.0),
    };

    /// Adds other totals; an unknown cost makes the total unknown.
    pub fn add(&mut self, other: &Self) {
        self.made += other.made;
        self.journal += other.journal;
        self.failed += other.failed;
        self.requests += other.requests;
        self.reasks += other.reasks;
        self.usage.add(&other.usage);
        self.estimated += other.estimated;
        self.usd = self.usd.zip(other.usd).map(|(a, b)| a + b);
    }
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::llm) enum Outcome {
    /// Answered in this process.
    Made,
    /// Answered from the journal.
    Journal,
    /// Without an answer.
    Failed,
}

/// Usage of one model by one ask.
#[derive(Debug, Clone, PartialEq)]
pub struct Account {
    /// Name of the model in the pipeline file.
    pub model: String,
    /// Name of the ask.
    pub ask: &'static str,
    /// Totals of all calls.
    pub totals: Totals,
    /// Totals of the calls answered from the journal.
    pub kept: Totals,
    /// Fraction of the prompt tokens that extend an earlier prompt of this ask to this model, 0 to 1; an unlimited
    /// prefix cache could serve them. Independent of the order of the prompts.
    pub shared: f64,
}

impl Account {
    /// Returns the number of prompt tokens that extend an earlier prompt.
    #[must_use]
    pub fn cacheable(&self) -> u64 {
        part(self.totals.usage.prompt, self.shared)
    }
}

/// Returns a fraction of a count, rounded.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "token counts stay far below 2^52"
)]
#[must_use]
pub fn part(count: u64, share: f64) -> u64 {
    (count as f64 * share).round() as u64
}

/// Name of the model and of the ask.
type AccountKey = (String, &'static str);

/// Counts calls and tokens by model and ask.
#[derive(Debug, Default)]
pub struct UsageTracker {
    entries: Mutex<BTreeMap<AccountKey, Entry>>,
    prefixes: Mutex<BTreeMap<AccountKey, Prefixes>>,
    faults: Mutex<BTreeMap<(String, CountedFault), (u64, u64)>>,
}

/// Usage of one model by one ask. The cost is computed from the token totals, because a sum of costs would depend on
/// the order of calls.
#[derive(Debug, Clone, Copy)]
struct Entry {
    all: Totals,
    kept: Totals,
    price: Option<Price>,
}

impl Entry {
    const NEW: Self = Self { all: Totals::FREE, kept: Totals::FREE, price: Some(Price::FREE) };

    fn add(&mut self, totals: &Totals, kept: bool) {
        self.all.add(totals);
        if kept {
            self.kept.add(totals);
        }
    }

    /// Returns totals with their cost.
    fn priced(&self, totals: &Totals) -> Totals {
        Totals { usd: self.price.map(|price| price.of(&totals.usage)), ..*totals }
    }

    /// Returns the usage paid for in this process.
    fn paid(&self) -> Weight {
        let (all, kept) = (&self.all.usage, &self.kept.usage);
        let usage = Usage {
            prompt: all.prompt - kept.prompt,
            cached: all.cached - kept.cached,
            completion: all.completion - kept.completion,
            ..Usage::default()
        };
        Weight::of(&usage, self.price.as_ref())
    }
}

impl UsageTracker {
    /// Adds the tokens of a request. An unknown price makes the total cost unknown.
    pub(in crate::llm) fn spend(&self, model: &str, ask: &'static str, price: Option<&Price>, spent: &Spent) {
        let usage = spent.usage;
        let totals = Totals {
            requests: u64::from(spent.requests),
            reasks: u64::from(spent.is_retry),
            usage,
            estimated: if usage.estimated { usage.prompt + usage.completion } else { 0 },
            ..Totals::FREE
        };
        self.enter(model, ask, |entry| {
            entry.add(&totals, spent.kept);
            entry.price = price.copied();
        });
    }

    /// Counts the end of a call.
    pub(in crate::llm) fn close(&self, model: &str, ask: &'static str, outcome: Outcome) {
        let one = |which| u64::from(outcome == which);
        let call = Totals {
            made: one(Outcome::Made),
            journal: one(Outcome::Journal),
            failed: one(Outcome::Failed),
            ..Totals::FREE
        };
        self.enter(model, ask, |entry| entry.add(&call, outcome == Outcome::Journal));
    }

    fn enter(&self, model: &str, ask: &'static str, change: impl FnOnce(&mut Entry)) {
        let mut entries = self.entries.lock().expect("no code panics while holding the lock");
        change(entries.entry((model.to_owned(), ask)).or_insert(Entry::NEW));
    }

    /// Records a prompt that was answered, by a server or from the journal.
    pub(in crate::llm) fn prompt(&self, model: &str, ask: &'static str, messages: &[Message]) {
        let prompt = Prompt::of(messages);
        let mut prefixes = self.prefixes.lock().expect("no code panics while holding the lock");
        prefixes.entry((model.to_owned(), ask)).or_default().add(&prompt);
    }

    /// Counts a failed request or unusable reply by kind; `kept` marks one read from the journal.
    pub(in crate::llm) fn fault(&self, model: &str, fault: CountedFault, kept: bool) {
        let mut faults = self.faults.lock().expect("no code panics while holding the lock");
        let (new, old) = faults.entry((model.to_owned(), fault)).or_default();
        *(if kept { old } else { new }) += 1;
    }

    /// Returns the counts of failed requests and unusable replies of this process by model and kind, sorted:
    /// `rate_limited`, `server_error`, `timed_out`, `broken`, `no_completion`, `request_refused`, `model_refused`,
    /// `content_filter`, `empty_reply`, `cut_reply`, `bad_reply`, `context_too_long` …
    #[must_use]
    pub fn faults(&self) -> Vec<(String, &'static str, u64)> {
        let faults = self.counted(|(new, _)| new).into_iter();
        faults.map(|(model, fault, count)| (model, fault.name(), count)).collect()
    }

    /// Returns the counts of unusable replies, those in the journal included, by model and reason, sorted. The journal
    /// contains no failed requests.
    #[must_use]
    pub fn unusable_replies(&self) -> Vec<(String, RejectReason, u64)> {
        let replies = self.counted(|(new, kept)| new + kept).into_iter();
        replies
            .filter_map(|(model, fault, count)| match fault {
                CountedFault::Reply(reason) => Some((model, reason, count)),
                CountedFault::Request(_) => None,
            })
            .collect()
    }

    fn counted(&self, count: impl Fn((u64, u64)) -> u64) -> Vec<(String, CountedFault, u64)> {
        let faults = self.faults.lock().expect("no code panics while holding the lock");
        let counted = faults.iter().map(|((model, fault), counts)| (model.clone(), *fault, count(*counts)));
        counted.filter(|(_, _, count)| *count > 0).collect()
    }

    /// Returns the totals over all models and asks.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let mut sum = Totals::FREE;
        let entries = self.entries.lock().expect("no code panics while holding the lock");
        entries.values().for_each(|entry| sum.add(&entry.priced(&entry.all)));
        sum
    }

    /// Returns the usage paid for in this process, without calls answered from the journal.
    pub(in crate::llm) fn paid(&self) -> Weight {
        let entries = self.entries.lock().expect("no code panics while holding the lock");
        entries.values().map(Entry::paid).fold(Weight::default(), Weight::plus)
    }

    /// Returns the usage by model and ask, sorted.
    #[must_use]
    pub fn accounts(&self) -> Vec<Account> {
        let entries = self.entries.lock().expect("no code panics while holding the lock");
        let prefixes = self.prefixes.lock().expect("no code panics while holding the lock");
        let account = |(key, entry): (&AccountKey, &Entry)| Account {
            model: key.0.clone(),
            ask: key.1,
            totals: entry.priced(&entry.all),
            kept: entry.priced(&entry.kept),
            shared: prefixes.get(key).map_or(0.0, Prefixes::share),
        };
        entries.iter().map(account).collect()
    }
}

/// Usage of one record, or of a failed call.
#[derive(Debug, Clone, Copy)]
pub(in crate::llm) struct Spent {
    /// Number of HTTP requests.
    pub(in crate::llm) requests: u32,
    /// Tokens.
    pub(in crate::llm) usage: Usage,
    /// Whether it is a retry after an unusable reply.
    pub(in crate::llm) is_retry: bool,
    /// Whether it was read from the journal.
    pub(in crate::llm) kept: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(usage: Usage) -> Spent {
        Spent { requests: 1, usage, is_retry: false, kept: false }
    }

    #[test]
    fn an_unknown_price_makes_the_sum_unknown() {
        let usage_tracker = UsageTracker::default();
        usage_tracker.spend("a", "x", Some(&Price::FREE), &spent(Usage::default()));
        usage_tracker.close("a", "x", Outcome::Made);
        assert_eq!(usage_tracker.totals().usd, Some(0.0));
        usage_tracker.spend("b", "x", None, &spent(Usage::default()));
        usage_tracker.close("b", "x", Outcome::Failed);
        assert_eq!(usage_tracker.totals().usd, None);
        assert_eq!(
            (usage_tracker.totals().made, usage_tracker.totals().failed, usage_tracker.totals().requests),
            (1, 1, 2)
        );
    }

    #[test]
    fn cost_does_not_depend_on_the_order_of_calls() {
        let price = Price { input: 0.4, cached_input: Some(0.1), output: 1.6 };
        let usages: Vec<Usage> = (0..50)
            .map(|n| Usage { prompt: 1000 + 37 * n, cached: 16 * n, completion: 7 + n * n, ..Usage::default() })
            .collect();
        let cost = |usages: &mut dyn Iterator<Item = &Usage>| {
            let usage_tracker = UsageTracker::default();
            usages.for_each(|usage| usage_tracker.spend("a", "x", Some(&price), &spent(*usage)));
            (usage_tracker.totals().usd, usage_tracker.accounts()[0].totals.usd)
        };
        assert_eq!(cost(&mut usages.iter()), cost(&mut usages.iter().rev()));
    }

    #[test]
    fn journaled_estimated_and_repeated_calls_are_counted_separately() {
        let usage_tracker = UsageTracker::default();
        let estimated = Usage { prompt: 10, completion: 5, estimated: true, ..Usage::default() };
        usage_tracker.spend("a", "x", None, &Spent { kept: true, ..spent(estimated) });
        usage_tracker.close("a", "x", Outcome::Journal);
        let counted = Usage { prompt: 20, completion: 9, reasoning: 4, ..Usage::default() };
        usage_tracker.spend("a", "x", None, &Spent { is_retry: true, ..spent(counted) });
        usage_tracker.fault("a", CountedFault::Reply(RejectReason::BadReply), true);
        usage_tracker.fault("a", CountedFault::Reply(RejectReason::BadReply), false);
        usage_tracker.fault("a", CountedFault::Reply(RejectReason::BadReply), false);
        let Account { totals, kept, .. } = &usage_tracker.accounts()[0];
        assert_eq!((totals.usage.prompt, totals.usage.reasoning, totals.estimated, totals.reasks), (30, 4, 15, 1));
        assert_eq!((kept.usage.prompt, kept.journal, kept.reasks), (10, 1, 0));
        assert_eq!(usage_tracker.faults(), [("a".to_owned(), "bad_reply", 2)]);
        assert_eq!(usage_tracker.unusable_replies(), [("a".to_owned(), RejectReason::BadReply, 3)]);
    }
}
