//! Removes the components and groups that nothing refers to, and those without members, after parts
//! of a dictionary were removed.
//!
//! Fields and code sets stay: an unused field is harmless, and a known tag says more than an
//! unknown one.

use std::collections::{HashMap, HashSet};

use crate::assemble::Draft;
use crate::locate::Key;
use crate::model::{ComponentId, GroupId, Member};

/// The remaining components and groups, by their earlier positions.
pub(crate) struct Kept {
    pub(crate) components: Vec<usize>,
    pub(crate) groups: Vec<usize>,
}

impl Draft {
    /// Removes what has no members and what no message, header or trailer leads to; the rest moves
    /// up.
    pub(crate) fn prune(&mut self) -> Kept {
        let (empty_components, empty_groups) = self.empty_definitions();
        self.for_each_member_list(|members| {
            members.retain(|member| match *member {
                Member::Field { .. } => true,
                Member::Group { group, .. } => !empty_groups[group.index()],
                Member::Component { component, .. } => !empty_components[component.index()],
            });
        });
        let kept = self.reachable();
        let place = |kept: &[usize], count: usize| {
            let mut places = vec![u32::MAX; count];
            kept.iter().enumerate().for_each(|(to, from)| places[*from] = to as u32);
            places
        };
        let components = place(&kept.components, self.components.len());
        let groups = place(&kept.groups, self.groups.len());
        keep(&mut self.components, &components);
        keep(&mut self.groups, &groups);
        self.for_each_member_list(|members| {
            for member in members {
                match member {
                    Member::Field { .. } => {}
                    Member::Group { group, .. } => *group = GroupId(groups[group.index()]),
                    Member::Component { component, .. } => {
                        *component = ComponentId(components[component.index()]);
                    }
                }
            }
        });
        kept
    }

    fn for_each_member_list(&mut self, mut change: impl FnMut(&mut Vec<Member>)) {
        self.components.iter_mut().for_each(|component| change(&mut component.members));
        self.groups.iter_mut().for_each(|group| change(&mut group.members));
        self.messages.iter_mut().for_each(|message| change(&mut message.members));
        self.scenarios.iter_mut().for_each(|scenario| change(&mut scenario.message.members));
        change(&mut self.header);
        change(&mut self.trailer);
    }

    /// Finds definitions without members, or whose members are all such definitions. One that
    /// contains itself counts as having members: assembling reports it.
    fn empty_definitions(&self) -> (Vec<bool>, Vec<bool>) {
        // Components are the first nodes, groups follow; each node counts its members that may
        // still have members.
        let first_group = self.components.len();
        let lists: Vec<&[Member]> = self
            .components
            .iter()
            .map(|component| component.members.as_slice())
            .chain(self.groups.iter().map(|group| group.members.as_slice()))
            .collect();
        let mut left: Vec<usize> = lists.iter().map(|members| members.len()).collect();
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); lists.len()];
        for (node, members) in lists.iter().enumerate() {
            for member in *members {
                match *member {
                    Member::Field { .. } => {}
                    Member::Group { group, .. } => users[first_group + group.index()].push(node),
                    Member::Component { component, .. } => users[component.index()].push(node),
                }
            }
        }
        let mut open: Vec<usize> = (0..lists.len()).filter(|node| left[*node] == 0).collect();
        while let Some(node) = open.pop() {
            for &user in &users[node] {
                left[user] -= 1;
                if left[user] == 0 {
                    open.push(user);
                }
            }
        }
        let mut empty: Vec<bool> = left.into_iter().map(|left| left == 0).collect();
        let groups = empty.split_off(first_group);
        (empty, groups)
    }

    fn reachable(&self) -> Kept {
        let mut components = vec![false; self.components.len()];
        let mut groups = vec![false; self.groups.len()];
        let mut open: Vec<&[Member]> =
            self.messages.iter().map(|message| message.members.as_slice()).collect();
        open.extend(self.scenarios.iter().map(|scenario| scenario.message.members.as_slice()));
        open.push(&self.header);
        open.push(&self.trailer);
        while let Some(members) = open.pop() {
            for member in members {
                match *member {
                    Member::Field { .. } => {}
                    Member::Group { group, .. } => {
                        if !std::mem::replace(&mut groups[group.index()], true) {
                            open.push(&self.groups[group.index()].members);
                        }
                    }
                    Member::Component { component, .. } => {
                        if !std::mem::replace(&mut components[component.index()], true) {
                            open.push(&self.components[component.index()].members);
                        }
                    }
                }
            }
        }
        let places = |seen: Vec<bool>| (0..seen.len()).filter(|at| seen[*at]).collect();
        Kept { components: places(components), groups: places(groups) }
    }
}

