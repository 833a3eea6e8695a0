//! One vocabulary for all versions: replaces the names in a dictionary from another source by those
//! of FIX Orchestra.
//!
//! Tags, message types and values identify things; only names change here. A name that an Orchestra
//! version uses stays (FIX.4.3 has `FutSettDate` like FIX.4.2, FIX.4.4 has `SettlDate`). Any other
//! is replaced by the name in the nearest Orchestra version with the tag, message type or value,
//! later ones first. What no Orchestra version has keeps its name, except that the name of a code
//! takes Orchestra's form (`CANCEL_ALL` becomes `CancelAll`). A group takes the name of the group
//! that the nearest Orchestra version has under the same count tag in the same place of the same
//! message.

use std::collections::HashSet;

use fixbolt_codec::Version;

use crate::assemble::Draft;
use crate::model::{Code, Dictionary, GroupId, Member};
use crate::names::same_code_name;
use crate::shipped::{fix_latest, fix42, fix44};

impl Draft {
    /// Gives fields, messages, codes and groups the names of Orchestra.
    pub(crate) fn use_standard_names(&mut self) {
        let versions = match self.version.known {
            Some(Version::Fix40 | Version::Fix41 | Version::Fix42) => [fix42(), fix44(), fix_latest()],
            Some(Version::Fix43 | Version::Fix44) => [fix44(), fix_latest(), fix42()],
            _ => [fix_latest(), fix44(), fix42()],
        };
        let mut taken: HashSet<String> =
            self.fields.iter().map(|field| field.name.to_ascii_lowercase()).collect();
        for field in &mut self.fields {
            let known: Vec<&str> = versions
                .iter()
                .filter_map(|version| version.field(field.tag).map(|field| field.name.as_str()))
                .collect();
            let name = standard(&field.name, &known);
            if name.eq_ignore_ascii_case(&field.name) || taken.insert(name.to_ascii_lowercase()) {
                if let Some(id) = field.codes {
                    let set = &mut self.code_sets[id.index()];
                    if set.name == format!("{}CodeSet", field.name) {
                        set.name = format!("{name}CodeSet");
                    }
                }
                field.name = name;
            }
            if let Some(id) = field.codes {
                for code in &mut self.code_sets[id.index()].codes {
                    code.name = code_name(field.tag, code, &versions);
                }
            }
        }
        for message in &mut self.messages {
            let known: Vec<&str> = versions
                .iter()
                .filter_map(|version| version.message(message.msg_type.as_bytes()))
                .map(|message| message.name.as_str())
                .collect();
            message.name = standard(&message.name, &known);
        }
        self.name_groups(&versions);
    }

    fn name_groups(&mut self, versions: &[&Dictionary]) {
        let mut taken: HashSet<String> = self
            .groups
            .iter()
            .map(|group| group.name.clone())
            .chain(self.components.iter().map(|component| component.name.clone()))
            .collect();
        let mut named = vec![false; self.groups.len()];
        let before: Vec<String> = self.groups.iter().map(|group| group.name.clone()).collect();
        for version in versions {
            let mut pairs = Pairs::default();
            for message in &self.messages {
                if let Some(known) = version.message(message.msg_type.as_bytes()) {
                    self.pair_groups(&message.members, version, &known.members, &mut pairs);
                }
            }
            self.pair_groups(&self.header, version, version.header(), &mut pairs);
            let mut next = 0;
            while let Some(&(own, known)) = pairs.list.get(next) {
                self.pair_groups(
                    &self.groups[own.index()].members,
                    version,
                    &version.group(known).members,
                    &mut pairs,
                );
                next += 1;
            }
            for (own, known) in pairs.list {
                let (own_name, name) = (&mut self.groups[own.index()].name, &version.group(known).name);
                let named = &mut named[own.index()];
                if !*named && (own_name == name || taken.insert(name.clone())) {
                    *named = true;
                    own_name.clone_from(name);
                }
            }
        }
        let after: Vec<String> = self.groups.iter().map(|group| group.name.clone()).collect();
        let names = before.iter().map(String::as_str).zip(after.iter().map(String::as_str));
        self.rename_terms(&names.collect());
    }

    /// Pairs each group among these members with the known group that has the same count tag, once.
    fn pair_groups(&self, members: &[Member], version: &Dictionary, known: &[Member], pairs: &mut Pairs) {
        let known: Vec<(u32, GroupId)> =
            version.expand(known).filter_map(|member| Some((member.tag, member.group?))).collect();
        let mut open = vec![members];
        let mut seen = HashSet::new();
        while let Some(members) = open.pop() {
            for member in members {
                match *member {
                    Member::Field { .. } => {}
                    Member::Component { component, .. } => {
                        if seen.insert(component.0) {
                            open.push(&self.components[component.index()].members);
                        }
                    }
                    Member::Group { group, .. } => {
                        let count_tag = self.groups[group.index()].count_tag;
                        let known = known.iter().find(|(tag, _)| *tag == count_tag);
                        if let Some(pair) = known.map(|(_, known)| (group, *known))
                            && pairs.seen.insert(pair)
                        {
                            pairs.list.push(pair);
                        }
                    }
                }
            }
        }
    }
}

/// Groups with the groups whose names they take, in the order in which they were found.
#[derive(Default)]
struct Pairs {
    list: Vec<(GroupId, GroupId)>,
    seen: HashSet<(GroupId, GroupId)>,
}

/// Returns the known spelling of `name`, or else the first known one, or else `name`.
fn standard(name: &str, known: &[&str]) -> String {
    let same = known.iter().find(|known| known.eq_ignore_ascii_case(name));
    same.or(known.first()).map_or_else(|| name.to_string(), |name| (*name).to_string())
}

fn code_name(tag: u32, code: &Code, versions: &[&Dictionary]) -> String {
    let known: Vec<&str> = versions
        .iter()
        .filter_map(|version| version.code(tag, code.value.as_bytes()))
        .map(|code| code.name.as_str())
        .collect();
    let same = known.iter().find(|known| same_code_name(known, &code.name));
    same.or(known.first()).map_or_else(|| upper_camel(&code.name), |name| (*name).to_string())
}

/// Returns `CANCEL_ALL` as `CancelAll`; a name with lower-case letters stays.
fn upper_camel(name: &str) -> String {
    if name.chars().any(|character| character.is_ascii_lowercase()) {
        return name.to_string();
    }
    let mut out = String::with_capacity(name.len());
    for word in name.split(|character: char| !character.is_alphanumeric()) {
        let mut characters = word.chars();
        out.extend(characters.next());
        out.extend(characters.map(|character| character.to_ascii_lowercase()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_any_orchestra_version_stays_and_another_gives_way_to_the_first() {
        assert_eq!(standard("FutSettDate", &["FutSettDate", "SettlDate"]), "FutSettDate");
        assert_eq!(standard("SETTLDATE", &["FutSettDate", "SettlDate"]), "SettlDate");
        assert_eq!(standard("HaltReasonChar", &["HaltReason"]), "HaltReason");
        assert_eq!(standard("TotalVolumeTradedDate", &[]), "TotalVolumeTradedDate");
    }

    #[test]
    fn a_code_that_orchestra_does_not_have_is_written_in_its_form() {
        assert_eq!(upper_camel("FULL_REMAINING_QUANTITY"), "FullRemainingQuantity");
        assert_eq!(upper_camel("T1"), "T1");
        assert_eq!(upper_camel("PartialCancel"), "PartialCancel");
    }
}
