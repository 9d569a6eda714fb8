//! Detects whether a text is laid out as a script.

use std::collections::BTreeMap;

use crate::text::{CueLine, CueSeparator, parse_cue_line};

/// Whether a text is laid out as a script: with names on their own line above speeches, or in front of them.
pub(super) fn is_script(text: &str) -> bool {
    const QUOTES: [char; 5] = ['“', '"', '「', '『', '‘'];
    let mut lines = text.lines().map(str::trim).peekable();
    let (mut filled, mut paragraphs, mut above) = (0_usize, 0_usize, true);
    let (mut cues, mut speeches) = (Names::default(), Names::default());
    while let Some(line) = lines.next() {
        if line.is_empty() {
            above = true;
            continue;
        }
        filled += 1;
        paragraphs += usize::from(above);
        let next = lines.peek().filter(|next| !next.is_empty());
        if let Some(cue) = parse_cue_line(line) {
            // Quotation marks after the name show a sentence of a story.
            let quoted = |speech: &str| speech.starts_with(QUOTES);
            let speech = &line[cue.speech..];
            if speech.is_empty() && above && next.is_some_and(|next| !quoted(next)) {
                cues.add(&cue);
            } else if !speech.is_empty()
                && !quoted(speech)
                && (cue.sure || cue.mark != CueSeparator::Gap || !cue.name.is_ascii())
            {
                speeches.add(&cue);
            }
        }
        above = false;
    }
    // Books without blank lines have few paragraphs, and a hard-wrapped line may start with a name and a full stop.
    let carries = |count: usize, share: usize| {
        count >= 8 && (count * share >= filled || count * 2 >= paragraphs && count * 20 >= filled)
    };
    carries(cues.count(), 5) || carries(speeches.count(), 2)
}

/// Possible speaker names, with the number of cue lines and whether the typography shows that they are names.
#[derive(Debug, Default)]
struct Names(BTreeMap<String, (usize, bool)>);

impl Names {
    fn add(&mut self, cue: &CueLine<'_>) {
        let (count, sure) = self.0.entry(cue.name.to_lowercase()).or_default();
        *count += 1;
        *sure |= cue.sure;
    }

    /// Returns the number of cue lines. Names not shown by typography count only if they repeat often, since plays have
    /// few speakers.
    fn count(&self) -> usize {
        let sure: usize = self.0.values().filter(|(_, sure)| *sure).map(|(count, _)| count).sum();
        let again: Vec<usize> =
            self.0.values().filter(|(count, sure)| !sure && *count > 1).map(|(count, _)| *count).collect();
        let doubtful: usize = again.iter().sum();
        sure + if again.len() * 2 <= doubtful { doubtful } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::is_script;

    #[test]
    fn scripts_differ_from_prose() {
        let cues = "ANNA\nYes, I will.\n\nBORIS (rising)\nNo.\n\n".repeat(6);
        assert!(is_script(&cues));
        assert!(is_script(&"ANNA. Yes, I will.\nBORIS: No, never.\n".repeat(6)));
        assert!(is_script(&"程婴：孩子在哪里？\n公孙：在山里。\n".repeat(6)));
        // Names in normal case, wrapped speeches, emphasis marks, gaps instead of punctuation.
        let wrapped = "Anna. It was the ferry, and it went without a word to anybody, as ferries\nwill where the river is up and the \
                       night is as black as this.\n\nBoris. And the lamp?\n\n";
        assert!(is_script(&wrapped.repeat(6)));
        assert!(is_script(&"_Anna._ Who is there?\n\n_Boris_ (_without_). Nobody.\n\n(_He comes in._)\n\n".repeat(6)));
        assert!(is_script(&"MRS. HALE.\nWho is there?\n\n        BORIS:\n(_without_) Nobody.\n\n".repeat(6)));
        assert!(is_script(&"Anna\nWho is there?\n\nBoris\nNobody.\n\nHe comes in.\n\n".repeat(6)));
        assert!(is_script(&"程婴　（白）孩子在哪里？\n公孙　在山里。\n（二人下）\n".repeat(6)));
        assert!(is_script(&"程婴\n孩子在哪里？\n\n公孙\n（低声）\n在山里。\n\n".repeat(6)));
        // Letters, lists and stories are not scripts.
        let letter = "From: Anna\nTo: Boris\nDate: Monday\nSubject: The lamp\n\nThe river is up, and I have no oil. Send some by the ferry, \
                      or come.\n\nYours, Anna\n\nHe read it twice. She had never asked him before.\n\n";
        assert!(!is_script(&letter.repeat(6)));
        assert!(!is_script(
            &"姓名：程婴\n年龄：三十\n\n他把那张纸看了两遍，放在桌上，没有说话。\n\n外面下着雨。\n\n".repeat(6)
        ));
        let list = (0..12).map(|n| format!("Item {n}: a lamp, of iron.")).collect::<Vec<_>>().join("\n");
        assert!(!is_script(&format!("{list}\n{}", "She read the list, and put it by.\n\n".repeat(8))));
        assert!(!is_script(&"程婴道：孩子在哪里？\n公孙笑道：在山里。\n".repeat(6)));
        assert!(!is_script(&"Yes. She had gone.\n\nNo. He would not.\n\nWell: there it was.\n\n".repeat(6)));
        assert!(!is_script(&"程婴道：“孩子在哪里？”\n公孙说：“在山里。”\n".repeat(6)));
        assert!(!is_script(&"“Yes,” said Anna. “I will.”\n\nBoris rose and left.\n\n".repeat(6)));
    }
}
