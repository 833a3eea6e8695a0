package fixbolt.bench;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntFunction;
import quickfix.DataDictionary;
import quickfix.Message;

/**
 * FsFIX's four messages, written and read. Each pair of message and operation has a virtual machine
 * of its own, so that the compiler does not see the others' types; there it runs until the warm-up
 * is over, then in batches of the same number of messages.
 */
final class Fsfix {
    private static final int BATCHES = 11;
    private static final List<String> OPERATIONS = List.of("write", "parse", "read", "read-validated");
    private static final Map<String, IntFunction<Fixture>> MESSAGES = new TreeMap<>(Map.of(
            "MarketDataRequest", Groups.MarketData::new,
            "QuoteStatusRequest", n -> new Groups.QuoteStatus(n, false),
            "QuoteStatusRequest-nested", n -> new Groups.QuoteStatus(n, true),
            "NewOrderMultileg", Multileg::new));

    /** Does something with member `n` of the ring; the result depends on all of it. */
    private interface Work {
        long with(int n) throws Exception;
    }

    /** Thrown if an output is not what it must be; nothing is timed then. */
    private static final class WrongOutput extends Exception {
        private static final long serialVersionUID = 1;

        WrongOutput(String what) {
            super(what);
        }
    }

    private final String message;
    private final String operation;
    private final DataDictionary dictionary = new DataDictionary("FIX44.xml");
    private final Fixture[] ring = new Fixture[Fixture.RING];
    private final String[] texts = new String[Fixture.RING];
    private final Reader reader;
    /** Where results end, so that the compiler cannot omit the work. */
    private volatile long sink;

    private Fsfix(String message, String operation) throws Exception {
        this.message = message;
        this.operation = operation;
        for (int n = 0; n < ring.length; n++) {
            ring[n] = MESSAGES.get(message).apply(n);
            texts[n] = ring[n].text();
        }
        reader = new Reader(new Message(texts[0], dictionary), dictionary);
    }

    static int run(String[] arguments) throws Exception {
        Options options = new Options(arguments, Set.of("--message", "--operation", "--warm-up", "--batch"));
        String message = options.text("--message", "");
        String operation = options.text("--operation", "");
        long warmUp = options.number("--warm-up", 2_000, 1) * 1_000_000L;
        long batch = options.number("--batch", 100, 1) * 1_000_000L;
        if (!message.isEmpty() && !MESSAGES.containsKey(message)) {
            throw new IllegalArgumentException("--message is one of " + MESSAGES.keySet() + ", not " + message);
        } else if (!operation.isEmpty() && !OPERATIONS.contains(operation)) {
            throw new IllegalArgumentException("--operation is one of " + OPERATIONS + ", not " + operation);
        } else if (message.isEmpty() || operation.isEmpty()) {
            return runEach(arguments, message, operation);
        }
        try {
            new Fsfix(message, operation).measure(warmUp, batch);
            return 0;
        } catch (WrongOutput wrong) {
            System.err.println("quickfixj-bench: " + message + ", " + operation + ": " + wrong.getMessage());
            return 1;
        }
    }

    /** Runs what is asked for, each pair in a process with the options of this one. */
    private static int runEach(String[] arguments, String message, String operation)
            throws IOException, InterruptedException {
        for (String name : message.isEmpty() ? MESSAGES.keySet() : Set.of(message)) {
            for (String work : operation.isEmpty() ? OPERATIONS : List.of(operation)) {
                List<String> command = new ArrayList<>();
                command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
                command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
                command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
                command.addAll(Arrays.asList(arguments));
                command.addAll(List.of("--message", name, "--operation", work));
                int status = new ProcessBuilder(command).inheritIO().start().waitFor();
                if (status != 0) {
                    return status;
                }
            }
        }
        return 0;
    }

    private Work work() {
        return switch (operation) {
            case "write" -> n -> ring[n].build().toString().length();
            case "parse" -> n -> new Message(texts[n], dictionary).isEmpty() ? 1 : 2;
            case "read" -> n -> reader.read(new Message(texts[n], dictionary));
            default -> n -> {
                Message read = new Message(texts[n], dictionary);
                dictionary.validate(read);
                return reader.read(read);
            };
        };
    }

    private void measure(long warmUp, long batch) throws Exception {
        String objection = check();
        if (!objection.isEmpty()) {
            Main.line().text("message", message).text("operation", operation)
                    .text("unavailable", "QuickFIX/J's dictionary rejects the message: " + objection).say();
            return;
        }
        Work work = work();
        int messages = warmUp(work, warmUp, batch);
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        double[] cpu = new double[BATCHES];
        double[] wall = new double[BATCHES];
        for (int at = 0; at < BATCHES; at++) {
            long wallBegin = System.nanoTime();
            long cpuBegin = threads.getCurrentThreadCpuTime();
            repeat(work, messages);
            cpu[at] = (threads.getCurrentThreadCpuTime() - cpuBegin) / (double) messages;
            wall[at] = (System.nanoTime() - wallBegin) / (double) messages;
        }
        Arrays.sort(cpu);
        Arrays.sort(wall);
        Main.line().text("message", message).text("operation", operation)
                .number("batches", BATCHES).number("messages", messages)
                .real("ns", cpu[BATCHES / 2]).real("ns_min", cpu[0]).real("ns_max", cpu[BATCHES - 1])
                .real("wall_ns", wall[BATCHES / 2]).say();
    }

    /** Returns the number of messages that take as long as a batch, once the code is compiled. */
    private int warmUp(Work work, long warmUp, long batch) throws Exception {
        long end = System.nanoTime() + warmUp;
        long last;
        do {
            long begin = System.nanoTime();
            repeat(work, Fixture.RING * 16);
            last = System.nanoTime() - begin;
        } while (System.nanoTime() < end);
        return (int) Math.max(1, Math.min(100_000, batch / last)) * Fixture.RING * 16;
    }

    private void repeat(Work work, int messages) throws Exception {
        long sum = 0;
        for (int n = 0; n < messages; n++) {
            sum += work.with(n % Fixture.RING);
        }
        sink = sum;
    }

    /**
     * Checks every member of the ring. Returns what the dictionary has against it if this operation
     * validates; an empty text if it has nothing.
     */
    private String check() throws Exception {
        for (int n = 0; n < ring.length; n++) {
            if (!fields(ring[n].build().toString()).equals(fields(texts[n]))) {
                throw new WrongOutput("wrote " + ring[n].build() + " for " + texts[n]);
            }
            Message parsed = new Message(texts[n], dictionary);
            // Read first: toString replaces BodyLength by a placeholder.
            if (reader.read(parsed) != Reader.expected(texts[n], dictionary)) {
                throw new WrongOutput("read other values than those of " + texts[n]);
            } else if (!fields(parsed.toString()).equals(fields(texts[n]))) {
                throw new WrongOutput("parsed " + parsed + " from " + texts[n]);
            }
            if (operation.equals("read-validated")) {
                try {
                    dictionary.validate(parsed);
                } catch (Exception refused) {
                    return refused.getMessage();
                }
            }
        }
        return "";
    }

    /** Returns the fields in order: QuickFIX/J writes those of the body by tag. */
    private static List<String> fields(String text) {
        return Arrays.stream(text.split("\001")).sorted().toList();
    }
}
