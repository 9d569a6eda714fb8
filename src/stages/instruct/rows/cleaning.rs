//! The four rules for cleaning replies (Appendix D, 5): completeness, no model identity, no leading name, no refusal.

use crate::schema::RejectReason;
use crate::text::{declines, is_name, is_truncated, label, reveals_model};

/// A rule that a reply breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// It has no final punctuation, as if it were cut off.
    Incomplete,
    /// It speaks as a language model.
    RevealsModel,
    /// It begins with the role's name and a colon.
    NameInFront,
    /// It refuses as an assistant does.
    Refuses,
}

impl Fault {
    /// Returns the reason used in rejects.
    #[must_use]
    pub const fn reason(self) -> RejectReason {
        match self {
            Self::Incomplete => RejectReason::Incomplete,
            Self::RevealsModel => RejectReason::RevealsModel,
            Self::NameInFront => RejectReason::NameInFront,
            Self::Refuses => RejectReason::Refuses,
        }
    }
}

/// Returns the first rule that a reply of a role breaks. An empty reply is incomplete.
#[must_use]
pub fn fault(reply: &str, names: &[&str]) -> Option<Fault> {
    let in_front = |name: &&str| label(reply.trim_start()).is_some_and(|(label, _)| is_name(label, name));
    if !reply.chars().any(char::is_alphanumeric) || is_truncated(reply) {
        Some(Fault::Incomplete)
    } else if reveals_model(reply) {
        Some(Fault::RevealsModel)
    } else if names.iter().any(in_front) {
        Some(Fault::NameInFront)
    } else if declines(reply) {
        Some(Fault::Refuses)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reply: &str, expected: Option<Fault>) {
        assert_eq!(fault(reply, &["Keziah Marl", "Kez", "薛嵩"]), expected, "{reply}");
    }

    #[test]
    fn appendix_d_5_rule_1_a_reply_without_a_final_mark_is_incomplete() {
        check("The tide is at four.", None);
        check("The tide is at", Some(Fault::Incomplete));
        check("  ", Some(Fault::Incomplete));
        check("潮水四更来。", None);
        check("潮水四更", Some(Fault::Incomplete));
        check("“Not today.”", None);
        check("I only meant—", None);
    }

    #[test]
    fn appendix_d_5_rule_2_a_reply_that_reveals_a_model_is_dropped() {
        check("As an AI language model, I have no ferry.", Some(Fault::RevealsModel));
        check("作为一个AI，我没有船。", Some(Fault::RevealsModel));
        check("As an honest woman, I have one ferry.", None);
    }

    #[test]
    fn appendix_d_5_rule_3_a_reply_that_starts_with_the_name_is_dropped() {
        check("Keziah Marl: A penny either way.", Some(Fault::NameInFront));
        check("**Kez:** A penny.", Some(Fault::NameInFront));
        check("薛嵩：久仰。", Some(Fault::NameInFront));
        check("One rule: a penny either way.", None);
        check("Keziah Marl takes a penny.", None);
    }

    #[test]
    fn appendix_d_5_rule_4_a_reply_that_refuses_is_dropped() {
        check("I'm sorry, but I cannot provide that.", Some(Fault::Refuses));
        check("抱歉，我无法回答这个问题。", Some(Fault::Refuses));
        check("I’ll not tell you that, and you know why.", None);
        check("这事我不说。", None);
    }
}
