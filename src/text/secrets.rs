//! Finds text that looks like a key or a password, mostly by the prefixes that issuers use, so that prose is not
//! matched.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use regex::Regex;
use serde::Deserialize;

/// Text that looks like a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// What it looks like, with its article.
    pub kind: &'static str,
    /// Its position, in bytes.
    pub range: Range<usize>,
}

impl Secret {
    /// Returns the first six characters, enough to find the secret but not to use it.
    #[must_use]
    pub fn hint(&self, text: &str) -> String {
        let prefix: String = text[self.range.clone()].chars().take(6).collect();
        format!("{prefix}…")
    }
}

/// What must be true of the body after the prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Proof {
    /// Nothing: no sentence has such a form.
    Form,
    /// The entropy must exclude placeholders of a few repeated characters. Prefix and form are otherwise conclusive.
    Varied,
    /// The body must look random, since words could follow the prefix.
    Random,
}

/// The pattern of a secret: regular expressions for its prefix and body, and what must be true of the body.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretPattern {
    /// What it looks like, with its article.
    kind: String,
    /// For secrets assigned to a name: a pattern without leading repetitions that finds candidates.
    search: Option<String>,
    prefix: String,
    body: String,
    proof: Proof,
}

/// All patterns, from the TOML file beside this module.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretPatterns {
    /// Secrets with a prefix of their issuer.
    issuers: Vec<SecretPattern>,
    /// Secrets found by a separator inside them.
    separated: Vec<SecretPattern>,
    /// Secrets assigned to a name.
    assigned: Vec<SecretPattern>,
}

impl SecretPatterns {
    /// Returns the patterns in the order in which they are tried.
    fn iter(&self) -> impl Iterator<Item = &SecretPattern> {
        self.issuers.iter().chain(&self.separated).chain(&self.assigned)
    }
}

static PATTERNS: LazyLock<SecretPatterns> = LazyLock::new(|| embedded_toml!("secrets.toml"));

/// Matches all prefixes and ends of names. It consists of literals, which can be searched many bytes at a time; leading
/// repetitions would make it four times slower.
static PREFIXES: LazyLock<Regex> = LazyLock::new(|| {
    // The pattern includes that no word continues before the prefix.
    let issuers = PATTERNS.issuers.iter().map(|pattern| format!(r"(?-u:\b{{start-half}})(?:{})", pattern.prefix));
    let assigned = PATTERNS.assigned.iter().filter_map(|pattern| pattern.search.clone());
    let all: Vec<String> = issuers.chain(assigned).collect();
    Regex::new(&all.join("|")).expect("the patterns are embedded and tested")
});

/// Matches each pattern at the start of a text, in the order of [`SecretPatterns::iter`].
static ANCHORED: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let anchored = |pattern: &SecretPattern| {
        Regex::new(&format!("^(?:{})({})", pattern.prefix, pattern.body)).expect("the patterns are embedded and tested")
    };
    PATTERNS.iter().map(anchored).collect()
});

static URL_SEPARATORS: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("://"));
static BOT_SEPARATORS: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(":AA"));

/// How far before a separator and after a prefix is examined, in bytes. The limit keeps texts of nothing but prefixes
/// cheap.
const REACH: (usize, usize) = (40, 512);

/// Returns the text ranges that look like secrets, in order.
#[must_use]
pub fn secrets(text: &str) -> Vec<Secret> {
    let mut found: Vec<Secret> = Vec::new();
    for start in starts(text) {
        // A rejected match may hide another one that starts inside it, but an accepted one does not.
        if found.last().is_none_or(|secret| secret.range.end <= start) {
            found.extend(secret_at(text, start));
        }
    }
    found
}

/// Returns the positions where a secret may start, sorted.
fn starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let back = |at: usize, is_part: fn(u8) -> bool| {
        let before = bytes[at.saturating_sub(REACH.0)..at].iter().rev().take_while(|byte| is_part(**byte));
        at - before.count()
    };
    let in_name: fn(u8) -> bool = |byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let in_scheme: fn(u8) -> bool = |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-');
    let mut starts = Vec::new();
    for mark in PREFIXES.find_iter(text) {
        starts.extend([back(mark.start(), in_name), mark.start()]);
    }
    starts.extend(URL_SEPARATORS.find_iter(bytes).map(|at| back(at, in_scheme)));
    starts.extend(BOT_SEPARATORS.find_iter(bytes).map(|at| back(at, |byte| byte.is_ascii_digit())));
    let points = memchr::memchr_iter(b'.', bytes);
    let points = points.map(|at| (at, back(at, |byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))));
    starts.extend(points.filter(|(at, start)| at - start == 32).map(|(_, start)| start));
    starts.sort_unstable();
    starts.dedup();
    starts
}

