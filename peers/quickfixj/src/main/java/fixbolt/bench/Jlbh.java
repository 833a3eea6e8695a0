package fixbolt.bench;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import quickfix.ApplicationAdapter;
import quickfix.ConfigError;
import quickfix.DefaultMessageFactory;
import quickfix.FieldNotFound;
import quickfix.FileLogFactory;
import quickfix.FileStoreFactory;
import quickfix.Message;
import quickfix.Session;
import quickfix.SessionID;
import quickfix.SessionNotFound;
import quickfix.SessionSettings;
import quickfix.SocketAcceptor;
import quickfix.SocketInitiator;
import quickfix.field.*;
import quickfix.fix42.ExecutionReport;
import quickfix.fix42.NewOrderSingle;

/**
 * JLBH's test: an order over loopback and its report back, both sides in this process, with file
 * store and file log. ClOrdID is when the order began.
 */
final class Jlbh {
    /** ExecID and OrderID of the report. */
    private static final String REPORT_ID = "tkacct.151124.e.EFX.122.6";

    private final Samples samples;
    private final CountDownLatch loggedOn = new CountDownLatch(2);

    private Jlbh(Samples samples) {
        this.samples = samples;
    }

    static int run(String[] arguments) throws Exception {
        Options options = new Options(arguments,
                Set.of("--samples", "--rate", "--messages", "--warm-up", "--dir", "--time-out"));
        String file = options.text("--samples", "");
        if (file.isEmpty()) {
            throw new IllegalArgumentException("--samples FILE is missing");
        }
        int rate = options.number("--rate", 2_000, 1);
        int messages = options.number("--messages", 10_000, 1);
        int warmUp = options.number("--warm-up", 20_000, 0);
        Samples samples = new Samples(messages, warmUp, rate, options.number("--time-out", 10, 1));
        String parent = options.text("--dir", System.getProperty("java.io.tmpdir"));
        Path folder = Files.createTempDirectory(Path.of(parent), "quickfixj-bench-");
        try {
            new Jlbh(samples).run(folder);
        } finally {
            remove(folder);
        }
        samples.write(Path.of(file));
        Main.line().text("test", "jlbh").number("rate", rate).number("messages", messages)
                .number("warm_up", warmUp).number("lost", samples.lost()).flag("validation", true)
                .text("dictionary", "QuickFIX/J's FIX42.xml").text("store", "file").text("log", "file")
                .text("threads", "sender, SocketInitiator, SocketAcceptor, I/O processors of MINA")
                .text("pacing", "sleep, the last 150 us polling the clock").flag("nodelay", true).say();
        return 0;
    }

    private void run(Path folder) throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        SessionSettings accepting = settings(folder, "ConnectionType=acceptor\nSocketAcceptAddress=127.0.0.1"
                + "\nSocketAcceptPort=" + port + "\nSocketReuseAddress=Y", "SERVER", "CLIENT");
        SessionSettings initiating = settings(folder, "ConnectionType=initiator\nSocketConnectHost=127.0.0.1"
                + "\nSocketConnectPort=" + port + "\nHeartBtInt=30\nReconnectInterval=1\nResetOnLogon=Y",
                "CLIENT", "SERVER");
        DefaultMessageFactory factory = new DefaultMessageFactory();
        SocketAcceptor acceptor = new SocketAcceptor(new Accepting(), new FileStoreFactory(accepting),
                accepting, new FileLogFactory(accepting), factory);
        SocketInitiator initiator = new SocketInitiator(new Initiating(), new FileStoreFactory(initiating),
                initiating, new FileLogFactory(initiating), factory);
        acceptor.start();
        initiator.start();
        try {
            if (!loggedOn.await(10, TimeUnit.SECONDS)) {
                throw new IOException("the sessions have not logged on within 10 s");
            }
            NewOrderSingle order = order();
            SessionID session = initiator.getSessions().get(0);
            samples.run(started -> {
                order.set(new ClOrdID(Long.toString(started)));
                Session.sendToTarget(order, session);
            });
        } finally {
            initiator.stop();
            acceptor.stop();
        }
    }

    private static SessionSettings settings(Path folder, String side, String sender, String target)
            throws ConfigError {
        String text = "[DEFAULT]\n" + side + "\nFileStorePath=" + folder + "/store\nFileLogPath=" + folder
                + "/log\nNonStopSession=Y\nSocketTcpNoDelay=Y\nUseDataDictionary=Y\n[SESSION]\nBeginString=FIX.4.2"
                + "\nSenderCompID=" + sender + "\nTargetCompID=" + target + '\n';
        return new SessionSettings(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
    }

    private static NewOrderSingle order() {
        NewOrderSingle order = new NewOrderSingle();
        order.set(new OrdType('2'));
        order.set(new Side('1'));
        order.set(new Symbol("LCOM1"));
        order.set(new HandlInst('3'));
        order.set(new TransactTime(LocalDateTime.now(ZoneOffset.UTC)));
        order.set(new OrderQty(1));
        order.set(new Price(200.0));
        order.set(new TimeInForce('0'));
        order.set(new MaturityMonthYear("201106"));
        order.set(new SecurityType("FUT"));
        order.set(new IDSource("5"));
        order.set(new SecurityID("LCOM1"));
        order.set(new Account("ABCTEST1"));
        return order;
    }

    private static ExecutionReport report() {
        ExecutionReport report = new ExecutionReport();
        report.set(new AvgPx(110.11));
        report.set(new CumQty(7));
        report.set(new ClientID("TEST"));
        report.set(new ExecID(REPORT_ID));
        report.set(new OrderID(REPORT_ID));
        report.set(new Side('1'));
        report.set(new Symbol("EFX"));
        report.set(new ExecType('2'));
        report.set(new ExecTransType('0'));
        report.set(new OrdStatus('0'));
        report.set(new LeavesQty(0));
        return report;
    }

    /** Answers each order. */
    private final class Accepting extends ApplicationAdapter {
        private final ExecutionReport report = report();

        @Override
        public void onLogon(SessionID session) {
            loggedOn.countDown();
        }

        @Override
        public void fromApp(Message message, SessionID session) throws FieldNotFound {
            report.set(((NewOrderSingle) message).getClOrdID());
            try {
                Session.sendToTarget(report, session);
            } catch (SessionNotFound impossible) {
                throw new IllegalStateException(impossible);
            }
        }
    }

    /** Notes when each report had been parsed. */
    private final class Initiating extends ApplicationAdapter {
        @Override
        public void onLogon(SessionID session) {
            loggedOn.countDown();
        }

        @Override
        public void fromApp(Message message, SessionID session) throws FieldNotFound {
            ExecutionReport report = (ExecutionReport) message;
            long started = Long.parseLong(report.getClOrdID().getValue());
            long now = System.nanoTime();
            if (report.getExecID().getValue().equals(REPORT_ID)) {
                samples.answered(started, now);
            }
        }
    }

    private static void remove(Path folder) throws IOException {
        List<Path> paths;
        try (Stream<Path> all = Files.walk(folder)) {
            paths = all.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path path : paths) {
            Files.delete(path);
        }
    }
}
