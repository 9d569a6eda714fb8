//! The summary of a run.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::control_chars::visible;
use crate::cli::invocation::quoted;
use crate::pipeline::{FaultCounts, PerSample, Summary, Tokens};
pub(crate) use crate::stages::export::{dollars, percent, thousands};

/// Formats the summary: rows, rejects, calls, tokens, cost, path and the next command. The next command loads the data
/// set if there is one, otherwise it is `next_stage`.
pub(crate) fn summary(summary: &Summary, next_stage: &str) -> String {
    let mut text = String::new();
    for (config, splits) in &summary.rows {
        let splits: Vec<String> = splits.iter().map(|(split, rows)| format!("{} {split}", thousands(*rows))).collect();
        let _ = writeln!(text, "{config:>13}  {}", splits.join(", "));
    }
    for (stage, reasons) in &summary.rejected {
        let reasons: Vec<String> =
            reasons.iter().map(|(reason, count)| format!("{} {reason}", thousands(*count))).collect();
        let _ = writeln!(text, "{:>13}  {stage}: {}", "rejected", reasons.join(", "));
    }
    for (judge, agreement) in &summary.agreement {
        let kappa = agreement.kappa.map_or_else(|| "undefined".to_owned(), |kappa| format!("{kappa:.2}"));
        let _ = writeln!(
            text,
            "{:>13}  {}: {} turns, {:.0} % same dimension, κ of σ {kappa}",
            "agreement",
            visible(judge),
            thousands(agreement.turns),
            agreement.same_dimension * 100.0
        );
    }
    for (name, lanes, outcome) in [
        ("below target", &summary.dimensions_below_target, "ended before τ"),
        ("no samples", &summary.dimensions_without_samples, "reached τ without a sample"),
    ] {
        let lanes: Vec<String> =
            lanes.iter().map(|(code, lanes)| format!("{} {}", thousands(*lanes), visible(code))).collect();
        if !lanes.is_empty() {
            let _ = writeln!(text, "{name:>13}  lanes that {outcome}, by dimension: {}", lanes.join(", "));
        }
    }
    if !summary.turn_faults.is_empty() {
        let turns = summary.turn_faults.iter().map(|(fault, turns)| format!("{} {fault}", thousands(*turns)));
        let turns: Vec<String> = turns.collect();
        let _ =
            writeln!(text, "{:>13}  turns with a format fault, repaired or not: {}", "turn faults", turns.join(", "));
    }
    let calls = &summary.calls;
    let failed = if calls.failed > 0 { format!(", {} failed", thousands(calls.failed)) } else { String::new() };
    let (made, journal) = (thousands(calls.made), thousands(calls.journal));
    let _ = writeln!(text, "{:>13}  {made} made, {journal} from the journal{failed}", "calls");
    for line in faults(&summary.faults) {
        let _ = writeln!(text, "{:>13}  {line}", "errors");
    }
    if summary.reasks > 0 {
        let _ = writeln!(
            text,
            "{:>13}  {} replies did not match their schema and were requested again",
            "retries",
            thousands(summary.reasks)
        );
    }
    let _ = writeln!(text, "{:>13}  {}", "tokens", tokens(&summary.tokens));
    if summary.tokens.cacheable > 0 {
        let _ = writeln!(text, "{:>13}  {}", "prefix cache", prefixes(summary));
    }
    if let Some(PerSample { calls, billed, cacheable }) = summary.per_sample {
        let (billed, cacheable) = (rounded(billed), rounded(cacheable));
        let _ = writeln!(
            text,
            "{:>13}  {calls:.1} calls, {billed} billed tokens, {cacheable} of them cacheable (conversations only)",
            "per sample"
        );
    }
    let _ = writeln!(text, "{:>13}  {}", "cost", dollars(summary.usd));
    let _ = writeln!(text, "{:>13}  {:.1} s", "time", summary.wall_s);
    let path = summary.dataset.as_ref().unwrap_or(&summary.run);
    let _ = writeln!(text, "{:>13}  {}", "path", path.display());
    let next = summary
        .dataset
        .as_ref()
        .map_or_else(|| next_stage.to_owned(), |dataset| loading_command(dataset, &summary.rows));
    let _ = writeln!(text, "{:>13}  {next}", "next");
    text
}

