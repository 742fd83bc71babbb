import { make } from "./make.js";

/** A request without its key. */
export type Request = {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  /** Text is JSON. */
  readonly body: string | readonly File[] | undefined;
};

/** An answer: its status and what its JSON says. */
export type Answer = { readonly status: number; readonly json: Readonly<Record<string, unknown>> };

/** The headers of an answer that say something to its reader, as they are written in the documentation. */
const SHOWN_HEADERS = [
  "Retry-After",
  "Idempotent-Replayed",
  "Preference-Applied",
  "Location",
  "RateLimit",
  "RateLimit-Policy",
  "X-Request-Id",
];

/** Sends it with nothing but this key: the login of the reader counts for nothing here. */
export const send = ({ method, path, headers, body }: Request, key: string, signal?: AbortSignal): Promise<Response> =>
  fetch(path, {
    method,
    credentials: "omit",
    cache: "no-store",
    headers: [
      ...(key === "" ? [] : [["Authorization", `Bearer ${key}`] as [string, string]]),
      ...(typeof body === "string" ? [["Content-Type", "application/json"] as [string, string]] : []),
      ...headers.map(([name, value]): [string, string] => [name, value]),
    ],
    ...(body !== undefined && { body: typeof body === "string" ? body : formOf(body) }),
    ...(signal && { signal }),
  });

const formOf = (files: readonly File[]): FormData => {
  const form = new FormData();
  for (const file of files) form.append("files", file);
  return form;
};

/** As it is sent, except for the key, of which only the beginning is shown. */
export const requestText = ({ method, path, headers, body }: Request, key: string): string =>
  [
    `${method} ${path}`,
    ...(key === "" ? [] : [`Authorization: Bearer ${key.slice(0, 6)}…`]),
    ...(typeof body === "string" ? ["Content-Type: application/json"] : []),
    ...(typeof body === "object" ? ["Content-Type: multipart/form-data"] : []),
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(typeof body === "string" ? ["", body] : []),
    ...(typeof body === "object" ? ["", ...body.map(({ name, size }) => `files: ${name}, ${size} bytes`)] : []),
  ].join("\n");

/** A block of text as the examples are, which can be scrolled with the keyboard. */
export const textBlock = (label: string) => {
  const code = make("code");
  const pre = make("pre", { tabIndex: 0, role: "region", ariaLabel: label }, code);
  return {
    element: make("div", { className: "code text" }, pre),
    show: (text: string): void => code.replaceChildren(text),
  };
};

/** Where an answer is shown: its status in words, which screen readers say, and all of it. */
export const answerPlace = (label: string) => {
  const status = make("p", { role: "status" });
  const block = textBlock(label);
  block.element.hidden = true;
  const told = (sentence: string, isGood: boolean): void => {
    status.className = isGood ? "notice" : "error";
    status.textContent = sentence;
  };

  const receive = async (answer: Response, startedAt: number): Promise<Answer> => {
    const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const head = headOf(answer);
    const show = (text: string): void => block.show(text === "" ? head : `${head}\n\n${text}`);
    block.element.hidden = false;
    if (isStream) told(`${answer.status}: the events appear as they happen.`, true);
    let text = "";
    for await (const piece of piecesOf(answer)) {
      text += piece;
      if (isStream) show(text);
    }
    const json = parsed(text);
    show(json === undefined ? text : JSON.stringify(json, null, 2));
    const { code, message } = (json?.error ?? {}) as { readonly code?: string; readonly message?: string };
    const milliseconds = Math.round(performance.now() - startedAt);
    told(`${answer.status}${code === undefined ? `, after ${milliseconds} ms` : ` ${code}: ${message}`}`, answer.ok);
    return { status: answer.status, json: json ?? {} };
  };

  return {
    elements: [status, block.element],
    clear: (): void => {
      status.className = "";
      status.replaceChildren();
      block.element.hidden = true;
    },
    /** Sends the request and shows its answer. `undefined`: there was none. */
    exchange: async (request: Request, key: string, signal: AbortSignal): Promise<Answer | undefined> => {
      told("Sent. Waiting for the answer …", true);
      block.element.hidden = true;
      const startedAt = performance.now();
      try {
        return await receive(await send(request, key, signal), startedAt);
      } catch (error) {
        if (signal.aborted) told("Stopped.", true);
        else told(`No answer: ${error instanceof Error ? error.message : error}`, false);
        return undefined;
      }
    },
  };
};

const headOf = ({ status, headers }: Response): string =>
  [
    `HTTP ${status}`,
    ...SHOWN_HEADERS.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [`${name}: ${value}`];
    }),
  ].join("\n");

const piecesOf = async function* ({ body }: Response): AsyncGenerator<string> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done = true } = (await reader?.read()) ?? {};
    if (done || value === undefined) return;
    yield value;
  }
};

const parsed = (text: string): Record<string, unknown> | undefined => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
