//! The model calls for one role: grade, profile, triplets, replies. No step needs data of another role.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::{StreamExt as _, stream};

use super::asks::{
    AddressRole, AskDescription, AskSegment, ChooseCatchphrases, DescribeRole, GradeVoice, OfflineMaterial, PlayRole,
    Triplet, Triplets, angle,
};
use super::general::{Exchanges, GeneralInstruction};
use super::params::Params;
use super::role::{DESCRIPTION, ExampleLines, Role, segments};
use super::rows::{Fault, fault};
use crate::llm::{AskError, Model};
use crate::schema::{
    Distinctness, Draw, PromptStyle, Reject, RejectReason, RoleCall, RoleGeneral, RoleProfile, RoleSpecific, Split,
    Stage, TripletKind,
};

/// Concurrent calls per role; the model's own limits are lower.
const CONCURRENT_CALLS: usize = 128;

/// The models and settings of the stage.
#[derive(Debug, Clone)]
pub struct RoleContext {
    /// Grades and describes roles, and writes questions and answers.
    pub instructor: Arc<Model>,
    /// Plays the roles.
    pub role_player: Arc<Model>,
    /// The stage's settings.
    pub params: Params,
    /// The run's seed.
    pub seed: u64,
}

/// The result of one role, before roles are compared.
#[derive(Debug, Clone)]
pub struct RoleOutput {
    /// Its profile.
    pub profile: RoleProfile,
    /// Its names.
    pub names: Vec<String>,
    /// All triplets, unfiltered.
    pub candidates: Vec<RoleSpecific>,
    /// Its replies to general instructions.
    pub general: Vec<RoleGeneral>,
    /// What was dropped.
    pub rejects: Vec<Reject>,
}

/// Returns how distinct a role's speech is. An error that does not end the run is a reject.
pub async fn grade_speech(model: &Model, role: &Role) -> Result<Result<Distinctness, Reject>, AskError> {
    let ask = GradeVoice {
        language: role.language,
        name: role.name.clone(),
        lines: role.lines.clone(),
        others: role.others.clone(),
    };
    match model.ask(&ask, &Draw::role(&role.id, RoleCall::Grade)).await {
        Ok(grade) => Ok(Ok(grade.distinctness)),
        Err(error) if error.ends_the_run() => Err(error),
        Err(error) => Ok(Err(Reject::new(Stage::Instruct, &role.id, error.reason(), error.detail()))),
    }
}

/// Returns the minimum number of calls for a role.
#[must_use]
pub fn min_calls(params: &Params, role: &Role, general: &[GeneralInstruction], seed: u64) -> u64 {
    let segments = segments(params, role, seed).0.len() as u64;
    let general = general.iter().filter(|general| general.language == role.language).count() as u64;
    let phrases = u64::from(!role.phrases.is_empty() && params.max_catchphrases > 0);
    2 + phrases + segments + u64::from(params.agnostic_calls) + general * u64::from(params.replies)
}

/// Makes all calls for a role. `done` is called after each of them. A call that fails without ending the run only loses
/// its own result, except for the description: without one the role itself is rejected.
pub async fn process_role(
    context: &RoleContext,
    role: &Role,
    distinctness: Option<Distinctness>,
    general: &[GeneralInstruction],
    done: &(dyn Fn() + Sync),
) -> Result<Result<RoleOutput, Reject>, AskError> {
    let mut rejects = Vec::new();
    let Some((portrait, description)) = describe(context, role, done, &mut rejects).await? else {
        return Ok(Err(rejects.pop().expect("a missing description adds a reject")));
    };
    let catchphrases = catchphrases(context, role, done, &mut rejects).await?;
    let described = DescribedRole { role, description: &description, catchphrases: &catchphrases };
    let candidates = candidates(context, &described, done, &mut rejects).await?;
    let general = replies(context, &described, general, done, &mut rejects).await?;
    let profile = RoleProfile {
        role: role.name.clone(),
        language: role.language,
        source: role.source.clone(),
        rounds: role.rounds(),
        turns: u32::try_from(role.dialogue.len()).unwrap_or(u32::MAX),
        role_id: role.id.clone(),
        portrait,
        distinctness,
        role_split: Split::Train,
        dialogue: role.dialogue.clone(),
        model: context.instructor.id().to_owned(),
        description,
        catchphrases,
    };
    let names = role.names().into_iter().map(str::to_owned).collect();
    Ok(Ok(RoleOutput { profile, names, candidates, general, rejects }))
}

