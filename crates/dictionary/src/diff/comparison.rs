//! Walks two dictionaries side by side and decides what is compared with what. [`super`] defines
//! the differences.

use std::collections::{HashMap, HashSet};

use super::{Difference, MemberPath, NamedTag, Only, Scope};
use crate::data_type::DataType;
use crate::model::{Code, Dictionary, FieldDef, FlatMember, GroupId, Member};

/// A comparison in progress.
pub(super) struct Comparison<'a> {
    left: &'a Dictionary,
    right: &'a Dictionary,
    found: Vec<Difference>,
    /// Pairs of groups that were found equal: those of FIX Latest occur thousands of times.
    same: HashSet<(GroupId, GroupId)>,
    /// The number of members of groups, on the left and on the right.
    sizes: (HashMap<GroupId, usize>, HashMap<GroupId, usize>),
}

impl<'a> Comparison<'a> {
    /// Returns everything that differs.
    pub(super) fn run(left: &'a Dictionary, right: &'a Dictionary) -> Vec<Difference> {
        let mut comparison =
            Comparison { left, right, found: Vec::new(), same: HashSet::new(), sizes: Default::default() };
        if left.version.name != right.version.name {
            let (left, right) = (left.version.name.clone(), right.version.name.clone());
            comparison.found.push(Difference::Version { left, right });
        }
        comparison.messages();
        comparison.fields();
        comparison.structure();
        comparison.found
    }

    fn messages(&mut self) {
        for message in &self.left.messages {
            let msg_type = message.msg_type.clone();
            match self.right.message(msg_type.as_bytes()) {
                None => {
                    let name = message.name.clone();
                    self.found.push(Difference::Message { msg_type, name, only: Only::Left });
                }
                Some(other) if other.name != message.name => {
                    let (left, right) = (message.name.clone(), other.name.clone());
                    self.found.push(Difference::MessageName { msg_type, left, right });
                }
                Some(_) => {}
            }
        }
        for message in &self.right.messages {
            if self.left.message(message.msg_type.as_bytes()).is_none() {
                let (msg_type, name) = (message.msg_type.clone(), message.name.clone());
                self.found.push(Difference::Message { msg_type, name, only: Only::Right });
            }
        }
    }

    /// Both lists are ascending by tag.
    fn fields(&mut self) {
        let mut right = self.right.fields.iter().peekable();
        for field in &self.left.fields {
            while let Some(other) = right.next_if(|other| other.tag < field.tag) {
                self.lone_field(other, Only::Right);
            }
            match right.next_if(|other| other.tag == field.tag) {
                Some(other) => self.field(field, other),
                None => self.lone_field(field, Only::Left),
            }
        }
        for other in right {
            self.lone_field(other, Only::Right);
        }
    }

    fn lone_field(&mut self, field: &FieldDef, only: Only) {
        let field = NamedTag { tag: field.tag, name: field.name.clone() };
        self.found.push(Difference::Field { field, only });
    }

    fn field(&mut self, left: &FieldDef, right: &FieldDef) {
        let field = || NamedTag { tag: left.tag, name: left.name.clone() };
        if left.name != right.name {
            let (tag, left, right) = (left.tag, left.name.clone(), right.name.clone());
            self.found.push(Difference::FieldName { tag, left, right });
        }
        if left.kind != right.kind {
            self.found.push(Difference::DataType { field: field(), left: left.kind, right: right.kind });
        }
        let only_left = self.lone_codes(self.left, self.right, left, right);
        let only_right = self.lone_codes(self.right, self.left, right, left);
        if !only_left.is_empty() || !only_right.is_empty() {
            self.found.push(Difference::Codes { field: field(), left: only_left, right: only_right });
        }
        if left.union != right.union {
            self.found.push(Difference::Union { field: field(), left: left.union, right: right.union });
        }
        if left.length_tag != right.length_tag {
            let (left, right) = (left.length_tag, right.length_tag);
            self.found.push(Difference::LengthField { field: field(), left, right });
        }
    }

    /// Returns the codes of `field` in `holder` whose value is not a code of the same field in
    /// `lacking`.
    fn lone_codes(
        &self,
        holder: &Dictionary,
        lacking: &Dictionary,
        field: &FieldDef,
        other: &FieldDef,
    ) -> Vec<Code> {
        let known: HashSet<&str> = lacking.codes(field.tag).iter().map(|code| code.value.as_str()).collect();
        let boolean = other.kind == DataType::Boolean && known.is_empty();
        holder
            .codes(field.tag)
            .iter()
            .filter(|code| !known.contains(code.value.as_str()))
            .filter(|code| !(boolean && matches!(code.value.as_str(), "Y" | "N")))
            .cloned()
            .collect()
    }

    fn structure(&mut self) {
        let (left, right) = (self.left, self.right);
        self.section(Scope::Header, &left.header, &right.header);
        for message in &left.messages {
            if let Some(other) = right.message(message.msg_type.as_bytes()) {
                let (msg_type, name) = (message.msg_type.clone(), message.name.clone());
                let mut place = MemberPath { scope: Scope::Message { msg_type, name }, groups: Vec::new() };
                self.members(&message.members, &other.members, &mut place);
            }
        }
        self.section(Scope::Trailer, &left.trailer, &right.trailer);
    }

