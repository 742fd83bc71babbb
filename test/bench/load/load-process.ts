import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { quantile } from "../statistics.js";
import { ACCOUNTS, LISTS } from "./data.js";
import { formatted, type Sent } from "./sent.js";

/*
 * A process: sends requests as its parent asks for (load.ts), and reports what came back. In a process of its own, so
 * that it does not delay the service or the measuring.
 */

export type Load = {
  readonly port: number;
  /** The requests, or the name of a list with one for each account. */
  readonly requests: readonly Sent[] | keyof typeof LISTS;
  /** At most so many wait for an answer at the same time. */
  readonly connections: number;
  /** Sent on time whether the service answers or not; absent: each connection sends as soon as it is answered. */
  readonly perSecond?: number;
};

/** Milliseconds from the time when the request was due until its answer has arrived. */
export type Times = { readonly count: number; readonly p50: number; readonly p99: number; readonly max: number };

export type Outcome = {
  readonly seconds: number;
  readonly sent: number;
  /** What was never sent: this process was busy when it was due, or every connection was in use. */
  readonly notSent: number;
  /** By status. Status 0: the connection was closed without an answer. */
  readonly answers: Readonly<Record<string, Times>>;
  /** Status, `retry-after` and body of some answers that are not 2xx, each text once. */
  readonly refusals: readonly string[];
  /** Sent, and without an answer ten seconds after the end. */
  readonly unanswered: number;
};

const REFUSALS_MAX = 20;
/** Clients that are connected before an open loop begins, as those of a running service are. */
const CONNECTIONS_AT_FIRST = 2_000;
const OPENED_TOGETHER = 50;
/** What is due for longer than this when its turn comes is not sent: this process is at its own limit. */
const LATE_MILLISECONDS_MAX = 50;
/** The service closes idle connections after ten seconds. A request could meet that. */
const IDLE_MILLISECONDS_MAX = 5_000;
const PATIENCE_MILLISECONDS = 10_000;

const lists = new Map<string, readonly Buffer[]>();
const formattedList = (name: keyof typeof LISTS): readonly Buffer[] => {
  const known = lists.get(name) ?? Array.from({ length: ACCOUNTS }, (_, index) => formatted(LISTS[name](index + 1)));
  lists.set(name, known);
  return known;
};

const run = async ({ port, requests: given, connections, perSecond }: Load) => {
  const requests = typeof given === "string" ? formattedList(given) : given.map(formatted);
  // Each load begins elsewhere in its list, so that several do not use up the active tasks of the first accounts.
  const first = Math.floor(Math.random() * requests.length);
  const times: Record<string, number[]> = {};
  const refusals = new Set<string>();
  const all = new Set<Socket>();
  const idle: { socket: Socket; since: number; send: (dueAt: number) => void }[] = [];
  const counts = { sent: 0, notSent: 0, open: 0, answered: 0 };
  let isEnding = false;

  const open = () => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    all.add(socket);
    let received = "";
    let dueAt: number | undefined;
    const one = {
      socket,
      since: 0,
      send: (due: number): void => {
        dueAt = due;
        counts.open += 1;
        socket.write(requests[(first + counts.sent++) % requests.length] as Buffer);
      },
    };
    const answered = (status: string): void => {
      if (dueAt === undefined) return;
      counts.open -= 1;
      counts.answered += 1;
      times[status] ??= [];
      times[status].push(performance.now() - dueAt);
      dueAt = undefined;
    };
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      const end = received.indexOf("\r\n\r\n");
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1] ?? 0);
      const isStream = /\r\ntransfer-encoding: chunked/i.test(received) && !received.endsWith("\r\n0\r\n\r\n");
      if (end === -1 || isStream || received.length < end + 4 + length) return;
      const status = received.slice(9, 12);
      if (!status.startsWith("2") && refusals.size < REFUSALS_MAX) {
        refusals.add(`${status} ${/\r\nretry-after: (\S+)/i.exec(received)?.[1] ?? "-"} ${received.slice(end + 4)}`);
      }
      received = "";
      answered(status);
      one.since = performance.now();
      if (perSecond === undefined && !isEnding) one.send(one.since);
      else idle.push(one);
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      all.delete(socket);
      answered("0");
      if (idle.includes(one)) idle.splice(idle.indexOf(one), 1);
      if (perSecond === undefined && !isEnding) open().send(performance.now());
    });
    return one;
  };

  if (perSecond !== undefined) {
    while (idle.length < Math.min(connections, CONNECTIONS_AT_FIRST)) {
      const together = Array.from({ length: OPENED_TOGETHER }, open);
      await Promise.all(together.map(({ socket }) => once(socket, "connect")));
      for (const one of together) one.since = performance.now();
      idle.push(...together);
    }
  }
  const startedAt = performance.now();

  const free = (now: number) => {
    for (let last = idle.pop(); last !== undefined; last = idle.pop()) {
      if (now - last.since < IDLE_MILLISECONDS_MAX) return last;
      last.socket.destroy();
    }
    return all.size < connections ? open() : undefined;
  };
  let due = 0;
  const sendWhatIsDue = (each: number): void => {
    const now = performance.now();
    for (const wanted = ((now - startedAt) / 1_000) * each; due < wanted; due += 1) {
      const dueAt = startedAt + (due / each) * 1_000;
      const connection = now - dueAt > LATE_MILLISECONDS_MAX ? undefined : free(now);
      if (connection === undefined) counts.notSent += 1;
      else connection.send(dueAt);
    }
  };
  const timer = perSecond !== undefined ? setInterval(sendWhatIsDue, 1, perSecond) : undefined;
  if (perSecond === undefined) for (let n = 0; n < connections; n += 1) open().send(startedAt);

  const end = async (patience: number): Promise<Outcome> => {
    clearInterval(timer);
    isEnding = true;
    const seconds = (performance.now() - startedAt) / 1_000;
    const endedAt = performance.now();
    while (counts.open > 0 && performance.now() - endedAt < patience)
      await new Promise((later) => setTimeout(later, 5));
    const { open: unanswered, sent, notSent } = counts;
    const answers = Object.entries(times).map(([status, list]) => {
      const [p50, p99, max] = [0.5, 0.99, 1].map((share) => quantile(list, share)) as [number, number, number];
      return [status, { count: list.length, p50, p99, max }] as const;
    });
    for (const socket of all) socket.destroy();
    return { seconds, sent, notSent, answers: Object.fromEntries(answers), refusals: [...refusals], unanswered };
  };
  return { counts, end };
};

let running: Awaited<ReturnType<typeof run>> | undefined;
export type Asked = { readonly start: Load } | { readonly end: "at once" | "patiently" } | "answered";
process.on("message", async (asked: Asked) => {
  if (asked === "answered") process.send?.(running?.counts.answered ?? 0);
  else if ("start" in asked) {
    running = await run(asked.start);
    process.send?.("started");
  } else process.send?.(await running?.end(asked.end === "at once" ? 0 : PATIENCE_MILLISECONDS));
});
process.send?.("ready");
