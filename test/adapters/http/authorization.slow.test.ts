import fc from "fast-check";
import { ok } from "neverthrow";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  aCreationRequest,
  aFailedTask,
  aGeneratedTask,
  anApiKey,
  anEndpoint,
  aQueuedTask,
  aSubmittedTask,
  aSubmittingTask,
  aSucceededTask,
} from "../../../adapters/contracts/support/builders.js";
import { openApiDocument } from "../../../adapters/http/openapi/openapi-document.js";
import { Routes } from "../../../adapters/http/routes.js";
import { ManualPayments } from "../../../adapters/payments/manual-payments.js";
import { writeEvent } from "../../../adapters/persistence/prepared/event-rows.js";
import type { Row } from "../../../adapters/persistence/sql/columns.js";
import { insert } from "../../../adapters/persistence/sql/statement.js";
import { SqlOperatorStore } from "../../../adapters/persistence/stores/sql-operator-store.js";
import { hidePanorama } from "../../../application/operators/hide-panorama.js";
import { credits } from "../../../domain/credits/credits.js";
import { openOrder } from "../../../domain/credits/order.js";
import type { TaskId } from "../../../domain/ids.js";
import { panoramaName } from "../../../domain/images/object-name.js";
import { expire, giveUp, keep, keepWithoutThumbnail, uploading } from "../../../domain/images/storage-status.js";
import { PANORAMA_POLICY } from "../../../domain/panorama-policy.js";
import { ALL_ABILITIES } from "../../../domain/tasks/abilities.js";
import { eventIdOf } from "../../../domain/tasks/account-event.js";
import type { Task } from "../../../domain/tasks/task.js";
import { HttpService } from "../../support/http-service.js";
import { mcpOverService } from "../../support/mcp-over-service.js";
import { textOf as textOfResult } from "../../support/mcp-session.js";
import { putTask } from "../../support/put-task.js";
import { PASSWORD, type Person, WebService } from "../../support/web-service.js";

/** Where a client can put text into a request, besides the parameters of its path. */
type Positions = {
  readonly query?: readonly string[];
  readonly headers?: readonly string[];
  /** Of the JSON body. The values are those of a valid request, and each is replaced in turn. */
  readonly json?: Readonly<Record<string, unknown>>;
  /** Of the form, which is a `multipart` one if it has files. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly multipart?: boolean;
};

const ACCEPTS_NOTHING: Positions = {};

/** A creation with every field. */
const CREATION: Readonly<Record<string, unknown>> = {
  prompt: "a lake",
  image_urls: ["https://images.example/a"],
  resolution: "1k",
  visibility: "private",
  seed: 1,
  metadata: { order: "1" },
  max_credits: 10,
  webhook_url: "https://hooks.example/a",
};

type Operation = {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: { readonly $ref?: string } }>>;
  };
};

const DESCRIPTION = openApiDocument("https://panoramas.example", PANORAMA_POLICY, ALL_ABILITIES) as never as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, { readonly properties: object }>> };
};

/** Everything that the OpenAPI description lets a client send. */
const describedRoutes = (): Record<string, Positions> =>
  Object.fromEntries(
    Object.entries(DESCRIPTION.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { parameters = [], requestBody }]): [string, Positions] => {
        const named = (place: string) =>
          parameters.flatMap((one) => (one.in === place ? [one.name.toLowerCase()] : []));
        const schema = requestBody?.content["application/json"]?.schema.$ref?.split("/").at(-1) ?? "";
        const fields = Object.keys(DESCRIPTION.components.schemas[schema]?.properties ?? {});
        const json = Object.fromEntries(fields.map((name) => [name, CREATION[name] ?? expect.fail(name)]));
        const headers = named("header").filter((name) => name !== "x-request-id");
        const positions = { query: named("query"), headers, ...(fields.length > 0 && { json }) };
        return [`${method} /api/v1${path.replace(/\{(\w+)\}/g, ":$1")}`, positions];
      }),
    ),
  );

const DESCRIBED = describedRoutes();
const LIST = "get /api/v1/panoramas";

/**
 * Every route, with everything that its clients can send. A route that is missing here fails the test. A form has no
 * other fields, and no other query is read: a new one belongs here, too.
 */
