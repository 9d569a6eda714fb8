//! The command line as a user sees it: exit code, stdout, stderr.

use std::path::Path;

use crate::support::{TestRun, program};

/// Makes a working directory with an English and a Chinese book.
fn project() -> TestRun {
    let run = TestRun::empty();
    run.write("books/红楼梦.txt", "话说……\n");
    run.write("books/plain.txt", "Once.\n");
    run
}

const PIPELINE: &str = r#"# A pipeline of the tests.
name = "mine"

[books]
paths = ["books/*"]

[models.reader]
provider = "offline"

[models."作者"]
provider = "offline"
variant = "作者"

[cast]
extractor = "reader"
synthesizers = ["reader"]
director = "reader"
scene = "reader"
sources = ["作者"]
base = "reader"
judge = "reader"
"#;

#[test]
fn help_lists_the_commands() {
    insta::assert_snapshot!(project().transcript(&["--help"]), @r"
    exit 0
    -- stdout
    Build role-play benchmarks for language models from books.

    Reads a folder of books and writes a Parquet data set that `datasets.load_dataset` can load. Every
    model call is recorded in a journal, so the same data set can be built again byte for byte without
    paying for the calls again.

    Usage: dramaturg <COMMAND>

    Commands:
      init        Create a project with a commented pipeline file and two short sample books
      build       Run the whole pipeline: turn books into a data set in `outputs/<name>/dataset`
      check       Validate a pipeline file (with `--probe` also its endpoints), a data set or a scene
                  pool
      status      Show the progress of a run: calls, rows, cost and remaining work
      chunk       Split books into chunks that fit a model's context
      extract     Extract scenes from books into the scene pool
      synthesize  Run up to the test characters: load those from files and synthesize the others
      simulate    Run up to the conversations: test characters play scenes, and a judge selects replies
      select      Judge the replies of a run again with additional judges
      instruct    Run up to the role data: questions about roles, and instructions answered in character
      export      Write the data set (same as `build`), or convert an existing one
      diff        Compare two runs
      split       Split a data set again by share, character, book, source model or role
      journal     Inspect a run's journal, the record of all answered model calls
      pool        Inspect, validate and extend a scene pool
      character   Export characters of a pool, a run or files
      schema      Write the JSON Schemas of files, rows and model answers

    Options:
      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Examples:
      dramaturg init novels                               create a new project
      dramaturg build pipelines/demo.toml                 run the sample books offline, in seconds
      dramaturg check mine.toml --probe                   validate a pipeline file and its endpoints
      dramaturg build mine.toml --dry-run                 estimate calls, tokens and cost
      dramaturg build mine.toml --limit 1                 try a pipeline on a small sample
      dramaturg build mine.toml --set simulate.tau=3      override a key of the file
      dramaturg extract mine.toml                         run up to the scenes
      dramaturg split outputs/mine --test 0.2 --dev 0.1   split an existing data set again
      dramaturg status outputs/mine --watch               show progress and remaining work
      dramaturg journal stats outputs/mine                show calls, tokens and latency so far
      dramaturg diff outputs/mine outputs/mine-2          compare two runs

    Exit codes:
      0  success                             4    model API error
      1  internal error                      5    budget reached
      2  invalid command or configuration    130  interrupted
      3  completed with failures, or `check` reported findings
    -- stderr
    ");
}

#[test]
fn help_of_build_has_examples() {
    insta::assert_snapshot!(project().transcript(&["build", "--help"]), @r#"
    exit 0
    -- stdout
    Run the whole pipeline: turn books into a data set in `outputs/<name>/dataset`

    Usage: dramaturg build [OPTIONS] <PIPELINE>

    Options:
      -h, --help  Print help

    Arguments:
      <PIPELINE>  Pipeline file, such as `pipelines/demo.toml`

    Run options:
          --set <KEY=VALUE>    Override a key of the pipeline file (repeatable). VALUE is TOML: quote
                               strings, and protect the quotes from the shell, as in
                               'cast.judge="strong"'
          --out <DIR>          Run folder. Default: `outputs/<name>`
          --limit <N>          Run on a small sample: the first N chunks per book, N picked or given and
                               N synthesized characters per language, and N conversations per lane. A
                               later full run reuses these calls (all of them with N = 1) unless it
                               picks other characters, since it has read more of the books
          --json               Print only the summary on stdout, as one JSON object
      -q, --quiet              Print only errors
          --replay             Build the data set from the journal alone, without model calls; fail at
                               the first call missing from it
          --dry-run            Print what the run would ask and cost, without calling a server or
                               writing a file
          --latency <SECONDS>  Assumed latency of a call to a served model, for the wall time of
                               `--dry-run`. Default: as measured in the journal, else 3

    Examples:
      dramaturg build pipelines/demo.toml
      dramaturg build mine.toml --limit 1 --set 'books.paths=["novels/*.txt"]'
      dramaturg build mine.toml --set 'cast.judge="strong"' --set models.strong.temperature=0
      dramaturg build mine.toml --json | jq .rows
      dramaturg build mine.toml --dry-run --latency 2

    --dry-run runs the pipeline with the offline engine in place of every served model and counts the
    requests it would send. It opens no connection, needs no key and writes no file. Calls that are
    already in the run's journal are listed as paid. Reply lengths, latencies, token counts and schema
    retries are taken from the journal where it has at least five calls of an ask; otherwise replies
    are assumed to be as long as the offline engine's, or a typical length if that is longer. Cacheable
    tokens are prompt tokens that extend an earlier prompt, in blocks of 16.

    Run the same command again to resume a run: every answered call is in its journal and is not
    repeated.
    -- stderr
    "#);
}

#[test]
fn an_unknown_command_names_the_nearest() {
    insta::assert_snapshot!(project().transcript(&["biuld", "x.toml"]), @r"
    exit 2
    -- stdout
    -- stderr
    error: unrecognized subcommand 'biuld'

      tip: a similar subcommand exists: 'build'

    Usage: dramaturg <COMMAND>

    For more information, try '--help'.
    ");
}

#[test]
fn all_problems_are_printed_at_once_with_carets() {
    let project = project();
    project.write(
        "mine.toml",
        r#"name = "mine"
sed = 7

[books]
paths = ["书/红楼梦.txt", "books/plian.txt"]

[models.reader]
provider = "offline"
candidates = "many"

[models.writer]
provider = "openai"
model = "m"

[cast]
extractor = { en = "红楼", zh = "raeder" }
synthesizers = ["reader"]
director = "reader"
scene = "reader"
sources = ["writer", "writer"]
base = "reader"

[simulate]
min_turns = 30
target_probability = 1.5
"#,
    );
    insta::assert_snapshot!(project.transcript(&["build", "mine.toml"]), @r#"
    exit 2
    -- stdout
    -- stderr
    error: unknown key `sed` in the pipeline file
     --> mine.toml:2:1
      |
    2 | sed = 7
      | ^^^
      |
      = help: did you mean `seed`?

    error: no file `书/红楼梦.txt`
     --> mine.toml:5:10
      |
    5 | paths = ["书/红楼梦.txt", "books/plian.txt"]
      |          ^^^^^^^^^^^^^^^

    error: no file `books/plian.txt`
     --> mine.toml:5:23
      |
    5 | paths = ["书/红楼梦.txt", "books/plian.txt"]
      |                           ^^^^^^^^^^^^^^^^^
      |
      = help: did you mean `books/plain.txt`?

    error: `models.reader.candidates` is a string
     --> mine.toml:9:14
      |
    9 | candidates = "many"
      |              ^^^^^^ expected an integer from 1 to 64

    error: `models.writer` has no `base_url`
      --> mine.toml:11:9
       |
    11 | [models.writer]
       |         ^^^^^^ expected `base_url` here, or OPENAI_BASE_URL in the environment

    error: `cast` is missing the key `judge`
      --> mine.toml:15:2
       |
    15 | [cast]
       |  ^^^^ expected a string or a table by language `{ en = …, zh = … }`

    error: `cast.extractor.en` names an unknown model
      --> mine.toml:16:20
       |
    16 | extractor = { en = "红楼", zh = "raeder" }
       |                    ^^^^^^ expected `reader` or `writer`

    error: `cast.extractor.zh` names an unknown model
      --> mine.toml:16:31
       |
    16 | extractor = { en = "红楼", zh = "raeder" }
       |                                 ^^^^^^^^ expected `reader` or `writer`
       |
       = help: did you mean `reader`?

    error: `cast.sources[1]` is the same model as `cast.sources[0]`
      --> mine.toml:20:22
       |
    20 | sources = ["writer", "writer"]
       |                      ^^^^^^^^ expected each model once

    error: `simulate.min_turns` is above `simulate.max_turns`, which is 20
      --> mine.toml:24:13
       |
    24 | min_turns = 30
       |             ^^ expected at most 20

    error: `simulate.target_probability` is 1.5
      --> mine.toml:25:22
       |
    25 | target_probability = 1.5
       |                      ^^^ expected a number from 0 to 1

    error: 11 problems in `mine.toml`; nothing was run
    hint: `schemas/pipeline.schema.json` describes every key; `dramaturg schema` writes it
    "#);
}

#[test]
fn invalid_toml_is_reported_with_the_other_problems() {
    let project = project();
    project
        .write("mine.toml", &PIPELINE.replace("judge = \"reader\"", "judge = \"reader").replace("[books]", "[boks]"));
    insta::assert_snapshot!(project.transcript(&["build", "mine.toml"]), @r#"
    exit 2
    -- stdout
    -- stderr
    error: unknown key `boks` in the pipeline file
     --> mine.toml:4:2
      |
    4 | [boks]
      |  ^^^^
      |
      = help: did you mean `books`?

    error: invalid TOML: invalid basic string
      --> mine.toml:21:16
       |
    21 | judge = "reader
       |                ^ expected `"`

    error: 2 problems in `mine.toml`; nothing was run
    hint: `schemas/pipeline.schema.json` describes every key; `dramaturg schema` writes it
    "#);
}

#[test]
fn problems_of_a_set_point_into_its_argument() {
    let project = project();
    project.write("mine.toml", PIPELINE);
    let sets = ["cast.judge=reader", "simulate.tua=3", "models.'作者'.candidates=0", "limit"];
    let arguments: Vec<&str> =
        ["build", "mine.toml"].into_iter().chain(sets.iter().flat_map(|set| ["--set", set])).collect();
    insta::assert_snapshot!(project.transcript(&arguments), @r#"
    exit 2
    -- stdout
    -- stderr
    error: the value is not valid TOML
     --> --set:1:12
      |
    1 | cast.judge=reader
      |            ^^^^^^ expected quotes around a string: --set 'cast.judge="reader"'

    error: unknown key `tua` in `simulate`
     --> --set:1:10
      |
    1 | simulate.tua=3
      |          ^^^
      |
      = help: did you mean `tau`?

    error: `models."作者".candidates` is 0
     --> --set:1:24
      |
    1 | models.'作者'.candidates=0
      |                          ^ expected an integer from 1 to 64

    error: not an assignment
     --> --set:1:1
      |
    1 | limit
      | ^^^^^ expected KEY=VALUE, such as `simulate.tau=3`

    error: 4 problems in `mine.toml`; nothing was run
    hint: `schemas/pipeline.schema.json` describes every key; `dramaturg schema` writes it
    "#);
}

#[test]
fn a_problem_in_a_character_file_has_its_own_position() {
    let project = project();
    project.write("mine.toml", &format!("{PIPELINE}\n[synthesize]\nestablished = [\"who/*.toml\"]\n"));
    project
        .write("who/xue.toml", "name = \"薛嵩\"\n[[profile]]\nkey = \"性格\"\nvalue = \"倔\"\nvisible = \"public\"\n");
    insta::assert_snapshot!(project.transcript(&["chunk", "mine.toml"]), @r#"
    exit 2
    -- stdout
    -- stderr
    error: the character file is missing the key `language`
    --> who/xue.toml
     = note: expected `"en"` or `"zh"`

    error: `profile[0]` is missing the key `visibility`
     --> who/xue.toml:2:1
      |
    2 | [[profile]]
      | ^^^^^^^^^^^ expected `"public"` or `"private"`

    error: unknown key `visible` in `profile[0]`
     --> who/xue.toml:5:1
      |
    5 | visible = "public"
      | ^^^^^^^
      |
      = help: did you mean `visibility`?

    error: 3 problems in `who/xue.toml`; nothing was run
    hint: `schemas/pipeline.schema.json` describes every key; `dramaturg schema` writes it
    "#);
}

#[test]
fn a_missing_file_suggests_the_nearest_name() {
    let project = project();
    project.write("mine.toml", PIPELINE);
    insta::assert_snapshot!(project.transcript(&["build", "mien.toml"]), @r"
    exit 2
    -- stdout
    -- stderr
    error: failed to read the pipeline file `mien.toml`
      caused by: No such file or directory (os error 2)
    hint: did you mean `mine.toml`?
    ");
}

#[test]
fn with_quiet_and_json_stdout_has_only_json_on_errors() {
    let project = project();
    project.write("mine.toml", "name = 3\n");
    for flag in ["--quiet", "--json"] {
        let output = project.command(&["build", "mine.toml", flag]).output().expect("the program runs");
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty(), "{flag}");
        assert!(!output.stderr.is_empty(), "{flag}");
    }
}

#[test]
fn a_key_in_dot_env_is_never_printed() {
    let project = project();
    project.write(".env", "OPENAI_BASE_URL=not-a-url\nOPENAI_API_KEY=sk-very-secret\n");
    project.write("mine.toml", &PIPELINE.replacen("provider = \"offline\"", "provider = \"openai\"\nmodel = \"m\"", 1));
    let printed = project.transcript(&["build", "mine.toml"]);
    assert!(printed.contains("OPENAI_BASE_URL is not an HTTP URL"), "the file is read: {printed}");
    assert!(!printed.contains("sk-very-secret"), "{printed}");
    // Environment variables take precedence over the file.
    let mut command = project.command(&["build", "mine.toml"]);
    let output = command.env("OPENAI_BASE_URL", "also-none:1").env("OPENAI_MODEL", "m").output().expect("runs");
    assert_eq!(output.status.code(), Some(2));
    project.write(".env", "OPENAI_API_KEY sk-very-secret\n");
    insta::assert_snapshot!(project.transcript(&["build", "mine.toml"]), @r"
    exit 2
    -- stdout
    -- stderr
    error: line 1 of `.env` is not of the form NAME=value
    hint: fix or remove `.env`
    ");
}

#[test]
fn an_unreadable_book_fails_and_the_others_are_processed() {
    let project = project();
    project.write("mine.toml", PIPELINE);
    project.write("books/empty.txt", "");
    project.write("books/plain.txt", &"Once upon a time there was a miller who had nothing to say.\n".repeat(40));
    let printed = project.transcript(&["chunk", "mine.toml", "--out", "here", "--set", "simulate.tau=3"]);
    assert!(printed.starts_with("exit 3"), "{printed}");
    assert!(printed.contains("next  dramaturg extract mine.toml --out here --set simulate.tau=3"), "{printed}");
    let error = "books failed, first `books/empty.txt` in `chunk`\n  caused by: failed to read `books/empty.txt` as a book: the file is empty";
    assert!(
        printed.contains(error) && printed.contains("hint: fix or remove them, and run `dramaturg chunk"),
        "{printed}"
    );
}

#[test]
fn schema_writes_and_checks() {
    let project = project();
    assert!(project.transcript(&["schema", "made"]).starts_with("exit 0"));
    assert!(project.path().join("made/pipeline.schema.json").is_file());
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let made = std::fs::read(project.path().join("made/scene.schema.json")).expect("it is written");
    assert_eq!(made, std::fs::read(shipped.join("scene.schema.json")).expect("it is shipped"));
    assert!(project.transcript(&["schema", "--check", "made"]).starts_with("exit 0"));
    project.write("made/scene.schema.json", "{}");
    project.write("made/asks/old.ask.schema.json", "{}");
    std::fs::remove_file(project.path().join("made/sample.schema.json")).expect("it was there");
    insta::assert_snapshot!(project.transcript(&["schema", "--check", "made"]), @r"
    exit 3
    -- stdout
    -- stderr
    error: the schemas in `made` are not up to date
      `sample.schema.json` is missing
      `scene.schema.json` differs
      `asks/old.ask.schema.json` has no matching type
    hint: run `dramaturg schema made` to update them; files without a matching type are not removed
    ");
}

const RAIN: &str = "RAIN\n\nCONTENTS\n\nCHAPTER I. Mud  1\nCHAPTER II. Sun  2\n\nCHAPTER I. Mud\n\nIt rained on the weir.\n\n“Again,” said Anna.\n\nCHAPTER II. Sun\n\nIt stopped.\n";

#[test]
fn chunk_describes_books() {
    let project = project();
    project.write("novels/rain.txt", RAIN);
    project.write("novels/README.md", "no book");
    insta::assert_snapshot!(project.transcript(&["chunk", "novels"]), @r"
    exit 0
    -- stdout
    RAIN
          file  novels/rain.txt: plain text, UTF-8, English
          size  144 characters, about 27 tokens, 2 headings
       skipped  front_matter: before the story, code points 0 to 6: “RAIN…”
       skipped  contents: before the story, code points 6 to 54: “CONTENTS CHAPTER I. Mud 1 CHAPTER II. Sun 2…”
        chunks  1
             0      27 tokens                 54 to 144  CHAPTER I. Mud

    -- stderr
    ");
    insta::assert_snapshot!(project.transcript(&["chunk", "novels/rain.txt", "--chapters"]), @r"
    exit 0
    -- stdout
    RAIN (novels/rain.txt)
          1   chapter    1        line 8  CHAPTER I. Mud
          2   chapter    2       line 14  CHAPTER II. Sun

    -- stderr
    ");
    insta::assert_snapshot!(project.transcript(&["chunk", "novels/*.txt", "--chapters", "--json"]), @r#"
    exit 0
    -- stdout
    {"book":"rain","index":0,"level":"chapter","number":1,"title":"CHAPTER I. Mud","line":8,"start":54,"end":115}
    {"book":"rain","index":1,"level":"chapter","number":2,"title":"CHAPTER II. Sun","line":14,"start":115,"end":144}
    -- stderr
    "#);
    insta::assert_snapshot!(project.transcript(&["chunk", "novels/rain.txt", "--json"]), @r#"
    exit 0
    -- stdout
    {"book":"rain","title":"RAIN","author":null,"path":"novels/rain.txt","format":"text","encoding":"UTF-8","language":"en","other_language":null,"script":false,"characters":144,"replaced":0,"tokens":27,"tokenizer":null,"chapters":2,"left_out":[{"id":"rain@0","reason":"front_matter","detail":"before the story, code points 0 to 6: “RAIN…”"},{"id":"rain@6","reason":"contents","detail":"before the story, code points 6 to 54: “CONTENTS CHAPTER I. Mud 1 CHAPTER II. Sun 2…”"}],"chunks":[{"id":"rain/0","index":0,"language":"en","chapter":"CHAPTER I. Mud","start":54,"end":144,"tokens":27,"text":"CHAPTER I. Mud\n\nIt rained on the weir.\n\n“Again,” said Anna.\n\nCHAPTER II. Sun\n\nIt stopped.\n"}]}
    -- stderr
    "#);
}

#[test]
fn a_book_in_a_third_language_is_reported() {
    let project = project();
    let text = "Il pleuvait sur la rivière, et personne ne dormait dans la maison du passeur. La vieille femme avait fermé \
                les volets, puis elle s’était assise près du feu avec ses deux chats. ";
    project.write("novels/pluie.txt", &text.repeat(40));
    let printed = project.transcript(&["chunk", "novels/pluie.txt"]);
    assert!(printed.contains("   warning  the text appears to be in French;"), "{printed}");
    let printed = project.transcript(&["chunk", "novels/pluie.txt", "--json"]);
    assert!(printed.contains("\"other_language\":\"French\""), "{printed}");
}

#[test]
fn a_file_of_many_books_is_described_book_by_book() {
    let project = project();
    let lines = "{\"title\": \"Rain\", \"author\": \"A. B.\", \"content\": \"Mud.\"}\nnonsense\n{\"title\": \"河灯\", \"content\": \"河上无风。\"}\n";
    project.write("novels.jsonl", lines);
    insta::assert_snapshot!(project.transcript(&["chunk", "novels.jsonl", "books/plain.txt"]), @r#"
    exit 3
    -- stdout
    Rain, A. B.
          file  novels.jsonl: JSON Lines, UTF-8, English
          size  4 characters, about 2 tokens, 0 headings
        chunks  1
             0       2 tokens                    0 to 4

    河灯
          file  novels.jsonl: JSON Lines, UTF-8, Chinese
          size  5 characters, about 5 tokens, 0 headings
        chunks  1
             0       5 tokens                    0 to 5

    plain
          file  books/plain.txt: plain text, UTF-8, English
          size  6 characters, about 2 tokens, 0 headings
        chunks  1
             0       2 tokens                    0 to 6

    -- stderr
    error: failed to read line 2 of `novels.jsonl` as a book: invalid book object: expected ident; a book is an object such as {"title": "…", "author": "…", "content": "…"}, on its own line or in an array
    error: failed to read 1 of 4 books
    "#);
}

#[test]
fn an_unreadable_book_does_not_hide_the_others() {
    let project = project();
    project.write("novels/a.txt", "");
    project.write("novels/b.txt", "Once.\n");
    project.write("novels/c.epub", "PK\u{3}\u{4}");
    let huge = std::fs::File::create(project.path().join("novels/d.txt")).expect("make the file");
    huge.set_len(3 << 30).expect("a file with a hole");
    insta::assert_snapshot!(project.transcript(&["chunk", "novels", "--chapters"]), @r"
    exit 3
    -- stdout
    b (novels/b.txt)

    -- stderr
    error: failed to read `novels/a.txt` as a book: the file is empty; remove it from the books
    error: failed to read `novels/c.epub` as a book: it is a broken EPUB (invalid Zip archive: Could not find EOCD); download or export it again
    error: failed to read `novels/d.txt` as a book: it has at least 3221 MB, and the limit is 256 MB; split it into volumes
    error: failed to read 3 of 4 books
    ");
    insta::assert_snapshot!(project.transcript(&["chunk", "novels/a.txt"]), @r"
    exit 2
    -- stdout
    -- stderr
    error: failed to read `novels/a.txt` as a book: the file is empty; remove it from the books
    ");
}

#[test]
fn control_characters_are_escaped() {
    let project = project();
    let line = r#"{"title": "\u001b[31mRain\u0007", "author": "\u009b2J\u202eB.", "content": "Chapter 1. \u001b]0;x\u0007\n\nMud.\n\nChapter 2.\n\nSun."}"#;
    project.write("a\u{1b}[2J.jsonl", line);
    project.write("b\u{1b}[2J.txt", "");
    for arguments in [&["chunk", ".", "--chapters"][..], &["chunk", "."], &["chunk", "c\u{1b}[2J.txt"]] {
        let printed = project.transcript(arguments);
        let steers = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!printed.contains(steers), "{printed:?}");
        assert!(printed.contains(r"\u{1b}[2J"), "{printed}");
    }
    let printed = project.transcript(&["chunk", "a\u{1b}[2J.jsonl"]);
    // Readers drop most control characters; the rest, such as direction marks, is escaped.
    assert!(printed.contains(r"[31mRain") && printed.contains(r"2J\u{202e}B."), "{printed}");
    let printed = project.transcript(&["chunk", "a\u{1b}[2J.jsonl", "--chapters"]);
    assert!(printed.contains(r"Chapter 1. \u{1b}]0;x\u{7}"), "{printed}");
}

#[test]
fn a_closed_pipe_ends_the_command_quietly() {
    let project = project();
    let line = "The mill stood still and the river went by.\n\n";
    for name in ["novels/a.txt", "novels/b.txt"] {
        project.write(name, &line.repeat(20_000));
    }
    for arguments in [&["chunk", "novels", "--json"][..], &["chunk", "novels", "--set", "chunk.max_tokens=256"]] {
        let mut child = program(project.path(), arguments)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut byte = [0];
        std::io::Read::read_exact(child.stdout.as_mut().expect("piped"), &mut byte).expect("it prints");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_failed_write_to_stdout_is_an_error() {
    let project = project();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let output =
        program(project.path(), &["chunk", "books", "--json"]).stdout(full).output().expect("the program runs");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.starts_with("error: failed to write to stdout\n  caused by: "), "{printed}");
}

#[test]
fn a_bilingual_book_is_reported() {
    let project = project();
    let en = "The mill stood still and the river went by under it.\n\n".repeat(40);
    let zh = "河上无风，水车不动，守夜的人都睡了。\n\n".repeat(60);
    project.write("novels/both.txt", &format!("Chapter 1\n\n{en}Chapter 2\n\n{zh}"));
    let printed = project.transcript(&["chunk", "novels", "--set", "chunk.max_tokens=1200"]);
    assert!(printed.contains("    chunks  2, of which 1 in English\n"), "{printed}");
}

#[test]
fn tokens_are_counted_with_the_named_tokenizer() {
    let project = project();
    project.write("novels/rain.txt", RAIN);
    let printed = project.transcript(&["chunk", "novels", "--set", "chunk.tokenizer=\"o200k_base\""]);
    assert!(printed.contains("144 characters, 29 tokens of o200k_base, 2 headings"), "{printed}");
    let printed =
        project.transcript(&["chunk", "novels", "--json", "--limit", "1", "--set", "chunk.tokenizer=\"cl100k_base\""]);
    assert!(printed.contains(r#""tokens":26,"tokenizer":"cl100k_base","#), "{printed}");
    let printed = project.transcript(&["chunk", "novels", "--set", "chunk.tokenizer=\"o200k\""]);
    assert!(
        printed.starts_with("exit 2") && printed.contains("`o200k_base`") && printed.contains("`o200k`"),
        "{printed}"
    );
    project.write(
        "mine.toml",
        &PIPELINE.replace("[models.reader]", "[chunk]\ntokenizer = \"o200kbase\"\n\n[models.reader]"),
    );
    insta::assert_snapshot!(project.transcript(&["chunk", "mine.toml"]), @r#"
    exit 2
    -- stdout
    -- stderr
    error: `chunk.tokenizer` is "o200kbase"
     --> mine.toml:8:13
      |
    8 | tokenizer = "o200kbase"
      |             ^^^^^^^^^^^ expected `"o200k_base"` or `"cl100k_base"`
      |
      = help: did you mean `o200k_base`?

    error: 1 problem in `mine.toml`; nothing was run
    hint: `schemas/pipeline.schema.json` describes every key; `dramaturg schema` writes it
    "#);
}

#[test]
fn the_encoding_can_be_overridden() {
    let project = project();
    let big5 = [0xA4, 0x40, 0xA4, 0xD1, b'\n'];
    std::fs::write(project.path().join("short.txt"), big5).expect("write the file");
    let printed = project.transcript(&["chunk", "short.txt", "--encoding", "big5", "--json"]);
    assert!(printed.contains("\"encoding\":\"Big5\"") && printed.contains("一天"), "{printed}");
    let printed = project.transcript(&["chunk", "short.txt", "--set", "chunk.encoding=\"big5\"", "--json"]);
    assert!(printed.contains("一天"), "{printed}");
    let printed = project.transcript(&["chunk", "short.txt", "--encoding", "big6"]);
    assert!(printed.starts_with("exit 2") && printed.contains("big6"), "{printed}");
}

#[test]
fn books_and_a_pipeline_file_cannot_be_combined() {
    let project = project();
    project.write("mine.toml", PIPELINE);
    for arguments in [
        &["chunk", "mine.toml", "books/plain.txt"][..],
        &["chunk", "mine.toml", "--chapters"],
        &["chunk", "books", "--out", "here"],
        &["chunk", "books", "--set", "simulate.tau=3"],
        &["chunk", "bokos"],
    ] {
        let printed = project.transcript(arguments);
        assert!(printed.starts_with("exit 2") && printed.contains("hint: "), "{printed}");
    }
}

const TALK: &str =
    "TIDE\n\n“Is it out?” asked Ruth Hallow.\n\n“It is,” said Mr. Hale. \u{1b}[31m\n\n“Late,” \u{7}said Hale.\n";

#[test]
fn extract_prints_the_speakers() {
    let project = project();
    project.write("novels/tide.txt", TALK);
    insta::assert_snapshot!(project.transcript(&["extract", "novels", "--quotes"]), @r##"
    exit 0
    -- stdout
    TIDE (novels/tide.txt)
      characters  2
               2 lines  named      2    male  Mr. Hale: Hale
               1 line   named      1  female  Ruth Hallow
      quotations  3
                     7 to 17   explicit 0.98  Ruth Hallow: Is it out?
                    40 to 46   explicit 0.98  Mr. Hale: It is,
                    71 to 76   explicit 0.98  Mr. Hale: Late,

    -- stderr
    "##);
    insta::assert_snapshot!(project.transcript(&["extract", "novels/*.txt", "--quotes", "--json", "--limit", "2"]), @r##"
    exit 0
    -- stdout
    {"speaker_id":0,"name":"Mr. Hale","aliases":["Hale"]}
    {"speaker_id":1,"name":"Ruth Hallow","aliases":[]}
    {"book":"tide","start":7,"end":17,"quote":"Is it out?","speaker":"Ruth Hallow","speaker_id":1,"kind":"explicit"}
    {"book":"tide","start":40,"end":46,"quote":"It is,","speaker":"Mr. Hale","speaker_id":0,"kind":"explicit"}
    -- stderr
    "##);
    assert_eq!(project.transcript(&["extract", "novels", "--quotes", "--quiet"]), "exit 0\n-- stdout\n-- stderr");
}

#[test]
fn corrected_characters_can_be_passed() {
    let project = project();
    project.write("tide.txt", TALK);
    project.write("河灯.txt", "江守田道：「潮退了沒有？」\n\n孟秋雲說：「退了。」\n\n守田道：「走罷。」\n");
    project
        .write("tide.toml", "[[people]]\nname = \"Edwin\"\naliases = [\"Mr. Hale\"]\n\n[[people]]\nname = \"Jim\"\n");
    project.write("河灯.jsonl", "{\"speaker_id\": 7, \"name\": \"江老大\", \"aliases\": [\"江守田\", \"守田\"]}\n");
    insta::assert_snapshot!(project.transcript(&["extract", "tide.txt", "--quotes", "--characters", "tide.toml", "--json"]), @r##"
    exit 0
    -- stdout
    {"speaker_id":0,"name":"Edwin","aliases":["Mr. Hale"]}
    {"speaker_id":1,"name":"Jim","aliases":[]}
    {"book":"tide","start":7,"end":17,"quote":"Is it out?","speaker":null,"speaker_id":null,"kind":null}
    {"book":"tide","start":40,"end":46,"quote":"It is,","speaker":"Edwin","speaker_id":0,"kind":"explicit"}
    {"book":"tide","start":71,"end":76,"quote":"Late,","speaker":null,"speaker_id":null,"kind":null}
    -- stderr
    note: not found in `tide`: `Jim`
    "##);
    insta::assert_snapshot!(project.transcript(&["extract", "河灯.txt", "--quotes", "--characters", "河灯.jsonl"]), @r##"
    exit 0
    -- stdout
    河灯 (河灯.txt)
      characters  1
               2 lines  named      2          江老大: 江守田, 守田
      quotations  3
                     6 to 12   explicit 0.98  江老大: 潮退了沒有？
                    21 to 24         unknown  退了。
                    32 to 35   explicit 0.98  江老大: 走罷。

    -- stderr
    "##);
    project.write("broken.toml", "[[people]]\nname = \"Edwin\"\nalias = [\"Mr. Hale\"]\n");
    insta::assert_snapshot!(project.transcript(&["extract", "tide.txt", "--quotes", "--characters", "broken.toml"]), @r##"
    exit 2
    -- stdout
    -- stderr
    error: unknown key `alias` in `people[0]`
     --> broken.toml:3:1
      |
    3 | alias = ["Mr. Hale"]
      | ^^^^^
      |
      = help: did you mean `aliases`?

    error: 1 problem in `broken.toml`; nothing was run
    hint: `dramaturg extract --help` describes the format of a character list
    "##);
}

#[test]
fn extract_takes_books_or_a_pipeline() {
    let project = project();
    project.write("mine.toml", PIPELINE);
    for arguments in [
        &["extract", "mine.toml", "books/plain.txt", "--quotes"][..],
        &["extract", "mine.toml", "--quotes"],
        &["extract", "mine.toml", "--characters", "mine.toml"],
        &["extract", "books"],
        &["extract", "books", "--quotes", "--out", "here"],
        &["extract", "books", "--quotes", "--set", "simulate.tau=3"],
        &["extract", "bokos", "--quotes"],
        &["extract", "books", "--quotes", "--characters", "mien.toml"],
    ] {
        let printed = project.transcript(arguments);
        assert!(printed.starts_with("exit 2") && printed.contains("hint: "), "{printed}");
    }
}

#[test]
fn a_new_project_runs_unchanged_and_is_never_overwritten() {
    let project = project();
    let printed = project.transcript(&["init", "小说"]);
    assert!(printed.starts_with("exit 0") && printed.contains("wrote 小说/pipeline.toml"), "{printed}");
    let pipeline = project.path().join("小说/pipeline.toml");
    let text = std::fs::read_to_string(&pipeline).expect("a pipeline file");
    assert!(text.contains("name = \"小说\""), "{text}");
    let within = |arguments: &[&str]| {
        let mut command = project.command(arguments);
        command.current_dir(project.path().join("小说"));
        String::from_utf8(command.output().expect("the program runs").stdout).expect("UTF-8")
    };
    let checked = within(&["check", "pipeline.toml", "--json"]);
    let checked: serde_json::Value = serde_json::from_str(&checked).expect("JSON");
    assert_eq!(checked["books"].as_array().map(Vec::len), Some(2), "{checked}");
    let summary = within(&["synthesize", "pipeline.toml", "--limit", "1", "--json", "--quiet"]);
    let summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
    assert!(summary["calls"]["made"].as_u64() > Some(0), "{summary}");

    std::fs::remove_file(project.path().join("小说/books/lian_wen_ji.txt")).expect("it was written");
    let again = project.transcript(&["init", "小说"]);
    assert!(again.starts_with("exit 2") && again.contains("nothing was written"), "{again}");
    assert!(!project.path().join("小说/books/lian_wen_ji.txt").exists());
}
