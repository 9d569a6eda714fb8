//! Compares a source reply with a base reply and selects the one to keep.

use rand::RngExt as _;

use super::Params;
use super::asks::{Criterion, Judge, Judgement};
use crate::llm::{AskError, Model};
use crate::schema::{Attribute, Candidate, CastMember, Dimension, Draw, Language, Line, ReplyOrder};
use crate::seed::seeded;

/// Two replies and the context that a judge needs to compare them.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    /// The language of the conversation.
    pub language: Language,
    /// The test character's name.
    pub name: &'a str,
    /// The test character's full profile.
    pub profile: &'a [Attribute],
    /// Example lines of the test character.
    pub lines: &'a [String],
    /// The other characters present, with public attributes only.
    pub others: &'a [CastMember],
    /// The situation.
    pub situation: &'a str,
    /// The conversation so far.
    pub history: &'a [Line],
    /// The source model's reply.
    pub source: &'a str,
    /// The base model's reply.
    pub base: &'a str,
    /// Code of the target dimension.
    pub target: Option<&'a str>,
}

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// Code of the dimension that the context calls for.
    pub dimension: String,
    /// σ, from 1 (source much better) to 5 (base much better).
    pub score: u8,
    /// The judge's reasons, preceded by a line that identifies the two replies.
    pub rationale: String,
    /// The reply that is kept in the history.
    pub kept: Candidate,
    /// σ with the source reply shown first; none if that order was not asked.
    pub score_source_first: Option<u8>,
    /// σ with the base reply shown first; none if that order was not asked.
    pub score_base_first: Option<u8>,
}

/// Compares two replies (FURINA 3.4): chooses the dimension that fits the context, then rates σ on it.
///
/// The order of the replies is drawn at random per draw, so that position bias of the judge averages out; σ is mapped
/// back. Two equal replies are a tie: σ = 3 without a call, on the target dimension, or on a random one without a
/// target, since ties do not become samples.
///
/// With `both_orders` the judge is asked again in the other order, on the dimension that it chose first.
pub async fn select(
    judge: &Model,
    params: &Params,
    dimensions: &[Dimension],
    pair: Pair<'_>,
    draw: impl Fn(ReplyOrder) -> Draw,
) -> Result<Selection, AskError> {
    let mut rng = seeded(judge.session().seed, &["select", &draw(ReplyOrder::Drawn).to_string()]);
    let kept = |score| if score <= params.keep_source { Candidate::Source } else { Candidate::Base };
    if pair.source == pair.base {
        let index = rng.random_range(0..dimensions.len());
        let dimension = pair.target.unwrap_or(&dimensions[index].code).to_owned();
        let rationale = match pair.language {
            Language::En => "The two replies are the same, word for word; no judge was asked.",
            Language::Zh => "两个回复一字不差，未经评判。",
        };
        return Ok(Selection {
            dimension,
            score: 3,
            rationale: rationale.to_owned(),
            kept: kept(3),
            score_source_first: None,
            score_base_first: None,
        });
    }
    let source_first = rng.random_bool(0.5);
    let turned = |source_first, score| if source_first { score } else { 6 - score };
    let judgement = judge.ask(&pair.ask(params, dimensions, source_first), &draw(ReplyOrder::Drawn)).await?;
    let mut score = turned(source_first, judgement.score);
    let (mut score_source_first, mut score_base_first) = (None, None);
    *(if source_first { &mut score_source_first } else { &mut score_base_first }) = Some(score);
    let mut reasons = rationale(pair.language, source_first, &judgement);
    if params.both_orders {
        let named: Vec<Dimension> =
            dimensions.iter().filter(|dimension| dimension.code == judgement.dimension).cloned().collect();
        // The target may not be among the remaining dimensions, so it is not given as a hint.
        let unhinted = Params { hint: false, ..params.clone() };
        let again = judge.ask(&pair.ask(&unhinted, &named, !source_first), &draw(ReplyOrder::Swapped)).await?;
        let other = turned(!source_first, again.score);
        *(if source_first { &mut score_base_first } else { &mut score_source_first }) = Some(other);
        score = mean(score, other);
        reasons = format!("{reasons}\n{}", rationale(pair.language, !source_first, &again));
    }
    let (dimension, kept, rationale) = (judgement.dimension, kept(score), reasons);
    Ok(Selection { dimension, score, rationale, kept, score_source_first, score_base_first })
}

