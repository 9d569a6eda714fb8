//! The table `[instruct]`: all settings of Context-Instruct and `RoleGPT`, with their sources.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::{ByLanguage, Distinctness, PromptStyle};

/// The source of roles: a keyword, patterns of character files, or a list of either.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Roles {
    /// `pool`, `characters`, or a file, folder or glob.
    One(String),
    /// Several of these.
    Several(Vec<String>),
}

impl Default for Roles {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

impl Roles {
    /// The keyword for frequent speakers in the scene pool. Write `./pool` for a folder of that name.
    pub const POOL: &'static str = "pool";
    /// The keyword for the test characters of the run.
    pub const CHARACTERS: &'static str = "characters";

    /// Returns whether a keyword is included.
    #[must_use]
    pub fn has(&self, word: &str) -> bool {
        match self {
            Self::One(one) => one == word,
            Self::Several(several) => several.iter().any(|one| one == word),
        }
    }

    /// Returns whether there are no sources.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        matches!(self, Self::Several(several) if several.is_empty())
    }
}

/// How the rows are split into `train` and `test`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SplitRule {
    /// No question of one split is similar to one of the other.
    LeakFree,
    /// As in Appendix C: the questions removed as duplicates are the test data, however similar they are to the
    /// training data.
    Paper,
}

