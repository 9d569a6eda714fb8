//! Replaces HTML character references such as `&amp;` with the characters. Does not handle tags.

use std::borrow::Cow;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use memchr::memchr;

/// The maximum length of a reference, in bytes. Longer ones are text; the longest name of a character has 31 letters.
const LONGEST_REFERENCE: usize = 40;

/// Passes a text to `take` in pieces, with character references replaced.
pub(in crate::books) fn pieces(mut text: &str, mut take: impl FnMut(&str)) {
    while let Some(at) = memchr(b'&', text.as_bytes()) {
        let (before, rest) = text.split_at(at);
        let named = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'#';
        let length = 1 + rest.as_bytes()[1..].iter().take(LONGEST_REFERENCE).take_while(named).count();
        let length = length + usize::from(rest.as_bytes().get(length) == Some(&b';'));
        if !before.is_empty() {
            take(before);
        }
        refer(&rest[..length], &mut take);
        text = &rest[length..];
    }
    if !text.is_empty() {
        take(text);
    }
}

/// Returns a text with character references replaced.
pub(in crate::books) fn resolved(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut written = String::with_capacity(text.len());
    pieces(text, |piece| written.push_str(piece));
    Cow::Owned(written)
}

/// Passes the replacement of a single reference to `take`. The reference contains no `<`.
fn refer(reference: &str, take: &mut impl FnMut(&str)) {
    let gather = |event: CallbackEvent<'_>, _: Span<()>| -> Option<()> {
        if let CallbackEvent::String { value } = event {
            take(&String::from_utf8_lossy(value));
        }
        None
    };
    // The iterator yields nothing, since the output goes through the callback.
    Tokenizer::new_with_emitter(reference, CallbackEmitter::new(gather)).for_each(drop);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn character_references_are_decoded() {
        for (text, expected) in [
            ("&ldquo;a&rdquo; &#8212; &#x6cb3;&#28783;", "“a” — 河灯"),
            ("AT&T &c. & &amp;lt; &notit; &", "AT&T &c. & &lt; ¬it; &"),
            ("&copy 1 &#150; &#0; &CounterClockwiseContourIntegral;", "© 1 – \u{fffd} ∳"),
            ("河&灯;照&水", "河&灯;照&水"),
        ] {
            assert_eq!(resolved(text), expected, "{text}");
        }
        let long = format!("&{}", "a".repeat(1_000_000));
        assert_eq!(resolved(&long), long);
    }
}
