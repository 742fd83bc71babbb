import { wrongAnswer, wrongBody, wrongError } from "./described.js";
import { drawn } from "./drawn.js";
import { FuzzedService } from "./fuzzed-service.js";
import { malformedRequests } from "./malformed-requests.js";
import { operationRequests } from "./operation-requests.js";
import { generations, runGeneration } from "./provider-answers.js";
import { webhookRequests } from "./webhook-requests.js";
import { type Exchanged, exchange, type WireAnswer, type WireRequest } from "./wire.js";

export const KINDS = ["operations", "malformed", "webhooks", "answers"] as const;
export type Kind = (typeof KINDS)[number];

export type FuzzOptions = {
  /** Requests of each kind. For provider answers: a twentieth as many generations, with some 20 answers each. */
  readonly requests: number;
  readonly seed: number;
  /** The number of the first one; another than 0 repeats a part of a run. */
  readonly first: number;
  readonly kinds: readonly Kind[];
};

/** `n` and the seed repeat it. */
export type Finding = {
  readonly kind: Kind | "service";
  readonly n: number;
  readonly what: string;
  readonly sent: string;
};

export type FuzzReport = {
  readonly sent: ReadonlyMap<string, number>;
  readonly answered: ReadonlyMap<string, number>;
  readonly findings: readonly Finding[];
};

const CONNECTIONS = 8;
const REQUESTS_PER_GENERATION = 20;
/** A key makes at most 10 writes a minute. */
const REQUESTS_PER_ACCOUNT = 6;
/** Statuses of the parser of the HTTP server, which answers without the service (OPERATIONS.md). */
const PARSER_STATUSES = [400, 431, 505];

/** Sends random requests to the built service, and gives random answers of providers to their adapters. */
export const fuzz = async ({ requests, seed, first, kinds }: FuzzOptions): Promise<FuzzReport> => {
  const sent = new Map<string, number>();
  const answered = new Map<string, number>();
  const findings: Finding[] = [];
  const count = (counts: Map<string, number>, name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);

  const service = await FuzzedService.start(Math.ceil(requests / REQUESTS_PER_ACCOUNT) + 10);
  const { target, senders, tasks } = service;

  const sendTo = async (
    kind: Kind,
    n: number,
    wire: WireRequest,
    check: (exchanged: Exchanged) => string | undefined,
  ) => {
    count(sent, kind);
    const exchanged = await exchange(service.port, wire);
    for (const { status } of exchanged.answers) count(answered, `${kind} ${status}`);
    if (exchanged.answers.length === 0) count(answered, `${kind} none`);
    const what = check(exchanged);
    if (what === undefined) return;
    const text = Buffer.concat(wire.parts).subarray(0, 400).toString("latin1");
    findings.push({ kind, n, what, sent: JSON.stringify(text) });
  };

  const runs: Readonly<Record<Kind, (n: number) => Promise<void>>> = {
    operations: async (n) => {
      const { operation, method, sentJson, toWire } = drawn(operationRequests, seed, n);
      await sendTo("operations", n, toWire(target, n), ({ answers: [answer], timedOut, rest }) => {
        if (answer === undefined) return timedOut ? "no answer" : `closed without an answer: ${rest.slice(0, 200)}`;
        if (answer.status === 202) tasks.set(target.keyOf(n), (JSON.parse(answer.body) as { id: string }).id);
        const wrong = wrongAnswer(operation, answer, method === "HEAD");
        if (wrong !== undefined) return `${shown(answer)}: ${wrong}`;
        const accepted = answer.status === 202 ? wrongBody(operation, asRead(sentJson)) : undefined;
        return accepted && `accepted although ${accepted}`;
      });
    },
    malformed: async (n) => {
      const request = drawn(malformedRequests, seed, n).toWire(target, n);
      const isApi = API_REQUEST.test(Buffer.concat(request.parts).toString("latin1"));
      await sendTo("malformed", n, request, ({ answers, rest }) => {
        if (rest !== "" && !rest.startsWith("HTTP/1.1 ")) return `not HTTP: ${rest.slice(0, 200)}`;
        return answers.map((answer) => wrongAnyAnswer(answer, isApi)).find((wrong) => wrong !== undefined);
      });
    },
    webhooks: async (n) => {
      await sendTo("webhooks", n, drawn(webhookRequests, seed, n).toWire(senders, n), ({ answers: [answer] }) => {
        if (answer === undefined) return "no answer";
        return [200, 400, 404, 429].includes(answer.status) ? undefined : shown(answer);
      });
    },
    answers: async (n) => {
      count(sent, "answers");
      const wrong = await runGeneration(drawn(generations, seed, n), n);
      findings.push(...wrong.map((what): Finding => ({ kind: "answers", n, what, sent: "" })));
    },
  };

  try {
    for (const kind of kinds) {
      const total = kind === "answers" ? Math.ceil(requests / REQUESTS_PER_GENERATION) : requests;
      let next = first;
      const worker = async (): Promise<void> => {
        while (next < first + total) {
          const n = next;
          next += 1;
          await runs[kind](n);
        }
      };
      const workers = kind === "answers" ? 1 : CONNECTIONS;
      await Promise.all(Array.from({ length: workers }, worker));
      if (kind === "answers") continue;
      const health = await fetch(`${service.installation.url}/healthz`);
      if (health.status !== 200) findings.push({ kind: "service", n: 0, what: `/healthz ${health.status}`, sent: "" });
    }
  } catch (error) {
    findings.push({ kind: "service", n: 0, what: `the service does not answer: ${error}`, sent: "" });
  } finally {
    const wrong = await service.end();
    findings.push(...wrong.map((what): Finding => ({ kind: "service", n: 0, what, sent: "" })));
    await service.remove();
  }
  return { sent, answered, findings };
};

/** As a creation is read: the white space around a prompt does not count, and null is the same as nothing. */
const asRead = (body: unknown): unknown => {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  const given = Object.entries(body).filter(([, value]) => value !== null);
  return Object.fromEntries(
    given.map(([name, value]) => [name, name === "prompt" && typeof value === "string" ? value.trim() : value]),
  );
};

const shown = ({ status, body }: WireAnswer): string => `${status} ${body.slice(0, 300)}`;

/** Webhooks are answered with a sentence instead of JSON, pages and unknown paths with HTML. */
const API_REQUEST = /^\S+ (?:https?:\/\/[^/]*)?\/+api\//;

/** Why no request may get this answer; `undefined` if it is right. */
const wrongAnyAnswer = (answer: WireAnswer, isApi: boolean): string | undefined => {
  const { status, headers } = answer;
  if (!headers.has("x-request-id")) {
    return PARSER_STATUSES.includes(status) && headers.get("connection") === "close" ? undefined : shown(answer);
  }
  if (status === 500) return shown(answer);
  if (status < 400 || answer.body === "") return undefined; // an answer to HEAD has no body
  const type = headers.get("content-type")?.split(";")[0];
  if (!isApi && (type === "text/plain" || type === "text/html")) return undefined;
  const wrong = wrongError(answer);
  return wrong && `${shown(answer)}: ${wrong}`;
};