/// Returns the command that loads the samples, or the first config with rows if there are no samples.
fn loading_command(dataset: &Path, rows: &BTreeMap<String, BTreeMap<String, u64>>) -> String {
    let has_rows = |config: &str| rows.get(config).is_some_and(|splits| splits.values().any(|rows| *rows > 0));
    let config = Some("samples").filter(|config| has_rows(config));
    let config =
        config.or_else(|| rows.keys().map(String::as_str).find(|config| has_rows(config))).unwrap_or("samples");
    let path = serde_json::json!(dataset.display().to_string());
    let code = format!("from datasets import load_dataset as l; print(l({path}, \"{config}\"))");
    format!("python -c {}", quoted(&code))
}

/// Formats the share of prompt tokens that extend an earlier prompt, in total and by ask.
fn prefixes(summary: &Summary) -> String {
    let mut asks: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for ask in &summary.asks {
        let (cacheable, prompt) = asks.entry(&ask.ask).or_default();
        *cacheable += ask.tokens.cacheable;
        *prompt += ask.tokens.prompt;
    }
    let asks: Vec<String> =
        asks.iter().map(|(ask, (cacheable, prompt))| format!("{ask} {}", percent(*cacheable, *prompt))).collect();
    let all = percent(summary.tokens.cacheable, summary.tokens.prompt);
    format!("{all} of prompt tokens extend an earlier prompt: {}", asks.join(", "))
}

/// Formats failed requests and unusable replies, one line per model.
pub(crate) fn faults(faults: &FaultCounts) -> impl Iterator<Item = String> {
    faults.iter().map(|(model, kinds)| {
        let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{} {kind}", thousands(*count))).collect();
        format!("{}: {}", visible(model), kinds.join(", "))
    })
}

/// Formats token counts with the cached, reasoning and estimated shares.
pub(crate) fn tokens(tokens: &Tokens) -> String {
    let part = |count: u64, total: u64, word: &str| {
        if count == 0 { String::new() } else { format!(" ({} {word})", percent(count, total)) }
    };
    let cached = part(tokens.cached, tokens.prompt, "cached");
    let reasoning = part(tokens.reasoning, tokens.completion, "reasoning");
    let all = tokens.prompt + tokens.completion;
    let estimated = match tokens.estimated {
        0 => String::new(),
        estimated if estimated >= all => ", estimated".to_owned(),
        estimated => format!(", {} of all estimated", percent(estimated, all)),
    };
    let (prompt, completion) = (thousands(tokens.prompt), thousands(tokens.completion));
    format!("{prompt} prompt{cached}, {completion} completion{reasoning}{estimated}")
}

