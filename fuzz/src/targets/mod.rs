//! The targets, one per module, and the seeds that several of them share.

mod body;
mod choices;
mod config;
mod dictionary;
mod forward;
mod framer;
mod index;
mod journal;
mod meaning;
mod proxy;
mod session;
mod values;
mod watched;

use fixbolt_conformance::testing::message;

/// A fuzz target.
#[derive(Debug)]
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// Panics if these bytes break an invariant.
    pub run: fn(&[u8]),
    /// Inputs to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub static TARGETS: &[Target] = &[
    Target { name: "framer", run: framer::run, seeds: framer::seeds },
    Target { name: "index", run: index::run, seeds: messages },
    Target { name: "body", run: body::run, seeds: body::seeds },
    Target { name: "forward", run: forward::run, seeds: forward::seeds },
    Target { name: "dictionary", run: dictionary::run, seeds: dictionary::seeds },
    Target { name: "config", run: config::run, seeds: config::seeds },
    Target { name: "meaning", run: meaning::run, seeds: meaning::seeds },
    Target { name: "session", run: session::run, seeds: session::seeds },
    Target { name: "journal", run: journal::run, seeds: journal::seeds },
    Target { name: "proxy", run: proxy::run, seeds: proxy::seeds },
    Target { name: "values", run: values::run, seeds: values::seeds },
];

/// Returns a message of every kind that a session receives, in both versions, including groups and
/// data fields.
fn messages() -> Vec<Vec<u8>> {
    let header = "49=TRADER|56=VENUE|34=2|52=20260105-10:00:00.000|";
    let bodies = [
        ("A", "98=0|108=30|"),
        ("A", "98=0|108=30|141=Y|553=user|554=secret|"),
        ("0", ""),
        ("0", "112=TEST|"),
        ("1", "112=TEST|"),
        ("2", "7=1|16=0|"),
        ("3", "45=2|371=54|372=D|373=5|58=no|"),
        ("4", "123=Y|36=10|"),
        ("4", "36=10|"),
        ("5", "58=bye|"),
        ("D", "11=ord1|21=1|55=IBM|54=1|60=20260105-10:00:00.000|38=100|40=2|44=57.00|59=4|"),
        ("D", "11=ord2|21=1|55=IBM|54=1|60=20260105-10:00:00|38=100|40=1|354=5|355=a=b|c|58=x|"),
        ("8", "37=o1|17=e1|20=0|150=2|39=2|55=IBM|54=1|38=100|32=100|31=57.00|151=0|14=100|6=57.00|"),
        (
            "D",
            "11=ord3|453=2|448=DEUTDEFF|447=B|452=1|448=TRADER7|447=D|452=11|55=IBM|54=1|60=20260105-10:00:00|40=1|38=5|",
        ),
        ("B", "148=head|33=2|58=one|58=two|95=32|96=8=FIX.4.2|9=5|35=0|10=161|8=FIX|"),
        ("j", "45=7|372=D|380=3|58=not supported|"),
    ];
    let mut all = Vec::new();
    for (n, (msg_type, body)) in bodies.iter().enumerate() {
        let begin_string = if n % 2 == 0 { "FIX.4.2" } else { "FIX.4.4" };
        all.push(message(begin_string, &format!("35={msg_type}|{header}{body}")));
    }
    // Valid ones, with everything that a typed view reads.
    let order = "11=ord4|453=2|448=DEUTDEFF|447=D|452=1|802=2|523=desk|803=4|523=floor|803=25|448=TRADER7|447=D|452=11|55=IBM|54=1|";
    let order = format!("{order}60=20260105-10:00:00|38=100|40=2|44=57.00|15=USD|59=0|18=1 G|354=3|355=a=b|");
    all.push(message("FIX.4.4", &format!("35=D|{header}{order}")));
    let report = "37=o1|17=e1|150=F|39=2|55=IBM|54=1|38=100|32=100|31=57.00|151=0|14=100|6=57.00|60=20260105-10:00:00|";
    all.push(message("FIX.4.4", &format!("35=8|{header}{report}")));
    all.push(message("FIX.4.4", &format!("35=B|{header}148=head|33=1|58=one|95=5|96=a|=b9|")));
    // A data field whose length extends into the trailer.
    all.push(message("FIX.4.2", &format!("35=B|{header}148=head|95=10|96=xy|")));
    all.push(message("FIXT.1.1", &format!("35=A|{header}98=0|108=30|1137=9|")));
    all.push(message(
        "FIX.4.4",
        &format!("35=D|{header}43=Y|122=20260105-09:59:59|97=Y|11=ord1|55=IBM|54=1|38=1|40=1|"),
    ));
    all
}
