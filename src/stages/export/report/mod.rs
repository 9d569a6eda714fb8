//! `report.html`: an overview of a run. It is a single file that opens from disk and loads nothing else: no scripts,
//! fonts or images.
//!
//! Like the card it is the same when the run is replayed from its journal; unlike the card it includes the cost of the
//! run.

mod conversation_view;
mod cost;
mod figures;
mod manual_edits;
mod page;
mod plots;
mod sanitize;
mod splits_section;

pub use conversation_view::ConversationView;
pub use cost::AskCost;
pub use figures::{Agreement, ReportStatistics};
pub(crate) use splits_section::report_has_splits;
pub use splits_section::{report_lists_splits, update_report};

use std::collections::BTreeMap;
use std::sync::LazyLock;

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};

use super::Params;
use super::amounts::thousands;
use super::card::CardMetadata;
use super::quote_limits::QuoteLimits;
use super::tally::Table;
use crate::prompt::block_lines;
use crate::schema::Reject;
use page::Page;

/// The input of the report.
#[derive(Debug)]
pub struct Report<'a> {
    /// The table `[export]`.
    pub params: &'a Params,
    /// The facts about the run that the card also shows.
    pub metadata: &'a CardMetadata,
    /// The limits on quoting the books.
    pub quote_limits: &'a QuoteLimits,
    /// The tables of the data set.
    pub tables: &'a [Table],
    /// The counts over their rows.
    pub figures: &'a ReportStatistics,
    /// The number of chunks of the books.
    pub chunks: u64,
    /// The rejects, sorted.
    pub rejects: &'a [Reject],
    /// The number of lanes that ended before a dimension was counted τ times, by dimension.
    pub dimensions_below_target: &'a BTreeMap<String, u64>,
    /// The number of lanes that counted a dimension τ times without a sample of it, by dimension.
    pub dimensions_without_samples: &'a BTreeMap<String, u64>,
    /// The averages per sample over the calls of conversations: the number of calls, the billed tokens, and the prompt
    /// tokens among them that extend an earlier prompt. `None` if there are no samples.
    pub each_sample: Option<[f64; 3]>,
    /// The conversations to show.
    pub readings: &'a [ConversationView],
}

