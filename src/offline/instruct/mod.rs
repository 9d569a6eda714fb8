//! Offline answers of the stage `instruct`, built only from the data of each question.

mod person;
mod portrait;
mod questions;
mod talk;

use crate::llm::{Offline, OfflineAnswer};
use crate::stages::instruct::{
    AddressRole, AskDescription, AskSegment, Catchphrases, ChooseCatchphrases, DescribeRole, Grade, GradeVoice,
    PlayRole, Triplets,
};

impl OfflineAnswer for GradeVoice {
    fn answer_offline(&self, _: &mut Offline<'_>) -> Grade {
        portrait::grade(self)
    }
}

impl OfflineAnswer for DescribeRole {
    fn answer_offline(&self, _: &mut Offline<'_>) -> String {
        portrait::describe(self)
    }
}

impl OfflineAnswer for AddressRole {
    fn answer_offline(&self, _: &mut Offline<'_>) -> String {
        portrait::address(&self.portrait, self.language)
    }
}

impl OfflineAnswer for ChooseCatchphrases {
    fn answer_offline(&self, _: &mut Offline<'_>) -> Catchphrases {
        portrait::catchphrases(self)
    }
}

impl OfflineAnswer for AskSegment {
    fn answer_offline(&self, offline: &mut Offline<'_>) -> Triplets {
        questions::segment(self, &mut offline.rng)
    }
}

impl OfflineAnswer for AskDescription {
    fn answer_offline(&self, offline: &mut Offline<'_>) -> Triplets {
        questions::description(self, &mut offline.rng)
    }
}

impl OfflineAnswer for PlayRole {
    fn answer_offline(&self, offline: &mut Offline<'_>) -> String {
        talk::play(self, &mut offline.rng)
    }
}
