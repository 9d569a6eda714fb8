//! Formats errors: problems in files with source excerpts, all other errors with their causes and a hint.

use std::error::Error;
use std::fmt::Write as _;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::control_chars::visible_lines;
use crate::cli::invocation::quoted;
use crate::config::{PipelineError, Problem};
use crate::dataset::AddJudgesError;
use crate::llm::{AskError, HttpFault};
use crate::pipeline::{FailedItems, RunError};
use crate::store::StoreError;

/// Maximum number of problems printed in full.
const MOST: usize = 20;

/// Formats every problem with its source line and a caret below the span.
pub(crate) fn problems(sources: &[(String, String)], problems: &[Problem], color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii);
    let mut text = String::new();
    for problem in problems.iter().take(MOST) {
        let (name, source) = &sources[problem.source];
        let mut group = Group::with_title(Level::ERROR.primary_title(problem.message.as_str()));
        let expected = problem.expected.as_ref().map(|expected| format!("expected {expected}"));
        if problem.span.is_empty() && problem.span.start == 0 {
            group = group.element(Origin::path(name.as_str()));
            if let Some(expected) = expected {
                group = group.element(Level::NOTE.message(expected));
            }
        } else {
            let annotation = AnnotationKind::Primary.span(problem.span.clone()).label(expected);
            group = group.element(Snippet::source(source.as_str()).path(name.as_str()).annotation(annotation));
        }
        if let Some(nearest) = &problem.nearest {
            group = group.element(Level::HELP.message(format!("did you mean `{nearest}`?")));
        }
        text.push_str(&renderer.render(&[group]));
        text.push_str("\n\n");
    }
    if problems.len() > MOST {
        let _ = writeln!(text, "… and {} more; `dramaturg check --json` prints all\n", problems.len() - MOST);
    }
    text
}

/// Formats an error with its causes, one per line, and a hint.
pub(crate) fn chain(error: &dyn Error, hint: Option<&str>, color: bool) -> String {
    let (red, cyan, reset) = if color { ("\x1b[1;31m", "\x1b[1;36m", "\x1b[0m") } else { ("", "", "") };
    let mut text = format!("{red}error:{reset} {}\n", visible_lines(&error.to_string()));
    let mut last = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let line = cause.to_string();
        // A transparent variant has the same text as its source.
        if line != last {
            let _ = writeln!(text, "  caused by: {}", visible_lines(&line));
        }
        last = line;
        source = cause.source();
    }
    if let Some(hint) = hint {
        let _ = writeln!(text, "{cyan}hint:{reset} {}", visible_lines(hint));
    }
    text
}

/// The command that failed, as far as hints depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailedCommand {
    /// `export`.
    Export,
    /// `select`.
    Select,
    /// Any other command.
    Other,
}

