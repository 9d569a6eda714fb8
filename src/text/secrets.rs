//! What looks like a key or a password in a text: by the marks that issuers give their keys, so that prose is left alone.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// Something that looks like a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// What it looks like.
    pub kind: &'static str,
    /// Where it stands, in bytes.
    pub place: Range<usize>,
}

impl Secret {
    /// Returns so little of it that it can be found again and not used.
    #[must_use]
    pub fn hint(&self, text: &str) -> String {
        let shown: String = text[self.place.clone()].chars().take(6).collect();
        format!("{shown}…")
    }
}

/// The kinds, each with its pattern. Those that are marked must also look drawn by lot, since words could be spelt so. Only a name
/// may be the end of a longer one, as in `OPENAI_API_KEY`.
const KINDS: [(&str, &str, bool); 15] = [
    ("a key of a model API", r"sk-[A-Za-z0-9_-]{20,}", true),
    ("an AWS key", r"(?:AKIA|ASIA)[A-Z0-9]{16}", false),
    ("a GitHub token", r"gh[pousr]_[A-Za-z0-9]{36,}", false),
    ("a GitHub token", r"github_pat_[A-Za-z0-9_]{22,}", false),
    ("a GitLab token", r"glpat-[A-Za-z0-9_-]{20,}", true),
    ("a Slack token", r"xox[abposr]-[A-Za-z0-9-]{10,}", true),
    ("a Google key", r"AIza[A-Za-z0-9_-]{35}", false),
    ("a Hugging Face token", r"hf_[A-Za-z0-9]{30,}", true),
    ("a package registry's token", r"npm_[A-Za-z0-9]{36}", true),
    ("a package registry's token", r"pypi-[A-Za-z0-9_-]{40,}", true),
    ("a payment key", r"[sr]k_live_[A-Za-z0-9]{20,}", true),
    ("a signed token", r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}", false),
    ("a private key", r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----", false),
    ("a bearer token", r"[Bb]earer +[A-Za-z0-9._~+/-]{20,}=*", true),
    (
        "a password or key",
        r#"(?:[Aa]pi[_-]?[Kk]ey|API_?KEY|[Ss]ecret(?:(?:_?[Aa]ccess)?_?[Kk]ey)?|SECRET(?:(?:_?ACCESS)?_?KEY)?|[Tt]oken|TOKEN|[Pp]assword|PASSWORD)["']? {0,2}[:=] {0,2}["']?[A-Za-z0-9_/+.-]{16,}"#,
        true,
    ),
];

/// The kind that begins with a name.
const NAMED: &str = KINDS[KINDS.len() - 1].0;

// That no word goes on before a hit is a part of the pattern: a hit that were refused afterwards would hide one that begins within.
static ANY: LazyLock<Regex> = LazyLock::new(|| {
    let begin = r"(?-u:\b{start-half})";
    let all = KINDS.iter().map(|(kind, pattern, _)| match *kind {
        NAMED => format!("(?:{begin}|_)(?:{pattern})"),
        _ => format!("{begin}(?:{pattern})"),
    });
    Regex::new(&all.collect::<Vec<_>>().join("|")).expect("the patterns are sound")
});

static EACH: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    KINDS.iter().map(|(_, pattern, _)| Regex::new(&format!("^(?:{pattern})$")).expect("the pattern is sound")).collect()
});

/// The shortest of them.
const SHORTEST: usize = 15;

/// Returns what looks like a secret in a text.
#[must_use]
pub fn secrets(text: &str) -> Vec<Secret> {
    if text.len() < SHORTEST {
        return Vec::new();
    }
    let mut found = Vec::new();
    for hit in ANY.find_iter(text) {
        let secret = hit.as_str().trim_start_matches('_');
        let kind = EACH.iter().zip(KINDS).find(|(regex, _)| regex.is_match(secret));
        let Some((_, (kind, _, by_lot))) = kind else { continue };
        if !by_lot || is_by_lot(secret) {
            found.push(Secret { kind, place: hit.end() - secret.len()..hit.end() });
        }
    }
    found
}

/// Says whether what follows the mark looks drawn by lot: letters and digits mixed, few of them again and again.
fn is_by_lot(hit: &str) -> bool {
    let body = hit.rsplit([' ', '=', ':', '"', '\'']).find(|part| part.len() >= 10).unwrap_or(hit);
    let digits = body.chars().filter(char::is_ascii_digit).count();
    let letters = body.chars().filter(char::is_ascii_alphabetic).count();
    digits >= 2 && letters >= 2 && entropy(body) >= 3.2
}

/// Returns how many bits a character of a text tells.
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

    /// Puts a key together, so that no scanner of sources takes this file's for one.
    fn key(mark: &str) -> String {
        let lot = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY3zA5bC7d";
        match mark {
            "AKIA" => format!("{mark}Q7Z4M2N8P6R3S5T9"),
            "eyJ" => format!("eyJ{lot}.eyJ{lot}.{lot}"),
            "-----BEGIN " => format!("{mark}RSA PRIVATE {}", "KEY-----"),
            "AIza" => format!("{mark}{}", &lot[..35]),
            _ => format!("{mark}{lot}"),
        }
    }

    #[test]
    fn keys_are_found_in_prose_of_either_script() {
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
                assert!(key(mark).starts_with(&text[found[0].place.clone()][..10]), "{mark}");
                assert!(found[0].hint(&text).chars().count() <= 7);
            }
        }
    }

    #[test]
    fn a_key_is_found_behind_a_name_of_several_words() {
        let lot = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY3zA5bC7d";
        for text in [
            format!("OPENAI_API_KEY=sk-{lot}"),
            format!("export HF_TOKEN=hf_{lot}"),
            format!("他说 client_secret={lot}，便走了。"),
            format!("AWS_SECRET_ACCESS_KEY={lot}"),
            format!("\"aws_secret_access_key\": \"{lot}\""),
            format!("secret_key = {lot}"),
            format!("desk-top-task-sk-{lot}"),
        ] {
            let found = secrets(&text);
            assert_eq!(found.len(), 1, "{text}");
            assert!(text[found[0].place.clone()].ends_with(lot), "{text}");
        }
        assert_eq!(secrets(&format!("task_sk-{lot} and ask-{lot}")), [], "the end of a word is no mark");
    }

    #[test]
    fn prose_is_left_alone() {
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
            "",
        ] {
            assert_eq!(secrets(text), [], "{text}");
        }
    }
}