/// Returns the report as HTML.
#[must_use]
pub fn report(report: &Report<'_>) -> String {
    static PAGE: LazyLock<Environment<'static>> = LazyLock::new(environment);
    let page = Value::from(Serde(Page::new(report)));
    PAGE.get_template("page").and_then(|template| template.render(page)).expect("the template is embedded and tested")
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(block_lines());
    // Texts from books, models and pipeline files are escaped.
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_filter("count", |count: u64| thousands(count));
    environment.add_global("style", Value::from_safe_string(include_str!("page.css").to_owned()));
    environment.add_template("page", include_str!("page.html.jinja")).expect("the template is embedded and tested");
    environment
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Conversation, RejectReason, SampleId, Stage, TurnFault};
    use crate::stages::export::fixture::{metadata, records, tables};

    const HOSTILE: &str =
        "</style><script>alert('1')</script><img src=x onerror=alert(2)>\"'`\u{202e}\u{2066}\0{{ 7*7 }}";

    /// Returns the report of the fixture after a change to its records.
    fn written(change: impl FnOnce(&mut crate::stages::export::fixture::Records)) -> String {
        let mut records = records();
        change(&mut records);
        let mut figures = ReportStatistics::new(7);
        for sample in &records.samples {
            figures.sample(sample);
        }
        for conversation in &records.conversations {
            figures.conversation(conversation);
        }
        for scene in &records.scenes {
            figures.scene(scene);
        }
        for character in &records.characters {
            figures.character(character);
        }
        let readings: Vec<ConversationView> =
            figures.shown().iter().map(|id| attribution(&records, id, &figures)).collect();
        records.rejects.sort();
        report(&Report {
            params: &Params::default(),
            metadata: &metadata(),
            quote_limits: &QuoteLimits::new(&Params::default(), 0),
            tables: &tables(&records),
            figures: &figures,
            chunks: 5,
            rejects: &records.rejects,
            dimensions_below_target: &BTreeMap::from([("FR".to_owned(), 1)]),
            dimensions_without_samples: &BTreeMap::from([("PA".to_owned(), 2)]),
            each_sample: Some([3.66, 1500.2, 1200.7]),
            readings: &readings,
        })
    }

    fn attribution(
        records: &crate::stages::export::fixture::Records,
        id: &str,
        figures: &ReportStatistics,
    ) -> ConversationView {
        let conversation = records.conversations.iter().find(|one| one.id == id).expect("the id is from these records");
        let scene = records.scenes.iter().find(|scene| scene.id == conversation.scene_id);
        let character = records.characters.iter().find(|one| one.id == conversation.character_id);
        ConversationView::new(conversation, scene, character, &QuoteLimits::new(&Params::default(), 0), figures)
    }

    /// Parses HTML as a browser does. Returns the names of its elements and of their attributes, with their counts.
    fn markup(html: &str) -> (BTreeMap<String, usize>, BTreeMap<String, usize>) {
        let (mut elements, mut attributes) = (BTreeMap::new(), BTreeMap::new());
        for token in html5gum::Tokenizer::new(html) {
            let Ok(token) = token;
            match token {
                html5gum::Token::StartTag(tag) => {
                    *elements.entry(String::from_utf8_lossy(&tag.name).into_owned()).or_default() += 1;
                    for name in tag.attributes.keys() {
                        *attributes.entry(String::from_utf8_lossy(name).into_owned()).or_default() += 1;
                    }
                }
                html5gum::Token::Error(error) => panic!("{error:?}"),
                _ => {}
            }
        }
        (elements, attributes)
    }

    #[test]
    fn the_report_summarizes_the_run() {
        let html = written(|_| ());
        for part in [
            "<title>fixture</title>",
            "Context reliance",
            "情境依托",
            "no_dialogue",
            "$0.50",
            "3.7",
            "1500 tokens per sample, 1201 of them cacheable",
            "times, by dimension: 1 <bdi>FR</bdi>.",
            "times without a sample of it, by dimension: 2 <bdi>PA</bdi>.",
            "offline:plain",
            "<article lang=\"zh\"",
            "（收伞）路上遇见故人。",
            "答得有来处。",
            "不分高下。",
            "own_name:mended",
            "夜雨，船未到。",
        ] {
            assert!(html.contains(part), "no `{part}` in:\n{html}");
        }
        assert_eq!(html, written(|_| ()), "the report is reproducible");
    }

    #[test]
    fn manual_edits_are_listed() {
        let changed = |vetoes: usize| {
            written(|records| {
                let talk = &records.conversations[0];
                let turn = talk.turns.iter().find(|turn| turn.dimension.is_some()).expect(
                    "the conversation has a \
                    judged turn",
                );
                let sample = records.samples.iter_mut().find(|sample| sample.edit_reason.is_some()).expect(
                    "the fixture \
                    has an edit",
                );
                sample.id = SampleId::new(&talk.id, turn.index);
                sample.reference = format!("（收伞）路上遇见旧友。{}", "雨".repeat(300));
                for n in 0..vetoes {
                    records.rejects.push(Reject::new(
                        Stage::Export,
                        format!("红线/vivid/{n}"),
                        RejectReason::Vetoed,
                        "not <ours>",
                    ));
                }
            })
        };
        let html = changed(1);
        for part in [
            "1 row was removed and 1 reference edited",
            "<bdi>红线&#x2f;vivid&#x2f;0</bdi></code></td><td>removed</td><td class=\"text\"><bdi>not &lt;ours&gt;</bdi>",
            "now <bdi>（收伞）路上遇见旧友。",
            "雨…</bdi>",
            "edited: <bdi>原句有错字</bdi>",
            "edited by hand, current reference",
        ] {
            assert!(html.contains(part), "no `{part}` in:\n{html}");
        }
        let html = changed(60);
        assert!(html.contains("60 rows were removed") && html.contains("10 more removed rows"), "{html}");
        markup(&html);
    }

    #[test]
    fn the_page_loads_and_executes_nothing() {
        let html = written(|_| ());
        let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
        assert!(html.contains(policy), "{html}");
        let (elements, attributes) = markup(&html);
        for element in ["script", "link", "img", "iframe", "object", "base", "form"] {
            assert!(!elements.contains_key(element), "{element}");
        }
        for attribute in attributes.keys() {
            assert!(!attribute.starts_with("on") && attribute != "src" && attribute != "srcset", "{attribute}");
        }
        let addresses: Vec<_> =
            html.match_indices("http").map(|(at, _)| html[at..].split(['"', ' ', '<']).next()).collect();
        assert!(
            addresses.iter().flatten().all(|address| ["http-equiv=", "http://www.w3.org/2000/svg"].contains(address)),
            "{addresses:?}"
        );
        assert!(!html.contains("url(") && !html.contains("@import"));
    }

    #[test]
    fn hostile_text_is_escaped() {
        let tame = markup(&written(|_| ()));
        let html = written(|records| {
            let hostile = || HOSTILE.to_owned();
            for conversation in &mut records.conversations {
                conversation.test_character = hostile();
                conversation.quality_rationale = Some(hostile());
                for turn in &mut conversation.turns {
                    (turn.speaker, turn.content) = (hostile(), hostile());
                    turn.target = Some(hostile());
                    turn.dimension = turn.dimension.is_some().then(hostile);
                    (turn.source_reply, turn.base_reply, turn.rationale) =
                        (Some(hostile()), Some(hostile()), Some(hostile()));
                    for verdict in &mut turn.verdicts {
                        (verdict.rationale, verdict.dimension) = (hostile(), hostile());
                    }
                }
            }
            for scene in &mut records.scenes {
                scene.situation = hostile();
                scene.characters.iter_mut().for_each(|member| member.name = hostile());
            }
            for character in &mut records.characters {
                character.name = hostile();
                character
                    .profile
                    .iter_mut()
                    .for_each(|attribute| (attribute.key, attribute.value) = (hostile(), hostile()));
            }
            for sample in &mut records.samples {
                sample.dimension = hostile();
            }
            for reject in &mut records.rejects {
                (reject.id, reject.detail) = (hostile(), hostile());
            }
        });
        assert!(html.contains("&lt;script&gt;alert(") && html.contains("[U+202E][U+2066][U+0000]"), "{html}");
        assert!(html.contains("{{ 7*7 }}") && !html.contains(['\0', '\u{202e}', '\u{2066}']));
        let (elements, attributes) = markup(&html);
        assert!(!elements.contains_key("script") && !elements.contains_key("img"), "{elements:?}");
        assert_eq!(
            attributes.keys().collect::<Vec<_>>(),
            tame.1.keys().collect::<Vec<_>>(),
            "user text adds no attributes"
        );
        assert_eq!(elements.keys().collect::<Vec<_>>(), tame.0.keys().collect::<Vec<_>>());
    }

    #[test]
    fn the_report_stays_small_and_shows_ten_conversations_for_any_text() {
        for letter in ["雨", "<", "\"", "\u{202e}", "\u{200f}", "𠮷"] {
            let html = written(|records| {
                let (text, name) = (letter.repeat(6_000), letter.repeat(200));
                let one: Conversation = records.conversations[0].clone();
                let role = records.characters[0].clone();
                let scene = records.scenes.iter_mut().find(|scene| scene.id == one.scene_id).expect("the scene exists");
                scene.situation.clone_from(&text);
                scene.characters = vec![scene.characters[0].clone(); 2_000];
                scene.characters.iter_mut().for_each(|member| member.name.clone_from(&name));
                (records.conversations, records.characters) = (vec![], vec![]);
                for n in 0..150 {
                    let mut role = role.clone();
                    (role.id, role.name) = (format!("c{n}").into(), name.clone());
                    role.profile = vec![role.profile[0].clone(); if n < 12 { 40 } else { 0 }];
                    role.profile.iter_mut().for_each(|of| (of.key, of.value) = (name.clone(), text.clone()));
                    records.characters.push(role);
                }
                for n in 0..12 {
                    let mut talk = Conversation { id: format!("c{n}/a/0").into(), ..one.clone() };
                    (talk.character_id, talk.quality_rationale) = (format!("c{n}").into(), Some(text.clone()));
                    let judged = talk.turns[1].clone();
                    talk.turns = vec![judged; 300];
                    for (at, turn) in (0..).zip(&mut talk.turns) {
                        // In some conversations every turn is long, in others there are many very short ones.
                        let said = if n % 2 == 0 && at < 20 { &text } else { "" };
                        turn.index = at;
                        turn.dimension = Some(format!("{at}{name}"));
                        turn.target.clone_from(&turn.dimension);
                        (turn.speaker, turn.faults) = (name.clone(), TurnFault::all().take(40).collect());
                        (turn.source_reply, turn.base_reply) = (Some(said.to_owned()), Some(said.to_owned()));
                        turn.rationale = Some(said.to_owned());
                        let verdict = turn.verdicts.first().cloned();
                        turn.verdicts = verdict.into_iter().cycle().take(10).collect();
                        turn.verdicts.iter_mut().for_each(|verdict| said.clone_into(&mut verdict.rationale));
                    }
                    records.conversations.push(talk);
                }
                let reasons: Vec<RejectReason> = RejectReason::all().collect();
                for n in 0..300 {
                    let reason = reasons[n % reasons.len()];
                    let reject = Reject::new(Stage::Extract, format!("{n}{name}"), reason, text.clone());
                    let veto = Reject::new(Stage::Export, format!("{n}{name}"), RejectReason::Vetoed, text.clone());
                    records.rejects.extend([reject, veto]);
                }
            });
            assert!(html.len() < 4_000_000, "{} bytes of {letter}", html.len());
            assert_eq!(html.matches("<article ").count(), 10, "{letter}");
            for talk in html.split("<article ").skip(1) {
                assert!(talk.matches("class=\"turn test\"").count() >= 2, "the conversation is readable: {letter}");
                assert!(talk.contains("more turns are in") && talk.contains("more characters in the data set"));
                assert!(talk.contains("Reason for the rating"), "{letter}");
                assert!(talk.contains("more entries are in"), "{letter}");
            }
            assert!(html.contains("more dimensions are only included in the last column"), "{letter}");
            markup(&html);
        }
    }

    #[test]
    fn a_run_without_rows_has_a_report_too() {
        let html = written(|records| *records = crate::stages::export::fixture::Records::default());
        assert!(html.contains("0 samples") || html.contains("No conversation"), "{html}");
        markup(&html);
    }
}
