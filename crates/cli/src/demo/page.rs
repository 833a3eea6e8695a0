//! The demo's page.

use std::io::Write;
use std::time::Duration;

use fixbolt_cli::exit::Failure;
use fixbolt_cli::output::{self, Format, Object, quoted};
use fixbolt_workloads::harness::Percentile;
use fixbolt_workloads::machine::Machine;
use fixbolt_workloads::numbers::grouped;
use fixbolt_workloads::own_messages::Spent;
use fixbolt_workloads::reports::Kind;

use super::audit::Audit;
use super::run::{Measured, PACED, Run};

/// Shows the page.
pub(super) fn show(run: &Run, measured: &Measured, audit: &Audit, format: Format) -> Result<(), Failure> {
    let mut out = output::stdout();
    match format {
        Format::Text => text(&mut out, run, measured, audit)?,
        Format::Json => writeln!(out, "{}", json(run, measured, audit))?,
    }
    out.flush()?;
    Ok(())
}

fn text(out: &mut impl Write, run: &Run, measured: &Measured, audit: &Audit) -> std::io::Result<()> {
    let machine = Machine::here();
    let orders = grouped(run.orders);
    writeln!(
        out,
        "fixbolt demo: a venue and a trader, FIX.4.2 over loopback TCP, validated, journals on both sides\n"
    )?;
    let mut row = |label: &str, value: String| writeln!(out, "  {label:<12} {value}");
    row("machine", machine.to_string())?;
    let paced = match run.rate {
        0 => String::new(),
        rate => {
            format!(", then {} at {}/s for {} s", grouped(run.paced_orders()), grouped(rate), PACED.as_secs())
        }
    };
    row("orders", format!("{}: {orders} as fast as back-pressure allows{paced}", grouped(audit.orders)))?;
    let reports =
        format!("{} ({:.2} per order)", grouped(audit.reports()), ratio(audit.reports(), audit.orders));
    row("reports", reports)?;
    for (kind, count) in Kind::ALL.iter().zip(audit.kinds) {
        row("", format!("{:<14} {:>12}", name(*kind), grouped(count)))?;
    }
    row(
        "elapsed",
        format!("{:.2} s for the {orders} orders and their reports", measured.elapsed.as_secs_f64()),
    )?;
    let (out_rate, in_rate) = rates(run, measured);
    row(
        "messages/s",
        format!("{} orders to the venue, {} reports to the trader", grouped(out_rate), grouped(in_rate)),
    )?;
    if let Some(paced) = &measured.paced {
        let shown = paced.response.table().map(|Percentile { percentile, ns, carried }| {
            let label = if percentile < 100.0 { format!("p{percentile}") } else { "max".to_owned() };
            let mark = if carried { "" } else { "*" };
            format!("{label} {}{mark}", micros(Duration::from_nanos(ns)))
        });
        row("round trip", format!("{} us", shown.join("  ")))?;
        row("", "paced part: from the time an order was due until its first report".to_owned())?;
        if paced.response.table().iter().any(|it| !it.carried) {
            row("", "* fewer than 100 orders took longer".to_owned())?;
        }
        if let Some(invalid) = &paced.invalid {
            row("", format!("INVALID: {invalid}"))?;
        }
    }
    for (label, message, spent) in
        [("codec", "NewOrderSingle", &audit.order_codec), ("", "ExecutionReport", &audit.report_codec)]
    {
        if let Some((reading, writing)) = spent.ns() {
            row(
                label,
                format!(
                    "{message:<15} in {reading:>5.0} ns  out {writing:>5.0} ns  ({} messages)",
                    grouped(spent.messages)
                ),
            )?;
        }
    }
    row(
        "",
        "in: bytes to typed values; out: back to the same bytes; thread CPU time, messages of this run"
            .to_owned(),
    )?;
    let (trader, venue) = (&audit.trader, &audit.venue);
    let journalled = grouped(trader.bytes_used + venue.bytes_used);
    row(
        "journals",
        format!(
            "{journalled} bytes: trader {}, venue {}",
            grouped(trader.bytes_used),
            grouped(venue.bytes_used)
        ),
    )?;
    let numbers = if audit.numbers_agree() { "agree" } else { "DIFFER" };
    row(
        "numbers",
        format!(
            "{numbers}: next order message {} out, {} in; next report message {} out, {} in",
            grouped(trader.next_out.0),
            grouped(venue.next_in.0),
            grouped(venue.next_out.0),
            grouped(trader.next_in.0)
        ),
    )?;
    let verdict = if audit.complaints.is_empty() {
        "every order got its reports; both journals are whole, and their counts agree for each kind"
    } else {
        "FAILED:"
    };
    row("verdict", verdict.to_owned())?;
    for complaint in &audit.complaints {
        row("", complaint.clone())?;
    }
    let directory = run.directory.display();
    // The name that the command was called by, so that the lines can be pasted: `cargo run` does
    // not add it to the PATH.
    let program = std::env::args().next().unwrap_or_else(|| "fixbolt".to_owned());
    writeln!(
        out,
        "
The counts are read back from the journals in {directory}

What to try next:
  {program} print --oneline {} | head
  {program} journal stat {directory}/trader
  {program} serve                 and in another terminal:
  {program} send NewOrderSingle Symbol=IBM Side=BUY OrderQty=100 OrdType=LIMIT Price=298.075
  {program} bench codec",
        trader.directory.display()
    )
}

