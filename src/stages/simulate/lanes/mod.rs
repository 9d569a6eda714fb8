//! Plays a lane (test character × source model) in batches of conversations until every dimension count reaches τ; also
//! several lanes that share counts.

mod admission;
mod dwrs;
mod extra_judges;
pub(crate) mod filter;
mod lane_schedule;
mod sample;
pub(crate) mod scenes;
mod verdict_counts;

pub use admission::Places;
pub use dwrs::Counts;
pub use extra_judges::is_further_verdict;
pub use lane_schedule::lanes_name;
pub use scenes::{DrawnBooks, Scenes, drawn, meets_own_book};

use std::sync::Arc;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;

use self::extra_judges::verdicts;
use self::filter::rate;
use self::lane_schedule::{Next, Turns};
use self::sample::samples;
use self::verdict_counts::Tally;
use super::conversation::play;
use super::conversation::prompt_context::Setting;
use super::{Count, Params};
use crate::llm::{AskError, Model};
use crate::schema::{Character, Conversation, ConversationId, Dimension, Reject, Sample, TurnKind};
use crate::seed::seeded;
use crate::stages::select;

/// Models, settings and limits that all lanes of a run share.
#[derive(Debug, Clone, Copy)]
pub struct Stage<'a> {
    /// The model that chooses the next speaker.
    pub director: &'a Model,
    /// The model that plays the scene characters.
    pub scene: &'a Model,
    /// The base model, which every source model is compared with.
    pub base: &'a Model,
    /// The judge: compares replies and rates conversations.
    pub judge: &'a Model,
    /// Extra judges. They see the same replies; their verdicts are recorded and affect nothing else.
    pub judges: &'a [Arc<Model>],
    /// The table `[simulate]`.
    pub params: &'a Params,
    /// The table `[select]`.
    pub select: &'a select::Params,
    /// The dimensions, at least one.
    pub dimensions: &'a [Dimension],
    /// The run's seed.
    pub seed: u64,
    /// Maximum number of conversations per lane in this run (`--limit`). They are the first ones of a full run.
    pub limit: Option<u32>,
    /// Limits the number of conversations in memory at once, over all lanes.
    pub places: &'a Places,
}

impl Stage<'_> {
    /// Finds a dimension by its code.
    pub(super) fn dimension(&self, code: &str) -> Option<&Dimension> {
        self.dimensions.iter().find(|dimension| dimension.code == code)
    }
}

/// Factor on the mean number of counts per conversation so far, used as the estimate for the next batch.
///
/// Below 1 because a batch that is one count short costs an additional batch of a single conversation, while one
/// conversation too many still yields samples.
const CAUTION: f64 = 0.8;

/// Progress of a lane, or of lanes that share counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Finished conversations, including dropped ones.
    pub conversations: u32,
    /// Counts reached, at most τ per dimension. Updated between batches.
    pub counted: u32,
    /// Counts required: τ × number of dimensions.
    pub wanted: u32,
    /// Whether the lane has ended.
    pub has_ended: bool,
}

/// The result of one conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Played {
    /// The conversation, kept or not. None if it failed before its end.
    pub conversation: Option<Conversation>,
    /// Its samples; empty unless the conversation is kept.
    pub samples: Vec<Sample>,
    /// Rejects for the conversation or for turns of it.
    pub rejects: Vec<Reject>,
}

/// The final state of lanes that share counts (usually a single lane).
#[derive(Debug, Clone, PartialEq)]
pub struct LaneEnd {
    /// The final counts.
    pub counts: Counts,
    /// Codes of dimensions whose count is below τ.
    pub short: Vec<String>,
    /// Codes of dimensions that reached τ without yielding a sample.
    pub barren: Vec<String>,
    /// Rejects for lanes that ended below τ, yielded no sample of a dimension, or never played.
    pub rejects: Vec<Reject>,
}