const ROUTES: Readonly<Record<string, Positions>> = {
  ...DESCRIBED,
  [LIST]: { ...DESCRIBED[LIST], query: [...(DESCRIBED[LIST]?.query ?? []), "metadata.order"] },
  "post /api/v1/images": { fields: { name: "a" }, multipart: true },
  "get /api/v1/openapi.json": ACCEPTS_NOTHING,
  "get /api/v1/openapi-3.0.json": ACCEPTS_NOTHING,
  "post /payments/stripe": { headers: ["stripe-signature"], json: { id: "evt" } },
  "post /hooks/:provider": { query: ["task", "token"], json: { id: "evt" } },
  "get /": ACCEPTS_NOTHING,
  "get /gallery": { query: ["q", "sort", "before", "after"] },
  "get /p/:slug": { query: ["embed"] },
  "get /p/:slug/status": ACCEPTS_NOTHING,
  "get /p/:slug/social.jpg": { headers: ["if-none-match"] },
  "get /p/:slug/social-600.jpg": { headers: ["if-none-match"] },
  "get /p/:slug/social-400.jpg": { headers: ["if-none-match"] },
  "get /p/:slug/social-200.jpg": { headers: ["if-none-match"] },
  "get /p/:slug/social-80.jpg": { headers: ["if-none-match"] },
  "get /p/:slug/512.webp": { headers: ["if-none-match"] },
  "get /p/:slug/tile-480.webp": { headers: ["if-none-match"] },
  "get /p/:slug/tile-960.webp": { headers: ["if-none-match"] },
  "get /oembed": { query: ["url", "format", "maxwidth", "maxheight"] },
  "get /works/:slug": { query: ["embed"] },
  "get /works/:slug/status": ACCEPTS_NOTHING,
  "get /works/:slug/picture.jpg": ACCEPTS_NOTHING,
  "get /works/:slug/thumbnail.webp": ACCEPTS_NOTHING,
  "get /login": { query: ["next", "new", "ended", "deleted", "prompt", "resolution", "visibility"] },
  "post /login": { fields: { email: "nobody@example.com", password: "wrong words here", next: "/works" } },
  "get /signup": { query: ["sent", "next", "prompt", "resolution", "visibility"] },
  "post /signup": { fields: { email: "nobody@example.com", password: "right words here" } },
  "post /logout": { fields: {} },
  "get /password/forgot": { query: ["sent", "next", "prompt", "resolution", "visibility"] },
  "post /password/forgot": { fields: { email: "nobody@example.com" } },
  "get /password/reset": { query: ["token"] },
  "post /password/reset": { fields: { token: "t", password: "right words here" } },
  "get /works": { query: ["before", "after", "prompt", "from", "q", "status", "visibility", "resolution"] },
  "post /works": {
    multipart: true,
    fields: {
      prompt: "a lake",
      resolution: "1k",
      visibility: "private",
      seed: "1",
      image_url: "",
      uploaded_url: "",
      idempotency_key: "mine",
    },
  },
  "post /works/selected": { fields: { id: "none", act: "publish" } },
  "post /works/:id/visibility": { fields: { visibility: "public" } },
  "post /works/:id/cancel": { fields: {} },
  "post /works/:id/delete": { fields: {} },
  "get /account": { query: ["order", "orders", "ledger", "month"] },
  "get /account/entries.csv": { query: ["ledger"] },
  "get /account/orders": ACCEPTS_NOTHING,
  "get /account/orders/:id": ACCEPTS_NOTHING,
  "post /account/orders": { fields: { credits: "100" } },
  "post /account/orders/:id/cancel": { fields: {} },
  "get /account/keys": ACCEPTS_NOTHING,
  "post /account/keys": {
    fields: { name: "k", limits: "1", scope: "read", expires_at: "", credits_per_day: "", credits_per_month: "" },
  },
  "post /account/low-balance": { fields: { credits: "10" } },
  "post /account/keys/:id/revoke": { fields: {} },
  "get /account/webhooks": { query: ["before"] },
  "post /account/webhooks": { fields: { url: "https://hooks.example/new" } },
  "post /account/webhooks/:id/delete": { fields: {} },
  "post /account/webhooks/:id/rotate": { fields: {} },
  "post /account/webhooks/:id/enable": { fields: {} },
  "post /account/webhooks/:id/test": { fields: {} },
  "post /account/deliveries/:id/resend": { fields: {} },
  "get /account/settings": { query: ["done"] },
  "post /account/password": { fields: { current: "wrong words here", password: "right words here" } },
  "get /account/email": { query: ["token"] },
  "post /account/email": { fields: { current: "wrong words here", email: "nobody@example.com" } },
  "post /account/email/confirm": { fields: { token: "t" } },
  "get /account/data.jsonl": ACCEPTS_NOTHING,
  "post /account/delete": { fields: { current: "wrong words here" } },
  "get /docs": ACCEPTS_NOTHING,
  "get /favicon.ico": ACCEPTS_NOTHING,
  "get /robots.txt": ACCEPTS_NOTHING,
  "get /manifest.webmanifest": ACCEPTS_NOTHING,
  "get /mcp": ACCEPTS_NOTHING,
  "get /mcp/package.tgz": ACCEPTS_NOTHING,
  // The name of an object cannot be guessed, and shows it to everybody who knows it. Other ids show nothing.
  "get /assets/:folder/:file": ACCEPTS_NOTHING,
  "get /generations/:name": ACCEPTS_NOTHING,
  "get /healthz": ACCEPTS_NOTHING,
  "get /readyz": ACCEPTS_NOTHING,
  "get /metrics": ACCEPTS_NOTHING,
};

