//! Draws, which identify each model call of a run.

use std::fmt;

use super::{ConversationId, Language, RoleId, SceneId};

/// Identifies a call among all calls of an ask: the item that it is about, and which call for that item it is.
///
/// Its text is part of the journal key and of the seed of the call. The same ask with another draw is another call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Draw {
    /// The boundary after a chunk.
    Boundary {
        /// Id of the chunk before the boundary.
        chunk: String,
    },
    /// The scenes of a chunk.
    Scenes {
        /// Id of the chunk.
        chunk: String,
        /// Whether it is the second call, after an answer that could not be used.
        is_second: bool,
    },
    /// The description of a scene.
    SceneDescription {
        /// Id of the scene.
        scene: SceneId,
    },
    /// The repair of a scene's dialogue.
    SceneRepair {
        /// Id of the scene.
        scene: SceneId,
        /// Round of repairs, from 0.
        round: u32,
    },
    /// A step in the synthesis of a world and its characters.
    World {
        /// Language of the world.
        language: Language,
        /// Number of the world within its language.
        world: String,
        /// The step.
        step: WorldStep,
        /// The call within the step.
        call: WorldCall,
    },
    /// A turn of a conversation.
    Turn {
        /// Id of the conversation.
        conversation: ConversationId,
        /// Index of the turn, from 0.
        turn: u32,
        /// The call within the turn.
        call: TurnCall,
    },
    /// The quality rating of a conversation.
    Rating {
        /// Id of the conversation.
        conversation: ConversationId,
    },
    /// Role data.
    Role {
        /// Id of the role.
        role: RoleId,
        /// The call for the role.
        call: RoleCall,
    },
    /// A call outside of a pipeline, as in tests, identified by any text.
    Other(String),
}

/// Steps in the synthesis of a world and its characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorldStep {
    /// The world.
    World,
    /// Its characters.
    Characters,
    /// A scene.
    Scene,
    /// The dialogue of the scene.
    Dialogue,
}

/// Calls within a step of a synthesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorldCall {
    /// An attempt or its review; attempts are counted from 0.
    Attempt(u32),
    /// The resemblance of a character to a known figure.
    KnownFigure,
}

/// Calls within a turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnCall {
    /// The director's choice of the next speaker.
    Director,
    /// The reply of a scene character.
    Scene,
    /// The source model's reply of the test character.
    Source,
    /// The base model's reply of the test character.
    Base,
    /// A judge's verdict on the two replies.
    Judge {
        /// Name of the judge if it is an extra judge.
        extra_judge: Option<String>,
        /// Order of the replies.
        order: ReplyOrder,
    },
}

/// Order in which a judge sees two replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyOrder {
    /// The order that was drawn for the turn.
    Drawn,
    /// The opposite order.
    Swapped,
}

/// Calls for a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoleCall {
    /// How distinct its speech is.
    Grade,
    /// Its description in the third person.
    Portrait,
    /// Its description in the second person.
    Address,
    /// Its catchphrases.
    Catchphrases,
    /// Questions about a segment of its dialogue, by the segment's id.
    Segment(String),
    /// Questions about its description, by the number of the call.
    Description(u32),
    /// A reply to a general instruction.
    General {
        /// Id of the instruction.
        instruction: String,
        /// Number of the reply, from 0.
        reply: u32,
        /// Hash of data that the offline engine uses and that is not part of the request.
        offline_data: Option<String>,
    },
}

impl Draw {
    /// Returns the draw of a call in a turn.
    #[must_use]
    pub fn turn(conversation: &ConversationId, turn: u32, call: TurnCall) -> Self {
        Self::Turn { conversation: conversation.clone(), turn, call }
    }

    /// Returns the draw of a call for a role.
    #[must_use]
    pub fn role(role: &RoleId, call: RoleCall) -> Self {
        Self::Role { role: role.clone(), call }
    }

    /// Whether the call belongs to a conversation that has started.
    #[must_use]
    pub const fn is_later_turn(&self) -> bool {
        matches!(self, Self::Turn { turn: 1.., .. } | Self::Rating { .. })
    }
}

impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boundary { chunk } => write!(f, "{chunk}/border"),
            Self::Scenes { chunk, is_second: false } => write!(f, "{chunk}/scenes"),
            Self::Scenes { chunk, is_second: true } => write!(f, "{chunk}/scenes/again"),
            Self::SceneDescription { scene } => write!(f, "{scene}/describe"),
            Self::SceneRepair { scene, round: 0 } => write!(f, "{scene}/repair"),
            Self::SceneRepair { scene, round } => write!(f, "{scene}/repair/again{round}"),
            Self::World { language, world, step, call } => write!(f, "{language}/{world}/{step}/{call}"),
            Self::Turn { conversation, turn, call } => write!(f, "{conversation}/{turn}/{call}"),
            Self::Rating { conversation } => write!(f, "{conversation}/rate"),
            Self::Role { role, call } => write!(f, "{role}/{call}"),
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for WorldStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::World => "world",
            Self::Characters => "characters",
            Self::Scene => "scene",
            Self::Dialogue => "dialogue",
        })
    }
}