/// A role with its description and catchphrases.
struct DescribedRole<'a> {
    role: &'a Role,
    description: &'a str,
    catchphrases: &'a [String],
}

/// Describes a role in the third person, then in the second.
async fn describe(
    context: &RoleContext,
    role: &Role,
    done: &(dyn Fn() + Sync),
    rejects: &mut Vec<Reject>,
) -> Result<Option<(String, String)>, AskError> {
    let ask = DescribeRole {
        language: role.language,
        name: role.name.clone(),
        aliases: role.aliases.clone(),
        profile: role.profile.clone(),
        lines: role.lines.clone(),
    };
    let portrait = context.instructor.ask(&ask, &Draw::role(&role.id, RoleCall::Portrait)).await;
    done();
    let Some(portrait) = answered(portrait, &role.id, rejects)? else { return Ok(None) };
    let portrait = portrait.trim().to_owned();
    let ask = AddressRole { language: role.language, portrait: portrait.clone() };
    let description = context.instructor.ask(&ask, &Draw::role(&role.id, RoleCall::Address)).await;
    done();
    let description = answered(description, &role.id, rejects)?;
    Ok(description.map(|description| (portrait, description.trim().to_owned())))
}

async fn catchphrases(
    context: &RoleContext,
    role: &Role,
    done: &(dyn Fn() + Sync),
    rejects: &mut Vec<Reject>,
) -> Result<Vec<String>, AskError> {
    let most = context.params.max_catchphrases;
    if role.phrases.is_empty() || most == 0 {
        return Ok(Vec::new());
    }
    let (name, phrases) = (role.name.clone(), role.phrases.clone());
    let ask = ChooseCatchphrases { language: role.language, name, phrases, most };
    let chosen = context.instructor.ask(&ask, &Draw::role(&role.id, RoleCall::Catchphrases)).await;
    done();
    let chosen = answered(chosen, &format!("{}/catchphrases", role.id), rejects)?;
    let mut catchphrases: Vec<String> = Vec::new();
    for phrase in chosen.into_iter().flat_map(|chosen| chosen.catchphrases) {
        if !catchphrases.contains(&phrase) {
            catchphrases.push(phrase);
        }
    }
    Ok(catchphrases)
}

/// Collects triplets from all segments, then from calls on the description until there are enough.
async fn candidates(
    context: &RoleContext,
    described: &DescribedRole<'_>,
    done: &(dyn Fn() + Sync),
    rejects: &mut Vec<Reject>,
) -> Result<Vec<RoleSpecific>, AskError> {
    let (params, role) = (&context.params, described.role);
    let (segments, segment_rejects) = segments(params, role, context.seed);
    rejects.extend(segment_rejects);
    let asked = stream::iter(segments).map(|segment| async move {
        let ask = AskSegment {
            language: role.language,
            name: role.name.clone(),
            description: described.description.to_owned(),
            catchphrases: described.catchphrases.to_vec(),
            turns: segment.turns,
            count: params.script_based,
        };
        let draw = Draw::role(&role.id, RoleCall::Segment(segment.id.clone()));
        let answer = context.instructor.ask(&ask, &draw).await;
        done();
        (segment.id, answer)
    });
    let answers: Vec<_> = asked.buffered(CONCURRENT_CALLS).collect().await;
    let mut candidates = Vec::new();
    for (segment, answer) in answers {
        let id = format!("{}/{segment}", role.id);
        if let Some(triplets) = answered(answer, &id, rejects)? {
            candidates.extend(rows(context, role, TripletKind::ScriptBased, &segment, &id, triplets));
        }
    }
    let required = usize::try_from(params.candidates).unwrap_or(usize::MAX);
    let per_call = params.script_agnostic.max(1);
    let mut begun: u32 = 0;
    loop {
        let missing = u32::try_from(required.saturating_sub(candidates.len())).unwrap_or(u32::MAX);
        let next = if begun == 0 { params.agnostic_calls } else { missing.div_ceil(per_call) };
        let next = begun..begun.saturating_add(next).min(params.max_agnostic_calls.max(params.agnostic_calls));
        if next.is_empty() || (begun > 0 && missing == 0) {
            break;
        }
        begun = next.end;
        let asked = stream::iter(next).map(|n| async move {
            let ask = AskDescription {
                language: role.language,
                name: role.name.clone(),
                description: described.description.to_owned(),
                catchphrases: described.catchphrases.to_vec(),
                lines: role.lines.clone(),
                angle: angle(n, role.language),
                count: params.script_agnostic,
            };
            let answer = context.instructor.ask(&ask, &Draw::role(&role.id, RoleCall::Description(n))).await;
            done();
            (n, answer)
        });
        let answers: Vec<_> = asked.buffered(CONCURRENT_CALLS).collect().await;
        for (n, answer) in answers {
            let id = format!("{}/{DESCRIPTION}/{n}", role.id);
            if let Some(triplets) = answered(answer, &id, rejects)? {
                candidates.extend(rows(context, role, TripletKind::ScriptAgnostic, DESCRIPTION, &id, triplets));
            }
        }
    }
    Ok(candidates)
}