const STATES = ["queued", "submitting", "submitted", "generated", "failed"] as const;
const IMAGES = ["uploading", "saved", "saved-no-thumb", "failed", "expired"] as const;

const aTask = fc.record({
  state: fc.constantFrom(...STATES, ...IMAGES),
  visibility: fc.constantFrom("private", "public"),
  isDeleted: fc.boolean(),
  isHidden: fc.boolean(),
});
type TaskShape = (typeof aTask extends fc.Arbitrary<infer Shape> ? Shape : never) & {};

/** Whatever else there is: an operator has hidden it. */
const HIDDEN: TaskShape = { state: "saved", visibility: "public", isDeleted: false, isHidden: true };

const taskOf = ({ state, visibility }: TaskShape, differences: Partial<Task>, prompt: string): Task => {
  const request = aCreationRequest({ prompt, visibility, metadata: { order: prompt } });
  const all = { ...differences, request } as Parameters<typeof aQueuedTask>[0] &
    Parameters<typeof aSucceededTask>[0] &
    Parameters<typeof aFailedTask>[0];
  const image = uploading("https://provider.example/1.jpg", panoramaName(`${differences.slug}------`));
  switch (state) {
    case "queued":
      return aQueuedTask(all);
    case "submitting":
      return aSubmittingTask(all);
    case "submitted":
      return aSubmittedTask(all);
    case "generated":
      return aGeneratedTask(all);
    case "failed":
      return aFailedTask(all);
    case "uploading":
      return aSucceededTask({ ...all, image });
    case "saved":
      return aSucceededTask({ ...all, image: keep(image) });
    case "saved-no-thumb":
      return aSucceededTask({ ...all, image: keepWithoutThumbnail(image) });
    case "expired":
      return aSucceededTask({ ...all, image: expire(image) });
  }
  return aSucceededTask({ ...all, image: giveUp(image) });
};

/** An id of the other account, and one of the same form, at the same place in every order, that does not exist. */
type ForeignId = { readonly kind: string; readonly known: string; readonly unknown: string };

/** "-" is before every other character of an id. */
const foreign = (kind: string, known: string, unknown = `${known.slice(0, -1)}-`): ForeignId => ({
  kind,
  known,
  unknown,
});

