package fixbolt.bench;

import fixbolt.peer.Line;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.stream.Collectors;

/**
 * The published tests of the field with QuickFIX/J. Figures are printed to standard output, one
 * JSON object per line.
 */
public final class Main {
    private static final String USAGE = """
            usage: quickfixj-bench fsfix [--message NAME] [--operation NAME] [--warm-up 2000] [--batch 100]
                   quickfixj-bench jlbh --samples FILE [--rate 2000] [--messages 10000]
                                   [--warm-up 20000] [--dir DIR] [--time-out 10]
              fsfix  in a virtual machine of its own for each message and operation: warms up, then
                     measures 11 batches; --warm-up and --batch are in milliseconds
                     messages:   MarketDataRequest QuoteStatusRequest QuoteStatusRequest-nested
                                 NewOrderMultileg
                     operations: write parse read read-validated
              jlbh   --rate      messages per second; message n is due n / rate seconds after the begin
                     --warm-up   number of messages that are sent before
                     --samples   where to write intended_ns,started_ns,ended_ns of each message
                     --dir       where stores and logs are kept during the run
                     --time-out  seconds without any answer after which the rest is lost
            Exit status: 0 measured; 1 an output was wrong; 2 wrong usage or I/O.""";

    private Main() {}

    public static void main(String[] arguments) {
        int status = 2;
        try {
            status = switch (arguments.length > 0 ? arguments[0] : "") {
                case "fsfix" -> Fsfix.run(arguments);
                case "jlbh" -> Jlbh.run(arguments);
                default -> throw new IllegalArgumentException("the test must be fsfix or jlbh");
            };
        } catch (IllegalArgumentException wrong) {
            System.err.println("quickfixj-bench: " + wrong.getMessage() + '\n' + USAGE);
        } catch (Exception | Error failure) {
            System.err.println("quickfixj-bench: " + failure);
        }
        System.exit(status); // threads of the connectors must not hold the process
    }

    /** Begins a line with the engine, its version and the virtual machine. */
    static Line line() {
        String collectors = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .map(GarbageCollectorMXBean::getName).collect(Collectors.joining(", "));
        return new Line()
                .text("engine", "QuickFIX/J")
                .text("version", quickfix.Session.class.getPackage().getImplementationVersion())
                .text("jvm", System.getProperty("java.vm.name") + ' ' + System.getProperty("java.vm.version"))
                .text("collectors", collectors);
    }
}
