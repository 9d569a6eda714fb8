//! The offline replies of test and scene characters: one of their own lines that fits, with a leading or trailing
//! phrase if that helps.

use rand::RngExt as _;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand_chacha::ChaCha8Rng;

use super::conversation::{ConversationView, form_of_address, mentions};
use super::dialogue_position::DialoguePosition;
use super::line_candidates::{LineCandidate, candidates};
use super::line_scoring::LineScorer;
use super::phrases::{Slots, frames};
use super::reply_assembly::{ReplyAssembly, chance};
use super::vocatives::names;
use super::word_lists::WORD_LISTS;
use crate::llm::{Offline, OfflineAnswer, OfflineOptions};
use crate::schema::{Attribute, Language};
use crate::stages::simulate::{SceneReply, TestReply};
use crate::text::{Topic, asks, sentences, spoken};

impl OfflineAnswer for TestReply {
    fn answer_offline(&self, offline: &mut Offline<'_>) -> String {
        test_reply(self, offline)
    }
}

impl OfflineAnswer for SceneReply {
    fn answer_offline(&self, offline: &mut Offline<'_>) -> String {
        scene_reply(self, offline)
    }
}

/// Replies for the test character: the best of a random sample of its lines.
fn test_reply(ask: &TestReply, offline: &mut Offline<'_>) -> String {
    let others = ask.others.iter().map(|other| other.name.as_str());
    let conversation = ConversationView::new(ask.language, &ask.name, others, &ask.situation, &ask.history);
    let relations = ask.profile.iter().filter(|attribute| is_of(attribute, &WORD_LISTS.relation_keys));
    let scorer = LineScorer::new(&conversation, ask.lines.iter().map(String::as_str))
        .with_relations(relations.map(|attribute| attribute.value.as_str()));
    let (options, rng) = (offline.options, &mut offline.rng);
    let most = most(ask.max_sentences);
    let aim = ask.dimension.as_deref().filter(|_| rng.random_bool(chance(options.strategy_rate)));
    // Questions are answered more often the higher `strategy_rate` is.
    let answers = conversation.is_asked() && rng.random_bool(chance(0.4 + 0.6 * options.strategy_rate));
    let framed = most > 1 && (answers || aim.is_some() || rng.random_bool(chance(0.15 + 0.5 * options.strategy_rate)));
    let lines = ask.lines.iter().map(String::as_str).enumerate();
    let profile_texts = ask.profile.iter().map(|attribute| attribute.value.as_str());
    let names = names(ask.lines.iter().map(String::as_str).chain(profile_texts));
    let pool = candidates(lines, &names, if framed { most - 1 } else { most }, true, &conversation);
    let best = retrieve(pool, options, rng, |candidate| {
        scorer.fit(candidate) + aim.map_or(0.0, |aim| DIMENSION_WEIGHT * scorer.dimension_score(&candidate.text, aim))
    });
    // A short generic answer is better than one followed by an unrelated line, but in half of the cases the line is
    // kept, as it is in the character's own voice.
    let best = best.filter(|(_, candidate)| {
        let answered = || conversation.is_answered(&candidate.text) || scorer.is_related(&candidate.text);
        !answers || answered() || rng.random_bool(0.5)
    });
    let slots = slots(&conversation, own_things(&ask.profile, &conversation), rng);
    let assembly = ReplyAssembly { conversation: &conversation, scorer: &scorer, slots: &slots, most };
    let (body, own) = assembly.body(best, &[], rng);
    let (lead, tail) = match aim {
        // A generic phrase needs no transition.
        Some(aim) if framed => {
            let (lead, tail) = assembly.strategy(aim, &body, rng);
            (lead.filter(|_| own), tail)
        }
        _ if framed && own => (assembly.bridge(&body, rng), None),
        _ => (None, None),
    };
    assembly.spoken(lead, &body, tail, options, aim == Some("PA"), rng)
}

