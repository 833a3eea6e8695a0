//! A set in one vector, in order: for hundreds of values. Each kind of `BTreeSet` is ten times the
//! code, which is compiled a second time for the build script of fixbolt-messages.

/// The values, each once.
#[derive(Clone, Debug)]
pub(crate) struct OrderedSet<T>(Vec<T>);

impl<T> Default for OrderedSet<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Ord> OrderedSet<T> {
    /// Adds a value. Returns whether it is new.
    pub(crate) fn insert(&mut self, value: T) -> bool {
        let place = self.0.binary_search(&value);
        if let Err(at) = place {
            self.0.insert(at, value);
        }
        place.is_err()
    }

    pub(crate) fn contains(&self, value: &T) -> bool {
        self.0.binary_search(value).is_ok()
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        &self.0
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds all of these.
    pub(crate) fn extend(&mut self, values: impl IntoIterator<Item = T>) {
        for value in values {
            self.insert(value);
        }
    }
}

impl<T: Ord> FromIterator<T> for OrderedSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut set = Self::default();
        set.extend(values);
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_in_order_and_each_is_there_once() {
        let mut set: OrderedSet<u32> = [5, 1, 3, 1].into_iter().collect();
        assert!(set.insert(2) && !set.insert(5));
        assert_eq!(set.as_slice(), [1, 2, 3, 5]);
        assert!(set.contains(&3) && !set.contains(&4));
        set.clear();
        assert!(set.as_slice().is_empty());
    }
}
