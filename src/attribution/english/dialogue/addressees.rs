//! Evidence within speech: names, vocatives and answers about identity.

use super::Dialogue;
use crate::attribution::Gender;
use crate::attribution::english::names::Mention;
use crate::attribution::english::names::self_naming::{is_told_own_name, states_own_name};
use crate::attribution::english::names::vocatives::is_vocative;
use crate::attribution::quotations::span::Span;
use crate::attribution::speakers::Turn;
use crate::attribution::words::english::TITLE;

impl Dialogue<'_> {
    /// Scores the names within the speech; returns those that are vocatives.
    pub(super) fn score_speech(&self, turn: &mut Turn) -> Vec<(usize, usize)> {
        let mut vocatives = Vec::new();
        for quote in turn.first..turn.end {
            let span = self.spans[quote];
            for mention in self.mentions(span.start, span.end) {
                let Some(person) = mention.person else { continue };
                if states_own_name(self.book, mention) || self.answers_identity_question(mention) {
                    turn.weights.push((person, 5.0));
                } else if mention.vocative || is_told_own_name(self.book, mention) {
                    vocatives.push((mention.name, person));
                    turn.weights.push((person, -5.0));
                } else {
                    turn.weights.push((person, -1.2));
                }
            }
            self.add_title_vocatives(span, turn, &mut vocatives);
        }
        vocatives
    }

    /// Adds vocatives that are a title alone (`Captain, sit down`), and sets the addressee's gender from `sir` and
    /// `ma’am`.
    fn add_title_vocatives(&self, span: Span, turn: &mut Turn, vocatives: &mut Vec<(usize, usize)>) {
        for at in self.book.first_token_from(span.start)..self.book.first_token_from(span.end) {
            let class = self.book.class(at);
            let polite = match self.book.text(at) {
                "sir" => Gender::Male,
                "madam" | "ma'am" | "marm" | "mum" => Gender::Female,
                _ => Gender::Unknown,
            };
            if polite == Gender::Unknown && class & TITLE == 0
                || self.names.mention(at).is_some()
                || !is_vocative(self.book, at, at + 1)
            {
                continue;
            }
            if polite != Gender::Unknown {
                turn.addressee_gender = polite;
            } else if let Some(mention) = self.titled(self.book.text(at), span.outer_start)
                && let Some(person) = mention.person
            {
                vocatives.push((mention.name, person));
                turn.weights.push((person, -5.0));
            }
        }
    }

    /// Whether a name alone answers a question about identity: `Who are you?`
    fn answers_identity_question(&self, mention: &Mention) -> bool {
        const ASKED: [&[&str]; 5] = [
            &["who", "are", "you"],
            &["your", "name"],
            &["who", "is", "it"],
            &["who's", "there"],
            &["who", "is", "there"],
        ];
        let tokens = &self.book.list;
        let opens = mention.first.checked_sub(1).is_none_or(|at| tokens[at].quote != tokens[mention.first].quote);
        let ends = tokens.get(mention.end).is_some_and(|token| matches!(token.mark(), '.' | ','));
        let Some(last) = self.turns.last().filter(|_| opens && ends) else { return false };
        let span = self.spans[last.end - 1];
        let (from, to) = (self.book.first_token_from(span.start), self.book.first_token_from(span.end));
        (to.saturating_sub(8).max(from)..to).any(|at| {
            ASKED.iter().any(|asked| asked.iter().enumerate().all(|(k, word)| self.book.text(at + k) == *word))
        })
    }
}