fn secret_at(text: &str, start: usize) -> Option<Secret> {
    let part = &text[start..text.floor_char_boundary(start + REACH.1)];
    ANCHORED.iter().zip(PATTERNS.iter()).find_map(|(regex, pattern)| {
        let body = regex.captures(part)?.get(1)?;
        let is_proven = match pattern.proof {
            Proof::Form => true,
            Proof::Varied => entropy(body.as_str()) >= 2.5,
            Proof::Random => looks_random(body.as_str()),
        };
        is_proven.then(|| Secret { kind: &pattern.kind, range: start..start + body.end() })
    })
}

/// A run of so many letters and digits is not a word.
const LONGEST_WORD: usize = 32;

/// Whether a body looks random: high entropy, and several changes between lower case, upper case and digits inside its
/// words. A capitalised word, a year, or two joined words have at most one such change.
fn looks_random(body: &str) -> bool {
    let class = |byte: u8| match byte {
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        b'0'..=b'9' => 3,
        _ => 0,
    };
    let (mut changes, mut run, mut previous) = (0, 0, 0);
    let mut longest = 0;
    for byte in body.bytes() {
        let class = class(byte);
        changes += usize::from(matches!((previous, class), (1, 2 | 3) | (2, 3) | (3, 1 | 2)));
        run = if class == 0 { 0 } else { run + 1 };
        longest = longest.max(run);
        previous = class;
    }
    // A short body cannot have as much entropy.
    let enough = (0.7 * super::float(body.len().max(1)).log2()).min(3.2);
    (changes >= 3 || longest >= LONGEST_WORD) && entropy(body) >= enough
}

