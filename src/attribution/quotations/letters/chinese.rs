//! Chinese letters: introductions, greetings and closings.

use super::context::QuotedWriting;
use crate::attribution::words::chinese::CHINESE;

impl QuotedWriting<'_> {
    /// Returns the end (exclusive) of the Chinese writing that begins at a quotation; `at` if it is not writing.
    pub(in crate::attribution) fn chinese_end(&self, at: usize) -> usize {
        let end = self.run_end(at);
        let lead: Vec<char> = self.narration_before(at).iter().rev().take(24).rev().map(|&c| CHINESE.fold(c)).collect();
        let rest: Vec<char> = self.narration_after(at).iter().take(24).map(|&c| CHINESE.fold(c)).collect();
        let stop = rest.iter().position(|&c| !c.is_alphabetic()).unwrap_or(rest.len());
        let head: Vec<char> = self.text(at).iter().take(16).map(|&c| CHINESE.fold(c)).collect();
        let tag = stop < 8
            && rest.get(stop) != Some(&'：')
            && CHINESE.writing_verbs.tail(&rest[..stop]) > 1
            && rest[stop - 1] == '道';
        let known = is_introduced_zh(&lead) || tag || is_greeting_zh(&head) || is_closing_zh(self.text(end - 1));
        if known { end } else { at }
    }
}

/// Whether the Chinese narration before a quotation introduces it as writing: `信上说：`, `便写道：`, `牌上写着`.
fn is_introduced_zh(lead: &[char]) -> bool {
    let stop = lead.iter().rposition(|c| c.is_alphabetic()).map_or(0, |i| i + 1);
    let start = lead[..stop].iter().rposition(|c| !c.is_alphabetic()).map_or(0, |i| i + 1);
    let clause = &lead[start..stop];
    if CHINESE.writing_verbs.tail(clause) > 0 {
        return true;
    }
    (0..clause.len()).any(|i| {
        let noun = CHINESE.writings.head(&clause[i..]);
        if noun == 0 {
            return false;
        }
        let rest = &clause[i + noun..];
        let locative = rest.iter().take(2).take_while(|c| matches!(c, '上' | '中' | '里' | '内' | '面')).count();
        let rest = &rest[locative..];
        let before = i.checked_sub(1).map(|i| clause[i]);
        let sent = noun == 1
            && matches!(clause[i], '信' | '书' | '电' | '函')
            && matches!(before, Some('写' | '来' | '回' | '去' | '致' | '修' | '留'));
        let held = matches!(before, Some('着' | '指'));
        (locative > 0 && rest.len() < 4 && !held || sent && rest.len() < 3) && CHINESE.ends_in_speech(rest)
    })
}

/// Whether a Chinese quotation begins like a letter: `敬启者：`, `亲爱的某某：`, `某某兄台鉴：`.
fn is_greeting_zh(head: &[char]) -> bool {
    let Some(stop) = head.iter().position(|c| matches!(c, '：' | ':')) else { return false };
    let greeting = &head[..stop];
    stop > 1 && (CHINESE.greetings.head(greeting) > 0 || CHINESE.greetings.tail(greeting) > 0)
}

/// Whether a Chinese quotation ends like a letter: `弟某某顿首`, `此致敬礼。`
fn is_closing_zh(text: &[char]) -> bool {
    let tail: Vec<char> = text[text.len().saturating_sub(12)..].iter().map(|&c| CHINESE.fold(c)).collect();
    let stop = tail.iter().rposition(|c| c.is_alphabetic()).map_or(0, |i| i + 1);
    // Only a name may follow the closing.
    let behind = |i: usize| CHINESE.closings.head(&tail[i..stop]);
    text.len() > 14
        && (0..stop).any(|i| {
            let length = behind(i);
            length > 0 && stop - i - length < 5 && tail[i + length..stop].iter().all(|c| c.is_alphabetic())
        })
}