/// Plays the lanes of one character and these source models, which share counts, in batches until every dimension count
/// reaches τ or the conversations or scenes are used up.
///
/// Several sources take turns, conversation by conversation, each with its own order of scenes; which one starts
/// depends on the character and the seed.
///
/// The conversations of a batch run concurrently. Their targets are planned beforehand on a copy of the counts, and the
/// counts are updated afterwards, so timing cannot change the result. Each conversation is passed to `keep` when it
/// finishes, in any order, and is not retained here. A failed conversation is dropped with a reject; its unused targets
/// are discarded with the copy.
///
/// # Errors
///
/// Only errors that end the run, and only after every conversation of the batch has finished, so that answers in flight
/// are journaled.
pub async fn play_lanes<S: Scenes>(
    stage: &Stage<'_>,
    character: &Character,
    sources: &[&Model],
    scenes: &S,
    keep: &(dyn Fn(Played) -> Result<(), S::Error> + Sync),
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<LaneEnd, S::Error> {
    let Params { tau, emphasis, max_turns, .. } = *stage.params;
    let mut turns = Turns::new(stage, character, sources, scenes);
    let mut counts = Counts::new(stage.dimensions);
    let mut tally = Tally::default();
    let mut ended = 0;
    progress(report(stage.params, &counts, ended));
    // If something other than targets is counted, targets are balanced separately among the dimensions below τ.
    // Otherwise a dimension that is targeted but never counted would take every further target.
    let mut aimed = Counts::new(stage.dimensions);
    for wave in 0.. {
        if counts.met(tau) || turns.are_over() {
            break;
        }
        let wanted = conversations_wanted(stage.params, &counts, ended);
        let mut places = stage.places.take(wanted, counts.missing(tau)).await;
        // A scene is in memory for the duration of its batch.
        let chosen = turns.next(wanted)?;
        let mut ahead = match stage.params.count {
            Count::Targeted => counts.clone(),
            Count::Judged | Count::Accepted => aimed.of_unmet(&counts, tau),
        };
        let rngs = chosen.iter().map(|next| seeded(stage.seed, &["simulate", "targets", &next.id])).collect();
        let plans = ahead.plan(max_turns.div_ceil(2), emphasis, rngs);
        let settings: Vec<(Setting<'_>, &Next<'_>, _)> = chosen
            .iter()
            .zip(plans)
            .filter(|(next, _)| !next.is_beyond)
            .filter_map(|(next, plan)| Some((Setting::new(&next.scene, character, stage.params)?, next, plan)))
            .collect();
        let mut running: FuturesUnordered<_> = settings
            .iter()
            .enumerate()
            .map(|(place, (setting, next, plan))| {
                let taken = places.one();
                async move {
                    let played = one(stage, setting, next.source, next.id.clone(), wave, plan).await;
                    drop(taken);
                    (place, played)
                }
            })
            .collect();
        drop(places);
        let (mut counted, mut tried) = (counts.clone(), aimed.clone());
        // Of several errors, return that of the first conversation in order, so that the result does not depend on
        // timing.
        let mut fault: Option<(usize, S::Error)> = None;
        while let Some((place, played)) = running.next().await {
            let kept = played.map_err(S::Error::from).and_then(|played| {
                played.count(stage.params.count, &mut counted);
                played.count(Count::Targeted, &mut tried);
                tally.add(&played);
                keep(played)
            });
            if let Err(error) = kept
                && fault.as_ref().is_none_or(|(first, _)| place < *first)
            {
                fault = Some((place, error));
            }
            ended += 1;
            progress(report(stage.params, &counts, ended));
        }
        if let Some((_, error)) = fault {
            return Err(error);
        }
        (counts, aimed) = (counted, tried);
        progress(report(stage.params, &counts, ended));
    }
    progress(Progress { has_ended: true, ..report(stage.params, &counts, ended) });
    let short = counts.iter().filter(|(_, count)| *count < tau).map(|(code, _)| code.to_owned()).collect();
    let mut rejects = Vec::new();
    rejects.extend(turns.short(stage, &counts, ended));
    let barren = tally.barren(stage, &counts);
    rejects.extend(tally.reject(&turns.name, &barren));
    if ended > 0 {
        rejects.extend(turns.idle());
    }
    Ok(LaneEnd { counts, short, barren, rejects })
}

impl Played {
    /// Adds this conversation to the counts. The order of conversations does not matter.
    fn count(&self, count: Count, counts: &mut Counts) {
        let turns = self.conversation.iter().flat_map(|conversation| &conversation.turns);
        let test_turns = turns.filter(|turn| turn.kind == TurnKind::Test);
        let codes: Vec<&String> = match count {
            Count::Targeted => test_turns.filter_map(|turn| turn.target.as_ref()).collect(),
            Count::Judged => test_turns.filter_map(|turn| turn.dimension.as_ref()).collect(),
            Count::Accepted => self.samples.iter().map(|sample| &sample.dimension).collect(),
        };
        for code in codes {
            counts.add(code);
        }
    }
}

/// Plays, rates and samples one conversation. An error that does not end the run drops the conversation with a reject.
async fn one(
    stage: &Stage<'_>,
    setting: &Setting<'_>,
    source: &Model,
    id: ConversationId,
    wave: u32,
    plan: &[Option<String>],
) -> Result<Played, AskError> {
    let mut rejects = Vec::new();
    let mut conversation = match play(stage, setting, source, id.clone(), wave, plan, &mut rejects).await {
        Ok(conversation) => conversation,
        Err(error) if error.ends_the_run() => return Err(error),
        Err(error) => {
            rejects.push(Reject::new(crate::schema::Stage::Simulate, id, error.reason(), error.detail()));
            return Ok(Played { conversation: None, samples: Vec::new(), rejects });
        }
    };
    rejects.extend(rate(stage, setting, &mut conversation).await?);
    rejects.extend(verdicts(stage, setting, &mut conversation).await?);
    let (samples, faulty) = samples(stage, setting, &conversation)?;
    rejects.extend(faulty);
    Ok(Played { conversation: Some(conversation), samples, rejects })
}

/// Returns the size of the next batch: at most `wave`, and no more than the missing counts require. Depends only on the
/// counts and on the number of finished conversations.
///
/// The yield of one conversation is estimated from the lane's finished conversations. For the first batch it is the
/// minimum number of targeted test turns to expect from `max_turns`, `test_every` and `emphasis`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is never negative, and float-to-int casts saturate"
)]
fn conversations_wanted(params: &Params, counts: &Counts, ended: u32) -> u32 {
    let each = match ended {
        0 => (f64::from(params.max_turns / params.test_every.max(1)) * params.emphasis).max(1.0),
        _ => f64::from(counts.total()) / f64::from(ended) * CAUTION,
    };
    // If nothing has been counted yet, this is infinite; the clamp below limits it.
    let wanted = f64::from(counts.missing(params.tau)) / each;
    (wanted.ceil() as u32).clamp(1, params.wave.max(1))
}