/// Converts triplets to rows.
fn rows(
    context: &RoleContext,
    role: &Role,
    kind: TripletKind,
    segment: &str,
    id: &str,
    triplets: Triplets,
) -> Vec<RoleSpecific> {
    let row = |(n, triplet): (usize, Triplet)| RoleSpecific {
        id: format!("{id}/{n}"),
        role: role.name.clone(),
        language: role.language,
        kind,
        question: triplet.question.trim().to_owned(),
        generated: vec![triplet.answer.trim().to_owned()],
        confidence: triplet.confidence,
        rationale: triplet.rationale.trim().to_owned(),
        segment: segment.to_owned(),
        similarity: None,
        model: context.instructor.id().to_owned(),
        role_id: role.id.clone(),
        role_split: None,
        split: Split::Train,
    };
    triplets.triplets.into_iter().enumerate().map(row).collect()
}

/// Returns the data for the offline reply to each instruction.
fn material(role: &Role, general: &[&GeneralInstruction]) -> Vec<OfflineMaterial> {
    let sayings = ExampleLines::new(role);
    let for_instruction = |general: &&GeneralInstruction| {
        let sayings = sayings.nearest(&format!("{} {}", general.text, general.answer));
        OfflineMaterial { answer: general.answer.clone(), sayings }
    };
    general.iter().map(for_instruction).collect()
}

