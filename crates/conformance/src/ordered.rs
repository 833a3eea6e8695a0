//! A map in one vector, in the order of its keys: for few entries, or for keys that mostly grow.
//! Each kind of `BTreeMap` is ten times the code.

/// The entries, by their keys.
#[derive(Clone, Debug)]
pub(crate) struct Ordered<K, V>(Vec<(K, V)>);

impl<K, V> Default for Ordered<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> Ordered<K, V> {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }
}

impl<K: Copy + Ord, V> Ordered<K, V> {
    fn place(&self, key: K) -> Result<usize, usize> {
        self.0.binary_search_by_key(&key, |(key, _)| *key)
    }

    pub(crate) fn get(&self, key: K) -> Option<&V> {
        self.place(key).ok().map(|at| &self.0[at].1)
    }

    pub(crate) fn get_mut(&mut self, key: K) -> Option<&mut V> {
        self.place(key).ok().map(|at| &mut self.0[at].1)
    }

    /// Returns the value of a key, which is `new` if it has none yet.
    pub(crate) fn entry(&mut self, key: K, new: impl FnOnce() -> V) -> &mut V {
        let at = self.place(key).unwrap_or_else(|at| {
            self.0.insert(at, (key, new()));
            at
        });
        &mut self.0[at].1
    }

    /// Sets the value of a key, and returns the one that it had.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.place(key) {
            Ok(at) => Some(core::mem::replace(&mut self.0[at].1, value)),
            Err(at) => {
                self.0.insert(at, (key, value));
                None
            }
        }
    }

    pub(crate) fn remove(&mut self, key: K) -> Option<V> {
        self.place(key).ok().map(|at| self.0.remove(at).1)
    }

    /// Returns the first entry.
    pub(crate) fn first(&self) -> Option<(K, &V)> {
        self.0.first().map(|(key, value)| (*key, value))
    }

    /// Returns the first entry with at least this key.
    pub(crate) fn first_from(&self, key: K) -> Option<(K, &V)> {
        let at = self.place(key).unwrap_or_else(|at| at);
        self.0.get(at).map(|(key, value)| (*key, value))
    }

    /// Takes the first entry out.
    pub(crate) fn pop_first(&mut self) -> Option<(K, V)> {
        if self.0.is_empty() { None } else { Some(self.0.remove(0)) }
    }

    /// Returns the values in the order of their keys.
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }

    /// Returns the values in the order of their keys, to change them.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    /// Removes the entries with other keys than those.
    pub(crate) fn retain(&mut self, keep: impl Fn(&K, &V) -> bool) {
        self.0.retain(|(key, value)| keep(key, value));
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K, V> IntoIterator for Ordered<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_in_the_order_of_their_keys_whatever_order_they_come_in() {
        let mut map = Ordered::default();
        for key in [5, 1, 3, 1] {
            *map.entry(key, || 0) += 1;
        }
        assert_eq!((map.get(1), map.get(2), map.get(5)), (Some(&2), None, Some(&1)));
        assert_eq!((map.insert(2, 7), map.insert(5, 8)), (None, Some(1)));
        assert_eq!((map.first(), map.first_from(4), map.first_from(6)), (Some((1, &2)), Some((5, &8)), None));
        assert_eq!((map.remove(3), map.remove(3)), (Some(1), None));
        *map.get_mut(2).unwrap() += 1;
        map.values_mut().for_each(|value| *value *= 2);
        assert_eq!(map.values().copied().collect::<Vec<_>>(), [4, 16, 16]);
        assert_eq!(map.pop_first(), Some((1, 4)));
        map.retain(|key, _| *key != 2);
        assert_eq!(map.clone().into_iter().collect::<Vec<_>>(), [(5, 16)]);
        map.clear();
        assert!(map.is_empty() && map.pop_first().is_none());
    }
}
