//! The command that was given, as the shell takes it, so that a hint can be pasted.

/// Joins arguments, the program's own name in place of its path.
pub(super) fn invocation(arguments: impl IntoIterator<Item = String>) -> String {
    let mut words = vec!["dramaturg".to_owned()];
    words.extend(arguments.into_iter().skip(1).map(|argument| quoted(&argument)));
    words.join(" ")
}

fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./:=,@%+".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::invocation;

    #[test]
    fn a_shell_takes_it_back() {
        let arguments = ["/usr/bin/x", "build", "红楼.toml", "--set", "cast.judge=\"it's\"", ""];
        let text = invocation(arguments.map(str::to_owned));
        assert_eq!(text, r#"dramaturg build 红楼.toml --set 'cast.judge="it'\''s"' ''"#);
    }
}
