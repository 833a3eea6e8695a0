//! Leaving out the components and groups that nothing refers to, and those without members, after a part of a dictionary was
//! taken away.
//!
//! Fields and code sets stay: a field nobody uses is harmless, and a tag that is known says more than one that is not.

use crate::assemble::Draft;
use crate::model::{ComponentId, GroupId, Member};

/// Which components and groups are left, by their earlier places.
pub(crate) struct Kept {
    pub(crate) components: Vec<usize>,
    pub(crate) groups: Vec<usize>,
}

impl Draft {
    /// Takes away what has no members or what no message, header or trailer leads to; the rest moves up.
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
        change(&mut self.header);
        change(&mut self.trailer);
    }

    /// Definitions without members, or with members that are all such themselves. One that contains itself counts as one with
    /// members: assembling tells of it.
    fn empty_definitions(&self) -> (Vec<bool>, Vec<bool>) {
        let mut components = vec![false; self.components.len()];
        let mut groups = vec![false; self.groups.len()];
        loop {
            let is_empty = |members: &[Member]| {
                members.iter().all(|member| match *member {
                    Member::Field { .. } => false,
                    Member::Group { group, .. } => groups[group.index()],
                    Member::Component { component, .. } => components[component.index()],
                })
            };
            let next_components: Vec<bool> =
                self.components.iter().map(|one| is_empty(&one.members)).collect();
            let next_groups: Vec<bool> = self.groups.iter().map(|one| is_empty(&one.members)).collect();
            if next_components == components && next_groups == groups {
                return (components, groups);
            }
            (components, groups) = (next_components, next_groups);
        }
    }

    fn reachable(&self) -> Kept {
        let mut components = vec![false; self.components.len()];
        let mut groups = vec![false; self.groups.len()];
        let mut open: Vec<&[Member]> =
            self.messages.iter().map(|message| message.members.as_slice()).collect();
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

/// Keeps the items that have a place.
fn keep<T>(items: &mut Vec<T>, places: &[u32]) {
    let mut at = 0;
    items.retain(|_| {
        at += 1;
        places[at - 1] != u32::MAX
    });
}
