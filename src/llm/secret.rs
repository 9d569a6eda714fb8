//! Keys that must not be seen. Nothing here may print, log or serialize one.

/// A key that shows itself nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key; white space around it, as files leave it, is cut.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into().trim().to_owned())
    }

    /// Returns the key, for the one header that carries it.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }

    /// Returns a server's text with the key struck out, as servers like to repeat it.
    ///
    /// Keys of three characters or fewer are placeholders, and striking them out would only maim the text.
    pub(super) fn redact(&self, text: &str) -> String {
        if self.0.len() <= 3 { text.to_owned() } else { text.replace(&self.0, "(secret)") }
    }

    /// Says whether the key is long enough to stand in no text by chance, so that replies can be searched for it.
    pub(super) const fn is_unmistakable(&self) -> bool {
        self.0.len() >= 16
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("(secret)")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn a_secret_stays_one() {
        let secret = Secret::new(" sk-123456\n");
        assert_eq!(format!("{secret:?}"), "(secret)");
        assert_eq!(secret.redact("Incorrect key sk-123456."), "Incorrect key (secret).");
        assert_eq!(Secret::new("x").redact("an x"), "an x");
    }
}
