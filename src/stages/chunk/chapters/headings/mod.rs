//! The heading rules: what a single line may open. `chapters` decides which candidates become headings.

mod dates;
mod numerals;
mod ornaments;
mod prefilter;
mod rules;

pub(in crate::stages::chunk) use dates::is_date;
pub(in crate::stages::chunk) use numerals::number;
pub(in crate::stages::chunk) use ornaments::{bare, is_loud};
pub(in crate::stages::chunk) use rules::{Room, Strength};

use self::ornaments::{spaced, unbracketed};
use self::prefilter::{is_first_character, numbered_last, starts_like_heading};
use self::rules::RULES;
use crate::schema::Level;

/// A line that may be a heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::stages::chunk) struct Candidate {
    pub(in crate::stages::chunk) level: Level,
    pub(in crate::stages::chunk) number: Option<u32>,
    /// Whether the line includes a title.
    pub(in crate::stages::chunk) titled: bool,
    pub(in crate::stages::chunk) strength: Strength,
    pub(in crate::stages::chunk) room: Room,
    pub(in crate::stages::chunk) story: bool,
    /// The index of the rule. The numbers of one sequence come from one rule.
    pub(in crate::stages::chunk) rule: usize,
    /// Whether it is a 节 (section), which opens a chapter only if nothing else does.
    pub(in crate::stages::chunk) section: bool,
}

/// Returns what a line may open, by the first rule that matches. Scene headings of scripts are not handled here.
pub(in crate::stages::chunk) fn candidate(line: &str) -> Option<Candidate> {
    let line = unbracketed(bare(line));
    // A cheap check first: headings are short and start with few characters.
    let first = line.chars().next()?;
    if line.len() > 400 || !(is_first_character(first) || numbered_last(line)) {
        return None;
    }
    if first.is_ascii_alphabetic() && !starts_like_heading(line) {
        return None;
    }
    let loud = || is_loud(line);
    if line.chars().count() > 80 && !loud() {
        return None;
    }
    if line.ends_with([',', ';', '，', '；', '—']) && !loud() {
        return None;
    }
    let spaced = spaced(line);
    let candidate = by_rule(spaced.as_deref().unwrap_or(line))?;
    // A title may end in an ellipsis like a sentence if it is separated from a number with a unit word.
    let apart = || {
        candidate.strength == Strength::Strong && candidate.number.is_some() && line.contains([' ', '　', '：', ':'])
    };
    (!line.ends_with('…') || apart() || loud()).then_some(candidate)
}

fn by_rule(line: &str) -> Option<Candidate> {
    RULES.iter().enumerate().find_map(|(at, rule)| {
        let found = rule.pattern.captures(line)?;
        let text = |name| found.name(name).map_or("", |found| found.as_str());
        let number = match text("n") {
            "" => None,
            "上" => Some(1),
            "中" => Some(2),
            "下" => Some(3),
            // An invalid number, as in "Part of it", is not a heading.
            n => Some(numerals::number(n)?),
        };
        let unit = text("u").to_lowercase();
        let title = text("t");
        let titled = title.chars().any(char::is_alphanumeric);
        if matches!(unit.as_str(), "节" | "節" | "部" | "集" | "篇") && title.chars().count() > 20 {
            return None;
        }
        let level = match unit.as_str() {
            "" | "章" | "回" | "节" | "節" | "话" | "話" | "夜" | "chapter" => rule.level,
            "卷" | "册" | "冊" | "volume" => Level::Volume,
            "折" | "幕" | "出" | "齣" | "act" => Level::Act,
            "场" | "場" | "scene" => Level::Scene,
            "封信" | "letter" => Level::Letter,
            _ => Level::Part,
        };
        // The day of a date.
        if rule.strength == Strength::Sequence && titled && is_date(line) {
            return None;
        }
        // A part and its chapter on one line: the line opens the chapter.
        if matches!(level, Level::Volume | Level::Part | Level::Act)
            && let Some(inner) = inner(title)
        {
            return Some(Candidate { titled: true, rule: at, ..inner });
        }
        let (strength, room, story) = (rule.strength, rule.room, rule.story);
        let section = matches!(unit.as_str(), "节" | "節");
        Some(Candidate { level, number, titled, strength, room, story, rule: at, section })
    })
}

