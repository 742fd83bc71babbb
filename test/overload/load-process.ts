import { connect, type Socket } from "node:net";
import { creationOf, readOf } from "../bench/throughput/data.js";

/*
 * A process: `load-process.ts PORT ACCOUNTS`. Sends requests as its parent asks for, and reports what came back. Every
 * second request is a creation. In a process of its own, so that the service's work does not delay the sending.
 */

/** `perSecond`: sent on time whether the service answers or not (open loop); absent: as many as it answers. */
export type Phase = { readonly seconds: number; readonly perSecond?: number };

/** Milliseconds from the time when the request was due until its answer has arrived. */
export type Times = { readonly count: number; readonly p50: number; readonly p99: number; readonly max: number };

export type Outcome = {
  readonly sent: number;
  /** Requests that were never sent: this process was busy when they were due, or every connection was in use. */
  readonly notSent: { readonly busy: number; readonly noConnection: number };
  /** By kind and status, such as `POST 202`. Status 0: the connection was closed without an answer. */
  readonly answers: Readonly<Record<string, Times>>;
  /** Bodies of answers that are not 2xx with status and `retry-after`, each text once. */
  readonly refusals: readonly string[];
  /** Sent, and without an answer ten seconds after the end. */
  readonly unanswered: number;
};

/** Clients that wait for an answer at the same time. */
const CLOSED_LOOP_CONNECTIONS = 32;
const CONNECTIONS_MAX = 10_000;
/** Clients that are connected before an open loop begins, as those of a running service are. */
const CONNECTIONS_AT_FIRST = 2_000;
const OPENED_TOGETHER = 100;
/** What is due for longer than this when its turn comes is not sent: this process is at its own limit. */
const LATE_MILLISECONDS_MAX = 50;
/** The service closes idle connections after ten seconds. A request could meet that. */
const IDLE_MILLISECONDS_MAX = 5_000;
const PATIENCE_MILLISECONDS = 10_000;

const [port, accounts] = process.argv.slice(2).map(Number) as [number, number];
const requests = Array.from({ length: accounts }, (_, index) => [readOf(index + 1), creationOf(index + 1)])
  .flat()
  .map(({ method, path, headers, body = "" }) => {
    const lines = Object.entries({ host: "localhost", ...headers, ...(body && { "content-length": body.length }) });
    const head = `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
    return { method, bytes: Buffer.from(head + body) };
  });
let next = 0;

const opened = (connected?: () => void): Socket => connect({ port, host: "127.0.0.1", noDelay: true }, connected);

const openedInAdvance = async (): Promise<Socket[]> => {
  const sockets: Socket[] = [];
  while (sockets.length < CONNECTIONS_AT_FIRST) {
    const together = Array.from({ length: OPENED_TOGETHER }, () => {
      return new Promise<void>((resolve) => sockets.push(opened(resolve)));
    });
    await Promise.all(together);
  }
  return sockets;
};

const run = async ({ seconds, perSecond }: Phase): Promise<Outcome> => {
  const inAdvance = perSecond === undefined ? [] : await openedInAdvance();
  return new Promise((resolve) => {
    const times: Record<string, number[]> = {};
    const refusals = new Set<string>();
    const all = new Set<Connection>();
    const idle: Connection[] = [];
    let open = 0;
    let sent = 0;
    const notSent = { busy: 0, noConnection: 0 };
    const startedAt = performance.now();
    const endsAt = startedAt + seconds * 1_000;

    class Connection {
      private readonly socket: Socket;
      private dueAt = 0;
      private method = "";
      private received = "";
      private busy = false;
      idleSince = performance.now();

      constructor(socket: Socket) {
        all.add(this);
        this.socket = socket;
        this.socket.on("data", (chunk) => this.read(chunk.toString("latin1")));
        this.socket.on("error", () => {});
        this.socket.on("close", () => this.closed());
      }

      send(dueAt: number): void {
        const { method, bytes } = requests[next] as (typeof requests)[number];
        next = (next + 1) % requests.length;
        this.dueAt = dueAt;
        this.method = method;
        this.busy = true;
        open += 1;
        sent += 1;
        this.socket.write(bytes);
      }

      destroy(): void {
        this.socket.destroy();
      }

      private read(text: string): void {
        this.received += text;
        const end = this.received.indexOf("\r\n\r\n");
        if (end === -1) return;
        const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.received)?.[1] ?? 0);
        if (this.received.length < end + 4 + length) return;
        const status = this.received.slice(9, 12);
        if (!status.startsWith("2") && refusals.size < 20) {
          const after = /\r\nretry-after: (\S+)/i.exec(this.received)?.[1];
          refusals.add(`${status} ${after ?? "-"} ${this.received.slice(end + 4)}`);
        }
        this.received = "";
        this.answered(status);
        if (perSecond === undefined && performance.now() < endsAt) this.send(performance.now());
        else {
          this.idleSince = performance.now();
          idle.push(this);
        }
      }

      private answered(status: string): void {
        this.busy = false;
        open -= 1;
        const name = `${this.method} ${status}`;
        times[name] ??= [];
        times[name].push(performance.now() - this.dueAt);
      }

      private closed(): void {
        all.delete(this);
        if (this.busy) this.answered("0");
        const at = idle.indexOf(this);
        if (at !== -1) idle.splice(at, 1);
      }
    }

    const finish = (): void => {
      clearInterval(timer);
      const answers = Object.fromEntries(Object.entries(times).map(([name, list]) => [name, summary(list)]));
      resolve({ sent, notSent, answers, refusals: [...refusals], unanswered: open });
      for (const connection of all) connection.destroy();
    };

    for (const socket of inAdvance) idle.push(new Connection(socket));
    if (perSecond === undefined) {
      for (let n = 0; n < CLOSED_LOOP_CONNECTIONS; n += 1) new Connection(opened()).send(performance.now());
    }
    const free = (now: number): Connection | undefined => {
      for (let last = idle.pop(); last !== undefined; last = idle.pop()) {
        if (now - last.idleSince < IDLE_MILLISECONDS_MAX) return last;
        last.destroy();
      }
      return all.size < CONNECTIONS_MAX ? new Connection(opened()) : undefined;
    };
    let due = 0;
    const timer = setInterval(() => {
      const now = performance.now();
      if (now >= endsAt) {
        if (open === 0 || now > endsAt + PATIENCE_MILLISECONDS) finish();
        return;
      }
      if (perSecond === undefined) return;
      for (const wanted = ((now - startedAt) / 1_000) * perSecond; due < wanted; due += 1) {
        const dueAt = startedAt + (due / perSecond) * 1_000;
        if (now - dueAt > LATE_MILLISECONDS_MAX) {
          notSent.busy += 1;
          continue;
        }
        const connection = free(now);
        if (connection === undefined) notSent.noConnection += 1;
        else connection.send(dueAt);
      }
    }, 1);
  });
};

const summary = (list: number[]): Times => {
  const sorted = Float64Array.from(list).sort();
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
};

process.on("message", (phase: Phase) => void run(phase).then((outcome) => process.send?.(outcome)));
process.send?.("ready");