impl fmt::Display for WorldCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Attempt(number) => write!(f, "{number}"),
            Self::KnownFigure => f.write_str("known"),
        }
    }
}

impl fmt::Display for TurnCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Director => f.write_str("director"),
            Self::Scene => f.write_str("scene"),
            Self::Source => f.write_str("source"),
            Self::Base => f.write_str("base"),
            Self::Judge { extra_judge, order } => {
                f.write_str("judge")?;
                if let Some(judge) = extra_judge {
                    write!(f, "/{judge}")?;
                }
                match order {
                    ReplyOrder::Drawn => Ok(()),
                    ReplyOrder::Swapped => f.write_str("-swapped"),
                }
            }
        }
    }
}

impl fmt::Display for RoleCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grade => f.write_str("grade"),
            Self::Portrait => f.write_str("describe"),
            Self::Address => f.write_str("address"),
            Self::Catchphrases => f.write_str("catchphrases"),
            Self::Segment(segment) => write!(f, "segment/{segment}"),
            Self::Description(number) => write!(f, "description/{number}"),
            Self::General { instruction, reply, offline_data } => {
                write!(f, "general/{instruction}/{reply}")?;
                offline_data.as_ref().map_or(Ok(()), |hash| write!(f, "/{hash}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_stable_texts() {
        let (conversation, role) = (ConversationId::from("zero/qwen3/7"), RoleId::from("薛嵩"));
        let judge = |extra_judge: Option<&str>, order| {
            Draw::turn(&conversation, 12, TurnCall::Judge { extra_judge: extra_judge.map(str::to_owned), order })
        };
        let general = |offline_data: Option<&str>| {
            let (instruction, offline_data) = ("i1".to_owned(), offline_data.map(str::to_owned));
            Draw::role(&role, RoleCall::General { instruction, reply: 3, offline_data })
        };
        let world = |step, call| Draw::World { language: Language::Zh, world: "2".to_owned(), step, call };
        let (chunk, scene) = ("tide/0".to_owned(), SceneId::from("tide@12"));
        for (draw, text) in [
            (Draw::Boundary { chunk: chunk.clone() }, "tide/0/border"),
            (Draw::Scenes { chunk: chunk.clone(), is_second: false }, "tide/0/scenes"),
            (Draw::Scenes { chunk, is_second: true }, "tide/0/scenes/again"),
            (Draw::SceneDescription { scene: scene.clone() }, "tide@12/describe"),
            (Draw::SceneRepair { scene: scene.clone(), round: 0 }, "tide@12/repair"),
            (Draw::SceneRepair { scene, round: 2 }, "tide@12/repair/again2"),
            (world(WorldStep::World, WorldCall::Attempt(0)), "zh/2/world/0"),
            (world(WorldStep::Characters, WorldCall::KnownFigure), "zh/2/characters/known"),
            (Draw::turn(&conversation, 0, TurnCall::Director), "zero/qwen3/7/0/director"),
            (judge(None, ReplyOrder::Drawn), "zero/qwen3/7/12/judge"),
            (judge(Some("strong"), ReplyOrder::Swapped), "zero/qwen3/7/12/judge/strong-swapped"),
            (Draw::Rating { conversation: conversation.clone() }, "zero/qwen3/7/rate"),
            (Draw::role(&role, RoleCall::Portrait), "薛嵩/describe"),
            (Draw::role(&role, RoleCall::Segment("4-9".to_owned())), "薛嵩/segment/4-9"),
            (general(None), "薛嵩/general/i1/3"),
            (general(Some("0f")), "薛嵩/general/i1/3/0f"),
        ] {
            assert_eq!(draw.to_string(), text);
        }
    }

    #[test]
    fn later_turns_belong_to_conversations_that_have_started() {
        let conversation = ConversationId::from("zero/qwen3/7");
        assert!(!Draw::turn(&conversation, 0, TurnCall::Source).is_later_turn());
        assert!(Draw::turn(&conversation, 1, TurnCall::Source).is_later_turn());
        assert!(!Draw::role(&RoleId::from("zero"), RoleCall::Description(7)).is_later_turn());
    }
}