/// Returns the chapter or scene named in a part's title, as in `第一卷 春 第二章 听雨` or `ACT I. SCENE II.`
fn inner(title: &str) -> Option<Candidate> {
    let upper = title.to_ascii_uppercase();
    let starts = [upper.find("CHAP"), upper.find("SCENE"), title.rfind('第').filter(|at| *at > 0)];
    let start = starts.into_iter().flatten().next()?;
    let apart = title[..start].ends_with(|c: char| !c.is_alphanumeric());
    by_rule(&title[start..])
        .filter(|inner| apart && inner.number.is_some() && matches!(inner.level, Level::Chapter | Level::Scene))
}

/// Whether a line is a heading by itself, without context.
pub(in crate::stages::chunk) fn is_heading(line: &str) -> bool {
    candidate(line).is_some_and(|candidate| candidate.strength == Strength::Strong)
}

/// Whether a heading opens text outside the story, such as a preface.
pub(in crate::stages::chunk) fn opens_boilerplate(title: &str) -> bool {
    candidate(title).is_some_and(|candidate| !candidate.story)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_both_languages_are_recognized() {
        for (line, expected) in [
            ("CHAPTER I.", Some((Level::Chapter, Some(1), false))),
            ("Chapter 12", Some((Level::Chapter, Some(12), false))),
            ("Chapter Twenty-One: The Weir", Some((Level::Chapter, Some(21), true))),
            ("BOOK THE FIRST", Some((Level::Part, Some(1), false))),
            ("PART ONE--The Old Mill", Some((Level::Part, Some(1), true))),
            ("VOLUME II", Some((Level::Volume, Some(2), false))),
            ("ACT III. A street.", Some((Level::Act, Some(3), true))),
            ("Scene 2", Some((Level::Scene, Some(2), false))),
            ("LETTER IV. To Mrs. Grey", Some((Level::Letter, Some(4), true))),
            ("PROLOGUE", Some((Level::Front, None, false))),
            ("Preface", Some((Level::Front, None, false))),
            ("第一回　看河灯", Some((Level::Chapter, Some(1), true))),
            ("第12章 归来", Some((Level::Chapter, Some(12), true))),
            ("第十章归来", Some((Level::Chapter, Some(10), true))),
            ("第三卷", Some((Level::Volume, Some(3), false))),
            ("第二折", Some((Level::Act, Some(2), false))),
            ("卷五　狐", Some((Level::Volume, Some(5), true))),
            ("楔子", Some((Level::Front, None, false))),
            ("尾声", Some((Level::Back, None, false))),
            ("XIV", Some((Level::Chapter, Some(14), false))),
            ("II. THE OPEN SLUICE", Some((Level::Chapter, Some(2), true))),
            ("Part of it was lost", None),
            ("Chapter 1024: The Weir", Some((Level::Chapter, Some(1024), true))),
            ("Chapter 3 (Part 2)", Some((Level::Chapter, Some(3), true))),
            ("Chapter 3 the sun comes out", Some((Level::Chapter, Some(3), true))),
            ("Chapter 3: Gone…", Some((Level::Chapter, Some(3), true))),
            ("[Chapter 3]", Some((Level::Chapter, Some(3), false))),
            ("Arc 2: Rain", Some((Level::Part, Some(2), true))),
            ("Side Story 1: Mud", Some((Level::Back, Some(1), true))),
            ("3) The Road", Some((Level::Chapter, Some(3), true))),
            ("第三章：过河……", Some((Level::Chapter, Some(3), true))),
            ("第壹拾貳章 过河", Some((Level::Chapter, Some(12), true))),
            ("VIP卷 第一百章 看灯", Some((Level::Chapter, Some(100), true))),
            ("叁", Some((Level::Chapter, Some(3), false))),
            ("③", Some((Level::Chapter, Some(3), false))),
            ("Ⅳ", Some((Level::Chapter, Some(4), false))),
            ("第三章远行……", None),
            ("Chapter 3 the sun comes out.", None),
            ("Chapter 3 (which nobody had read) was lost.", None),
            ("Side by side", None),
            ("Chapter and verse", None),
            ("Act one way and think another, she said, and be", None),
            ("Part two lives here and the rest", None),
            ("第一次见到他的时候，天正下雨。", None),
            ("第四回中既将诸事表明，此回则暂不写。", None),
            ("第三部队到了。", None),
            ("A man of letters", None),
            ("序曲响起，众人坐定。", None),
        ] {
            let found = candidate(line).map(|found| (found.level, found.number, found.titled));
            assert_eq!(found, expected, "{line}");
        }
    }
}