/** Stores objects of every kind for the account. Returns their ids, and texts that nobody else may see. */
const furnish = async (service: WebService, { id: accountId }: Person, name: string, shapes: readonly TaskShape[]) => {
  const { database, ids, clock } = service;
  const now = clock.now();
  const secrets = [`${name}@example.com`, `${name}'s secret`];
  const known: ForeignId[] = [foreign("account", accountId), foreign("idempotency key", `${name}-key-1`)];
  const url = `https://${name}.example/hook`;
  const endpoint = anEndpoint({ id: ids.endpointId(), accountId, url, secret: ids.endpointSecret() });
  (await service.endpoints.insert(endpoint, () => ok(undefined)))._unsafeUnwrap();
  const key = anApiKey({ id: ids.apiKeyId(), accountId, name: `${name}'s secret key` });
  (await service.keys.insert(key, () => ok(undefined)))._unsafeUnwrap();
  const order = openOrder(ids.orderId(), accountId, credits(100), now);
  await service.orders.insert(order);
  known.push(foreign("endpoint", endpoint.id), foreign("key", key.id), foreign("order", order.id));
  secrets.push(url, endpoint.secret, key.id, order.id, accountId);
  let first: TaskId | undefined;
  for (const shape of shapes) {
    const hasSucceeded = IMAGES.some((image) => image === shape.state);
    const isPublic = shape.visibility === "public" && hasSucceeded && !shape.isDeleted && !shape.isHidden;
    const prompt = isPublic ? `${name}'s public words` : `${name}'s secret words`;
    const task = taskOf(shape, { id: ids.taskId(), slug: ids.slug(), accountId, reservedAt: now }, prompt);
    const hidden = shape.isDeleted && ["succeeded", "failed"].includes(task.state);
    await putTask(database, task, hidden ? now : undefined);
    first ??= task.id;
    known.push(foreign(`task ${shape.state}${hidden ? ", deleted" : ""}`, task.id));
    if (!isPublic)
      known.push(
        foreign(`slug ${shape.state}`, task.slug, task.slug.slice(0, 8) + [...task.slug.slice(8)].reverse().join("")),
      );
    if (!isPublic) secrets.push(task.id, task.slug);
    if (shape.isHidden && task.state === "succeeded") {
      const operators = new SqlOperatorStore(database);
      await hidePanorama({ ...service, operators })(task.slug, { reason: `${name}'s secret reason`, by: "olga" });
    }
    if (task.state !== "succeeded" && task.state !== "failed") continue;
    const written = { type: `panorama.${task.state}`, accountId, taskId: task.id, at: now } as const;
    await writeEvent(database.sql, "sqlite", { event: written, delivery: { webhookUrl: undefined, dueAt: now } });
    // Not to be found in other texts.
    await database.sql("update webhook_delivery set id = id + 700000 where id < 700000");
    const [delivery] = await service.deliveries.ofTask(accountId, task.id);
    if (delivery === undefined) continue;
    known.push(foreign("delivery", String(delivery.id), String(delivery.id + 5_000)));
    const event = eventIdOf(delivery.event);
    known.push(foreign("event", event, event.replace(accountId, `${accountId.slice(0, -1)}-`)));
  }
  if (first !== undefined) {
    await insert(database.sql, "idempotency_key", {
      account_id: accountId,
      key: `${name}-key-1`,
      task_id: first,
      request_sha256: "0".repeat(64),
      created_at: now,
    });
  }
  return { known, secrets };
};

/** A client of the account: its API key for the REST interface, its session for the pages. */
const clientOf = async (service: WebService, person: Person) => {
  const origin = { origin: service.url };
  const fields = new URLSearchParams({ email: person.email, password: PASSWORD });
  const login = await fetch(`${service.url}/login`, {
    method: "POST",
    body: fields,
    headers: origin,
    redirect: "manual",
  });
  const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
  const page = await (await fetch(`${service.url}/account`, { headers: { cookie } })).text();
  const formToken = /name="form_token" value="([^"]+)"/.exec(page)?.[1] ?? "";
  expect([cookie, formToken].every((text) => text.length > 20)).toBe(true);

  return (route: string, path: string, { fields, json, multipart }: Positions, headers: Record<string, string>) => {
    const [method = ""] = route.split(" ");
    const isApi = path.startsWith("/api/");
    const access: Record<string, string> = isApi ? { authorization: `Bearer ${person.key}` } : { cookie, ...origin };
    const form = fields && Object.entries({ ...(!isApi && { form_token: formToken }), ...fields });
    const data = new FormData();
    for (const [name, value] of form ?? []) data.append(name, value);
    const body = json ? JSON.stringify(json) : multipart ? data : form && new URLSearchParams(form);
    const init = { method: method.toUpperCase(), headers: { ...access, ...headers }, redirect: "manual" } as const;
    return fetch(service.url + path, body === undefined ? init : { ...init, body });
  };
};
type Client = Awaited<ReturnType<typeof clientOf>>;