/// Replies for a scene character: its next line in the order of the book, if one is left.
fn scene_reply(ask: &SceneReply, offline: &mut Offline<'_>) -> String {
    let others = ask.others.iter().map(|other| other.name.as_str());
    let conversation = ConversationView::new(ask.language, &ask.name, others, &ask.situation, &ask.history);
    let own = || ask.dialogue.iter().enumerate().filter(|(_, line)| line.speaker == ask.name);
    let scorer = LineScorer::new(&conversation, own().map(|(_, line)| spoken(&line.content)));
    let (options, rng) = (offline.options, &mut offline.rng);
    let most = most(ask.max_sentences);
    let test = ask.others.first().map(|other| other.name.as_str());
    let elicits = most > 1
        && ask.eliciting.is_some()
        && test.is_some_and(|test| !is_asked(&conversation, test))
        && rng.random_bool(chance(0.25 + 0.6 * options.strategy_rate));
    let position = DialoguePosition::new(&ask.dialogue, &ask.history);
    let after_test = conversation.last_speaker() == test && test.is_some();
    let answers = conversation.is_asked() && rng.random_bool(chance(0.4 + 0.6 * options.strategy_rate));
    let framed = most > 1 && (elicits || answers || (after_test && rng.random_bool(0.3)));
    let lines = own().map(|(at, line)| (at, line.content.as_str()));
    let profile_texts = ask.profile.iter().map(|attribute| attribute.value.as_str());
    let mut names = names(ask.dialogue.iter().map(|line| line.content.as_str()).chain(profile_texts));
    names.extend(ask.dialogue.iter().flat_map(|line| line.speaker.split_whitespace()).map(str::to_owned));
    let pool = candidates(lines, &names, if framed { most - 1 } else { most }, false, &conversation);
    let best = pool
        .into_iter()
        .filter(|candidate| position.may_be_said(&ask.dialogue, candidate.line))
        // If the character was asked a question that a line does not answer, the line is kept for later.
        .filter(|candidate| {
            let answered = || conversation.is_answered(&candidate.text) || scorer.is_related(&candidate.text);
            !answers || position.follows(candidate.line) || answered()
        })
        .map(|candidate| (scorer.fit(&candidate) + position.turn(candidate.line), candidate))
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.line.cmp(&a.1.line)));
    let wants: Vec<Attribute> = ask
        .motivations
        .iter()
        .filter(|motivation| motivation.character == ask.name)
        .map(|motivation| Attribute {
            key: String::new(),
            value: motivation.motivation.clone(),
            visibility: crate::schema::Visibility::Private,
        })
        .chain(ask.profile.iter().cloned())
        .collect();
    let slots = slots(&conversation, own_things(&wants, &conversation), rng);
    let assembly = ReplyAssembly { conversation: &conversation, scorer: &scorer, slots: &slots, most };
    let follows = best.as_ref().is_some_and(|(_, candidate)| position.follows(candidate.line));
    let answerer = best.as_ref().and_then(|(_, candidate)| DialoguePosition::answerer(&ask.dialogue, candidate.line));
    // A question from the book is for the character who answers it there; it names that character unless it spoke last.
    let answerer = answerer.filter(|name| conversation.others.contains(name));
    // In that case the test character is not asked.
    let elicits = elicits && answerer.is_none();
    let answerer = answerer.filter(|name| conversation.others.len() > 1 && conversation.last_speaker() != Some(name));
    let (mut body, retrieved) = assembly.body(best, &frames(ask.language).compose.motive, rng);
    if let Some(name) = answerer.and_then(form_of_address)
        && body.ends_with(['?', '？'])
        && !conversation.people().any(|person| mentions(&body, person))
    {
        body = asked_of(&body, &name, ask.language);
    }
    if elicits
        && !retrieved
        && !conversation.is_asked()
        && let Some(question) =
            test.and_then(form_of_address).and_then(|test| assembly.elicit(&test, ask.dimension.as_deref(), "", rng))
    {
        return assembly.spoken(None, &question, None, options, false, rng);
    }
    let elicits = match test.and_then(form_of_address).filter(|_| elicits) {
        // A line that is already a question needs no second one, only an addressee.
        Some(test) if body.ends_with(['?', '？']) => {
            // With two participants, or right after the test character spoke, the addressee is evident.
            if conversation.others.len() > 1 && !after_test {
                body = asked_of(&body, &test, ask.language);
            }
            None
        }
        test => test,
    };
    let (lead, tail) = if let Some(test) = elicits {
        (None, assembly.elicit(&test, ask.dimension.as_deref(), &body, rng))
    } else if framed && retrieved && !follows {
        (assembly.bridge(&body, rng), None)
    } else {
        (None, None)
    };
    assembly.spoken(lead, &body, tail, options, false, rng)
}