/// Returns the entropy of a text, in bits per character.
fn entropy(text: &str) -> f64 {
    let mut counts = [0_usize; 128];
    text.bytes().filter(u8::is_ascii).for_each(|byte| counts[usize::from(byte)] += 1);
    let all = super::float(text.len().max(1));
    let share = |count: &usize| super::float(*count) / all;
    -counts.iter().filter(|count| **count > 0).map(|count| share(count) * share(count).log2()).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a key at run time, so that secret scanners do not flag this file.
    fn key(mark: &str) -> String {
        let random = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY3zA5bC7d";
        match mark {
            "AKIA" => format!("{mark}Q7Z4M2N8P6R3S5T9"),
            "eyJ" => format!("eyJ{random}.eyJ{random}.{random}"),
            "-----BEGIN " => format!("{mark}RSA PRIVATE {}", "KEY-----"),
            "AIza" => format!("{mark}{}", &random[..35]),
            _ => format!("{mark}{random}"),
        }
    }

    #[test]
    fn keys_are_found_in_english_and_chinese_prose() {
        for mark in [
            "sk-",
            "sk-proj-",
            "AKIA",
            "ghp_",
            "github_pat_",
            "glpat-",
            "xoxb-",
            "AIza",
            "hf_",
            "rk_live_",
            "eyJ",
            "-----BEGIN ",
            "Bearer ",
            "api_key = \"",
            "password: ",
            "TOKEN=",
        ] {
            for text in [format!("He said: {} and left.", key(mark)), format!("他说{}，便走了。", key(mark)), key(mark)]
            {
                let found = secrets(&text);
                assert_eq!(found.len(), 1, "{mark} in {text}");
                assert!(key(mark).starts_with(&text[found[0].range.clone()][..10]), "{mark}");
                assert!(found[0].hint(&text).chars().count() <= 7);
            }
        }
    }

    #[test]
    fn a_key_after_a_compound_name_is_found() {
        let random = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY3zA5bC7d";
        for text in [
            format!("OPENAI_API_KEY=sk-{random}"),
            format!("export HF_TOKEN=hf_{random}"),
            format!("他说 client_secret={random}，便走了。"),
            format!("AWS_SECRET_ACCESS_KEY={random}"),
            format!("\"aws_secret_access_key\": \"{random}\""),
            format!("secret_key = {random}"),
            format!("desk-top-task-sk-{random}"),
        ] {
            let found = secrets(&text);
            assert_eq!(found.len(), 1, "{text}");
            assert!(text[found[0].range.clone()].ends_with(random), "{text}");
        }
        assert_eq!(secrets(&format!("task_sk-{random} and ask-{random}")), [], "a prefix inside a word does not match");
    }

    /// Returns `count` pseudorandom letters, the same for the same seed.
    fn random_text(seed: u64, count: usize, of: &str) -> String {
        let signs: Vec<char> = of.chars().collect();
        let mut state = seed;
        let draw = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            signs[usize::try_from(state >> 33).unwrap() % signs.len()]
        };
        (0..count).map(draw).collect()
    }

    const SMALL: &str = "abcdefghijklmnopqrstuvwxyz";
    const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const SIGNS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

    #[test]
    fn keys_without_digits_are_found() {
        for seed in 0..20 {
            for (mark, count, of) in [
                ("hf_", 34, LETTERS),
                ("hf_", 34, SMALL),
                ("Bearer ", 38, LETTERS),
                ("Bearer ", 40, SMALL),
                ("sk-", 32, LETTERS),
                ("sk-", 48, SIGNS),
                ("gsk_", 52, SIGNS),
                ("xai-", 80, SIGNS),
                ("r8_", 37, SIGNS),
                ("AKID", 32, LETTERS),
                ("123456789:AA", 33, LETTERS),
                ("AccountKey=", 86, SIGNS),
                ("aws_secret_access_key = ", 40, LETTERS),
                ("\"accessToken\": \"", 40, SMALL),
                ("令牌：", 32, LETTERS),
            ] {
                let body = random_text(seed, count, of);
                let text = format!("他说 {mark}{body} and left");
                let found = secrets(&text);
                assert!(found.len() == 1 && text[found[0].range.clone()].ends_with(&body), "{text}");
            }
        }
    }

    #[test]
    fn passwords_and_keys_of_other_forms_are_found() {
        let mail = format!("SG.{}.{}", random_text(1, 22, SIGNS), random_text(2, 43, SIGNS));
        let model = format!("{}.{}", random_text(3, 32, "0123456789abcdef"), random_text(4, 16, SIGNS));
        for secret in [
            "OPENAI_API_KEY=sk-QmZkLwPxTrVbNcHsGdFj",
            "-----BEGIN PGP PRIVATE KEY BLOCK-----",
            "postgres://user:pw@",
            "postgres://bob:s3cr3tpw99@",
            "password: Zx9!kq72#LmPw83jdKq",
            "\"passwd\": \"Zx9!kq72#LmPw83jdKq",
            "密码：Zx9kq72LmPw83jdKq",
            "密码是Qm7kLwPxTr9",
            "口令 = 「Qm7kLwPxTr9",
            "密钥：“a1B2c3D4e5",
            &mail,
            &model,
        ] {
            for text in [secret.to_owned(), format!("她记下 {secret}，便走了。"), format!("So, {secret} it was.")]
            {
                let found = secrets(&text);
                assert!(found.len() == 1 && secret.ends_with(&text[found[0].range.clone()]), "{text}: {found:?}");
            }
        }
        let key = key("sk-");
        for text in
            [format!("secret: on-the-{key}"), format!("sk-on-and-on-and-on-and-on {key}"), format!("//a:b/c {key}")]
        {
            let found = secrets(&text);
            assert!(found.len() == 1 && found[0].range.end == text.len(), "{text}: a rejected match hides nothing");
        }
    }

    #[test]
    fn a_text_of_key_prefixes_takes_linear_time() {
        for mark in ["sk-", "token=", "密码：", "a://b:", "Bearer "] {
            assert_eq!(secrets(&mark.repeat(2_000)), [], "{mark}");
        }
    }

    #[test]
    fn prose_has_no_secrets() {
        for text in [
            "She set the task-of-the-day-for-everyone-here aside.",
            "sk-you-must-never-tell-anyone-about-this",
            "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "The bearer of-this-letter-is-to-be-given-all shall pass.",
            "Bearer of good tidings, he came in 1884 and 1885.",
            "a password: nevermindwhatitwasreally",
            "Secret: the-harbour-master-knew-everything",
            "The token = a brass button with an anchor.",
            "AKIA is no name.",
            "口令：天王盖地虎，宝塔镇河妖。",
            "密码是3721，令牌是第4块，口令：in-the-year-1884",
            "Password: The-Second-Of-May-1808-And-The-Third",
            "token: ISBN-978-7-02-000220-7 and ISBN 0-14-143951-3",
            "hf_the_harbour_front, hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "The bearer (see https://example.org:8080/a@b) is well-known-to-everyone-in-the-mill.",
            "#ff8800 #0A0B0C, 3f786850e387550fdab836ed7e6dc881de23001b, 550e8400-e29b-41d4-a716-446655440000",
            "api_key = \"$OPENAI_API_KEY\", password: {password_2b}, https://${USER}:${PASS}@host/, ftp://a:***@b",
            "api_key_env = \"MY_KEY_2\", max_tokens = 4096, Basic understanding-of-everything-that-is",
            "",
        ] {
            assert_eq!(secrets(text), [], "{text}");
        }
    }
}