/// Settings of the stage (the table `[instruct]`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Sources of the roles: `pool` for frequent speakers of the books, `characters` for the run's test characters, or
    /// character files (files, folders, globs); one of them or a list. If this and `scripts` are empty, the stage does
    /// nothing.
    pub roles: Roles,
    /// Scripts whose roles are added: screenplays, plays, Fountain, lines of `NAME: words` (files, folders, globs).
    /// They are parsed by rule, including narration and actions; no model is asked for their scenes.
    pub scripts: Vec<String>,
    /// Minimum number of turns of a role from the pool or a script. The paper uses 25 (Appendix D, 1).
    #[schemars(range(min = 1))]
    pub min_turns: u32,
    /// Minimum distinctness of such a role: how well it can be recognized by its words alone. The paper keeps the two
    /// best of four grades (Appendix D, 1).
    pub min_distinctness: Distinctness,
    /// Maximum number of such roles per book or script: those with the best grade, then those with most turns.
    #[schemars(range(min = 1))]
    pub roles_per_book: u32,
    /// Maximum number of catchphrases per role.
    pub max_catchphrases: u32,
    /// Minimum keyness of a catchphrase: Dunning's G² of its counts in the role's lines and in other lines. Chance
    /// exceeds 10.83 once in a thousand times.
    #[schemars(range(min = 0.0))]
    pub min_keyness: f64,
    /// Minimum number of the role's turns that contain a catchphrase.
    #[schemars(range(min = 1))]
    pub min_phrase_turns: u32,
    /// Minimum length of a segment, in English words or Chinese characters. The paper uses 500 words (Appendix C, rule
    /// 2).
    pub min_segment: ByLanguage<u32>,
    /// Minimum number of turns in a segment. The paper uses 4 (Appendix C, rule 2).
    #[schemars(range(min = 1))]
    pub min_segment_turns: u32,
    /// Maximum length of a turn, in English words or Chinese characters; longer turns are dropped. The defaults are the
    /// paper's (Appendix C, rule 3).
    pub max_turn_words: ByLanguage<u32>,
    /// Maximum number of segments per role; if there are more, this many are sampled. The paper uses 100 (Appendix C,
    /// rule 4).
    pub max_segments: u32,
    /// Maximum length of a segment, in English words or Chinese characters; a longer one is cut after the last turn
    /// that fits. The paper uses 2,000 words (Appendix C, rule 5) and gives no figure for Chinese; 2,000 characters fit
    /// its limit of 4,096 tokens.
    pub max_segment_words: ByLanguage<u32>,
    /// Triplets per segment. The paper uses 3 (Appendix C).
    #[schemars(range(min = 1, max = 20))]
    pub script_based: u32,
    /// Triplets per call on the description. The paper uses 10 (Appendix C).
    #[schemars(range(min = 1, max = 20))]
    pub script_agnostic: u32,
    /// Calls on the description. The paper uses 20 (Appendix C).
    #[schemars(range(max = 400))]
    pub agnostic_calls: u32,
    /// Target number of triplets per role; if the calls above give fewer, further calls on the description are made.
    /// The paper uses 400 (Appendix C).
    pub candidates: u32,
    /// Maximum number of calls on the description of a role, a limit for models that return no triplets. Each call has
    /// its own topic, of which there are 400.
    #[schemars(range(max = 400))]
    pub max_agnostic_calls: u32,
    /// Share of a role's high-confidence questions that de-duplication keeps, 0 to 1. The paper removes about 66 %
    /// (Appendix C). Ignored if `threshold` is set.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub dedup_keep_ratio: f64,
    /// Similarity above which one of two questions is removed, 0 to 1: the BM25 score divided by the query's score with
    /// itself. Replaces `dedup_keep_ratio`.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub threshold: Option<f64>,
    /// Whether de-duplication also compares questions of different roles.
    pub across_roles: bool,
    /// How the rows are split. The paper's rule leaks by design; its overlap is reported.
    pub split: SplitRule,
    /// Similarity from which two questions may not be in different splits of a leak-free split, 0 to 1.
    pub leak_similarity: ByLanguage<f64>,
    /// Maximum number of removed questions per role that are test data by the paper's rule, the least similar to the
    /// kept ones first. The paper uses 50 (Appendix C).
    pub max_test: u32,
    /// One in this many instructions, and questions of a role, is held out. The paper's ratio (Appendix G) is 4 : 1.
    #[schemars(range(min = 2))]
    pub test_every_instruction: u32,
    /// One in this many roles of a language is held out. The paper's ratio (Appendix G) is 8 : 1, for English only.
    #[schemars(range(min = 2))]
    pub test_every_role: u32,
    /// Maximum number of general rows of a held-out role. The paper uses 500 (Appendix G).
    pub held_out_general: u32,
    /// Files of general instructions: one JSON object per line with `instruction` and `answer` (files, folders, globs).
    pub instructions: Vec<String>,
    /// Maximum number of general instructions per language; if there are more, this many are sampled. The paper uses
    /// 1,500 and 1,479 (3.4).
    pub max_instructions: ByLanguage<u32>,
    /// Upper limit (exclusive) on the length of an instruction with its plain answer, in English words or Chinese
    /// characters. The paper uses 100 words (Appendix D, 3), which is about 200 characters.
    pub max_instruction: ByLanguage<u32>,
    /// Similarity above which one of two general instructions is removed, 0 to 1. The paper gives no figure.
    pub instruction_threshold: ByLanguage<f64>,
    /// The prompt style for playing a role. Dialogue is the paper's best (4.2).
    pub prompt_style: PromptStyle,
    /// Number of the role's exchanges shown as examples: those most similar to the instruction. The paper uses 5 (3.2).
    pub few_shot: u32,
    /// Replies per instruction; the last one is the baseline. The paper uses 6 (Appendix D, 4).
    #[schemars(range(min = 1, max = 64))]
    pub replies: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            roles: Roles::default(),
            scripts: Vec::new(),
            min_turns: 25,
            min_distinctness: Distinctness::Very,
            roles_per_book: 5,
            max_catchphrases: 5,
            min_keyness: 10.83,
            min_phrase_turns: 3,
            min_segment: ByLanguage { en: 500, zh: 1_000 },
            min_segment_turns: 4,
            max_turn_words: ByLanguage { en: 500, zh: 500 },
            max_segments: 100,
            max_segment_words: ByLanguage { en: 2_000, zh: 2_000 },
            script_based: 3,
            script_agnostic: 10,
            agnostic_calls: 20,
            candidates: 400,
            max_agnostic_calls: 60,
            dedup_keep_ratio: 0.34,
            threshold: None,
            across_roles: false,
            split: SplitRule::LeakFree,
            leak_similarity: ByLanguage { en: 0.6, zh: 0.5 },
            max_test: 50,
            test_every_instruction: 5,
            test_every_role: 9,
            held_out_general: 500,
            instructions: Vec::new(),
            max_instructions: ByLanguage { en: 1_500, zh: 1_479 },
            max_instruction: ByLanguage { en: 100, zh: 200 },
            instruction_threshold: ByLanguage { en: 0.6, zh: 0.5 },
            prompt_style: PromptStyle::FewShotDialogue,
            few_shot: 5,
            replies: 6,
        }
    }
}

impl Params {
    /// Returns whether the stage has anything to do.
    #[must_use]
    pub const fn is_on(&self) -> bool {
        !(self.roles.is_empty() && self.scripts.is_empty())
    }
}