/// Weight of how well a line shows the target dimension.
const DIMENSION_WEIGHT: f64 = 2.0;
/// Maximum random addition to a line's score.
const MAX_RANDOM_BONUS: f64 = 0.2;

fn most(max_sentences: u32) -> usize {
    usize::try_from(max_sentences).unwrap_or(usize::MAX).max(1)
}

/// Returns the best of a sample of `options.candidates` candidates, drawn with weights exp(score).
fn retrieve(
    pool: Vec<LineCandidate>,
    options: &OfflineOptions,
    rng: &mut ChaCha8Rng,
    weigh: impl Fn(&LineCandidate) -> f64,
) -> Option<(f64, LineCandidate)> {
    // A small random addition alternates between lines of nearly the same score.
    let mut weighed: Vec<(f64, LineCandidate)> = pool
        .into_iter()
        .map(|candidate| (weigh(&candidate) + rng.random_range(0.0..MAX_RANDOM_BONUS), candidate))
        .collect();
    // Shuffle first, so that ties are broken at random and not by the order of the lines.
    weighed.shuffle(rng);
    let most = usize::try_from(options.candidates).unwrap_or(usize::MAX).max(1);
    let sample = weighed.sample_weighted(rng, most.min(weighed.len()), |(fit, _)| fit.exp());
    sample
        .map(|sample| sample.cloned().collect::<Vec<_>>())
        .unwrap_or(weighed)
        .into_iter()
        .max_by(|a, b| a.0.total_cmp(&b.0))
}

/// Adds an addressee to a question.
fn asked_of(question: &str, name: &str, language: Language) -> String {
    match language {
        Language::Zh if question.contains(name) => question.to_owned(),
        Language::Zh => {
            let last = sentences(question).last().map_or(0, |last| question.rfind(*last).unwrap_or(0));
            format!("{}{name}，{}", &question[..last], &question[last..])
        }
        // `sir` and `madam` already are an addressee.
        Language::En if mentions(question, name) || question.ends_with(", sir?") || question.ends_with("madam?") => {
            question.to_owned()
        }
        Language::En => format!("{}, {name}?", question.trim_end_matches('?')),
    }
}

/// Returns whether a participant was asked by name since its last turn.
fn is_asked(conversation: &ConversationView<'_>, name: &str) -> bool {
    conversation
        .history
        .iter()
        .rev()
        .take_while(|line| line.speaker != name)
        .any(|line| asks(&line.content) && mentions(spoken(&line.content), name))
}

/// Returns whether the key of an attribute contains one of these words.
fn is_of(attribute: &Attribute, words: &[String]) -> bool {
    let key = attribute.key.to_lowercase();
    words.iter().any(|word| key.contains(word.as_str()))
}

/// Returns the things that a profile mentions, except in attributes on looks, age, name and speech.
fn own_things(profile: &[Attribute], conversation: &ConversationView<'_>) -> Vec<Topic> {
    profile
        .iter()
        .filter(|attribute| !is_of(attribute, &WORD_LISTS.personal_keys))
        .flat_map(|attribute| conversation.mentioned_things(&attribute.value))
        .map(|mut topic| {
            for (theirs, mine) in [("his ", "my "), ("her ", "my "), ("their ", "our ")] {
                if let Some(rest) = topic.phrase.strip_prefix(theirs) {
                    topic.phrase = format!("{mine}{rest}");
                }
            }
            topic
        })
        .collect()
}

