//! The table `[instruct]`: every figure of Context-Instruct and `RoleGPT`, with where it is from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::{ByLanguage, Distinctness, Form};

/// Where roles come from: words of ours, patterns of character files, or a list of either.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Roles {
    /// `pool`, `characters`, or a file, folder or glob.
    One(String),
    /// Several of them.
    Several(Vec<String>),
}

impl Default for Roles {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

impl Roles {
    /// The word that stands for whoever speaks much in the scene pool. A folder of that name is `./pool`.
    pub const POOL: &'static str = "pool";
    /// The word that stands for the test characters of the run.
    pub const CHARACTERS: &'static str = "characters";

    /// Says whether a word of ours is among them.
    #[must_use]
    pub fn has(&self, word: &str) -> bool {
        match self {
            Self::One(one) => one == word,
            Self::Several(several) => several.iter().any(|one| one == word),
        }
    }

    /// Says whether there is any.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        matches!(self, Self::Several(several) if several.is_empty())
    }
}

/// How the rows are divided into `train` and `test`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SplitRule {
    /// No question of one side is alike to one of the other.
    LeakFree,
    /// As in Appendix C: what de-duplication removed is the test data, however alike it is to the training data.
    Paper,
}

/// The table `[instruct]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The roles: `pool` for whoever of the books speaks enough, `characters` for the run's test characters, and character
    /// files (files, folders, globs); one of them or a list. Without any, and without `scripts`, the stage does nothing.
    pub roles: Roles,
    /// Scripts whose roles are taken too: screenplays, plays, Fountain, lines of `NAME: words` (files, folders, globs). They
    /// are read by rule, narration and actions included; no model is asked for their scenes.
    pub scripts: Vec<String>,
    /// The fewest turns of a role that is taken out of the pool or a script. The paper's figure (Appendix D, 1): 25.
    #[schemars(range(min = 1))]
    pub min_turns: u32,
    /// The least grade of such a role: how well it can be told by its words alone. The paper keeps the two best of four
    /// grades (Appendix D, 1).
    pub min_distinctness: Distinctness,
    /// The most such roles of a book or script: those of the best grade, then with most turns.
    #[schemars(range(min = 1))]
    pub roles_per_book: u32,
    /// The most catchphrases of a role.
    pub max_catchphrases: u32,
    /// How much more often than others a role must say a phrase so that it may be a catchphrase: Dunning's G² of the counts.
    /// 10.83 is what chance reaches once in a thousand.
    #[schemars(range(min = 0.0))]
    pub min_keyness: f64,
    /// How many turns of a role must have a phrase so that it may be a catchphrase.
    #[schemars(range(min = 1))]
    pub min_phrase_turns: u32,
    /// The least length of a segment: English words, Chinese characters. The paper's figures (Appendix C, rule 2).
    pub min_segment: ByLanguage<u32>,
    /// The fewest turns of a segment. The paper's figure (Appendix C, rule 2): 4.
    #[schemars(range(min = 1))]
    pub min_segment_turns: u32,
    /// The longest turn, in words or characters; a longer one is dropped. The paper's figures (Appendix C, rule 3).
    pub max_turn: ByLanguage<u32>,
    /// The most segments of a role; more are sampled. The paper's figure (Appendix C, rule 4): 100.
    pub max_segments: u32,
    /// The longest segment; a longer one ends after the last whole turn that fits. The paper's figure (Appendix C, rule 5)
    /// is 2,000 words; of Chinese it names none, and as many characters fit its 4,096 tokens.
    pub max_segment: ByLanguage<u32>,
    /// Triplets of a segment. The paper's figure (Appendix C): 3.
    #[schemars(range(min = 1, max = 20))]
    pub script_based: u32,
    /// Triplets of a call on the description. The paper's figure (Appendix C): 10.
    #[schemars(range(min = 1, max = 20))]
    pub script_agnostic: u32,
    /// Calls on the description. The paper's figure (Appendix C): 20.
    #[schemars(range(max = 400))]
    pub agnostic_calls: u32,
    /// Triplets of a role before it is done; where the calls above give fewer, the description is asked about further. The
    /// paper's figure (Appendix C): 400.
    pub candidates: u32,
    /// The most calls on the description of a role, so that an answer without triplets goes on for no longer. Each asks from
    /// an angle of its own, of which there are 400.
    #[schemars(range(max = 400))]
    pub max_agnostic_calls: u32,
    /// The share of a role's questions of high confidence that de-duplication keeps, 0 to 1. The paper removes about 66 %
    /// (Appendix C). Silent where `threshold` says which are alike.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub keep: f64,
    /// How alike two questions are of which one is removed, 0 to 1, by BM25 over the query's own score; in place of `keep`.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub threshold: Option<f64>,
    /// Whether questions to other roles count in de-duplication too.
    pub across_roles: bool,
    /// How the rows are divided. The paper's rule leaks by design; its overlap is reported.
    pub split: SplitRule,
    /// How alike two questions are that may not stand on both sides of a leak-free split, 0 to 1.
    pub near: ByLanguage<f64>,
    /// The most removed questions of a role that are test data by the paper's rule, the least alike to those kept first. The
    /// paper's figure (Appendix C): 50.
    pub max_test: u32,
    /// One of so many instructions, or questions of a role, is held out. The paper's ratio (Appendix G) is 4 : 1.
    #[schemars(range(min = 2))]
    pub test_every_instruction: u32,
    /// One of so many roles of a language is held out. The paper's ratio (Appendix G) is 8 : 1, in English alone.
    #[schemars(range(min = 2))]
    pub test_every_role: u32,
    /// The most general rows of a role that is held out. The paper's figure (Appendix G): 500.
    pub held_out_general: u32,
    /// Files of general instructions, a JSON object a line with `instruction` and `answer` (files, folders, globs).
    pub instructions: Vec<String>,
    /// The most general instructions of a language; more are sampled. The paper's figures (3.4) are 1,500 and 1,479.
    pub max_instructions: ByLanguage<u32>,
    /// What an instruction with its plain answer is shorter than: English words, Chinese characters. The paper's figure
    /// (Appendix D, 3) is 100 words; 200 characters say as much.
    pub max_instruction: ByLanguage<u32>,
    /// How alike two general instructions are of which one is removed, 0 to 1. The paper names no figure.
    pub instruction_threshold: ByLanguage<f64>,
    /// How a model is made to play a role. Dialogue is the paper's best (4.2).
    pub form: Form,
    /// Exchanges of the role that are shown as examples, those nearest to the instruction. The paper's figure (3.2): 5.
    pub few_shot: u32,
    /// Replies to an instruction; the last is the baseline. The paper's figure (Appendix D, 4): 6.
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
            max_turn: ByLanguage { en: 500, zh: 500 },
            max_segments: 100,
            max_segment: ByLanguage { en: 2_000, zh: 2_000 },
            script_based: 3,
            script_agnostic: 10,
            agnostic_calls: 20,
            candidates: 400,
            max_agnostic_calls: 60,
            keep: 0.34,
            threshold: None,
            across_roles: false,
            split: SplitRule::LeakFree,
            near: ByLanguage { en: 0.6, zh: 0.5 },
            max_test: 50,
            test_every_instruction: 5,
            test_every_role: 9,
            held_out_general: 500,
            instructions: Vec::new(),
            max_instructions: ByLanguage { en: 1_500, zh: 1_479 },
            max_instruction: ByLanguage { en: 100, zh: 200 },
            instruction_threshold: ByLanguage { en: 0.6, zh: 0.5 },
            form: Form::FewShotDialogue,
            few_shot: 5,
            replies: 6,
        }
    }
}

impl Params {
    /// Says whether the stage has anything to do.
    #[must_use]
    pub const fn is_on(&self) -> bool {
        !(self.roles.is_empty() && self.scripts.is_empty())
    }
}
