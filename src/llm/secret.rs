//! API keys and other secrets. Nothing here may print, log or serialize one.

/// A secret that is never displayed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret; surrounding white space, as in files, is removed.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into().trim().to_owned())
    }

    /// Returns the secret, for use in an HTTP header.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }

    /// Replaces the secret in a server's text; servers often quote it.
    ///
    /// Secrets of three characters or fewer are placeholders; replacing them would only damage the text.
    pub(super) fn redact(&self, text: &str) -> String {
        if self.0.len() <= 3 { text.to_owned() } else { text.replace(&self.0, "(secret)") }
    }

    /// Whether the secret is too long to occur in a text by chance, so that replies can be searched for it.
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
    fn secrets_are_not_displayed() {
        let secret = Secret::new(" sk-123456\n");
        assert_eq!(format!("{secret:?}"), "(secret)");
        assert_eq!(secret.redact("Incorrect key sk-123456."), "Incorrect key (secret).");
        assert_eq!(Secret::new("x").redact("an x"), "an x");
    }
}
