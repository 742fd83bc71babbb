import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import type { openApiDocument } from "../../../adapters/http/openapi/openapi-document.js";
import { Router } from "../../../adapters/http/router.js";
import { apiKeys } from "../../../application/accounts/api-keys.js";
import { StoreBusy, StoreFull, StoreUnreachable } from "../../../application/ports/stores/store-errors.js";
import { type KeyLimits, NO_LIMITS } from "../../../domain/accounts/key-limits.js";
import { expectError } from "../../support/error-answer.js";
import { type Customer, HttpService } from "../../support/http-service.js";
import { loadServerNamed, serverName } from "../../support/make-server.js";
import { RawConnection } from "../../support/raw-connection.js";
import { ROUTES, type Route } from "./routes-table.js";

const SERVERS = serverName === "native" ? ["native", "fetch"] : [serverName];

const LIMITS = { write: 10, read: 60 };
const SCOPES = { write: "create", read: "read" } as const;
const NEEDING = { create: "creations, uploads, cancellations and deletions", read: "reading requests" };
const OTHER_SCOPE = { create: "read", read: "create" } as const;

const MISSING = "The API key is missing. Send it as Authorization: Bearer sk-…, or as x-api-key: sk-….";
const INVALID = "The API key is not valid. It must be complete, begin with sk-, and not be revoked.";
const DIFFER = "Authorization and x-api-key contain different API keys. Send only one of them.";
const NO_WORD =
  'Authorization contains an API key, but not as a Bearer token. Write the word Bearer and a space before the key: "Authorization: Bearer sk-…".';
const TWICE = " was sent more than once with different values. Send it once, with one API key.";

/** Credentials of other schemes, which are meant for others, such as a proxy. */
const NO_BEARER = ["Basic dXNlcjpwYXNz", "Digest x", "Bearer", "Bearer  ", "bearerish x"];

/** Headers without one valid key, and what the answer says. */
const refusedWith = (key: string, other: string): readonly (readonly [Record<string, string>, string])[] => {
  const unknown = `sk-${"x".repeat(43)}`;
  return [
    [{}, MISSING],
    ...NO_BEARER.map((authorization) => [{ authorization }, MISSING] as const),
    ...[key, `Basic ${key}`, `Token ${key}`, `Bearer: ${key}`, `Bearer=${key}`, `"${key}"`, `api_key=${key}`].map(
      (authorization) => [{ authorization }, NO_WORD] as const,
    ),
    [{ authorization: `Basic ${btoa(`${key}:`)}` }, NO_WORD],
    [{ authorization: `Basic ${btoa(`api:${key}`)}` }, NO_WORD],
    [{ authorization: `Bearer ${unknown}` }, INVALID],
    [{ authorization: `Bearer ${key} ${key}` }, INVALID],
    [{ "x-api-key": unknown }, INVALID],
    [{ "x-api-key": `Bearer ${key}` }, INVALID],
    [{ "x-api-key": key.slice(0, -1) }, INVALID],
    [{ authorization: "Basic dXNlcjpwYXNz", "x-api-key": unknown }, INVALID],
    [{ authorization: `Bearer ${key}`, "x-api-key": other }, DIFFER],
  ];
};
const acceptedWith = (key: string): readonly Record<string, string>[] => [
  { authorization: `Bearer ${key}` },
  { authorization: `bearer ${key}` },
  { authorization: `BEARER  ${key}` },
  { "x-api-key": key },
  { authorization: `Bearer ${key}`, "x-api-key": key },
  ...NO_BEARER.map((authorization) => ({ authorization, "x-api-key": key })),
];

/** A header that is sent again. */
const refusedTwice = (key: string, other: string): readonly (readonly [readonly string[], string])[] => [
  [[`authorization: Bearer ${other}`, `authorization: Bearer ${key}`], "Authorization"],
  [[`authorization: Bearer ${key}`, "authorization: Bearer wrong"], "Authorization"],
  [["authorization: Basic abc", `authorization: Bearer ${key}`], "Authorization"],
  [[`authorization: Bearer ${key}`, "Authorization: Digest abc", `x-api-key: ${key}`], "Authorization"],
  [[`x-api-key: ${key}`, `X-API-Key: ${other}`], "x-api-key"],
];
const acceptedTwice = (key: string): readonly (readonly string[])[] => [
  [`authorization: Bearer ${key}`, `authorization: Bearer ${key}`],
  [`x-api-key: ${key}`, `x-api-key: ${key}`],
  ['authorization: Digest a="b", c="d"', `x-api-key: ${key}`],
];