/// Chooses the values of the slots.
fn slots(conversation: &ConversationView<'_>, own: Vec<Topic>, rng: &mut ChaCha8Rng) -> Slots {
    let phrase = |topics: Vec<Topic>, rng: &mut ChaCha8Rng| topics.choose(rng).map(|topic| topic.phrase.clone());
    let topic = phrase(conversation.topics(), rng);
    let own = phrase(own, rng).filter(|own| Some(own) != topic.as_ref());
    let aside: Vec<&str> =
        conversation.others.iter().copied().filter(|other| conversation.last_speaker() != Some(*other)).collect();
    // Another participant is addressed more often (60 %) than the previous speaker.
    let name = if !aside.is_empty() && rng.random_bool(0.6) {
        aside.choose(rng).copied()
    } else {
        conversation.last_speaker()
    };
    let present = name.filter(|name| conversation.others.contains(name));
    Slots { topic, own, name: present.and_then(form_of_address) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offline::simulate::conversation_rating::rate;
    use crate::offline::simulate::director::direct;
    use crate::schema::{CastMember, Line, Quality, Visibility};
    use crate::seed::seeded;
    use crate::stages::simulate::{Direct, Rate, SceneNames};
    use crate::text::similarity;

    struct Fixture {
        language: Language,
        situation: &'static str,
        profile: &'static str,
        lines: Vec<&'static str>,
        dialogue: Vec<(&'static str, &'static str)>,
    }

    const TEST: [&str; 2] = ["Ada Lock", "陆阿达"];

    fn fixture(language: Language) -> Fixture {
        match language {
            Language::En => Fixture {
                language,
                situation: "Evening in the lighthouse kitchen. The lamp upstairs has gone out and a ship is due.",
                profile: "Keeps bees behind the tower and is afraid of the cellar.",
                lines: vec![
                    "A lamp is only as good as the hand that fills it. I filled this one at four.",
                    "I have counted the steps every night for nine years, because one of them is loose.",
                    "Never trust a barrel that sounds empty, Mr. Crane.",
                    "If the ship comes before the lamp is lit, we had better have a fire on the rocks.",
                    "My bees would have told you that for nothing!",
                    "Who had the key last?",
                    "I was frightened once, and I found that it kept me warm.",
                    "There are two roads to the harbour, and the short one floods—",
                ],
                dialogue: vec![
                    ("Ben Marsh", "The lamp is out! Who saw to the oil?"),
                    ("Cora Flint", "I carried the oil up at noon. The barrel was half full then."),
                    ("Ben Marsh", "Then somebody has been at the barrel."),
                    ("Cora Flint", "The cellar door was open when I came down."),
                    ("Ben Marsh", "I have the only key to the cellar. Except the one on the nail."),
                    ("Cora Flint", "There is no key on the nail now."),
                ],
            },
            Language::Zh => Fixture {
                language,
                situation: "傍晚，灯塔下的厨房里。楼上的油灯灭了，有一艘船今夜要到。",
                profile: "在灯塔后头养蜂，怕地窖。",
                lines: vec![
                    "灯好不好，要看添油的人。今日是我添的，申时添的。",
                    "我数了九年台阶，因为有一级是松的。",
                    "听着空的油桶，千万信不得。",
                    "若是船先到、灯没点上，只好在礁石上生一堆火。",
                    "我那些蜂早就知道了！",
                    "钥匙最后在谁手里？",
                    "我从前怕过一回，后来发觉怕也能取暖。",
                    "到码头有两条路，近的那条要淹——",
                ],
                dialogue: vec![
                    ("马奔", "油灯灭了！是谁管添油的？"),
                    ("付珂", "晌午我提上去一桶油，那时还有半桶。"),
                    ("马奔", "那就是有人动过油桶。"),
                    ("付珂", "我下来的时候，地窖的门开着。"),
                    ("马奔", "地窖的钥匙只有我有，除了钉子上那一把。"),
                    ("付珂", "如今钉子上没有钥匙了。"),
                ],
            },
        }
    }

    impl Fixture {
        fn test(&self) -> &'static str {
            TEST[usize::from(self.language == Language::Zh)]
        }

        fn cast(&self) -> Vec<CastMember> {
            let names = [self.test(), self.dialogue[0].0, self.dialogue[1].0];
            names.map(|name| CastMember { name: name.to_owned(), profile: vec![] }).to_vec()
        }

        fn others(&self, name: &str) -> Vec<CastMember> {
            self.cast().into_iter().filter(|member| member.name != name).collect()
        }

        fn test_ask(&self, history: &[Line], dimension: Option<&str>, max_sentences: u32) -> TestReply {
            TestReply {
                language: self.language,
                worldview: String::new(),
                situation: self.situation.to_owned(),
                name: self.test().to_owned(),
                profile: vec![Attribute {
                    key: "background".to_owned(),
                    value: self.profile.to_owned(),
                    visibility: Visibility::Private,
                }],
                lines: self.lines.iter().map(|line| (*line).to_owned()).collect(),
                others: self.others(self.test()),
                history: history.to_vec(),
                dimension: dimension.map(str::to_owned),
                strategy: dimension.map(|_| "…".to_owned()),
                max_sentences,
                scene_names: SceneNames::default(),
            }
        }

        fn scene_ask(&self, name: &str, history: &[Line], dimension: Option<&str>, max_sentences: u32) -> SceneReply {
            SceneReply {
                language: self.language,
                worldview: String::new(),
                situation: self.situation.to_owned(),
                name: name.to_owned(),
                profile: vec![],
                others: self.others(name),
                motivations: vec![],
                dialogue: self.dialogue.iter().map(|(speaker, content)| line(speaker, content)).collect(),
                history: history.to_vec(),
                dimension: dimension.map(str::to_owned),
                eliciting: dimension.map(|_| "…".to_owned()),
                max_sentences,
                scene_names: SceneNames::default(),
            }
        }

        /// Plays a conversation of this many turns, cycling through the dimensions.
        fn play(&self, options: &OfflineOptions, seed: u64, turns: usize, max_sentences: u32) -> Vec<Line> {
            let mut history = Vec::new();
            for turn in 0..turns {
                let draw = |what: &str| Offline { options, rng: seeded(seed, &[what, &turn.to_string()]) };
                let cast = self.cast();
                let direction = direct(
                    &Direct {
                        language: self.language,
                        situation: String::new(),
                        choices: cast.iter().map(|member| member.name.clone()).collect(),
                        cast,
                        history: history.clone(),
                        may_end: false,
                        turns_left: 9,
                    },
                    &mut draw("direct"),
                );
                let dimension = ["CR", "FR", "RR", "CA", "PA", "OWN", ""][turn / 3 % 7];
                let dimension = Some(dimension).filter(|code| !code.is_empty());
                let content = if direction.next == self.test() {
                    test_reply(&self.test_ask(&history, dimension, max_sentences), &mut draw("test"))
                } else {
                    let ask = self.scene_ask(&direction.next, &history, dimension, max_sentences);
                    scene_reply(&ask, &mut draw("scene"))
                };
                history.push(Line { is_test: direction.next == self.test(), speaker: direction.next, content });
            }
            history
        }
    }

    fn line(speaker: &str, content: &str) -> Line {
        Line { speaker: speaker.to_owned(), content: content.to_owned(), is_test: TEST.contains(&speaker) }
    }

    fn vivid() -> OfflineOptions {
        OfflineOptions {
            variant: "vivid".to_owned(),
            candidates: 32,
            action_rate: 0.5,
            strategy_rate: 0.9,
            concurrency: None,
        }
    }

    #[test]
    fn replies_are_well_formed_and_never_repeated() {
        for language in Language::ALL {
            let fixture = fixture(language);
            for (seed, most) in [(1, 3), (2, 2), (3, 1), (4, 3), (5, 4)] {
                let history = fixture.play(&vivid(), seed, 20, most);
                for (at, line) in history.iter().enumerate() {
                    let content = line.content.as_str();
                    let max_similarity =
                        history[..at].iter().map(|other| similarity(spoken(&other.content), spoken(content)));
                    assert!(
                        max_similarity.fold(0.0, f64::max) < 0.8,
                        "{language} {seed}/{at}: {content}\n{history:#?}"
                    );
                    let count = sentences(spoken(content)).len();
                    assert!((1..=most as usize).contains(&count), "{language} {seed}/{at}: {content}");
                    assert!(content.ends_with(['.', '!', '?', '…', '。', '！', '？']), "{content}");
                    assert!(!content.contains(['\n', '{', '}']), "{content}");
                    assert!(!content.starts_with(&format!("{}：", line.speaker)), "{content}");
                    let han = content.chars().filter(|c| crate::text::is_han(*c)).count();
                    assert_eq!(han > 0, language == Language::Zh, "{content}");
                }
            }
        }
    }

    #[test]
    fn the_conversation_depends_on_the_draw_alone() {
        for language in Language::ALL {
            let fixture = fixture(language);
            assert_eq!(fixture.play(&vivid(), 7, 12, 3), fixture.play(&vivid(), 7, 12, 3));
            assert_ne!(fixture.play(&vivid(), 7, 12, 3), fixture.play(&vivid(), 8, 12, 3));
        }
    }

    #[test]
    fn an_offline_conversation_is_rated_high() {
        for language in Language::ALL {
            let fixture = fixture(language);
            let history = fixture.play(&vivid(), 7, 16, 3);
            let ask = Rate { language, situation: String::new(), cast: vec![], history };
            let options = vivid();
            let rating = rate(&ask, &mut Offline { options: &options, rng: seeded(7, &[]) });
            assert_eq!(rating.quality, Quality::High, "{rating:?}\n{:#?}", ask.history);
        }
    }

    #[test]
    fn the_test_character_replies_with_its_own_matching_lines() {
        for (language, speech, word) in [
            (Language::En, "How many steps are there, Ada, and which of them is loose?", "loose"),
            (Language::Zh, "陆阿达，台阶有多少级，哪一级是松的？", "台阶"),
        ] {
            let fixture = fixture(language);
            let history = [line(fixture.dialogue[0].0, speech)];
            let options = OfflineOptions { action_rate: 0.0, strategy_rate: 0.0, ..vivid() };
            for draw in 0..10 {
                let mut offline = Offline { options: &options, rng: seeded(draw, &[]) };
                let reply = test_reply(&fixture.test_ask(&history, None, 3), &mut offline);
                assert!(reply.contains(word), "{reply}");
            }
        }
    }

    #[test]
    fn more_candidates_and_strategy_give_better_replies() {
        for language in Language::ALL {
            let fixture = fixture(language);
            let plain = OfflineOptions { variant: "plain".to_owned(), candidates: 2, strategy_rate: 0.1, ..vivid() };
            let plain = OfflineOptions { action_rate: 0.0, ..plain };
            let vivid = OfflineOptions { action_rate: 0.0, ..vivid() };
            let (mut better, mut worse) = (0, 0);
            for (seed, code) in ["CR", "FR", "RR", "CA", "PA"].repeat(3).into_iter().enumerate() {
                let seed = seed as u64;
                let history = fixture.play(&plain, seed, 5, 3);
                let ask = fixture.test_ask(&history, Some(code), 3);
                let others = ask.others.iter().map(|other| other.name.as_str());
                let conversation = ConversationView::new(language, &ask.name, others, &ask.situation, &ask.history);
                let scorer = LineScorer::new(&conversation, fixture.lines.iter().copied());
                let worth = |options: &OfflineOptions, draw: &str| {
                    let reply = test_reply(&ask, &mut Offline { options, rng: seeded(seed, &[draw]) });
                    scorer.overlap(&reply) + scorer.dimension_score(&reply, code)
                };
                let difference = worth(&vivid, "vivid") - worth(&plain, "plain");
                better += usize::from(difference > 0.05);
                worse += usize::from(difference < -0.05);
            }
            assert!(better > 2 * worse, "{language}: {better} better, {worse} worse");
        }
    }

    #[test]
    fn absent_people_are_not_addressed() {
        let fixture = fixture(Language::En);
        let mut ask = fixture.test_ask(&[line("Ben Marsh", "What do you make of the barrel?")], None, 3);
        ask.lines = vec!["Never trust a barrel that sounds empty, Mr. Crane.".to_owned()];
        let options = OfflineOptions { action_rate: 0.0, ..vivid() };
        let reply = test_reply(&ask, &mut Offline { options: &options, rng: seeded(7, &[]) });
        assert!(!reply.contains("Crane") && reply.contains("barrel"), "{reply}");
    }

    #[test]
    fn scene_characters_follow_the_order_of_the_book() {
        for language in Language::ALL {
            let fixture = fixture(language);
            let [(ben, first), (cora, second), (_, third), ..] = fixture.dialogue[..] else {
                unreachable!("the dialogue has six lines")
            };
            let options = vivid();
            let mut history = vec![];
            for (name, expected) in [(ben, first), (cora, second), (ben, third)] {
                let ask = fixture.scene_ask(name, &history, None, 3);
                let reply = scene_reply(&ask, &mut Offline { options: &options, rng: seeded(7, &[]) });
                assert!(similarity(&reply, expected) > 0.7, "{reply}");
                history.push(line(name, &reply));
            }
            // With three participants, the question from the book names the character who answers it there.
            assert!(mentions(&history[0].content, cora), "{}", history[0].content);
        }
    }

    #[test]
    fn scene_characters_elicit_the_target_dimension() {
        for language in Language::ALL {
            let fixture = fixture(language);
            let name = fixture.dialogue[1].0;
            let called = form_of_address(fixture.test()).expect("the test character has a first name");
            let history = [line(fixture.dialogue[0].0, fixture.dialogue[0].1)];
            let options = OfflineOptions { strategy_rate: 1.0, ..vivid() };
            let asked = (0..40).filter(|draw| {
                let ask = fixture.scene_ask(name, &history, Some("RR"), 3);
                let reply = scene_reply(&ask, &mut Offline { options: &options, rng: seeded(*draw, &[]) });
                reply.contains(&called) && asks(&reply)
            });
            assert!(asked.count() > 20);
        }
    }

    #[test]
    fn a_scene_character_without_lines_left_only_elicits() {
        for language in Language::ALL {
            let fixture = fixture(language);
            let name = fixture.dialogue[1].0;
            let history: Vec<Line> = fixture.dialogue.iter().map(|(name, speech)| line(name, speech)).collect();
            let options = OfflineOptions { strategy_rate: 1.0, action_rate: 0.0, ..vivid() };
            let replies = (0..40).map(|draw| {
                let ask = fixture.scene_ask(name, &history[..5], Some("RR"), 3);
                let ask = SceneReply { dialogue: ask.dialogue[..5].to_vec(), ..ask };
                scene_reply(&ask, &mut Offline { options: &options, rng: seeded(draw, &[]) })
            });
            let called = form_of_address(fixture.test()).expect("the test character has a first name");
            let drawn: Vec<String> = replies.filter(|reply| reply.contains(&called)).collect();
            assert!(drawn.len() > 20, "{language}: {drawn:?}");
            assert!(drawn.iter().all(|reply| sentences(reply).len() == 1), "{drawn:?}");
        }
    }

    #[test]
    fn a_question_answered_in_the_book_is_not_put_to_the_test_character() {
        for language in Language::ALL {
            let fixture = fixture(language);
            let [(ben, _), (cora, _), ..] = fixture.dialogue[..] else { unreachable!("the dialogue has six lines") };
            let options = OfflineOptions { strategy_rate: 1.0, ..vivid() };
            for draw in 0..20 {
                let ask = fixture.scene_ask(ben, &[], Some("CR"), 3);
                let reply = scene_reply(&ask, &mut Offline { options: &options, rng: seeded(draw, &[]) });
                assert!(mentions(&reply, cora) && !mentions(&reply, fixture.test()), "{reply}");
            }
        }
    }

    #[test]
    fn an_unanswerable_question_gets_a_short_reply() {
        for (language, question, of_the_book) in [
            (Language::En, "Who taught you to keep bees, Cora?", ["oil", "cellar", "key"]),
            (Language::Zh, "付珂，养蜂是谁教你的？", ["油", "地窖", "钥匙"]),
        ] {
            let fixture = fixture(language);
            let options = OfflineOptions { strategy_rate: 1.0, ..vivid() };
            for draw in 0..20 {
                let ask = fixture.scene_ask(fixture.dialogue[1].0, &[line(fixture.test(), question)], None, 3);
                let reply = scene_reply(&ask, &mut Offline { options: &options, rng: seeded(draw, &[]) });
                assert!(!of_the_book.iter().any(|word| reply.contains(word)), "{reply}");
                assert!(!asks(&reply), "{reply}");
            }
        }
    }

    #[test]
    fn a_character_without_lines_and_profile_still_replies() {
        for language in Language::ALL {
            let fixture = fixture(language);
            let mut ask = fixture.test_ask(&[], Some("CA"), 1);
            ask.lines.clear();
            ask.profile.clear();
            ask.others.clear();
            let reply = test_reply(&ask, &mut Offline { options: &vivid(), rng: seeded(7, &[]) });
            assert_eq!(sentences(spoken(&reply)).len(), 1, "{reply}");
        }
    }
}