fn report(params: &Params, counts: &Counts, conversations: u32) -> Progress {
    let wanted = params.tau * u32::try_from(counts.iter().count()).expect("the number of dimensions fits in u32");
    Progress { conversations, counted: wanted - counts.missing(params.tau), wanted, has_ended: false }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use super::*;
    use crate::schema::{SampleId};
    use crate::llm::{Ask as _, Record};
    use crate::schema::RejectReason;
    use crate::schema::{Candidate, EndedBy, Language, Quality, Scene};
    use crate::stages::simulate::asks::{Called, TestReply};
    use crate::stages::simulate::conversation::{BY_LOT, line};
    use crate::stages::simulate::fixtures::{House, MemoryJournal, Shelf, character, pool, prompts, scene};

    fn params() -> Params {
        Params { tau: 4, wave: 3, min_turns: 6, max_turns: 12, test_every: 3, ..Params::default() }
    }

    /// Everything that a lane produces, in conversation order.
    #[derive(Debug, Clone, PartialEq)]
    struct LanePlayed {
        conversations: Vec<Conversation>,
        samples: Vec<Sample>,
        rejects: Vec<Reject>,
        counts: Counts,
    }

    async fn played(
        house: &House,
        stage: &Stage<'_>,
        language: Language,
        scenes: &[Arc<Scene>],
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<LanePlayed, AskError> {
        let kept = Mutex::new(Vec::new());
        let keep = |played| {
            kept.lock().unwrap().push(played);
            Ok(())
        };
        let shelf = Shelf::new(scenes);
        let end = play_lanes(stage, &character(language), &[&house.source], &shelf, &keep, progress).await?;
        let (mut conversations, mut samples, mut rejects) = (Vec::new(), Vec::new(), Vec::new());
        for played in kept.into_inner().unwrap() {
            conversations.extend(played.conversation);
            samples.extend(played.samples);
            rejects.extend(played.rejects);
        }
        let number = |id: &str| -> u32 { id.split(['/', '#']).nth(2).unwrap().parse().unwrap() };
        conversations.sort_by_key(|conversation| number(&conversation.id));
        samples.sort_by_key(|sample: &Sample| (number(&sample.conversation_id), sample.turn));
        rejects.sort_by_key(|reject: &Reject| number(&reject.id));
        rejects.extend(end.rejects);
        Ok(LanePlayed { conversations, samples, rejects, counts: end.counts })
    }

    async fn lane(house: &House, stage: &Stage<'_>, language: Language, scenes: &[Arc<Scene>]) -> LanePlayed {
        played(house, stage, language, scenes, &|_| {}).await.expect("the lane finishes")
    }

    fn house() -> House {
        House::new(Arc::default(), false)
    }

    fn by_code(counts: &Counts) -> BTreeMap<String, u32> {
        counts.iter().map(|(code, count)| (code.to_owned(), count)).collect()
    }

    #[test]
    fn a_lane_can_run_on_any_thread() {
        fn is_send<T: Send>(value: T) -> T {
            value
        }
        let (house, params, tess) = (house(), params(), character(Language::En));
        let stage = house.stage(&params);
        let shelf = Shelf::new(&[]);
        let sources = [&house.source];
        drop(is_send(play_lanes(&stage, &tess, &sources, &shelf, &|_| Ok(()), &|_| {})));
    }

    #[tokio::test]
    async fn a_lane_reaches_tau_and_says_so() {
        for language in Language::ALL {
            let (house, params) = (house(), params());
            let stage = house.stage(&params);
            let reports = Mutex::new(Vec::new());
            let report = |progress: Progress| reports.lock().unwrap().push(progress);
            let played =
                played(&house, &stage, language, &pool(language, 40), &report).await.expect("the lane finishes");
            assert!(played.counts.met(4), "{:?}", played.counts);
            let fell_short = |reject: &Reject| reject.id == "tess/source" && reject.reason != RejectReason::NoSample;
            assert!(!played.rejects.iter().any(fell_short), "{:?}", played.rejects);
            let reports = reports.into_inner().unwrap();
            let last = reports.last().expect("at least one report");
            assert_eq!((last.counted, last.wanted), (20, 20));
            assert_eq!(last.conversations as usize, played.conversations.len());
            assert!(reports.windows(2).all(|pair| pair[0].counted <= pair[1].counted));
        }
    }

    /// Planned but unused targets are not counted: counts equal the targets of the test turns that took place.
    #[tokio::test]
    async fn counts_are_what_was_played() {
        for (count, language) in
            [(Count::Targeted, Language::En), (Count::Judged, Language::Zh), (Count::Accepted, Language::En)]
        {
            let (house, params) = (house(), Params { count, ..params() });
            let played = lane(&house, &house.stage(&params), language, &pool(language, 60)).await;
            let mut expected: BTreeMap<String, u32> =
                house.dimensions.iter().map(|dimension| (dimension.code.clone(), 0)).collect();
            let turns = played.conversations.iter().flat_map(|conversation| &conversation.turns);
            let codes: Vec<String> = match count {
                Count::Targeted => {
                    turns.filter(|turn| turn.kind == TurnKind::Test).filter_map(|turn| turn.target.clone()).collect()
                }
                Count::Judged => turns.filter_map(|turn| turn.dimension.clone()).collect(),
                Count::Accepted => played.samples.iter().map(|sample| sample.dimension.clone()).collect(),
            };
            for code in codes {
                *expected.get_mut(&code).expect("targets are codes of the dimension table") += 1;
            }
            assert_eq!(by_code(&played.counts), expected, "{count:?}");
        }
    }

    #[tokio::test]
    async fn targets_stay_balanced_at_any_wave() {
        for wave in [1, 4, 9] {
            let (house, params) = (house(), Params { wave, tau: 10, ..params() });
            let played = lane(&house, &house.stage(&params), Language::En, &pool(Language::En, 60)).await;
            let counts: Vec<u32> = played.counts.iter().map(|(_, count)| count).collect();
            let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            // Counts differ by at most one, plus what follows from conversations of a batch having different lengths.
            let most_apart = if wave == 1 { 1 } else { 3 };
            assert!(most - least <= most_apart, "wave {wave}: {counts:?}");
        }
    }

    /// Sources that share counts take turns; unused sources are reported as rejects.
    #[tokio::test]
    async fn sources_that_share_counts_take_turns() {
        let (house, params) = (house(), Params { tau: 3, wave: 3, ..params() });
        let sources = [&house.source, &house.base, &house.scene, &house.judge, &house.director];
        for language in Language::ALL {
            let mut first = BTreeMap::new();
            for name in ["tess", "ann", "wen", "lu"] {
                let character = Character { id: name.into(), ..character(language) };
                let kept = Mutex::new(Vec::new());
                let keep = |played: Played| {
                    kept.lock().unwrap().extend(played.conversation.map(|talk| (talk.source_model, talk.id)));
                    Ok::<(), AskError>(())
                };
                let shelf = Shelf::new(&pool(language, 40));
                let stage = house.stage(&params);
                let end =
                    play_lanes(&stage, &character, &sources, &shelf, &keep, &|_| {}).await.expect("the lanes finish");
                assert!(end.counts.met(3) && end.short.is_empty(), "{end:?}");
                let kept = kept.into_inner().unwrap();
                let mut counts: BTreeMap<&str, usize> = sources.iter().map(|source| (source.name(), 0)).collect();
                for (source, id) in &kept {
                    assert!(id.starts_with(&format!("{name}/{source}/")), "{id}");
                    *counts.get_mut(source.as_str()).unwrap() += 1;
                }
                let (least, most) = (counts.values().min().unwrap(), counts.values().max().unwrap());
                assert!(most - least <= 1, "{counts:?}");
                // The conversations of each source are numbered from 0, regardless of the other sources.
                let ids: Vec<&str> = kept.iter().map(|(_, id)| id.as_str()).collect();
                assert!(
                    sources
                        .iter()
                        .filter(|source| counts[source.name()] > 0)
                        .all(|source| { ids.contains(&format!("{name}/{}/0", source.name()).as_str()) })
                );
                let idle: Vec<&str> = end
                    .rejects
                    .iter()
                    .filter(|one| one.reason == RejectReason::NothingLeft)
                    .map(|one| one.id.as_str())
                    .collect();
                let expected: Vec<String> = sources
                    .iter()
                    .filter(|source| counts[source.name()] == 0)
                    .map(|source| format!("{name}/{}", source.name()))
                    .collect();
                assert_eq!(idle, expected);
                if !idle.is_empty() {
                    first.insert(idle.join(" ").replace(name, ""), name);
                }
            }
            assert_ne!(first.len(), 1, "the first source varies with the character: {first:?}");
        }
    }

    #[tokio::test]
    async fn turns_keep_the_rules() {
        let (house, params) = (house(), params());
        let played = lane(&house, &house.stage(&params), Language::En, &pool(Language::En, 40)).await;
        for conversation in &played.conversations {
            let length = u32::try_from(conversation.turns.len()).unwrap();
            assert!((params.min_turns..=params.max_turns).contains(&length));
            assert_eq!(conversation.ended_by == EndedBy::MaxTurns, length == params.max_turns);
            let mut target = &conversation.turns[0].target;
            for (turn, next) in conversation.turns.iter().zip(conversation.turns.iter().skip(1)) {
                assert_eq!(&turn.target, target, "a target stays the same until the next test turn");
                if turn.kind == TurnKind::Test {
                    target = &next.target;
                }
            }
            for turn in conversation.turns.iter().filter(|turn| turn.kind == TurnKind::Test) {
                let kept = if turn.score.unwrap() <= 3 { &turn.source_reply } else { &turn.base_reply };
                assert_eq!(kept.as_ref(), Some(&turn.content));
                assert_eq!(turn.kept_reply == Some(Candidate::Source), turn.score.unwrap() <= 3);
            }
        }
        let targets: Vec<_> =
            played.conversations.iter().flat_map(|conversation| &conversation.turns).map(|turn| &turn.target).collect();
        assert!(targets.iter().any(|target| target.is_some()) && targets.iter().any(|target| target.is_none()));
    }

    #[tokio::test]
    async fn samples_are_what_a_model_under_test_is_sent() {
        for language in Language::ALL {
            let (house, params) = (house(), params());
            let played = lane(&house, &house.stage(&params), language, &pool(language, 40)).await;
            let conversations: BTreeMap<_, _> =
                played.conversations.iter().map(|conversation| (&conversation.id, conversation)).collect();
            let better = played
                .conversations
                .iter()
                .filter(|conversation| conversation.kept)
                .flat_map(|conversation| &conversation.turns)
                .filter(|turn| turn.score.is_some_and(|score| score <= 2));
            let faulty = played.rejects.iter().filter(|reject| reject.id.contains('#'));
            assert_eq!(better.count(), played.samples.len() + faulty.count());
            for sample in &played.samples {
                let conversation = conversations[&sample.conversation_id];
                let turn = &conversation.turns[sample.turn as usize];
                assert_eq!(sample.id, SampleId::new(&conversation.id, turn.index));
                assert_eq!(conversation.quality, Some(Quality::High));
                assert_eq!((Some(&sample.dimension), &sample.target), (turn.dimension.as_ref(), &turn.target));
                assert_eq!((Some(sample.score), Some(&sample.reference)), (turn.score, turn.source_reply.as_ref()));
                let history: Vec<_> = conversation.turns[..sample.turn as usize].iter().map(line).collect();
                assert_eq!(sample.history, history);
                let dimension = house.dimensions.iter().find(|dimension| dimension.code == sample.dimension).unwrap();
                assert_eq!(&sample.strategy, dimension.strategy.get(language));
                assert_eq!(&sample.criteria, dimension.definition.get(language));
                let ask = TestReply {
                    language,
                    worldview: sample.worldview.clone(),
                    situation: sample.situation.clone(),
                    name: sample.test_character.clone(),
                    profile: sample.profile.clone(),
                    lines: vec!["Tess-line".to_owned()],
                    others: sample.scene_characters.clone(),
                    history,
                    dimension: Some(sample.dimension.clone()),
                    strategy: Some(sample.strategy.clone()),
                    max_sentences: params.max_sentences,
                    called: Called::default(),
                };
                assert_eq!(sample.messages, ask.messages(&prompts()).expect("renders"));
                assert!(sample.messages.last().unwrap().content.contains(&sample.strategy));
            }
        }
    }

    /// Runs give equal results if calls finish in a different order and the pool is in a different order.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn order_of_events_changes_nothing() {
        for language in Language::ALL {
            let params = Params { tau: 8, ..params() };
            let mut played = Vec::new();
            for unrest in [0, 1, 5] {
                let house = House::new(Arc::new(MemoryJournal { unrest, ..MemoryJournal::default() }), false);
                let mut scenes = pool(language, 30);
                scenes.rotate_left(unrest * 5);
                if unrest == 5 {
                    scenes.reverse();
                }
                let lane = lane(&house, &house.stage(&params), language, &scenes).await;
                played.push((lane, house.journal.by_draw().into_iter().map(timeless).collect::<Vec<_>>()));
            }
            assert!(played[0].0.conversations.len() > 3, "more than one batch");
            assert_eq!(played[0], played[1]);
            assert_eq!(played[0], played[2]);
        }
    }

    #[tokio::test]
    async fn how_many_play_at_once_changes_nothing() {
        let (house, params) = (house(), params());
        let scenes = pool(Language::Zh, 30);
        let all = lane(&house, &house.stage(&params), Language::Zh, &scenes).await;
        assert!(all.conversations.len() > params.wave as usize);
        for most in [0, 1, 2, 50] {
            let places = Places::new(most);
            let stage = Stage { places: &places, ..house.stage(&params) };
            assert_eq!(lane(&house, &stage, Language::Zh, &scenes).await, all, "{most}");
            assert_eq!(places.free(), most.max(1), "all permits are returned");
        }
    }

    fn timeless(record: Record) -> Record {
        Record { latency_ms: 0, ..record }
    }

    #[tokio::test]
    async fn every_draw_is_asked_once() {
        let (house, params) = (house(), params());
        lane(&house, &house.stage(&params), Language::En, &pool(Language::En, 30)).await;
        let draws: Vec<String> = house.journal.by_draw().into_iter().map(|record| record.draw).collect();
        assert!(draws.windows(2).all(|pair| pair[0] != pair[1]), "draws are unique per call");
        for draw in ["tess/source/0/rate", "tess/source/0/0/director"] {
            assert!(draws.iter().any(|known| known == draw), "{draw}");
        }
        for part in ["scene", "source", "base", "judge"] {
            assert!(draws.iter().any(|draw| draw.starts_with("tess/source/0/") && draw.ends_with(part)), "{part}");
        }
    }

    #[tokio::test]
    async fn a_limited_lane_is_the_beginning_of_a_full_one() {
        let (house, params) = (house(), Params { tau: 20, ..params() });
        let scenes = pool(Language::En, 30);
        let full = lane(&house, &house.stage(&params), Language::En, &scenes).await;
        for limit in [1, 2, 4] {
            let stage = Stage { limit: Some(limit), ..house.stage(&params) };
            let limited = lane(&house, &stage, Language::En, &scenes).await;
            assert_eq!(limited.conversations, full.conversations[..limit as usize]);
            let last = limited.rejects.last().expect("the lane ended below τ");
            assert_eq!((last.id.as_str(), last.reason.name()), ("tess/source", "conversations_exhausted"));
            assert!(last.detail.contains(" of 20"), "{}", last.detail);
        }
    }

    #[tokio::test]
    async fn a_lane_uses_scenes_that_fit_and_each_once() {
        let (house, params) = (house(), Params { tau: 1000, ..params() });
        let mut scenes = pool(Language::En, 3);
        scenes.push(Arc::new(scene(Language::Zh, "zh@0", &["Ann"])));
        scenes.push(Arc::new(scene(Language::En, "home@0", &["Ann"])));
        scenes.push(Arc::new(scene(Language::En, "alone@0", &["Tess"])));
        let played = lane(&house, &house.stage(&params), Language::En, &scenes).await;
        let mut used: Vec<&str> =
            played.conversations.iter().map(|conversation| conversation.scene_id.as_str()).collect();
        used.sort_unstable();
        assert_eq!(used, ["book@0", "book@1", "book@2"]);
        assert_eq!(played.rejects.last().map(|reject| reject.reason.name()), Some("scenes_exhausted"));
        let own = Params { own_book: Some(true), ..params };
        let played = lane(&house, &house.stage(&own), Language::En, &scenes).await;
        assert!(played.conversations.iter().any(|conversation| conversation.scene_id == "home@0"));
        let played = lane(&house, &house.stage(&own), Language::Zh, &scenes[..3]).await;
        assert_eq!(played.rejects.len(), 1);
        let reject = &played.rejects[0];
        assert_eq!((reject.id.as_str(), reject.reason.name()), ("tess/source", "no_scene"));
        for dimension in &house.dimensions {
            assert!(reject.detail.contains(&format!("{} has 0 of 1000", dimension.code)), "{}", reject.detail);
        }
    }

    #[tokio::test]
    async fn a_failed_item_drops_its_conversation_alone() {
        let (house, params) = (house(), params());
        let scenes = pool(Language::En, 30);
        let before = lane(&house, &house.stage(&params), Language::En, &scenes).await;
        let turn = before.conversations[1].turns.iter().find(|turn| turn.kind == TurnKind::Test).unwrap().index;
        house.journal.change(&format!("tess/source/1/{turn}/base"), |record| {
            record.reply.finish = Some("content_filter".to_owned());
        });
        let after = lane(&house, &house.stage(&params), Language::En, &scenes).await;
        assert_eq!(after.conversations[0], before.conversations[0]);
        assert_eq!(after.conversations[1], before.conversations[2], "the rest of the batch is played");
        let rejects: Vec<_> =
            after.rejects.iter().filter(|reject| reject.reason == RejectReason::ContentFilter).collect();
        assert_eq!(rejects.iter().map(|reject| reject.id.as_str()).collect::<Vec<_>>(), ["tess/source/1"]);
        assert!(after.counts.met(4), "other conversations provide the missing counts");
    }

    #[tokio::test]
    async fn a_lot_stays_in_the_record_though_its_conversation_fails() {
        let (house, params) = (house(), params());
        let (stage, scenes) = (house.stage(&params), pool(Language::En, 30));
        let play = || lane(&house, &stage, Language::En, &scenes);
        play().await;
        house.journal.change("tess/source/1/0/director", |record| record.reply.text = "whoever".to_owned());
        // The later calls are repeated with the changed history; then every base reply is blocked.
        play().await;
        for record in house.journal.records.lock().unwrap().values_mut() {
            if record.draw.starts_with("tess/source/1/") && record.draw.ends_with("/base") {
                record.reply.finish = Some("content_filter".to_owned());
            }
        }
        let played = play().await;
        let of_it = |id: &str| id == "tess/source/1" || id.starts_with("tess/source/1/");
        let rejects = played.rejects.iter().filter(|reject| of_it(&reject.id));
        let rejects: Vec<(&str, &str)> = rejects.map(|reject| (reject.id.as_str(), reject.reason.name())).collect();
        assert_eq!(rejects, [("tess/source/1/0/director", BY_LOT), ("tess/source/1", "content_filter")]);
    }

    #[tokio::test]
    async fn a_failed_rating_keeps_the_record_but_not_the_samples() {
        let (house, params) = (house(), params());
        let scenes = pool(Language::En, 30);
        lane(&house, &house.stage(&params), Language::En, &scenes).await;
        house.journal.change("tess/source/0/rate", |record| record.reply.text = "no idea".to_owned());
        set(&house.journal, "tess/source/1/rate", "quality", "moderate");
        set(&house.journal, "tess/source/2/rate", "quality", "high");
        let played = lane(&house, &house.stage(&params), Language::En, &scenes).await;
        let reasons: BTreeMap<&str, &str> =
            played.rejects.iter().map(|reject| (reject.id.as_str(), reject.reason.name())).collect();
        assert_eq!(reasons["tess/source/0"], "bad_reply");
        assert_eq!(reasons["tess/source/1"], "quality:moderate");
        assert!(!reasons.contains_key("tess/source/2"));
        let verdicts: Vec<_> =
            played.conversations.iter().take(3).map(|conversation| (conversation.quality, conversation.kept)).collect();
        assert_eq!(verdicts, [(None, false), (Some(Quality::Moderate), false), (Some(Quality::High), true)]);
        let dropped = ["tess/source/0", "tess/source/1"];
        assert!(played.samples.iter().all(|sample| !dropped.contains(&sample.conversation_id.as_str())));
    }

    /// Sets a key of the answer in all records of a draw.
    fn set(journal: &MemoryJournal, draw: &str, key: &str, value: impl Into<serde_json::Value>) {
        let value = value.into();
        for record in journal.records.lock().unwrap().values_mut().filter(|record| record.draw == draw) {
            let mut answer: serde_json::Value = serde_json::from_str(&record.reply.text).unwrap();
            answer[key] = value.clone();
            record.reply.text = answer.to_string();
        }
    }

    #[tokio::test]
    async fn a_faulty_form_keeps_a_turn_or_a_conversation_out() {
        const ID: &str = "tess/source/0";
        let params = Params { tau: 1000, max_conversations: 1, ..params() };
        let scenes = pool(Language::En, 3);
        let mut tried = [0, 0];
        for (reply, whole, reason) in [
            ("I was just about to", false, "format:cut_ending"),
            ("As a language model I cannot.", true, "format:reveals_ai"),
        ] {
            for score in [1, 5] {
                let house = house();
                let stage = house.stage(&params);
                let play = || lane(&house, &stage, Language::En, &scenes);
                let before = play().await;
                let mut turns = before.conversations[0].turns.iter();
                let turn =
                    turns.rfind(|turn| turn.kind == TurnKind::Test).expect("every conversation has a test turn").index;
                house.journal.change(&format!("{ID}/{turn}/source"), |record| record.reply.text = reply.to_owned());
                // The later calls are repeated with the changed history; their answers are set in turn.
                play().await;
                set(&house.journal, &format!("{ID}/{turn}/judge"), "score", score);
                play().await;
                set(&house.journal, &format!("{ID}/rate"), "quality", "high");
                let played = play().await;
                let conversation = &played.conversations[0];
                let turn = &conversation.turns[turn as usize];
                assert_eq!(turn.source_reply.as_deref(), Some(reply));
                let id = if whole { ID.to_owned() } else { format!("{ID}#{}", turn.index) };
                let reject = played.rejects.iter().find(|reject| reject.id == id);
                if turn.kept_reply == Some(Candidate::Source) {
                    assert_eq!(reject.map(|reject| reject.reason.name()), Some(reason));
                    assert_eq!(conversation.kept, !whole);
                    tried[0] += 1;
                } else {
                    assert_eq!(reject, None);
                    assert!(conversation.kept);
                    tried[1] += 1;
                }
                assert!(played.samples.iter().all(|sample| sample.reference != reply));
            }
        }
        assert_eq!(tried, [2, 2], "one score keeps the source reply, the other the base reply");
    }

    #[tokio::test]
    async fn an_error_that_ends_the_run_ends_the_lane() {
        let (house, params) = (house(), params());
        let scenes = pool(Language::En, 30);
        let full = lane(&house, &house.stage(&params), Language::En, &scenes).await;
        let records = house.journal.records.lock().unwrap().clone();
        let replay = House::new(Arc::new(MemoryJournal { records: Mutex::new(records), unrest: 0 }), true);
        assert_eq!(lane(&replay, &replay.stage(&params), Language::En, &scenes).await, full);
        replay.journal.records.lock().unwrap().retain(|_, record| record.draw != "tess/source/1/rate");
        let stage = replay.stage(&params);
        let error = played(&replay, &stage, Language::En, &scenes, &|_| {})
            .await
            .expect_err("a call is missing from the journal");
        assert!(matches!(&error, AskError::Missing { draw, .. } if draw == "tess/source/1/rate"), "{error}");
    }

    #[test]
    fn the_last_wave_is_as_small_as_what_is_missing() {
        let params = Params { tau: 10, wave: 8, max_turns: 20, test_every: 4, emphasis: 0.8, ..Params::default() };
        let house = house();
        let mut counts = Counts::new(&house.dimensions);
        assert_eq!(conversations_wanted(&params, &counts, 0), 8);
        for dimension in &house.dimensions {
            (0..9).for_each(|_| counts.add(&dimension.code));
        }
        assert_eq!(
            conversations_wanted(&params, &counts, 0),
            2,
            "five counts are missing and one conversation is expected to yield four"
        );
        let normal = Params { emphasis: 0.0, ..params.clone() };
        assert_eq!(conversations_wanted(&normal, &counts, 0), 5);
        // With finished conversations, their mean yield decides: 45 counts over `ended` conversations.
        for (ended, wanted) in [(4, 1), (7, 1), (8, 2), (30, 5), (60, 8)] {
            assert_eq!(conversations_wanted(&params, &counts, ended), wanted, "{ended}");
        }
        assert_eq!(
            conversations_wanted(&params, &Counts::new(&house.dimensions), 8),
            8,
            "eight conversations yielded no count"
        );
    }
}