/** One request for each position of the route, with `text` in it. */
const requestsWith = (
  route: string,
  text: string,
): { position: string; send: (client: Client) => Promise<Response> }[] => {
  const positions = ROUTES[route] ?? ACCEPTS_NOTHING;
  const path = (route.split(" ")[1] ?? "").replace(/:\w+/g, "none");
  const inPath = [...route.matchAll(/:\w+/g)].map(([name]) => ({
    position: name,
    send: (client: Client) => {
      const filled = (route.split(" ")[1] ?? "").replace(name, encodeURIComponent(text)).replace(/:\w+/g, "none");
      return client(route, filled, positions, {});
    },
  }));
  const inQuery = (positions.query ?? []).map((name) => ({
    position: `?${name}`,
    send: (client: Client) => client(route, `${path}?${new URLSearchParams({ [name]: text })}`, positions, {}),
  }));
  const inHeaders = (positions.headers ?? []).map((name) => ({
    position: name,
    send: (client: Client) => client(route, path, positions, { [name]: text }),
  }));
  const inBody = (["json", "fields"] as const).flatMap((part) =>
    Object.entries(positions[part] ?? {}).map(([name, value]) => ({
      position: `${part} ${name}`,
      send: (client: Client) => {
        const replaced = { ...positions[part], [name]: replacedIn(value, text) };
        return client(route, path, { ...positions, [part]: replaced }, {});
      },
    })),
  );
  return [...inPath, ...inQuery, ...inHeaders, ...inBody];
};

const replacedIn = (value: unknown, text: string): unknown => {
  if (Array.isArray(value)) return [`https://images.example/${text}`];
  if (typeof value === "string" && value.startsWith("https:")) return `https://hooks.example/${text}`;
  return typeof value === "object" ? { order: text } : text;
};

/** What a client sees, without what differs between any two requests. */
const seenBy = async (response: Response, sent: string): Promise<string> => {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const body = isStream ? "" : await response.text();
  if (isStream) await response.body?.cancel();
  const headers = [...response.headers].filter(([name]) => !DIFFERENT_HEADERS.has(name));
  const seen = `${response.status} ${JSON.stringify(headers)}\n${body}`;
  return [sent, encodeURIComponent(sent), encodeURIComponent(encodeURIComponent(sent))].reduce(
    (text, one) => text.replaceAll(one, "(id)"),
    seen,
  );
};

const DIFFERENT_HEADERS: ReadonlySet<string> = new Set(["date", "x-request-id", "content-length", "etag"]);

/** Without what the request has made: ids, secrets and times. */
const withoutNew = (seen: string): string =>
  seen
    .replace(/[a-z]{3}_[0-9a-f]{32}/g, "(new id)")
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "(new id)")
    .replace(/note=[\w-]+\.[\w-]+/g, "(new secret)")
    .replace(/sk-[\w-]{20,}|whsec_[\w+/=]+/g, "(new secret)")
    .replace(/(panoramas\/|works\/|value=")[a-z0-9]{16}\b/g, "$1(new slug)")
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?Z?)?/g, "(time)");