/// Has the role answer the general instructions of its language, several times each, and cleans the replies except the
/// baseline.
async fn replies(
    context: &RoleContext,
    described: &DescribedRole<'_>,
    general: &[GeneralInstruction],
    done: &(dyn Fn() + Sync),
    rejects: &mut Vec<Reject>,
) -> Result<Vec<RoleGeneral>, AskError> {
    let (params, role) = (&context.params, described.role);
    let own: Vec<&GeneralInstruction> = general.iter().filter(|general| general.language == role.language).collect();
    if own.is_empty() {
        return Ok(Vec::new());
    }
    // A role without exchanges has no examples, whatever the prompt style.
    let exchanges = (params.prompt_style != PromptStyle::ZeroShot && params.few_shot > 0).then(|| Exchanges::new(role));
    let exchanges = exchanges.filter(|exchanges| !exchanges.is_empty());
    let prompt_style = if exchanges.is_some() { params.prompt_style } else { PromptStyle::ZeroShot };
    let draws: Vec<(usize, u32)> =
        (0..own.len()).flat_map(|index| (0..params.replies).map(move |n| (index, n))).collect();
    // The data is not part of a request; the offline engine needs it, also when it stands in for a server in a dry run.
    let is_offline = !context.role_player.is_served() || context.role_player.session().dry_run().is_some();
    let material = if is_offline { material(role, &own) } else { vec![OfflineMaterial::default(); own.len()] };
    let (own, exchanges, material) = (&own, &exchanges, &material);
    let asked = stream::iter(draws).map(|(index, n)| {
        let general = own[index];
        let examples =
            exchanges.as_ref().map_or_else(Vec::new, |exchanges| exchanges.nearest(&general.text, params.few_shot));
        async move {
            let ask = PlayRole {
                language: role.language,
                name: role.name.clone(),
                description: described.description.to_owned(),
                catchphrases: described.catchphrases.to_vec(),
                prompt_style,
                examples,
                instruction: general.text.clone(),
                material: material[index].clone(),
            };
            // The request does not contain this data, so the draw must distinguish it.
            let offline_data = (!context.role_player.is_served()).then(|| ask.material.hash());
            let call = RoleCall::General { instruction: general.id.clone(), reply: n, offline_data };
            let answer = context.role_player.ask(&ask, &Draw::role(&role.id, call)).await;
            done();
            (index, n, answer)
        }
    });
    let mut answers: BTreeMap<usize, Vec<(u32, String)>> = BTreeMap::new();
    for (index, n, answer) in asked.buffered(CONCURRENT_CALLS).collect::<Vec<_>>().await {
        let row = format!("{}/general/{}/{n}", role.id, own[index].id);
        if let Some(reply) = answered(answer, &row, rejects)? {
            answers.entry(index).or_default().push((n, reply.trim().to_owned()));
        }
    }
    let names = role.names();
    let mut rows = Vec::new();
    for (index, general) in own.iter().enumerate() {
        let id = format!("{}/general/{}", role.id, general.id);
        let (mut generated, mut baseline) = (Vec::new(), None);
        // If there is no answer at all, each failed call is already a reject.
        let Some(answers) = answers.remove(&index) else { continue };
        for (n, reply) in answers {
            match reply_kind(params.replies, n, &reply, &names) {
                ReplyKind::Baseline => baseline = Some(reply),
                ReplyKind::Unclean(fault) => {
                    rejects.push(Reject::new(Stage::Instruct, format!("{id}/{n}"), fault.reason(), reply));
                }
                ReplyKind::Clean => generated.push(reply),
            }
        }
        if generated.is_empty() {
            let detail = "no reply passed cleaning".to_owned();
            rejects.push(Reject::new(Stage::Instruct, id, RejectReason::NoneLeft, detail));
            continue;
        }
        rows.push(RoleGeneral {
            id,
            role: role.name.clone(),
            language: role.language,
            question: general.text.clone(),
            answer: general.answer.clone(),
            generated,
            baseline,
            form: prompt_style,
            model: context.role_player.id().to_owned(),
            role_id: role.id.clone(),
            instruction: general.id.clone(),
            role_split: None,
            split: Split::Train,
        });
    }
    Ok(rows)
}

/// The classification of a reply.
#[derive(Debug, PartialEq, Eq)]
enum ReplyKind {
    /// The last reply, whatever its content: only the others are cleaned (Appendix D, 4 and 5).
    Baseline,
    Unclean(Fault),
    Clean,
}

/// Classifies reply `n` of `replies`. A single reply is not a baseline.
fn reply_kind(replies: u32, n: u32, reply: &str, names: &[&str]) -> ReplyKind {
    if replies > 1 && n + 1 == replies {
        return ReplyKind::Baseline;
    }
    fault(reply, names).map_or(ReplyKind::Clean, ReplyKind::Unclean)
}

/// Returns an answer; an error that does not end the run becomes a reject.
fn answered<T>(answer: Result<T, AskError>, id: &str, rejects: &mut Vec<Reject>) -> Result<Option<T>, AskError> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.ends_the_run() => Err(error),
        Err(error) => {
            rejects.push(Reject::new(Stage::Instruct, id, error.reason(), error.detail()));
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appendix_d_4_of_six_replies_one_is_the_baseline_and_only_five_are_cleaned() {
        let of =
            |replies, reply: &str| (0..replies).map(|n| reply_kind(replies, n, reply, &["Ann"])).collect::<Vec<_>>();
        let unclean = of(6, "As an AI language model, I have no boat.");
        assert_eq!(unclean[5], ReplyKind::Baseline, "a baseline is not cleaned");
        assert!(unclean[..5].iter().all(|one| *one == ReplyKind::Unclean(Fault::RevealsModel)));
        assert_eq!(of(6, "我没有船。")[4..], [ReplyKind::Clean, ReplyKind::Baseline]);
        assert_eq!(of(1, "I have no boat."), [ReplyKind::Clean]);
    }
}
