//! Comparisons in alternating slices: a machine that changes its speed hits every contestant.

use super::control::Control;

/// How many slices each contestant of a comparison has.
pub const SLICES: usize = 20;

/// A contestant: its name, and what measures one slice of it.
pub struct Contest<'a, T> {
    /// The name.
    pub name: String,
    /// Measures a slice.
    pub slice: Box<dyn FnMut() -> Result<T, String> + 'a>,
}

impl<T> std::fmt::Debug for Contest<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Contest").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<'a, T> Contest<'a, T> {
    /// Creates a contestant.
    pub fn new(name: impl Into<String>, slice: impl FnMut() -> Result<T, String> + 'a) -> Self {
        Self { name: name.into(), slice: Box::new(slice) }
    }
}

/// Measures `slices` slices of each contestant, in turn: A B C A B C ... Returns the slices of each
/// contestant. If `control` stops the measurement, each has the same number of them, perhaps none.
///
/// # Errors
/// Returns the first error, with the contestant's name.
pub fn alternate<T>(
    contestants: &mut [Contest<'_, T>],
    slices: usize,
    control: &Control,
) -> Result<Vec<Vec<T>>, String> {
    let mut results: Vec<Vec<T>> = contestants.iter().map(|_| Vec::with_capacity(slices)).collect();
    for slice in 0..slices {
        let mut round = Vec::with_capacity(contestants.len());
        for contestant in &mut *contestants {
            if control.is_stopped() {
                return Ok(results);
            }
            let measured = (contestant.slice)();
            round.push(measured.map_err(|error| format!("{}: {error}", contestant.name))?);
        }
        for (results, result) in results.iter_mut().zip(round) {
            results.push(result);
        }
        control.progress(slice as u64 + 1);
    }
    Ok(results)
}

/// Measures, and once more if the result is unsteady and `control` has not stopped the measurement.
/// The last result counts.
///
/// # Errors
/// Returns the error of the measurement.
pub fn again_if<T>(
    is_unsteady: impl Fn(&T) -> bool,
    control: &Control,
    mut measure: impl FnMut() -> Result<T, String>,
) -> Result<T, String> {
    let measured = measure()?;
    if is_unsteady(&measured) && !control.is_stopped() { measure() } else { Ok(measured) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contestants_take_turns_and_a_stop_leaves_each_with_the_same_number_of_slices() {
        let (order, control) = (std::cell::RefCell::new(String::new()), Control::default());
        let contest = |name: &'static str| {
            let (order, control) = (&order, &control);
            Contest::new(name, move || {
                order.borrow_mut().push_str(name);
                if order.borrow().len() == 7 {
                    control.stop();
                }
                Ok(order.borrow().len())
            })
        };
        let mut contestants = [contest("A"), contest("B")];
        assert_eq!(alternate(&mut contestants, 2, &control), Ok(vec![vec![1, 3], vec![2, 4]]));
        assert_eq!(alternate(&mut contestants, 9, &control), Ok(vec![vec![5], vec![6]]));
        assert_eq!(*order.borrow(), "ABABABA");
    }

    #[test]
    fn an_error_names_its_contestant() {
        let mut contestants = [Contest::new("raw", || Ok(1)), Contest::new("spin", || Err("no core".into()))];
        let measured = alternate(&mut contestants, 3, &Control::default());
        assert_eq!(measured, Err("spin: no core".to_owned()));
    }

    #[test]
    fn what_is_unsteady_is_measured_once_more_unless_it_was_stopped() {
        let (control, mut values) = (Control::default(), [30, 40, 10].into_iter());
        let mut measure = || values.next().ok_or_else(|| "too often".to_owned());
        assert_eq!(again_if(|value| *value > 20, &control, &mut measure), Ok(40));
        assert_eq!(again_if(|value| *value > 20, &control, &mut measure), Ok(10));
        control.stop();
        assert_eq!(again_if(|_| true, &control, || Ok(30)), Ok(30));
    }
}