fn json(run: &Run, measured: &Measured, audit: &Audit) -> Object {
    let machine = Machine::here();
    let (out_rate, in_rate) = rates(run, measured);
    let mut kinds = Object::new();
    for (kind, count) in Kind::ALL.iter().zip(audit.kinds) {
        kinds = kinds.raw(name(*kind), count);
    }
    let mut object = Object::new()
        .text("machine", &machine.to_string())
        .raw("optimized", machine.optimized)
        .raw("seed", run.seed)
        .raw("orders", audit.orders)
        .raw("reports", audit.reports())
        .raw("kinds", kinds)
        .raw("elapsed_s", format!("{:.6}", measured.elapsed.as_secs_f64()))
        .raw("orders_per_s", out_rate)
        .raw("reports_per_s", in_rate);
    if let Some(paced) = &measured.paced {
        let mut trip = Object::new().raw("rate", run.rate).raw("orders", paced.response.count());
        for Percentile { percentile, ns, .. } in paced.response.table() {
            let label = if percentile < 100.0 { format!("p{percentile}_ns") } else { "max_ns".to_owned() };
            trip = trip.raw(&label, ns);
        }
        let invalid = paced.invalid.as_ref().map(ToString::to_string);
        object = object.raw("round_trip", trip.maybe_text("invalid", invalid.as_deref()));
    }
    let (trader, venue) = (&audit.trader, &audit.venue);
    object
        .raw("order_codec", codec(&audit.order_codec))
        .raw("report_codec", codec(&audit.report_codec))
        .raw("bytes_journalled", trader.bytes_used + venue.bytes_used)
        .raw("trader_next_out", trader.next_out)
        .raw("trader_next_in", trader.next_in)
        .raw("venue_next_out", venue.next_out)
        .raw("venue_next_in", venue.next_in)
        .raw("numbers_agree", audit.numbers_agree())
        .text("directory", &run.directory.display().to_string())
        .raw("ok", audit.complaints.is_empty())
        .array("complaints", audit.complaints.iter().map(|line| quoted(line)))
}

fn codec(spent: &Spent) -> Object {
    let (reading, writing) = spent.ns().unwrap_or_default();
    Object::new()
        .raw("messages", spent.messages)
        .raw("in_ns", format!("{reading:.1}"))
        .raw("out_ns", format!("{writing:.1}"))
        .raw("differing", spent.differing)
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Rejected => "rejected",
        Kind::Canceled => "canceled",
        Kind::Confirmed => "confirmed",
        Kind::PartialFill => "partial fills",
        Kind::Fill => "fills",
    }
}

/// Returns the orders and reports per second in the unpaced part.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // counts, shown
fn rates(run: &Run, measured: &Measured) -> (u64, u64) {
    let a_second = |count: u64| (count as f64 / measured.elapsed.as_secs_f64().max(1e-9)) as u64;
    (a_second(run.orders), a_second(measured.reports))
}

#[allow(clippy::cast_precision_loss)] // shown with two places
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn micros(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    if micros < 100.0 {
        format!("{micros:.1}")
    } else {
        grouped(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_told_apart() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(micros(Duration::from_nanos(12_345)), "12.3");
        assert_eq!(micros(Duration::from_millis(12)), "12,000");
    }
}
