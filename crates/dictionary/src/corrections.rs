//! Corrections of what a dictionary's source leaves out, as lines of text: `tables/corrections.txt`
//! has those of the shipped versions. Only facts are added; what the source says stays.

use crate::compact;
use crate::data_type::UnionType;
use crate::loaded::Loaded;
use crate::model::{Dictionary, Member};
use crate::read::{Faults, Findings};

impl Dictionary {
    /// Returns the dictionary with those of the corrections that name its version.
    ///
    /// A line has the names of versions, separated by commas, and one fact. Empty lines and those
    /// that begin with `#` say nothing.
    ///
    /// ```
    /// use fixbolt_dictionary::{Source, UnionType};
    /// let text = "<fix major='4' minor='2'><messages/><fields>
    ///     <field number='27' name='IOIShares' type='STRING'><value enum='L'/></field></fields></fix>";
    /// let dictionary = Source::text(text).load().unwrap().dictionary;
    /// let corrected = dictionary.corrected("FIX.4.2,FIX.4.3 field 27 union=Qty").unwrap();
    /// assert_eq!(corrected.field(27).unwrap().union, Some(UnionType::Qty));
    ///
    /// let again = corrected.corrected("FIX.4.2 field 27 union=Qty").unwrap_err();
    /// assert_eq!(again.to_string(), "line 1: FIX.4.2 field 27 union=Qty: it changes nothing");
    /// ```
    ///
    /// # Errors
    /// Returns each line that is not understood, contradicts the dictionary, or changes nothing in
    /// it.
    pub fn corrected(&self, corrections: &str) -> Result<Dictionary, Faults> {
        let mut found = Findings::default();
        let mut corrected = self.clone();
        for (line, text) in (1..).zip(corrections.lines()) {
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            if let Err(reason) = corrected.correct(text) {
                found.error(line, text, reason);
            }
        }
        found.conclude()?;
        // The reader has all checks of a dictionary.
        compact::read(&corrected.to_table()).map(|Loaded { dictionary, .. }| dictionary)
    }

    fn correct(&mut self, line: &str) -> Result<(), String> {
        const FORMS: &str = "it is none of 'VERSIONS field TAG union=TYPE', 'VERSIONS codes SET union=TYPE' \
                             and 'VERSIONS group NAME TAG after|before TAG'";
        let words: Vec<&str> = line.split(' ').collect();
        let Some((versions, words)) = words.split_first() else { return Err(FORMS.to_string()) };
        let applies = versions.split(',').any(|version| version == self.version.name);
        match words {
            _ if !applies && words.len() > 2 => Ok(()),
            ["field", tag, union] => {
                let tag = number(tag)?;
                self.add_union(union, |field| field.tag == tag)
            }
            ["codes", name, union] => {
                let Some(at) = self.code_sets.iter().position(|set| set.name == *name) else {
                    return Err(format!("there is no code set '{name}'"));
                };
                self.add_union(union, |field| field.codes.is_some_and(|codes| codes.index() == at))
            }
            ["group", name, tag, place @ ("after" | "before"), other] => {
                self.add_member(name, number(tag)?, number(other)?, *place == "after")
            }
            _ => Err(FORMS.to_string()),
        }
    }

    fn add_union(
        &mut self,
        word: &str,
        applies: impl Fn(&crate::model::FieldDef) -> bool,
    ) -> Result<(), String> {
        let union = word.strip_prefix("union=").and_then(UnionType::from_name);
        let Some(union) = union else { return Err(format!("'{word}' is no union type")) };
        let mut changes = false;
        for field in self.fields.iter_mut().filter(|field| applies(field)) {
            match field.union {
                None => (field.union, changes) = (Some(union), true),
                Some(same) if same == union => {}
                Some(other) => return Err(format!("field {} has the union {}", field.tag, other.name())),
            }
        }
        if changes { Ok(()) } else { Err("it changes nothing".to_string()) }
    }

    fn add_member(&mut self, name: &str, tag: u32, other: u32, after: bool) -> Result<(), String> {
        let is = |member: &Member, wanted| matches!(member, Member::Field { tag, .. } if *tag == wanted);
        let Some(group) = self.groups.iter_mut().find(|group| group.name == name) else {
            return Err(format!("there is no group '{name}'"));
        };
        if group.members.iter().any(|member| is(member, tag)) {
            return Err("it changes nothing".to_string());
        }
        let Some(at) = group.members.iter().position(|member| is(member, other)) else {
            return Err(format!("the group does not have field {other}"));
        };
        group.members.insert(at + usize::from(after), Member::Field { tag, required: false });
        Ok(())
    }
}

fn number(word: &str) -> Result<u32, String> {
    word.parse().map_err(|_| format!("'{word}' is no tag"))
}

#[cfg(test)]
mod tests {
    use crate::{fix42, fix44};

    #[test]
    fn a_line_that_is_wrong_is_an_error_and_one_for_other_versions_is_not() {
        let refused = |line: &str| {
            let error = fix44().corrected(&format!("# why\n\n{line}")).expect_err(line).to_string();
            error.strip_prefix(&format!("line 3: {line}: ")).unwrap_or(&error).to_string()
        };
        assert!(refused("FIX.4.4 field 54").starts_with("it is none of"));
        assert!(refused("FIX.4.4 field 54 codes=Qty").ends_with("is no union type"));
        assert_eq!(refused("FIX.4.4 field 54 union=Qnty"), "'union=Qnty' is no union type");
        assert_eq!(refused("FIX.4.4 field x union=Qty"), "'x' is no tag");
        assert_eq!(refused("FIX.4.4 field 59999 union=Qty"), "it changes nothing");
        assert_eq!(refused("FIX.4.4 field 27 union=Qty"), "it changes nothing");
        assert_eq!(refused("FIX.4.4 field 27 union=Tenor"), "field 27 has the union Qty");
        assert_eq!(refused("FIX.4.4 codes SideCode union=Qty"), "there is no code set 'SideCode'");
        assert_eq!(refused("FIX.4.4 group Parties 448 after 447"), "it changes nothing");
        assert_eq!(refused("FIX.4.4 group Parties 58 after 1"), "the group does not have field 1");
        assert_eq!(refused("FIX.4.4 group Party 58 after 447"), "there is no group 'Party'");
        assert!(refused("FIX.4.4 group Parties 59999 after 447").contains("59999"));
        assert_eq!(fix42().corrected("FIX.4.4,FIX.4.3 field 54 union=Qnty").as_ref(), Ok(fix42()));
    }

    #[test]
    fn a_member_is_put_where_the_line_says() {
        let corrected =
            fix44().corrected("FIX.4.4 group Parties 58 before 448\nFIX.4.4 group Parties 59 after 447");
        let table = corrected.expect("both fit").to_table();
        let line = table.lines().find(|line| line.starts_with("group Parties ")).expect("it is there");
        assert!(line.starts_with("group Parties 453 58 448 447 59 452"), "{line}");
    }
}