impl Draft {
    /// Removes the terms of members that are not there any more.
    pub(crate) fn prune_terms(&mut self) {
        if self.terms.is_empty() {
            return;
        }
        let mut there = HashSet::new();
        let key_of = |member: &Member| match *member {
            Member::Field { tag, .. } => Key::Field(tag),
            Member::Group { group, .. } => Key::Group(self.groups[group.index()].name.clone()),
            Member::Component { component, .. } => {
                Key::Component(self.components[component.index()].name.clone())
            }
        };
        let mut note = |place: Key, members: &[Member]| {
            there.extend(members.iter().map(|member| (place.clone(), key_of(member))));
        };
        note(Key::Header, &self.header);
        note(Key::Trailer, &self.trailer);
        self.components.iter().for_each(|one| note(Key::Component(one.name.clone()), &one.members));
        self.groups.iter().for_each(|one| note(Key::Group(one.name.clone()), &one.members));
        self.messages.iter().for_each(|one| note(Key::Message(one.msg_type.clone()), &one.members));
        self.scenarios.iter().for_each(|one| note(one.key(), &one.message.members));
        self.terms.retain(|key, _| there.contains(key));
    }

    /// Follows a group to its new name.
    pub(crate) fn rename_terms(&mut self, names: &HashMap<&str, &str>) {
        let renamed = |key: Key| match key {
            Key::Group(name) => Key::Group(names.get(name.as_str()).map_or(name, |name| (*name).to_string())),
            other => other,
        };
        let terms = std::mem::take(&mut self.terms);
        self.terms = terms
            .into_iter()
            .map(|((place, member), terms)| ((renamed(place), renamed(member)), terms))
            .collect();
    }
}

/// Keeps the items that have a position.
fn keep<T>(items: &mut Vec<T>, places: &[u32]) {
    let mut at = 0;
    items.retain(|_| {
        at += 1;
        places[at - 1] != u32::MAX
    });
}

#[cfg(test)]
mod tests {
    use crate::Source;
    use crate::shipped::fixt11;

    #[test]
    fn what_holds_only_what_came_later_goes_with_it_and_the_rest_moves_up() {
        let text = "<repository name='FIX.Latest' version='1'><fields><field id='1' name='A' type='int'/>\
            <field id='2' name='NoB' type='NumInGroup'/><field id='4' name='NoD' type='NumInGroup'/><field id='3' name='C' type='int' added='FIX.5.0SP2' addedEP='99'/></fields>\
            <components><component id='10' name='Later'><fieldRef id='3'/></component>\
            <component id='11' name='Around'><componentRef id='10'/><groupRef id='20'/><componentRef id='10' presence='required'/></component>\
            <component id='12' name='Kept'><componentRef id='11'/><fieldRef id='1'/><groupRef id='21'/></component></components>\
            <groups><group id='20' name='P'><numInGroup id='2'/><fieldRef id='3'/></group>\
            <group id='21' name='Q'><numInGroup id='4'/><componentRef id='11'/><fieldRef id='1'/></group></groups>\
            <messages><message name='M' msgType='U'><structure><componentRef id='11'/><componentRef id='12'/></structure></message>\
            </messages></repository>";
        let names = |version: &str| {
            let dictionary = Source::text(text).as_of(version).load().expect("it is right").dictionary;
            let components = dictionary.components().iter().map(|component| component.name.clone());
            components.chain(dictionary.groups().iter().map(|group| group.name.clone())).collect::<Vec<_>>()
        };
        assert_eq!(names("FIX.Latest"), ["Later", "Around", "Kept", "P", "Q"]);
        assert_eq!(names("FIX.5.0SP2"), ["Kept", "Q"]);
    }

    #[test]
    fn what_only_the_old_header_led_to_goes_with_it() {
        let text = "table 1\nversion FIX.4.4\nfield 8 BeginString String\nfield 1 A String\nfield 2 NoB NumInGroup\n\
            field 3 C String\ncomponent Unused 1\ncomponent Kept 1 *B\ngroup Hops 2 3\ngroup B 2 1\nheader 8! *Hops\n\
            trailer\nmessage D M @Kept!\n";
        let dictionary = Source::text(text).load().expect("it is right").dictionary;
        let whole = dictionary.over(fixt11()).expect("it fits");
        let names: Vec<_> = whole.components().iter().map(|component| component.name.as_str()).collect();
        assert_eq!(names, ["Kept"]);
        let groups: Vec<_> = whole.groups().iter().map(|group| group.name.as_str()).collect();
        assert_eq!(groups, ["B", "HopGrp", "MsgTypeGrp", "AttachmentGrp", "AttachmentKeywordGrp"]);
        let members = &whole.message(b"D").expect("it is there").members;
        assert_eq!(whole.expand(members).map(|member| member.tag).collect::<Vec<_>>(), [1, 2]);
    }
}