/** What a use case may throw, and what the client gets. */
const THROWN = [
  {
    thrown: new Error("password=hunter2 at db-7.internal"),
    status: 500,
    error: "internal_error",
    says: /^The service failed with an unexpected error \(request [0-9a-f-]{36}\)\./,
  },
  {
    thrown: new StoreBusy("another process has the lock"),
    status: 429,
    error: "store_busy",
    retryAfter: "2",
    says: /^The service is busy and could not complete this request\. Nothing was charged\. Retry in 2 s\.$/,
  },
  {
    thrown: new StoreFull("ENOSPC"),
    status: 500,
    error: "store_full",
    says: /^The service has no room to store anything\. Nothing was charged\. Try again in some minutes\.$/,
  },
  {
    thrown: new StoreUnreachable("connection refused"),
    status: 500,
    error: "store_away",
    retryAfter: "5",
    says: /^The service cannot reach its database\. Retry in 5 s\./,
  },
];

type Described = { headers?: Record<string, { required?: boolean }>; content?: Record<string, { schema: unknown }> };
type Operation = { readonly responses: Record<string, Described> };

/** Every route on every server: who may, what is refused with what, and the form of each answer. */
describe.each(SERVERS)("the REST interface on the server: %s", (server) => {
  let service: HttpService;
  let customer: Customer;
  let description: ReturnType<typeof openApiDocument>;
  const routes: string[] = [];

  beforeAll(async () => {
    const { make } = await loadServerNamed(server);
    const route = vi.spyOn(Router.prototype, "route");
    service = await HttpService.start({ makeServer: make });
    routes.push(...route.mock.calls.map(([method, path]) => `${method.toUpperCase()} ${path}`));
    route.mockRestore();
    description = (await (await fetch(`${service.url}/api/v1/openapi.json`)).json()) as typeof description;
  });
  afterAll(() => service.end());
  beforeEach(async () => {
    service.provider.play({ submit: "accept", poll: "succeeded" });
    customer = await service.customer(1_000);
  });
  afterEach(() => expect(service.failures.splice(0)).toEqual([]));

  const useCasesReached = () => Object.values(service.calls).reduce((sum, calls) => sum + calls, 0);
  const methodOf = ({ operation }: Route): string => operation.split(" ")[0] ?? "";
  const pathOf = ({ operation }: Route, id = "some-id"): string =>
    `/api/v1${operation.split(" ")[1]?.replace("{id}", id)}`;
  /** A correct request, but for these headers. */
  const send = (route: Route, headers: Record<string, string>, id?: string, to = service) =>
    fetch(to.url + pathOf(route, id), { method: methodOf(route), ...route.request?.(), headers });
  /** A request that is admitted and does nothing: it has no body, or gets none. */
  const touch = (route: Route, headers: Record<string, string>) => {
    const method = methodOf(route) === "GET" ? "HEAD" : methodOf(route);
    return fetch(service.url + pathOf(route), { method, headers });
  };
  const described = ({ operation }: Route): Operation["responses"] => {
    const [method = "", path = ""] = operation.split(" ");
    const item = description.paths?.[path] as Record<string, Operation> | undefined;
    return item?.[method.toLowerCase()]?.responses ?? {};
  };

  /** The schema with every reference resolved. */
  const resolved = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(resolved);
    if (typeof schema !== "object" || schema === null) return schema;
    const reference = (schema as { $ref?: string }).$ref;
    if (reference === undefined)
      return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, resolved(value)]));
    const component = description.components?.schemas?.[reference.split("/").at(-1) ?? ""];
    expect(component, reference).toBeDefined();
    return resolved(component);
  };
  /** The answer is one that the description has: its status, its headers, and the schema of its body. */
  const expectDescribed = async (route: Route, response: Response): Promise<void> => {
    const { content = {}, headers = {} } = described(route)[response.status] ?? expect.fail(`${response.status}`);
    for (const [name, { required }] of Object.entries(headers)) {
      if (required) expect(response.headers.has(name), `${response.status}: ${name}`).toBe(true);
    }
    const type = response.headers.get("content-type")?.split(";")[0];
    expect(Object.keys(content)).toEqual(type === undefined ? [] : [type]);
    if (type === undefined) expect(await response.text()).toBe("");
    else if (type === "application/json") {
      const schema = resolved(content[type]?.schema) as Parameters<typeof z.fromJSONSchema>[0];
      z.fromJSONSchema(schema).parse(await response.json());
    } else await response.body?.cancel();
  };

  it("serves the routes of the table and both OpenAPI descriptions", () => {
    const api = routes.flatMap((route) => (route.includes(" /api/v1/") ? [route.replace("/api/v1", "")] : []));
    const table = ROUTES.map(({ operation }) => operation);
    const expected = [...table, "GET /openapi.json", "GET /openapi-3.0.json"];
    expect(api.map((route) => route.replace(":id", "{id}")).sort()).toEqual(expected.sort());
    const operations = Object.entries(description.paths ?? {}).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(operations.sort()).toEqual([...table].sort());
  });

  describe.each(ROUTES.map((route) => [route.operation, route] as const))("%s", (_, route) => {
    const { answers, kind } = route;
    const isOfTask = route.operation.includes("{id}");

    it("gives every answer of its description, and no other", async () => {
      const statuses = new Set<number>();
      const check = async (response: Response, { to, status, code, says }: Omit<(typeof answers)[number], "of">) => {
        expect([to, response.status]).toEqual([to, status]);
        if (code !== undefined) expect(await expectError(response.clone(), status, code)).toMatch(says ?? /./);
        expect([to, response.headers.has("retry-after")]).toEqual([to, code === "rate_limited"]);
        await expectDescribed(route, response);
        statuses.add(status);
      };
      for (const answer of answers) {
        const by = await service.customer();
        await check(await answer.of(service, by), answer);
        service.provider.play({ submit: "accept", poll: "succeeded" });
      }
      await check(await send(route, {}), { to: "nobody", status: 401, code: "invalid_api_key" });
      const headers = { "x-api-key": customer.key };
      if (isOfTask) await check(await send(route, headers), { to: "no task", status: 404, code: "not_found" });
      for (let n = 0; n < LIMITS[kind]; n += 1) await touch(route, headers);
      await check(await send(route, headers), { to: "too many requests", status: 429, code: "rate_limited" });
      expect(Object.keys(described(route)).map(Number).sort()).toEqual([...statuses, 500].sort());
    });

    it("answers 401 without one valid API key, before any use case runs", async () => {
      const { key } = customer;
      const other = (await service.customer()).key;
      const reached = useCasesReached();
      for (const [headers, says] of refusedWith(key, other)) {
        const response = await send(route, headers);
        expect(await expectError(response, 401, "invalid_api_key"), JSON.stringify(headers)).toBe(says);
        expect(response.headers.get("www-authenticate")).toBe("Bearer");
        expect(response.headers.has("ratelimit")).toBe(false);
      }
      const answerTo = async (headers: readonly string[]): Promise<string> => {
        const connection = await RawConnection.open(service.port);
        const lines = [`${methodOf(route)} ${pathOf(route)} HTTP/1.1`, "host: x", "content-length: 0", ...headers];
        connection.send([...lines, "", ""].join("\r\n"));
        const answer = await connection.response();
        connection.close();
        return answer;
      };
      for (const [headers, name] of refusedTwice(key, other)) {
        const answer = await answerTo(headers);
        expect(answer).toMatch(/^HTTP\/1\.1 401 /);
        expect(answer).toContain(`"code":"invalid_api_key","message":"${name}${TWICE}`);
      }
      expect(useCasesReached()).toBe(reached);
      for (const headers of acceptedWith(key)) {
        expect((await touch(route, headers)).status, JSON.stringify(headers)).not.toBe(401);
        await service.clock.advance(60_000);
      }
      for (const headers of acceptedTwice(key)) expect(await answerTo(headers)).not.toMatch(/^HTTP\/1\.1 401 /);
    });

    it("refuses keys without the scope, revoked keys and expired keys", async () => {
      const keyWith = async (limits: Partial<KeyLimits>) =>
        (await apiKeys(service).createApiKey(customer.accountId, "k", { ...NO_LIMITS, ...limits }))._unsafeUnwrap();
      const refusal = async (key: string) => {
        const response = await send(route, { "x-api-key": key });
        expect(response.headers.get("www-authenticate")).toBe("Bearer");
        return expectError(response, 401, "invalid_api_key");
      };
      const scope = SCOPES[kind];
      const allowed = (await keyWith({ scopes: [scope] })).secret;
      expect((await touch(route, { "x-api-key": allowed })).status).not.toBe(401);
      const reached = useCasesReached();
      expect(await refusal((await keyWith({ scopes: [OTHER_SCOPE[scope]] })).secret)).toBe(
        `This API key may not make this request: it lacks the scope "${scope}", which ${NEEDING[scope]} need.`,
      );
      const expiresAt = new Date(service.clock.now().getTime() + 5_000);
      const brief = (await keyWith({ expiresAt })).secret;
      await service.clock.advance(4_999);
      expect((await touch(route, { "x-api-key": brief })).status).not.toBe(401);
      await service.clock.advance(1);
      expect(await refusal(brief)).toBe(`This API key expired at ${expiresAt.toISOString()}. Create a new one.`);
      const { key, secret } = await keyWith({});
      await service.keys.revoke(key.id, service.clock.now());
      expect(await refusal(secret)).toBe(INVALID);
      expect(useCasesReached() - reached).toBeLessThanOrEqual(1); // that of `touch`
    });

    const limit = LIMITS[kind];
    it(`admits ${limit} requests a minute and reports the rest, then answers 429 and runs no use case`, async () => {
      const headers = { "x-api-key": customer.key };
      const policy = `"${kind}";q=${limit};w=60`;
      for (let n = 1; n <= limit; n += 1) {
        const response = await touch(route, headers);
        expect(response.status).not.toBe(429);
        expect(response.headers.get("ratelimit-policy")).toBe(policy);
        expect(response.headers.get("ratelimit")).toBe(`"${kind}";r=${limit - n};t=60`);
      }
      const reached = useCasesReached();
      await service.clock.advance(20_500);
      const response = await send(route, headers);
      expect(response.headers.get("retry-after")).toBe("40");
      expect(response.headers.get("ratelimit-policy")).toBe(policy);
      expect(response.headers.get("ratelimit")).toBe(`"${kind}";r=0;t=40`);
      expect(await expectError(response, 429, "rate_limited")).toBe(
        `This API key has reached its limit of ${limit} requests of this kind per minute. Retry in 40 s.`,
      );
      expect(useCasesReached()).toBe(reached);
      await service.clock.advance(39_500);
      expect((await touch(route, headers)).status).not.toBe(429);
    });

    if (isOfTask)
      it("answers 404 to a task of another account as to an unknown one, and looks for no other id", async () => {
        const id = await service.created(await service.customer());
        const headers = { "x-api-key": customer.key };
        const unknown = id.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
        const foreign = await expectError(await send(route, headers, id), 404, "not_found");
        expect(await expectError(await send(route, headers, unknown), 404, "not_found")).toBe(
          foreign.replace(id, unknown),
        );
        const reached = useCasesReached();
        for (const odd of ["%00", "a%20b", "x".repeat(65), "..%2f..", "'; drop table task; --"]) {
          await expectError(await send(route, headers, odd), 404, "not_found");
        }
        expect(useCasesReached()).toBe(reached);
      });
  });

  it.each(THROWN)("answers $status $error on every route if a use case throws", async (row) => {
    const { thrown, status, error, says, retryAfter = null } = row;
    const { make } = await loadServerNamed(server);
    const failing = await HttpService.start({ makeServer: make });
    const owner = await failing.customer();
    const id = await failing.created(owner);
    const broken = () => {
      throw thrown;
    };
    const { panoramas, credits, events } = failing.application;
    const names = ["create", "cancel", "delete", "list", "forecast", "uploadImages", "readAbilities"];
    for (const name of names) Object.assign(panoramas, { [name]: broken });
    Object.assign(credits, { readTotals: broken, listEntries: broken });
    Object.assign(events, { stream: broken });
    for (const route of ROUTES) {
      const response = await send(route, { "x-api-key": owner.key }, id, failing);
      expect([route.operation, response.status, response.headers.get("retry-after")]).toEqual([
        route.operation,
        status,
        retryAfter,
      ]);
      const requestId = response.headers.get("x-request-id");
      await expectDescribed(route, response.clone());
      const { error: told } = (await response.json()) as { error: { code: string; message: string } };
      expect(told.code).toBe(status === 429 ? "rate_limited" : "internal_error");
      expect(told.message).toMatch(says);
      expect(told.message).not.toContain(thrown.message);
      expect(failing.failures.splice(0)).toEqual([{ requestId, error: thrown }]);
      expect(failing.finished.at(-1)).toMatchObject({ status, error });
    }
    await failing.end();
  });
});
