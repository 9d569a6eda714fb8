//! The command line in shell syntax, so that it can be copied from a hint.

use std::ffi::OsString;

/// Joins the arguments with shell quoting. The program's path is replaced by its name, and the subcommand by `command`
/// if given.
pub(super) fn invocation(arguments: impl IntoIterator<Item = OsString>, command: Option<&str>) -> String {
    let mut words = vec!["dramaturg".to_owned()];
    words.extend(arguments.into_iter().skip(1).map(|argument| quoted(&argument.to_string_lossy())));
    if let (Some(word), Some(command)) = (words.get_mut(1), command) {
        command.clone_into(word);
    }
    words.join(" ")
}

/// Quotes a word if the shell would split or expand it.
pub(super) fn quoted(argument: &str) -> String {
    let is_safe = |c: char| c.is_alphanumeric() || "_-./:=,@%+".contains(c);
    if !argument.is_empty() && argument.chars().all(is_safe) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_for_the_shell() {
        let arguments = ["/usr/bin/x", "build", "红楼.toml", "--set", "cast.judge=\"it's\"", ""];
        let text = |command| invocation(arguments.map(OsString::from), command);
        assert_eq!(text(None), r#"dramaturg build 红楼.toml --set 'cast.judge="it'\''s"' ''"#);
        assert_eq!(text(Some("export")), r#"dramaturg export 红楼.toml --set 'cast.judge="it'\''s"' ''"#);
    }
}