/// Formats a number rounded to an integer.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "token counts, which are below 2^63")]
fn rounded(number: f64) -> String {
    thousands(number.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::{AgreementSummary, AskSummary, Calls};

    fn ask(name: &str, prompt: u64, cacheable: u64) -> AskSummary {
        let tokens = Tokens { prompt, cacheable, ..Tokens::default() };
        AskSummary { ask: name.to_owned(), tokens, ..AskSummary::default() }
    }

    #[test]
    fn estimates_are_marked() {
        let all = Tokens { prompt: 900, completion: 100, estimated: 1000, ..Tokens::default() };
        assert_eq!(tokens(&all), "900 prompt, 100 completion, estimated");
        let one = Tokens { estimated: 1, cached: 3, ..all };
        assert_eq!(tokens(&one), "900 prompt (< 1 % cached), 100 completion, < 1 % of all estimated");
    }

    #[test]
    fn a_summary_is_complete() {
        let of = |pairs: &[(&str, u64)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect::<BTreeMap<_, _>>();
        let mut summary_of_run = Summary {
            run: "outputs/demo".into(),
            dataset: Some("outputs/demo/dataset".into()),
            calls: Calls { made: 12_345, journal: 0, failed: 2 },
            requests: 13_000,
            reasks: 12,
            faults: BTreeMap::from([("作者".to_owned(), of(&[("bad_reply", 12), ("rate_limited", 640)]))]),
            tokens: Tokens {
                prompt: 1_000_000,
                cached: 600_000,
                cacheable: 700_000,
                completion: 999,
                reasoning: 333,
                estimated: 20_000,
            },
            usd: None,
            asks: vec![ask("select/judge", 250_000, 100_000), ask("simulate/direct", 750_000, 600_000)],
            rows: BTreeMap::from([
                ("samples".to_owned(), of(&[("test", 61)])),
                ("scenes".to_owned(), of(&[("train", 22)])),
            ]),
            per_sample: Some(PerSample { calls: 31.46, billed: 16_400.72, cacheable: 11_475.41 }),
            agreement: BTreeMap::from([(
                "second".to_owned(),
                AgreementSummary { turns: 456, same_dimension: 0.61, kappa: Some(0.4217) },
            )]),
            dimensions_below_target: of(&[("CR", 2), ("FR", 1)]),
            dimensions_without_samples: of(&[("PA", 1)]),
            role_data: BTreeMap::new(),
            turn_faults: of(&[("cut_ending", 1), ("own_name:mended", 1_200)]),
            rejected: BTreeMap::from([("extract".to_owned(), of(&[("no_dialogue", 3), ("ungrounded", 1)]))]),
            wall_s: 12.34,
        };
        insta::assert_snapshot!(summary(&summary_of_run, ""), @r#"
         samples  61 test
          scenes  22 train
        rejected  extract: 3 no_dialogue, 1 ungrounded
       agreement  second: 456 turns, 61 % same dimension, κ of σ 0.42
    below target  lanes that ended before τ, by dimension: 2 CR, 1 FR
      no samples  lanes that reached τ without a sample, by dimension: 1 PA
     turn faults  turns with a format fault, repaired or not: 1 cut_ending, 1,200 own_name:mended
           calls  12,345 made, 0 from the journal, 2 failed
          errors  作者: 12 bad_reply, 640 rate_limited
         retries  12 replies did not match their schema and were requested again
          tokens  1,000,000 prompt (60 % cached), 999 completion (33 % reasoning), 1 % of all estimated
    prefix cache  70 % of prompt tokens extend an earlier prompt: select/judge 40 %, simulate/direct 80 %
      per sample  31.5 calls, 16,401 billed tokens, 11,475 of them cacheable (conversations only)
            cost  unpriced
            time  12.3 s
            path  outputs/demo/dataset
            next  python -c 'from datasets import load_dataset as l; print(l("outputs/demo/dataset", "samples"))'
        "#);
        summary_of_run.rows.remove("samples");
        let text = summary(&summary_of_run, "");
        assert!(
            text.contains("(l(\"outputs/demo/dataset\", \"scenes\"))"),
            "the command must name a config with rows: {text}"
        );
        summary_of_run.dataset = None;
        summary_of_run.usd = Some(0.0012);
        summary_of_run.rows.clear();
        summary_of_run.per_sample = None;
        summary_of_run.dimensions_below_target.clear();
        summary_of_run.dimensions_without_samples.clear();
        summary_of_run.turn_faults.clear();
        summary_of_run.agreement.clear();
        insta::assert_snapshot!(summary(&summary_of_run, "dramaturg synthesize pipelines/demo.toml"), @r"
        rejected  extract: 3 no_dialogue, 1 ungrounded
           calls  12,345 made, 0 from the journal, 2 failed
          errors  作者: 12 bad_reply, 640 rate_limited
         retries  12 replies did not match their schema and were requested again
          tokens  1,000,000 prompt (60 % cached), 999 completion (33 % reasoning), 1 % of all estimated
    prefix cache  70 % of prompt tokens extend an earlier prompt: select/judge 40 %, simulate/direct 80 %
            cost  $0.0012
            time  12.3 s
            path  outputs/demo
            next  dramaturg synthesize pipelines/demo.toml
        ");
    }
}
