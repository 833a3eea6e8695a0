package fixbolt.peer;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import quickfix.ConfigError;
import quickfix.Connector;
import quickfix.DefaultMessageFactory;
import quickfix.FileStoreFactory;
import quickfix.LogFactory;
import quickfix.Session;
import quickfix.SessionSettings;
import quickfix.SocketAcceptor;
import quickfix.SocketInitiator;

/**
 * One QuickFIX/J session as a counterparty for tests. It reads commands from standard input, one
 * per line, and prints events to standard output, one JSON object per line. Closing standard input
 * stops it, as `stop` does. Every message is checked against QuickFIX/J's dictionary.
 */
public final class Main {
    private static final String USAGE = """
            usage: Main acceptor|initiator --port P --version FIX.4.2|FIX.4.4|FIXT.1.1
                        --sender S --target T --store DIR [--heartbeat SECS] [--set KEY=VALUE]...
            KEY=VALUE is a setting of QuickFIX/J for the session, such as EnableNextExpectedMsgSeqNum=Y.
            commands on standard input, one per line:
              orders N PREFIX [RATE]   send NewOrderSingles PREFIX-1 to PREFIX-N, RATE per second
              lost-orders N PREFIX     number and store orders without sending them
              group-order CLORDID      send a NewOrderSingle with two parties (FIX.4.4)
              big-order CLORDID BYTES  send a NewOrderSingle with a Text of BYTES bytes
              banzai-order CLORDID limit|market
                                       send a NewOrderSingle as QuickFIX/J's example Banzai does, and
                                       answer what is no report as Banzai does from then on
              report on|off            answer each order with a filled ExecutionReport (on)
              testrequest ID           send a TestRequest
              gap-out N                raise the next sender MsgSeqNum by N, sending nothing
              gap-in N                 lower the expected target MsgSeqNum by N
              numbers                  print both sequence numbers
              tally                    print the counts of received messages
              logout | logon           log out; log on again
              reset-logon              log on again with ResetSeqNumFlag=Y (initiator)
              stop                     log out, print the tally, end""";

    private final boolean isInitiator;
    private final Map<String, String> options = new HashMap<>();
    private final StringBuilder settings = new StringBuilder();
    private final Tally tally = new Tally();
    private final List<Thread> senders = new ArrayList<>();
    private Peer peer;

    private Main(String[] args) {
        String role = args.length > 0 ? args[0] : "";
        isInitiator = role.equals("initiator");
        if (!isInitiator && !role.equals("acceptor")) {
            throw new IllegalArgumentException("the role must be acceptor or initiator");
        }
        options.put("--heartbeat", "30");
        for (int at = 1; at < args.length; at += 2) {
            if (at + 1 == args.length) {
                throw new IllegalArgumentException(args[at] + " needs a value");
            } else if (args[at].equals("--set")) {
                settings.append(args[at + 1]).append('\n');
            } else {
                options.put(args[at], args[at + 1]);
            }
        }
        for (String key : new String[] {"--port", "--version", "--sender", "--target", "--store"}) {
            if (!options.containsKey(key)) {
                throw new IllegalArgumentException(key + " is missing");
            }
        }
    }

    public static void main(String[] args) {
        try {
            new Main(args).run();
        } catch (Exception | Error error) {
            System.err.println("qfj-peer: " + error + '\n' + USAGE);
            System.exit(2);
        }
        System.exit(0); // threads of the connector must not hold the process
    }

    private String settingsText() {
        String port = options.get("--port");
        String version = options.get("--version");
        return "[DEFAULT]\nConnectionType=" + (isInitiator ? "initiator" : "acceptor")
                + "\nFileStorePath=" + options.get("--store")
                + "\nNonStopSession=Y\nReconnectInterval=1\nLogonTimeout=5\nLogoutTimeout=5\nSocketTcpNoDelay=Y\n"
                // A process that was suspended does not take the silence for the counterparty's.
                + "HeartBeatTimeoutMultiplier=10\n"
                + (isInitiator
                        ? "SocketConnectHost=127.0.0.1\nSocketConnectPort=" + port
                                + "\nHeartBtInt=" + options.get("--heartbeat")
                        : "SocketAcceptAddress=127.0.0.1\nSocketAcceptPort=" + port
                                + "\nSocketReuseAddress=Y")
                + "\nUseDataDictionary=Y\n[SESSION]\nBeginString=" + version
                + "\nSenderCompID=" + options.get("--sender") + "\nTargetCompID=" + options.get("--target")
                + (version.equals("FIXT.1.1") ? "\nDefaultApplVerID=FIX.5.0SP2\n" : "\n")
                + settings;
    }

    private void run() throws ConfigError, IOException, InterruptedException {
        byte[] text = settingsText().getBytes(StandardCharsets.ISO_8859_1);
        SessionSettings all = new SessionSettings(new ByteArrayInputStream(text));
        peer = new Peer(all.sectionIterator().next(), tally);
        FileStoreFactory stores = new FileStoreFactory(all);
        LogFactory logs = session -> new WireLog(tally);
        DefaultMessageFactory messages = new DefaultMessageFactory();
        Connector connector = isInitiator
                ? new SocketInitiator(peer, stores, all, logs, messages)
                : new SocketAcceptor(peer, stores, all, logs, messages);
        connector.start();
        new Event("ready").text("role", isInitiator ? "initiator" : "acceptor").say();
        BufferedReader commands =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.ISO_8859_1));
        String line;
        while ((line = commands.readLine()) != null && !line.equals("stop")) {
            boolean obeyed = obey(line.split(" "));
            new Event(obeyed ? "done" : "refused").text("command", line).say();
        }
        for (Thread sender : senders) {
            sender.join();
        }
        connector.stop();
        peer.sayNumbers("numbers");
        tally.report();
        new Event("stopped").say();
    }

    /** Executes one command; returns false if there is no such command. */
    private boolean obey(String[] words) throws IOException {
        Session session = peer.session();
        String command = words[0] + '/' + (words.length - 1);
        switch (command) {
            case "orders/2", "orders/3" -> {
                long count = Long.parseLong(words[1]);
                long rate = words.length > 3 ? Long.parseLong(words[3]) : 0;
                Thread sender = new Thread(() -> peer.sendOrders(count, words[2], rate));
                senders.add(sender);
                sender.start();
            }
            case "lost-orders/2" -> peer.loseOrders(Long.parseLong(words[1]), words[2]);
            case "group-order/1" -> peer.sendGroupOrder(words[1]);
            case "big-order/2" -> peer.sendBigOrder(words[1], Integer.parseInt(words[2]));
            case "banzai-order/2" -> {
                peer.answerLikeBanzai();
                peer.sendBanzaiOrder(words[1], words[2].equals("limit"));
            }
            case "report/1" -> peer.answerOrders(words[1].equals("on"));
            case "testrequest/1" -> peer.sendTestRequest(words[1]);
            case "gap-out/1" ->
                session.setNextSenderMsgSeqNum(session.getExpectedSenderNum() + Integer.parseInt(words[1]));
            case "gap-in/1" ->
                session.setNextTargetMsgSeqNum(session.getExpectedTargetNum() - Integer.parseInt(words[1]));
            case "numbers/0" -> peer.sayNumbers("numbers");
            case "tally/0" -> tally.report();
            case "logout/0" -> session.logout();
            case "logon/0" -> session.logon();
            case "reset-logon/0" -> {
                if (!isInitiator) {
                    return false;
                }
                peer.resetAtLogon();
                session.logon();
            }
            default -> {
                return false;
            }
        }
        return true;
    }
}
