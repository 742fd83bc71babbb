import { beforeAll, expect, onTestFinished } from "vitest";
import { PASSWORD, type Person, WebService } from "./web-service.js";

type Settings = Parameters<typeof WebService.start>[2];

const endOf = async (service: WebService): Promise<void> => {
  await service.end();
  expect(service.failures).toEqual([]);
};

/** A service for this test, which fails if the service reported a failure. */
export const startService = async (settings: Settings = {}, sendsMail = false): Promise<WebService> => {
  const service = await WebService.start(undefined, sendsMail, settings);
  onTestFinished(() => endOf(service));
  return service;
};

/**
 * One service for the tests of a group, which fails if the service reported a failure. It has the fields of a started
 * one from the first hook or test of the group on.
 */
export const setUpService = (settings: Settings = {}, sendsMail = false): WebService => {
  const service: WebService = Object.create(WebService.prototype);
  beforeAll(async () => {
    Object.assign(service, await WebService.start(undefined, sendsMail, settings));
    return () => endOf(service);
  });
  return service;
};

type Headers = Readonly<Record<string, string>>;
type Fields = Readonly<Record<string, string>> | FormData;

/** Reads pages and sends forms as a browser with this cookie does, but does not follow redirects. */
export const visiting = (service: WebService, cookie = "") => {
  const send = async (path: string, { headers, ...init }: RequestInit & { readonly headers?: Headers } = {}) =>
    seen(
      await fetch(service.url + path, {
        ...{ redirect: "manual", ...init },
        headers: { origin: service.url, cookie, ...headers },
      }),
    );
  return {
    send,
    get: (path: string, headers?: Headers) => send(path, headers && { headers }),
    post: (path: string, fields: Fields, headers: Headers = {}) =>
      send(path, { method: "POST", body: fields instanceof FormData ? fields : new URLSearchParams(fields), headers }),
  };
};

const seen = async (answer: Response) => {
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    location: answer.headers.get("location"),
    /** Name and value of the cookie that is set. */
    cookie: answer.headers.get("set-cookie")?.split(";")[0] ?? "",
    /** The error above a form, or the sentence of a page with one sentence. */
    error: /role="alert">([^<]*)</.exec(text)?.[1] ?? /<div class="message"><h1>[^<]*<\/h1><p>([^<]*)</.exec(text)?.[1],
    token: /name="form_token" value="([^"]+)"/.exec(text)?.[1] ?? "",
  };
};

/** The same in a new session of the person. Its forms have the session's token. */
export const logIn = async (service: WebService, { email }: Pick<Person, "email">, password = PASSWORD) => {
  const { cookie } = await visiting(service).post("/login", { email, password });
  const { send, get, post } = visiting(service, cookie);
  const { token } = await get("/account");
  return {
    ...{ cookie, token, send, get },
    read: async (path: string) => (await get(path)).text,
    post: (path: string, fields: Readonly<Record<string, string>> = {}, headers?: Headers) =>
      post(path, { form_token: token, ...fields }, headers),
    /** Sends the form of the works page. */
    create: (
      fields: Readonly<Record<string, string>> | readonly (readonly [string, string])[],
      files: readonly Blob[] = [],
    ) => {
      const form = new FormData();
      const given = Array.isArray(fields) ? fields : Object.entries(fields);
      const filled = new Map(given).has("form_token") ? given : [["form_token", token], ...given];
      for (const [name, value] of filled) form.append(name, value);
      for (const file of files) form.append("files", file, "a.jpg");
      return post("/works", form);
    },
  };
};

let members = 0;

/** A new person in a session. */
export const newMember = async (service: WebService, credits?: number) => {
  members += 1;
  const person = await service.person(`member-${members}`, credits);
  return { person, ...(await logIn(service, person)) };
};