/// Returns a hint for an error. `invocation` is the command line in shell syntax.
pub(crate) fn hint(error: &RunError, command: FailedCommand, invocation: &str) -> String {
    let again = format!("run `{invocation}` again");
    match error {
        RunError::Invalid(PipelineError::Open { nearest: Some(nearest), .. }) => format!("did you mean `{nearest}`?"),
        RunError::Invalid(PipelineError::Open { path, .. }) if path.is_dir() && command == FailedCommand::Export => format!(
            "`--format` converts an existing data set: `{invocation} --format jsonl`; without it, `export` takes a pipeline \
             file"
        ),
        RunError::Invalid(PipelineError::Open { path, .. }) if path.is_dir() => {
            "give a pipeline file, such as `pipelines/demo.toml`; `check`, `status`, `split` and `diff` take a run folder"
                .to_owned()
        }
        RunError::Invalid(PipelineError::Open { nearest: None, .. }) => {
            "examples are `pipelines/demo.toml` and `pipelines/served.toml`".to_owned()
        }
        RunError::Invalid(PipelineError::Invalid { .. }) if command == FailedCommand::Select => {
            "the configuration is the run's own: run `select` in the folder where the run was started, with its books and files in \
             place, and use judges that it defines"
                .to_owned()
        }
        RunError::Invalid(PipelineError::Invalid { .. }) => {
            "`schemas/pipeline.schema.json` describes every key; `dramaturg schema` writes it".to_owned()
        }
        RunError::Aliases(_) => format!(
            "`schemas/aliases.schema.json` describes the file; fix it, or remove it to have it generated again, and {again}"
        ),
        RunError::Vetoes(_) => {
            format!("`docs/corrections.md` describes overrides; fix the file and {again}; all answers are kept")
        }
        RunError::Books { .. } => {
            "books are plain text, Markdown, HTML, EPUB, Fountain or JSON Lines, in any common encoding".to_owned()
        }
        RunError::Store(StoreError::Scene { .. } | StoreError::DuplicateScene { .. }) => {
            format!(
                "`dramaturg pool check` lists all problems of a pool; fix them and {again}; completed work is kept"
            )
        }
        RunError::Store(StoreError::InUse { path, .. }) => {
            let run = quoted(&path.display().to_string());
            format!("wait for it to finish, or choose another folder with `--out`; `dramaturg status {run}` shows its progress")
        }
        RunError::Start(_) | RunError::Store(_) | RunError::Export(_) => {
            format!("fix the problem and {again}; completed work is kept")
        }
        RunError::Ask(AskError::Interrupted) => {
            format!("{again} to resume; completed work is kept")
        }
        RunError::Failures { is_kept: true, .. } => {
            "the journal keeps these replies; raise `max_schema_retries` for more retries, or change the model or prompt"
                .to_owned()
        }
        RunError::Failures { items: FailedItems::Books, .. } => {
            format!("fix or remove them, and {again}; the rest is kept")
        }
        RunError::Failures { failed, .. } => format!("{again} to retry these {failed}; the rest is kept"),
        RunError::Ask(AskError::Budget(limit)) => {
            let key = limit.key;
            format!("raise `budget.{key}` in the file or with `--set`, and {again}; completed work is kept")
        }
        RunError::Ask(AskError::Missing { .. }) if command == FailedCommand::Select => {
            "`select` asks only the judges given with `--judge`: run `dramaturg build` to make all other calls, and add `--judge` \
             for every judge of an earlier call"
                .to_owned()
        }
        RunError::Ask(AskError::Missing { .. }) => {
            "rerun without `--replay` to make this call".to_owned()
        }
        RunError::AddJudges(AddJudgesError::NoDataset { .. }) => {
            "`dramaturg build` writes the data set; RUN is the run folder that it prints at the end".to_owned()
        }
        RunError::AddJudges(AddJudgesError::WasSplit { .. }) => {
            format!("`dramaturg build PIPELINE --replay` restores the original splits; then {again}, and `dramaturg split` after it")
        }
        RunError::AddJudges(AddJudgesError::OtherRun { .. }) => "remove it: `select` accepts `--set models.NAME…` only for a judge given with `--judge` that has no other \
                                      role, and keys that set its speed, price or address; use `dramaturg build` for another run"
            .to_owned(),
        RunError::Ask(AskError::Unusable { model, source }) => match source {
            HttpFault::Status { status: 401 | 403, .. } => {
                format!(
                    "set a valid key in the variable named by `models.{model}.api_key_env` (default: OPENAI_API_KEY)"
                )
            }
            HttpFault::Status { status: 402 | 429, .. } => format!(
                "the quota is used up, and waiting does not help: add credit to the account, or use another key \
                 (`models.{model}.api_key_env`), then {again}; completed work is kept"
            ),
            HttpFault::Status { status: 404 | 405, .. } => format!(
                "`dramaturg check PIPELINE --probe` lists the server's models: `models.{model}.model` must be one of them, and \
                 `models.{model}.base_url` must end before `/chat/completions`, often with `/v1`"
            ),
            _ => format!(
                "check `models.{model}.base_url` (default: OPENAI_BASE_URL) and `models.{model}.model`, then {again}"
            ),
        },
        RunError::Prompts(_) | RunError::Ask(AskError::Prompt { .. }) => {
            "check the template given in `[prompts]`".to_owned()
        }
        RunError::Ask(AskError::Journal(_)) => format!("fix the problem and {again}; answered calls are kept"),
        RunError::Ask(_) => format!("{again}; completed work is kept"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::Cause;
    use crate::schema::Stage;

    fn draw(text: &str, part: &str, expected: Option<&str>, nearest: Option<&str>) -> String {
        let start = text.find(part).expect("`part` occurs in `text`");
        let problem = Problem {
            source: 0,
            span: start..start + part.len(),
            message: "wrong".to_owned(),
            expected: expected.map(str::to_owned),
            nearest: nearest.map(str::to_owned),
        };
        problems(&[("mine.toml".to_owned(), text.to_owned())], &[problem], false)
    }

    #[test]
    fn the_caret_is_below_the_span() {
        insta::assert_snapshot!(draw("[cast]\nbase = \"stron\"\n", "\"stron\"", Some("`strong`"), Some("strong")), @r#"
        error: wrong
         --> mine.toml:2:8
          |
        2 | base = "stron"
          |        ^^^^^^^ expected `strong`
          |
          = help: did you mean `strong`?
        "#);
    }

    #[test]
    fn the_caret_is_below_the_span_after_chinese() {
        // A Chinese character is two terminal columns wide.
        insta::assert_snapshot!(draw("名 = { 书 = \"红楼梦\", 人 = 3 }\n", "人", None, None), @r#"
        error: wrong
         --> mine.toml:1:18
          |
        1 | 名 = { 书 = "红楼梦", 人 = 3 }
          |                       ^^
        "#);
        insta::assert_snapshot!(draw("books.paths = [\"红楼梦.txt\", \"三国.txt\"]\n", "\"三国.txt\"", None, None), @r#"
        error: wrong
         --> mine.toml:1:27
          |
        1 | books.paths = ["红楼梦.txt", "三国.txt"]
          |                              ^^^^^^^^^^
        "#);
    }

    #[test]
    fn a_hint_names_the_schema_of_the_invalid_file() {
        let wrong =
            |name: &str| PipelineError::Invalid { sources: vec![(name.to_owned(), String::new())], problems: vec![] };
        let pipeline = hint(&RunError::Invalid(wrong("mine.toml")), FailedCommand::Other, "dramaturg build mine.toml");
        assert!(pipeline.contains("pipeline.schema.json"), "{pipeline}");
        let aliases = hint(
            &RunError::Aliases(wrong("scene_pool/aliases/tide.toml")),
            FailedCommand::Other,
            "dramaturg build mine.toml",
        );
        assert!(aliases.contains("aliases.schema.json") && !aliases.contains("pipeline.schema"), "{aliases}");
        assert!(aliases.ends_with("run `dramaturg build mine.toml` again"), "{aliases}");
    }

    #[test]
    fn an_error_is_printed_once_with_its_causes() {
        let source =
            HttpFault::Status { status: 503, url: "https://llm.example.org/v1".to_owned(), body: "busy".to_owned() };
        let elapsed = std::time::Duration::from_millis(31_240);
        let ask = AskError::Transient { model: "qwen3".to_owned(), tries: 4, elapsed, source };
        let error = RunError::Failures {
            summary: Box::default(),
            items: FailedItems::Calls,
            failed: 3,
            total: 412,
            is_kept: false,
            stage: Some(Stage::Simulate),
            first: "zero/qwen3/7".to_owned(),
            cause: Cause(ask.detail()),
        };
        let hint = hint(&error, FailedCommand::Other, "dramaturg build mine.toml");
        insta::assert_snapshot!(chain(&error, Some(&hint), false), @r"
        error: 3 of 412 calls failed, first `zero/qwen3/7` in `simulate`
          caused by: no reply from model `qwen3` after 4 tries: HTTP 503: busy
        hint: run `dramaturg build mine.toml` again to retry these 3; the rest is kept
        ");
        insta::assert_snapshot!(chain(&RunError::Ask(AskError::Interrupted), None, false), @r"
        error: interrupted
        ");
    }
}
