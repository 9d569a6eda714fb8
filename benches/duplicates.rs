//! Cost of de-duplicating many questions: time, memory, and the share of planted near-duplicates that is found.
//!
//! `cargo bench --bench duplicates` uses 100,000 questions in 50 roles and 1,000,000 in one group, in both languages, each in its
//! own process. `cargo bench --bench duplicates -- en 100000 50 share=0.34` (or `threshold=0.5`) runs one case. With a file name
//! in that place it writes the questions as JSON Lines, for `benches/duplicates.py`.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

mod process;
mod questions;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::process::Command;
use std::time::Instant;

use dramaturg::text::duplicates::{Keep, find_duplicates};
use process::{cpu_seconds, peak_megabytes};
use questions::{Kind, Question, questions};

const SEED: u64 = 7;
/// In larger groups the similarities of kept questions are not computed, as in the command.
const LARGE: usize = 50_000;

fn main() {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [language, count, groups, what] = &arguments[..] {
        let (count, groups) =
            (count.parse().expect("the argument is a number"), groups.parse().expect("the argument is a number"));
        let questions = questions(language == "zh", count, groups, SEED);
        let number = |text: &str| text.parse().expect("the argument is a number");
        match what.split_once('=') {
            Some(("share", share)) => measure(language, &questions, Keep::Share(number(share))),
            Some(("threshold", threshold)) => measure(language, &questions, Keep::Threshold(number(threshold))),
            _ => write(what, &questions),
        }
        return;
    }
    for (language, threshold) in [("en", "threshold=0.5"), ("zh", "threshold=0.4")] {
        for [count, groups, keep] in
            [["100000", "50", "share=0.34"], ["100000", "50", threshold], ["1000000", "1", threshold]]
        {
            let this = std::env::current_exe().expect("the executable has a path");
            let status = Command::new(this).args([language, count, groups, keep]).status().expect("the process starts");
            assert!(status.success(), "{language} {count} failed");
        }
    }
}

/// De-duplicates group by group and prints the cost.
fn measure(language: &str, questions: &[Question], keep: Keep) {
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let (begun, before) = (Instant::now(), cpu_seconds());
    let (mut kept, mut start, mut groups) = (0, 0, 0);
    let mut kinds: BTreeMap<Kind, (usize, usize)> = BTreeMap::new();
    while start < questions.len() {
        let group = questions[start].group;
        let size = questions[start..].iter().take_while(|question| question.group == group).count();
        let of_group = &questions[start..start + size];
        let texts: Vec<&str> = of_group.iter().map(|question| question.text.as_str()).collect();
        let verdicts = find_duplicates(&texts, keep, size <= LARGE, threads).verdicts;
        for (question, verdict) in of_group.iter().zip(&verdicts) {
            kept += usize::from(verdict.kept);
            let gone = !verdict.kept || question.base.is_some_and(|base| !verdicts[base - start].kept);
            let count = kinds.entry(question.kind).or_default();
            count.0 += usize::from(gone);
            count.1 += 1;
        }
        start += size;
        groups += 1;
    }
    let (wall, cpu) = (begun.elapsed().as_secs_f64(), cpu_seconds() - before);
    println!(
        "{language}  {} questions in {groups} groups, {keep:?}: {wall:.1} s, {cpu:.1} s CPU, {} MB peak; {kept} kept",
        questions.len(),
        peak_megabytes()
    );
    let found = kinds.into_iter().map(|(kind, (gone, all))| format!("{kind:?} {:.1} %", percent(gone, all)));
    println!("    found or removed: {}", found.collect::<Vec<_>>().join(", "));
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * process::to_f64(part as u64) / process::to_f64(whole as u64)
}

fn write(path: &str, questions: &[Question]) {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).expect("the temporary folder is writable"));
    for question in questions {
        let line = serde_json::json!({"role": format!("role {}", question.group), "question": question.text});
        writeln!(file, "{line}").expect("the temporary folder is writable");
    }
    file.flush().expect("the temporary folder is writable");
}
