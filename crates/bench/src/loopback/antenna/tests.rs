use std::path::PathBuf;

use super::*;

/// Lines of the page, whose cells are not separated.
const MIN: &str = "47,146,127,319,011,38,3";
const LINES_OF_PAGE: [&str; 6] = [
    MIN,
    "Max190,7218,0217,5223,7199,513,2",
    "Average51,651,131,521,613,28,7",
    "50%49,848,829,921,011,88,5",
    "95%59,959,038,924,018,69,3",
    "99%67,190,445,825,324,610,4",
];

#[test]
fn the_published_figures_are_those_of_the_page() {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let shared = std::env::var_os("FIXBOLT_SHARED").map_or_else(|| PathBuf::from(default), PathBuf::from);
    let page = std::fs::read_to_string(shared.join("published").join("fix-antenna.txt"));
    for (at, line) in LINES_OF_PAGE.iter().enumerate() {
        let cells = PUBLISHED.map(|figures| format!("{:.1}", figures[at]).replace('.', ","));
        let name = if at == 0 { "" } else { LINES[at] };
        assert_eq!(format!("{name}{}", cells.concat()), *line);
        match &page {
            Ok(page) => assert!(page.lines().any(|theirs| theirs.trim() == *line), "{line}"),
            Err(_) => eprintln!("shared folder absent: {line} was not looked for in the page"),
        }
    }
    let Ok(page) = page else { return };
    for property in PROPERTIES {
        // Footnotes follow the names.
        assert!(page.lines().any(|line| line.trim().starts_with(property)), "{property}");
    }
    for configuration in CONFIGURATIONS {
        let name = configuration.name;
        let capital = name[..1].to_uppercase() + &name[1..];
        assert!(page.contains(&capital), "{capital}");
    }
}

#[test]
fn every_configuration_has_its_rows_and_its_round_trips_in_latency_csv() {
    let configurations = vec![CONFIGURATIONS[0], CONFIGURATIONS[4]];
    let settings = Settings { messages: 60, warm_up: 20, configurations, ..Settings::default() };
    // The rival has a test of its own.
    let (mut rows, mut csv) = (Vec::new(), String::new());
    for configuration in &settings.configurations {
        for kind in [(true, false), (false, true)] {
            let run = one(&settings, configuration, kind, &Control::default(), "row", &mut csv).unwrap();
            assert_eq!((run.service.count(), run.lost, run.stray), (60, 0, 0));
            let series = Series::new(TEST, "fixbolt", "row", vec![run]);
            let published = Some(PUBLISHED[0]);
            rows.push(Measured { name: configuration.name.to_owned(), what: AS_CHOSEN, series, published });
        }
    }
    let floors = floors(&settings, &Control::default()).unwrap();
    let names: Vec<String> = floors.iter().map(|row| row.series.key()).collect();
    assert_eq!(names, ["antenna raw TCP epoll"], "neither configuration spins");
    assert_eq!(floors[0].series.runs[0].service.count(), 60);
    let is_valid = floors[0].series.runs[0].invalid.is_none();
    let with_floors: Vec<Measured> = floors.into_iter().chain(std::mem::take(&mut rows)).collect();
    let figures = figures(&with_floors, &settings.configurations);
    assert!(figures.iter().all(|row| row.engine == "fixbolt" && row.floor_ns.is_some() == is_valid));
    rows = with_floors;
    rows.remove(0);
    assert_eq!(csv.lines().count(), 4 * 60);
    assert!(csv.lines().all(|line| line.starts_with("\"row\",")), "{csv}");
    assert_eq!(results(&rows).rows.len(), 8);
    assert!(notes(&settings).iter().any(|note| note.contains("there is no bypass stack")));
    assert_eq!(settings_table(&CONFIGURATIONS).rows[4][5], "Yes | no");
}

#[test]
fn a_client_measures_a_venue_that_another_side_runs() {
    let (tell, told) = std::sync::mpsc::channel();
    let control = Control::default();
    let venue = std::thread::spawn({
        let control = control.clone();
        move || {
            let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
            server(anywhere, &CONFIGURATIONS[0], &[], &control, |address| tell.send(address).unwrap())
        }
    });
    let address = told.recv().unwrap();
    let settings = Settings {
        messages: 40,
        warm_up: 10,
        configurations: vec![CONFIGURATIONS[0]],
        server: Some(address),
        ..Settings::default()
    };
    let report = run(&settings, &Control::default(), &mut String::new()).unwrap();
    assert_eq!(report.series.len(), 1);
    assert_eq!(report.series[0].runs[0].service.count(), 40);
    control.stop();
    assert_eq!(venue.join().unwrap(), Ok(50));
}
