package fixbolt.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * The times of every message of a run (System.nanoTime, which is CLOCK_MONOTONIC), and the schedule
 * by which they are sent. Messages are numbered from 0; those of the warm-up are first. One thread
 * sends, another one receives.
 */
final class Samples {
    private static final long LAST_STRETCH = 150_000;

    /** Sends the message that began then. */
    interface Sender {
        void send(long started) throws Exception;
    }

    private final int warmUp;
    private final int rate;
    private final long timeOut;
    private final long[] intended;
    private final AtomicLongArray started;
    private final AtomicLongArray ended;
    private volatile int next;

    Samples(int messages, int warmUp, int rate, int timeOutSeconds) {
        this.warmUp = warmUp;
        this.rate = rate;
        timeOut = timeOutSeconds * 1_000L;
        intended = new long[Math.addExact(warmUp, messages)];
        started = new AtomicLongArray(intended.length);
        ended = new AtomicLongArray(intended.length);
    }

    /** Sends the warm-up, waits for its answers, then sends the rest and waits again. */
    void run(Sender sender) throws Exception {
        send(0, warmUp, sender);
        waitForAnswers(warmUp);
        send(warmUp, intended.length, sender);
        waitForAnswers(intended.length);
    }

    private void send(int first, int end, Sender sender) throws Exception {
        long begin = System.nanoTime() + 10_000_000;
        for (int number = first; number < end; number++) {
            long due = begin + (number - first) * 1_000_000_000L / rate;
            intended[number] = due;
            waitUntil(due);
            long now = System.nanoTime();
            started.set(number, now);
            sender.send(now);
        }
    }

    /** Sleeps, and polls the clock at the end, because a sleep ends late. */
    private static void waitUntil(long due) {
        long left;
        while ((left = due - System.nanoTime()) > 0) {
            if (left > LAST_STRETCH) {
                LockSupport.parkNanos(left - LAST_STRETCH);
            } else {
                Thread.onSpinWait();
            }
        }
    }

    private void waitForAnswers(int end) throws InterruptedException {
        int seen = next;
        long silent = 0;
        while (next < end && silent < timeOut) {
            Thread.sleep(1);
            silent = next == seen ? silent + 1 : 0;
            seen = next;
        }
    }

    /**
     * Notes when the answer to the message that began at `begun` had been parsed. Answers arrive in
     * the order of the messages.
     */
    void answered(long begun, long at) {
        for (int number = next; number < intended.length; number++) {
            if (started.get(number) == begun) {
                ended.set(number, at);
                next = number + 1;
                return;
            }
        }
    }

    /** Writes what followed the warm-up. */
    void write(Path file) throws IOException {
        try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(file))) {
            out.println("intended_ns,started_ns,ended_ns");
            for (int number = warmUp; number < intended.length; number++) {
                long end = ended.get(number);
                out.println(intended[number] + "," + started.get(number) + ',' + (end == 0 ? "" : end));
            }
            if (out.checkError()) {
                throw new IOException("cannot write " + file);
            }
        }
    }

    /** Returns how many messages after the warm-up have no answer. */
    int lost() {
        int count = 0;
        for (int number = warmUp; number < intended.length; number++) {
            count += ended.get(number) == 0 ? 1 : 0;
        }
        return count;
    }
}