/// Returns the mean of two σ, rounded towards 3, because the two orders agree on no more than that.
const fn mean(one: u8, other: u8) -> u8 {
    let sum = one + other;
    if sum < 6 { sum.div_ceil(2) } else { sum / 2 }
}

impl Pair<'_> {
    /// Builds the ask for the judge.
    #[must_use]
    pub fn ask(&self, params: &Params, dimensions: &[Dimension], source_first: bool) -> Judge {
        let (first, second) = if source_first { (self.source, self.base) } else { (self.base, self.source) };
        Judge {
            language: self.language,
            name: self.name.to_owned(),
            profile: self.profile.to_vec(),
            lines: self.lines.to_vec(),
            others: self.others.to_vec(),
            situation: self.situation.to_owned(),
            history: self.history.to_vec(),
            criteria: dimensions
                .iter()
                .map(|dimension| Criterion {
                    code: dimension.code.clone(),
                    name: dimension.name.get(self.language).clone(),
                    definition: dimension.definition.get(self.language).clone(),
                })
                .collect(),
            first: first.to_owned(),
            second: second.to_owned(),
            hint: self.target.filter(|_| params.hint).map(str::to_owned),
        }
    }
}

/// Returns the judge's reasons, preceded by a line that identifies reply 1 and reply 2.
fn rationale(language: Language, source_first: bool, judgement: &Judgement) -> String {
    let Judgement { dimension_reason, comparison, .. } = judgement;
    let order = match (language, source_first) {
        (Language::En, true) => "(Reply 1: source. Reply 2: base.)",
        (Language::En, false) => "(Reply 1: base. Reply 2: source.)",
        (Language::Zh, true) => "（回复一：来源模型。回复二：基准模型。）",
        (Language::Zh, false) => "（回复一：基准模型。回复二：来源模型。）",
    };
    format!("{order}\n{dimension_reason}\n{comparison}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use futures::future::BoxFuture;

    use super::*;
    use crate::llm::{
        Answered, Ask as _, Budget, Journal, JournalError, OfflineOptions, Record, Reply, Session, Usage,
    };
    use crate::prompt::Prompts;
    use crate::schema::{Message, TurnCall, Visibility};
    use crate::stages::select::dimensions;

    /// A journal that answers every call with one text, or with none.
    struct Scripted(Option<String>);

    impl Journal for Scripted {
        fn find(&self, _: &str) -> Result<Option<Answered>, JournalError> {
            let answered =
                |text| Answered { reply: Reply { text, ..Reply::default() }, usage: Usage::default(), requests: 1 };
            Ok(self.0.clone().map(answered))
        }

        fn write(&self, _: Record) -> BoxFuture<'_, Result<(), JournalError>> {
            Box::pin(async { Ok(()) })
        }
    }

    fn prompts() -> Prompts {
        Prompts::new(crate::stages::prompts(), &BTreeMap::new()).expect("templates are embedded and tested")
    }

    /// Returns a judge that always gives this answer; without one every call is an error.
    fn judging(turn: u32) -> impl Fn(ReplyOrder) -> Draw {
        move |order| Draw::turn(&"lane/0".into(), turn, TurnCall::Judge { extra_judge: None, order })
    }

    fn other(order: ReplyOrder) -> Draw {
        Draw::Other(if order == ReplyOrder::Drawn { "d" } else { "d-swapped" }.to_owned())
    }

    fn judge(answer: Option<&str>) -> Model {
        let journal = Arc::new(Scripted(answer.map(str::to_owned)));
        let session = Arc::new(Session::new(7, prompts(), journal, Budget::default(), true));
        Model::offline("judge", OfflineOptions::default(), session)
    }

    fn answer(dimension: &str, score: u8) -> String {
        format!(
            r#"{{"dimension_reason":"the moment","dimension":"{dimension}","comparison":"reply 1 and reply 2","score":{score}}}"#
        )
    }

    fn pair(language: Language) -> Pair<'static> {
        Pair {
            language,
            name: "Tess",
            profile: &[],
            lines: &[],
            others: &[],
            situation: "A bridge.",
            history: &[],
            source: "SOURCE",
            base: "BASE",
            target: Some("RR"),
        }
    }

    #[tokio::test]
    async fn the_score_is_mirrored_for_the_reversed_order() {
        let table = dimensions(None).expect("the table is embedded and tested");
        for language in Language::ALL {
            let mut orders = [0, 0];
            for turn in 0..64 {
                let draw = judging(turn);
                let judge = judge(Some(&answer("CA", 2)));
                let selection = select(&judge, &Params::default(), &table, pair(language), draw).await.expect("judged");
                assert_eq!(selection.dimension, "CA");
                let first = selection.rationale.lines().next().expect("the first line identifies the replies");
                let source_first =
                    ["(Reply 1: source. Reply 2: base.)", "（回复一：来源模型。回复二：基准模型。）"].contains(&first);
                // Reply 1 is better: the source reply if it came first, else the base reply.
                let expected = if source_first { (2, Candidate::Source) } else { (4, Candidate::Base) };
                assert_eq!((selection.score, selection.kept), expected, "{first}");
                orders[usize::from(source_first)] += 1;
            }
            assert!(orders.iter().all(|&count| count > 16), "both orders occur: {orders:?}");
        }
    }

    #[tokio::test]
    async fn position_bias_cancels_out_in_both_orders() {
        let table = dimensions(None).expect("the table is embedded and tested");
        let params = Params { both_orders: true, ..Params::default() };
        for language in Language::ALL {
            // This judge always prefers the first reply.
            let judge = judge(Some(&answer("CA", 1)));
            let selection = select(&judge, &params, &table, pair(language), other).await.expect("judged");
            assert_eq!((selection.score, selection.dimension.as_str()), (3, "CA"));
            let orders = (selection.score_source_first, selection.score_base_first);
            assert_eq!(orders, (Some(1), Some(5)), "the scores of both orders are recorded");
            assert_eq!(
                selection.rationale.matches("reply 1 and reply 2").count(),
                2,
                "the reasons of both orders are recorded"
            );
        }
        for (one, other, expected) in [(1, 1, 1), (1, 2, 2), (2, 3, 3), (1, 5, 3), (3, 4, 3), (4, 5, 4), (5, 5, 5)] {
            assert_eq!((mean(one, other), mean(other, one)), (expected, expected), "{one} {other}");
        }
    }

    #[tokio::test]
    async fn the_source_reply_is_kept_up_to_the_threshold() {
        let table = dimensions(None).expect("the table is embedded and tested");
        let judge = judge(Some(&answer("CA", 3)));
        for (keep_source, kept) in [(3, Candidate::Source), (2, Candidate::Base)] {
            let params = Params { keep_source, ..Params::default() };
            let selection = select(&judge, &params, &table, pair(Language::En), other).await.expect("judged");
            assert_eq!((selection.score, selection.kept), (3, kept));
        }
    }

    #[tokio::test]
    async fn equal_replies_need_no_judge() {
        let table = dimensions(None).expect("the table is embedded and tested");
        for language in Language::ALL {
            let equal = Pair { base: "SOURCE", ..pair(language) };
            let selection = select(&judge(None), &Params::default(), &table, equal, other).await.expect("no call");
            assert_eq!((selection.score, selection.dimension.as_str()), (3, "RR"));
            let untargeted = Pair { target: None, ..equal };
            let mut found = std::collections::BTreeSet::new();
            for turn in 0..40 {
                let selection =
                    select(&judge(None), &Params::default(), &table, untargeted, judging(turn)).await.expect("no call");
                found.insert(selection.dimension);
            }
            assert_eq!(found.len(), 5, "{found:?}");
        }
    }

    #[tokio::test]
    async fn an_unknown_dimension_or_score_is_a_bad_reply() {
        let table = dimensions(None).expect("the table is embedded and tested");
        for (text, fault) in [(answer("XX", 2), "dimension"), (answer("CR", 0), "score"), (answer("CR", 6), "score")] {
            let error = select(&judge(Some(&text)), &Params::default(), &table, pair(Language::En), other).await;
            let error = error.expect_err("the answer violates the schema");
            assert_eq!(error.reason(), crate::schema::RejectReason::BadReply);
            assert!(error.to_string().contains(fault), "{error}");
        }
    }

    fn rendered(language: Language, params: &Params) -> String {
        let text = |en: &str, zh: &str| match language {
            Language::En => en.to_owned(),
            Language::Zh => zh.to_owned(),
        };
        let attribute =
            |key: &str, value: &str, visibility| Attribute { key: key.to_owned(), value: value.to_owned(), visibility };
        let own = |en: (&str, &str), zh: (&str, &str), visibility| match language {
            Language::En => attribute(en.0, en.1, visibility),
            Language::Zh => attribute(zh.0, zh.1, visibility),
        };
        let (name, other) = (text("Tess", "苔丝"), text("Ann", "安"));
        let profile = [
            own(("trade", "ferrywoman"), ("行当", "摆渡人"), Visibility::Public),
            own(("secret", "cannot swim"), ("秘密", "不会游泳"), Visibility::Private),
        ];
        let line = |speaker: &str, content: String, is_test| Line { speaker: speaker.to_owned(), content, is_test };
        let history = [
            line(&other, text("Is the rope sound?", "绳子还结实吗？"), false),
            line(&name, text("(nods) It was.", "(点头) 先前是。"), true),
        ];
        let others = [CastMember {
            name: other.clone(),
            profile: vec![own(("trade", "salt trader"), ("行当", "盐商"), Visibility::Public)],
        }];
        let pair = Pair {
            language,
            name: &name,
            profile: &profile,
            lines: &[text("Water keeps no promises.", "水不守信。")],
            others: &others,
            situation: &text("A ferry in fog.", "雾中的渡船。"),
            history: &history,
            source: &text("Then we wait.", "那就等。"),
            base: &text("Let us go.", "走吧。"),
            target: Some("RR"),
        };
        let table = dimensions(None).expect("the table is embedded and tested");
        let ask = pair.ask(params, &table[..2], true);
        let messages = ask.messages(&prompts()).expect("renders");
        let show = |message: &Message| format!("[{}]\n{}", message.role.name(), message.content);
        messages.iter().map(show).collect::<Vec<_>>().join("\n\n")
    }

    #[test]
    fn the_judge_prompt_matches_its_snapshot() {
        insta::assert_snapshot!("judge_en", rendered(Language::En, &Params::default()));
        insta::assert_snapshot!("judge_zh", rendered(Language::Zh, &Params { hint: true, ..Params::default() }));
    }

    #[test]
    fn the_judges_schema_lists_the_dimensions() {
        let table = dimensions(None).expect("the table is embedded and tested");
        let crate::llm::Shape::Json(schema) = pair(Language::En).ask(&Params::default(), &table, true).shape() else {
            panic!("a judgement is JSON");
        };
        assert_eq!(schema["properties"]["dimension"]["enum"], serde_json::json!(["CR", "FR", "RR", "CA", "PA"]));
        let keys: Vec<&String> = schema["properties"].as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["dimension_reason", "dimension", "comparison", "score"], "reasons come before verdicts");
        assert_eq!(schema["required"].as_array().map(Vec::len), Some(4));
    }
}
