//! The figures of several measurements of the same as one: two processes of one binary differ by
//! where its memory lies, which no number of batches in one of them shows.

use fixbolt_workloads::clock::median;

use super::{Part, Row};

/// Returns each figure as the median of the figures of all parts that have it, with the worst of
/// them and, as `spread`, how far apart they are in per cent. What else a figure has is the median,
/// too.
#[must_use]
pub fn of_parts(part: Part, all: &[Vec<Row>]) -> Vec<Row> {
    let mut figures: Vec<(String, Vec<&Row>)> = Vec::new();
    for row in all.iter().flatten() {
        let key = row.key();
        match figures.iter_mut().find(|(known, _)| *known == key) {
            Some((_, same)) => same.push(row),
            None => figures.push((key, vec![row])),
        }
    }
    let merged = |(_, same): (String, Vec<&Row>)| {
        let row = *same.first()?;
        let median_of = |figure: &dyn Fn(&Row) -> Option<f64>| {
            median(&mut same.iter().filter_map(|row| figure(row)).collect::<Vec<_>>())
        };
        let mut merged = row.clone();
        merged.floor_ns = median_of(&|row| row.floor_ns);
        for (name, value) in &mut merged.more {
            *value = median_of(&|row| row.more.get(name).copied()).unwrap_or(*value);
        }
        let figures = same.iter().map(|row| row.figure().0).collect();
        merged.median_of(part, figures)
    };
    figures.into_iter().filter_map(merged).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figure_of_processes_is_their_median_and_says_how_far_apart_they_are() {
        let process = |ns: f64, floor: f64| {
            let row = Row::of_ns("codec", "NOS-222", "index", ns).floor_ns(Some(floor));
            vec![row.with("spread", 1.0).with("fields", 24.0), Row::of_ns("codec", "NOS-222", "encode", 9.0)]
        };
        let processes = [process(60.0, 40.0), process(90.0, 50.0), process(50.0, 45.0)];
        let rows = of_parts(Part::Process, &processes);
        let index = &rows[0];
        assert_eq!((index.ns, index.worst, index.floor_ns), (Some(60.0), Some(90.0), Some(45.0)));
        assert_eq!(index.statistic.to_string(), "median of 3 processes");
        let more = |name: &str| (index.more[name] * 10.0).round() / 10.0;
        assert_eq!((more("spread"), more("fields"), rows.len()), (66.7, 24.0, 2));
        let mut other = processes.to_vec();
        other[1].remove(0);
        let of_two = of_parts(Part::Process, &other);
        assert_eq!(
            (of_two[0].ns, of_two[0].statistic.to_string()),
            (Some(55.0), "median of 2 processes".to_owned())
        );
        assert_eq!(of_parts(Part::Run, &[]), []);
    }
}