describe("objects of another account", () => {
  let service: WebService;
  const routes = new Set<string>();
  /** The calls of the stores, by name. */
  let calls: string[] = [];
  let isInStore = false;

  beforeAll(async () => {
    const route = vi.spyOn(Routes.prototype, "route");
    service = await WebService.start(new ManualPayments(), true);
    const everything = await HttpService.start({
      mcpPackage: { path: "/mcp/package.tgz", bytes: new Uint8Array() } as never,
      temporaryImage: async () => undefined,
    });
    await everything.end();
    for (const [method, path] of route.mock.calls) if (!path.startsWith("/static/")) routes.add(`${method} ${path}`);
    route.mockRestore();
    const { tasks, accounts, orders, keys, ledger, sessions, links, endpoints, deliveries, references } = service;
    for (const store of [tasks, accounts, orders, keys, ledger, sessions, links, endpoints, deliveries, references]) {
      const methods = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(store)));
      for (const [name, { value }] of methods) {
        if (name === "constructor" || typeof value !== "function") continue;
        Object.assign(store, {
          [name](...args: unknown[]) {
            if (!isInStore) calls.push(`${store.constructor.name}.${name}`);
            const wasInStore = isInStore;
            isInStore = true; // what a store calls of its own is not counted
            try {
              return value.apply(store, args);
            } finally {
              isInStore = wasInStore;
            }
          },
        });
      }
    }
  });
  afterAll(async () => {
    await service?.end();
    expect(service?.failures).toEqual([]);
  });

  it("have a test on every route of the service", () => {
    expect([...routes].sort()).toEqual(Object.keys(ROUTES).sort());
  });

  it("answers a foreign id exactly like an unknown id on every route", async () => {
    let number = 0;
    const shapes = fc.array(aTask, { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(shapes, shapes, async (ofAnn, ofBob) => {
        number += 1;
        const [ann, bob] = [await service.person(`ann${number}`), await service.person(`bob${number}`)];
        await furnish(service, ann, `ann${number}`, ofAnn);
        const { known, secrets } = await furnish(service, bob, `bob${number}`, [HIDDEN, ...ofBob]);
        known.push({ kind: "e-mail address", known: bob.email, unknown: `eve${number}@example.com` });
        await service.clock.advance(61_000);
        const client = await clientOf(service, ann);
        await letLedgerChange(service);
        const before = await everyRow(service);
        const bobBefore = await stateOf(service, bob);
        const send = async (request: (client: Client) => Promise<Response>, sent: string) => {
          await restore(service, before);
          await service.clock.advance(61_000); // requests before do not count for the rate limits
          calls = [];
          const seen = await seenBy(await request(client), sent);
          return { seen, calls: calls.sort(), bobIsChanged: (await stateOf(service, bob)) !== bobBefore };
        };
        for (const id of known) {
          for (const route of Object.keys(ROUTES).filter((route) => routes.has(route))) {
            const others = requestsWith(route, id.unknown);
            for (const [index, { position, send: request }] of requestsWith(route, id.known).entries()) {
              const place = `${route}, ${position}: ${id.kind} ${id.known}`;
              const withKnown = await send(request, id.known);
              const withUnknown = await send(others[index]?.send as typeof request, id.unknown);
              expect(withKnown.bobIsChanged, place).toBe(false);
              expect(withoutNew(withKnown.seen), place).toBe(withoutNew(withUnknown.seen));
              expect(withKnown.calls, place).toEqual(withUnknown.calls);
              const shown = secrets.filter((secret) => secret !== id.known && withKnown.seen.includes(secret));
              expect(shown, place).toEqual([]);
            }
          }
        }
      }),
      { numRuns: 1, endOnFailure: true },
    );
  });

  it("get the same MCP answer as unknown ids", async () => {
    const [ann, bob] = [await service.person("mcp-ann"), await service.person("mcp-bob")];
    const { known } = await furnish(service, bob, "mcp-bob", [
      { state: "saved", visibility: "public", isDeleted: false, isHidden: false },
    ]);
    const session = await mcpOverService(service, ann.key);
    const textOf = async (id: string) =>
      textOfResult(await session.call("get_panorama_task", { id }))
        .replaceAll(id, "(id)")
        .replace(/"request_id":"[^"]+"/, "");
    for (const id of known) {
      await service.clock.advance(61_000);
      const nothing = await textOf(id.unknown);
      expect(nothing).toContain('"code":"not_found"');
      expect(await textOf(id.known), id.kind).toBe(nothing);
    }
  });
});

type Rows = ReadonlyMap<string, readonly Row[]>;

/** By table, in the order of foreign keys. What searches find does not change. */
const everyRow = async ({ database }: WebService): Promise<Rows> => {
  const tables = await database.sql(`select name from sqlite_master where type = 'table'
    and name not like 'sqlite%' and name not like 'task_search%' and name not like 'task_words%'`);
  const rows = new Map<string, readonly Row[]>();
  for (const { name } of tables) rows.set(String(name), await database.sql(`select * from ${name}`));
  return rows;
};

/** The ledger refuses it unless `letLedgerChange` was called. */
const restore = ({ database }: WebService, before: Rows): Promise<unknown> =>
  database.transaction(async (sql) => {
    for (const table of [...before.keys()].reverse()) await sql(`delete from ${table}`);
    for (const [table, rows] of before) for (const row of rows) await insert(sql, table, row);
    return ok(undefined);
  });

const letLedgerChange = async ({ database }: WebService): Promise<void> => {
  for (const { name } of await database.sql("select name from sqlite_master where type = 'trigger'"))
    await database.sql(`drop trigger ${name}`);
};

/** Everything that belongs to the account. */
const stateOf = async (service: WebService, { id }: Person): Promise<string> => {
  const rows = [...(await everyRow(service)).values()].flat();
  return JSON.stringify(rows.filter((row) => row.account_id === id || row.id === id));
};