    fn section(&mut self, scope: Scope, left: &[Member], right: &[Member]) {
        let (only, inside) = match (left.is_empty(), right.is_empty()) {
            (false, true) => (Only::Left, size(self.left, left, &mut self.sizes.0)),
            (true, false) => (Only::Right, size(self.right, right, &mut self.sizes.1)),
            _ => return self.members(left, right, &mut MemberPath { scope, groups: Vec::new() }),
        };
        self.found.push(Difference::Section { scope, only, inside });
    }

    fn members(&mut self, left: &[Member], right: &[Member], place: &mut MemberPath) {
        let left: Vec<FlatMember> = self.left.expand(left).collect();
        let right: Vec<FlatMember> = self.right.expand(right).collect();
        let places: HashMap<u32, usize> =
            right.iter().enumerate().map(|(at, member)| (member.tag, at)).collect();
        let mut common = Vec::with_capacity(left.len());
        for member in &left {
            match places.get(&member.tag) {
                None => self.lone_member(member, Only::Left, place),
                Some(&at) => {
                    common.push((member.tag, at));
                    self.member(member, &right[at], place);
                }
            }
        }
        let known: HashSet<u32> = left.iter().map(|member| member.tag).collect();
        for member in right.iter().filter(|member| !known.contains(&member.tag)) {
            self.lone_member(member, Only::Right, place);
        }
        let moved: Vec<NamedTag> = moved(&common).into_iter().map(|tag| self.named(tag)).collect();
        if !moved.is_empty() {
            self.found.push(Difference::Order { place: place.clone(), moved });
        }
    }

    fn lone_member(&mut self, member: &FlatMember, only: Only, place: &MemberPath) {
        let (dictionary, known) = match only {
            Only::Left => (self.left, &mut self.sizes.0),
            Only::Right => (self.right, &mut self.sizes.1),
        };
        let inside = member.group.map(|group| size(dictionary, &dictionary.group(group).members, known));
        let (place, member) = (place.clone(), self.named(member.tag));
        self.found.push(Difference::Member { place, member, only, inside });
    }

    fn member(&mut self, left: &FlatMember, right: &FlatMember, place: &mut MemberPath) {
        if left.required != right.required {
            let only = if left.required { Only::Left } else { Only::Right };
            let (place, member) = (place.clone(), self.named(left.tag));
            self.found.push(Difference::Required { place, member, only });
        }
        match (left.group, right.group) {
            (None, None) => {}
            (Some(one), Some(other)) => {
                if self.same.contains(&(one, other)) {
                    return;
                }
                let before = self.found.len();
                let named = self.named(left.tag);
                place.groups.push(named);
                self.group(one, other, place);
                place.groups.pop();
                if self.found.len() == before {
                    self.same.insert((one, other));
                }
            }
            (group, _) => {
                let only = if group.is_some() { Only::Left } else { Only::Right };
                let (place, member) = (place.clone(), self.named(left.tag));
                self.found.push(Difference::Repeating { place, member, only });
            }
        }
    }

    fn group(&mut self, one: GroupId, other: GroupId, place: &mut MemberPath) {
        let (left, right) = (self.left, self.right);
        let delimiters = (left.delimiter(one), right.delimiter(other));
        if delimiters.0 != delimiters.1 {
            let (left, right) = (self.named(delimiters.0), self.named(delimiters.1));
            self.found.push(Difference::Delimiter { place: place.clone(), left, right });
        }
        self.members(&left.group(one).members, &right.group(other).members, place);
    }

    fn named(&self, tag: u32) -> NamedTag {
        let field = self.left.field(tag).or_else(|| self.right.field(tag));
        NamedTag { tag, name: field.map_or_else(String::new, |field| field.name.clone()) }
    }
}

/// Returns the number of members, including those of groups; `known` caches the groups counted
/// before.
fn size(dictionary: &Dictionary, members: &[Member], known: &mut HashMap<GroupId, usize>) -> usize {
    dictionary.expand(members).fold(0, |sum: usize, member| {
        let inside = member.group.map_or(0, |group| match known.get(&group) {
            Some(&inside) => inside,
            None => {
                let inside = size(dictionary, &dictionary.group(group).members, known);
                known.insert(group, inside);
                inside
            }
        });
        sum.saturating_add(inside).saturating_add(1)
    })
}

/// Returns the smallest set of tags to remove so that the others are in ascending positions: those
/// that are not in the longest ascending subsequence.
fn moved(common: &[(u32, usize)]) -> Vec<u32> {
    // For each length the subsequence that ends earliest: indices into `common`, and the
    // predecessor of each.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(common.len());
    for (at, &(_, place)) in common.iter().enumerate() {
        let length = ends.partition_point(|&end| common[end].1 < place);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut stays = vec![false; common.len()];
    let mut next = ends.last().copied();
    while let Some(at) = next {
        stays[at] = true;
        next = before[at];
    }
    common.iter().zip(stays).filter(|(_, stays)| !stays).map(|(&(tag, _), _)| tag).collect()
}

#[cfg(test)]
mod tests {
    use super::moved;

    #[test]
    fn of_an_order_only_what_moved_is_told() {
        assert_eq!(moved(&[(1, 0), (2, 1), (3, 2)]), [0; 0]);
        assert_eq!(moved(&[(1, 3), (2, 0), (3, 1), (4, 2)]), [1]);
        assert_eq!(moved(&[(1, 0), (2, 3), (3, 1), (4, 2)]), [2]);
        assert_eq!(moved(&[]), [0; 0]);
    }
}
