//! The names that keys had in earlier versions of other engines, and that old files still have.
//! They are read, and a warning says what is written today.

/// A name that is no longer written.
pub(super) struct OldName {
    pub(super) old: &'static str,
    /// The key that is written today.
    pub(super) new: &'static str,
    /// What is written instead of its values, if the new key has others: then the old name has a
    /// row of its own.
    pub(super) values: Option<&'static str>,
}

const fn renamed(old: &'static str, new: &'static str) -> OldName {
    OldName { old, new, values: None }
}

pub(super) static OLD_NAMES: &[OldName] = &[
    // Earlier versions of QuickFIX.
    renamed("SendBufferSize", "SocketSendBufferSize"),
    renamed("ReceiveBufferSize", "SocketReceiveBufferSize"),
    // Earlier versions of QuickFIX/J and QuickFIX/N; QuickFIX has both.
    OldName {
        old: "MillisecondsInTimeStamp",
        new: "TimestampPrecision",
        values: Some("TimestampPrecision=3 for Y, TimestampPrecision=0 for N"),
    },
];

impl OldName {
    /// Returns what is written today.
    pub(super) fn instead(&self) -> &'static str {
        self.values.unwrap_or(self.new)
    }
}

/// Returns the old names of a key that have its values.
pub(super) fn old_names_of(new: &str) -> impl Iterator<Item = &'static str> + use<'_> {
    OLD_NAMES.iter().filter(move |name| name.new == new && name.values.is_none()).map(|name| name.old)
}

/// Returns what to say about a key that is written under an old name.
pub(super) fn warning(key: &str) -> Option<String> {
    let name = OLD_NAMES.iter().find(|name| name.old.eq_ignore_ascii_case(key))?;
    Some(format!("this is an old name; write {}", name.instead()))
}

#[cfg(test)]
mod tests {
    use super::super::CheckedConfiguration;
    use super::super::rows::{ROWS, row_of};
    use super::super::tests::ACCEPTOR;
    use super::*;

    fn read(lines: &str) -> CheckedConfiguration {
        CheckedConfiguration::from_text("a.cfg", &format!("{ACCEPTOR}{lines}\n"))
    }

    #[test]
    fn an_old_name_is_read_as_the_new_one_with_a_warning_that_names_it() {
        let old = read("SendBufferSize=4096\nReceiveBufferSize=8192\nMillisecondsInTimeStamp=N");
        let new = read("SocketSendBufferSize=4096\nSocketReceiveBufferSize=8192\nTimestampPrecision=0");
        assert_eq!((&old.mistakes[..], &new.mistakes[..]), (&[][..], &[][..]));
        let settings = |checked: &CheckedConfiguration| checked.sessions[0].result.clone().unwrap();
        assert_eq!(settings(&old), settings(&new));
        assert!(settings(&old) != settings(&read("")));
        assert!(new.warnings.is_empty(), "{:?}", new.warnings);
        let warnings: Vec<String> = old.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(
            warnings,
            [
                "a.cfg:7: SendBufferSize: this is an old name; write SocketSendBufferSize",
                "a.cfg:8: ReceiveBufferSize: this is an old name; write SocketReceiveBufferSize",
                "a.cfg:9: MillisecondsInTimeStamp: this is an old name; write TimestampPrecision=3 for Y, TimestampPrecision=0 for N",
            ]
        );
    }

    #[test]
    fn each_old_name_is_of_a_key_and_a_different_value_under_the_new_one_is_a_mistake() {
        for OldName { old, new, values } in OLD_NAMES {
            assert!(ROWS.iter().any(|row| row.name == *new), "{new}");
            let read_as = row_of(old).map(|row| row.name);
            assert_eq!(read_as, Some(if values.is_none() { *new } else { *old }), "{old}");
        }
        let mistakes = read("SendBufferSize=4096\nSocketSendBufferSize=8192").mistakes;
        assert_eq!(
            mistakes[0].to_string(),
            "a.cfg:8: SendBufferSize and SocketSendBufferSize are the same key, but their values differ"
        );
    }
}
