import { ok } from "neverthrow";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  aCreationRequest,
  aFailedTask,
  anApiKey,
  anEndpoint,
  aSubmittedTask,
  aSucceededTask,
} from "../../../adapters/contracts/support/builders.js";
import { Router } from "../../../adapters/http/router.js";
import { ManualPayments } from "../../../adapters/payments/manual-payments.js";
import { SqlOperatorStore } from "../../../adapters/persistence/accounts/sql-operator-store.js";
import type { Row } from "../../../adapters/persistence/database/sql/columns.js";
import { insert } from "../../../adapters/persistence/database/sql/statement.js";
import { writeEvent } from "../../../adapters/persistence/webhooks/event-rows.js";
import { operatedPanoramas } from "../../../application/operators/panoramas.js";
import { credits } from "../../../domain/credits/credits.js";
import { openOrder } from "../../../domain/credits/order.js";
import { panoramaName } from "../../../domain/images/object-name.js";
import { keep, uploading } from "../../../domain/images/storage-status.js";
import { eventIdOf } from "../../../domain/tasks/account-event.js";
import type { Task } from "../../../domain/tasks/task.js";
import { HttpService } from "../../support/http-service.js";
import { putTask } from "../../support/put-task.js";
import { logIn } from "../../support/visit.js";
import { type Person, WebService } from "../../support/web-service.js";
import { POSITIONS, type Positions } from "./positions-table.js";

type Owned = Pick<Task, "accountId" | "id" | "request" | "reservedAt" | "slug">;

const imageOf = ({ slug }: Owned) => uploading("https://provider.example/1.jpg", panoramaName(`${slug}------`));

/** A task of each kind that others may not see. */
const SECRET_TASKS: readonly (readonly [name: string, make: (of: Owned) => Task, change?: "deleted" | "hidden"])[] = [
  ["submitted", aSubmittedTask],
  ["failed", aFailedTask],
  ["failed, deleted", aFailedTask, "deleted"],
  ["saved", (of) => aSucceededTask({ ...of, image: keep(imageOf(of)) })],
  ["public, hidden by an operator", (of) => aSucceededTask({ ...of, image: keep(imageOf(of)) }), "hidden"],
];

/** An id of the other account, and one of the same form, at the same place in every order, that does not exist. */
type ForeignId = { readonly kind: string; readonly known: string; readonly unknown: string };

/** "-" is before every other character of an id. */
const foreign = (kind: string, known: string, unknown = `${known.slice(0, -1)}-`): ForeignId => ({
  kind,
  known,
  unknown,
});
const foreignSlug = (kind: string, slug: string) =>
  foreign(`slug ${kind}`, slug, slug.slice(0, 8) + [...slug.slice(8)].reverse().join(""));

/** Stores objects of every kind for the account. Returns their ids, and texts that nobody else may see. */
const furnish = async (service: WebService, { id: accountId, email }: Person, name: string) => {
  const { database, ids, clock } = service;
  const now = clock.now();
  const url = `https://${name}.example/hook`;
  const endpoint = anEndpoint({ id: ids.endpointId(), accountId, url, secret: ids.endpointSecret() });
  (await service.endpoints.insert(endpoint, () => ok(undefined)))._unsafeUnwrap();
  const key = anApiKey({ id: ids.apiKeyId(), accountId, name: `${name}'s secret key` });
  (await service.keys.insert(key, () => ok(undefined)))._unsafeUnwrap();
  const order = openOrder(ids.orderId(), accountId, credits(100), now);
  await service.orders.insert(order);
  const secrets = [email, `${name}'s secret`, url, endpoint.secret, key.id, order.id, accountId];
  const known = [
    foreign("account", accountId),
    foreign("endpoint", endpoint.id),
    foreign("key", key.id),
    foreign("order", order.id),
    { kind: "e-mail address", known: email, unknown: `nobody-${name}@example.com` },
  ];
  for (const [kind, make, change] of SECRET_TASKS) {
    const visibility = change === "hidden" ? "public" : "private";
    const request = aCreationRequest({ prompt: `${name}'s secret words`, visibility, metadata: { order: "secret" } });
    const task = make({ id: ids.taskId(), slug: ids.slug(), accountId, reservedAt: now, request });
    await putTask(database, task, change === "deleted" ? now : undefined);
    known.push(foreign(`task ${kind}`, task.id), foreignSlug(kind, task.slug));
    secrets.push(task.id, task.slug);
    if (change === "hidden") {
      const operators = new SqlOperatorStore(database);
      await operatedPanoramas({ ...service, operators }).hidePanorama(task.slug, {
        reason: `${name}'s secret reason`,
        by: "olga",
      });
    }
    if (kind !== "saved" && kind !== "failed, deleted") continue;
    const written = {
      type: kind === "saved" ? "panorama.succeeded" : "panorama.failed",
      accountId,
      taskId: task.id,
      at: now,
    } as const;
    await writeEvent(database.sql, "sqlite", { event: written, delivery: { webhookUrl: undefined, dueAt: now } });
    // Not to be found in other texts.
    await database.sql("update webhook_delivery set id = id + 700000 where id < 700000");
    const [delivery] = await service.deliveries.ofTask(accountId, task.id);
    if (delivery === undefined) continue;
    const event = eventIdOf(delivery.event);
    known.push(foreign("delivery", String(delivery.id), String(delivery.id + 5_000)));
    known.push(foreign("event", event, event.replace(accountId, `${accountId.slice(0, -1)}-`)));
  }
  return { known, secrets };
};

type Client = Awaited<ReturnType<typeof clientOf>>;

/** A request with a text in one of its positions. */
type Sent = Positions & {
  readonly position: string;
  readonly route: string;
  readonly path: string;
  readonly sentHeaders?: Readonly<Record<string, string>>;
};

/** Sends requests of the account, or of nobody: with API key to the REST interface, with session to the pages. */
const clientOf = async (service: WebService, person: Person | undefined) => {
  const { cookie, token } = person === undefined ? { cookie: "", token: "" } : await logIn(service, person);
  expect([cookie, token].every((text) => text.length > 20)).toBe(person !== undefined);
  const key: Record<string, string> = person === undefined ? {} : { authorization: `Bearer ${person.key}` };

  return ({ route, path, fields, json, multipart, sentHeaders }: Sent) => {
    const isApi = path.startsWith("/api/");
    const access: Record<string, string> = isApi ? key : { cookie, origin: service.url };
    const form = fields && Object.entries({ ...(!isApi && { form_token: token }), ...fields });
    const data = new FormData();
    for (const [name, value] of form ?? []) data.append(name, value);
    const body = json ? JSON.stringify(json) : multipart ? data : form && new URLSearchParams(form);
    const [method = ""] = route.split(" ");
    const init = { method: method.toUpperCase(), headers: { ...access, ...sentHeaders }, redirect: "manual" } as const;
    return fetch(service.url + path, body === undefined ? init : { ...init, body });
  };
};

/** One request for each position of the route. */
const requestsWith = (route: string, text: string): Sent[] => {
  const positions = POSITIONS[route] ?? {};
  const pattern = route.split(" ")[1] ?? "";
  const path = pattern.replace(/:\w+/g, "none");
  const usual = { ...positions, route, path };
  return [
    ...(pattern.match(/:\w+/g) ?? []).map((position) => {
      const filled = pattern.replace(position, encodeURIComponent(text)).replace(/:\w+/g, "none");
      return { ...usual, position, path: filled };
    }),
    ...(positions.query ?? []).map((name) => {
      return { ...usual, position: `?${name}`, path: `${path}?${new URLSearchParams({ [name]: text })}` };
    }),
    ...(positions.headers ?? []).map((position) => ({ ...usual, position, sentHeaders: { [position]: text } })),
    ...(["json", "fields"] as const).flatMap((part) =>
      Object.entries(positions[part] ?? {}).map(([name, value]) => {
        return { ...usual, position: name, [part]: { ...positions[part], [name]: replacedIn(value, text) } };
      }),
    ),
  ];
};

const replacedIn = (value: unknown, text: string): unknown => {
  if (Array.isArray(value)) return [`https://images.example/${text}`];
  if (typeof value === "string" && value.startsWith("https:")) return `https://hooks.example/${text}`;
  return typeof value === "object" ? { order: text } : text;
};

/** What a client sees, without what differs between any two requests. */
const answerOf = async (response: Response, sent: string): Promise<string> => {
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

  beforeAll(async () => {
    const route = vi.spyOn(Router.prototype, "route");
    service = await WebService.start(new ManualPayments(), true);
    const everything = await HttpService.start({
      mcpPackage: { path: "/mcp/package.tgz", bytes: new Uint8Array() } as never,
      temporaryImage: async () => undefined,
    });
    await everything.end();
    for (const [method, path] of route.mock.calls) if (!path.startsWith("/static/")) routes.add(`${method} ${path}`);
    route.mockRestore();
  });
  afterAll(async () => {
    await service?.end();
    expect(service?.failures).toEqual([]);
  });

  it("have a row for every form of the service, and for no route that is not there", () => {
    expect(Object.keys(POSITIONS).filter((route) => !routes.has(route))).toEqual([]);
    expect([...routes].filter((route) => route.startsWith("post") && !(route in POSITIONS))).toEqual([]);
  });

  it("are to others, on every route and in every position, as if they did not exist", async () => {
    const [ann, bob] = [await service.person("ann"), await service.person("bob")];
    await furnish(service, ann, "ann");
    const { known: ids, secrets } = await furnish(service, bob, "bob");
    await service.clock.advance(61_000);
    for (const { name } of await service.database.sql("select name from sqlite_master where type = 'trigger'"))
      await service.database.sql(`drop trigger ${name}`); // so that the ledger can be restored
    const other = await clientOf(service, ann);
    const nobody = await clientOf(service, undefined);
    const owner = await clientOf(service, bob);
    const before = await everyRow(service);
    let written = await writtenSoFar(service);
    const ask = async (client: Client, request: Sent, sent: string) => {
      await service.clock.advance(61_000); // requests before do not count for the rate limits
      const seen = await answerOf(await client(request), sent);
      if ((await writtenSoFar(service)) === written) return { seen, added: [], lost: [] };
      const { rows } = await everyRow(service);
      const [added, lost] = [without(rows, before.rows), without(before.rows, rows)];
      if (added.length + lost.length > 0) await restore(service, before);
      written = await writtenSoFar(service);
      return { seen, added, lost };
    };
    const isOfAnn = (row: string) => row.includes(ann.id);
    /** Routes on which an id of bob's gives himself another answer than an unknown one. */
    const known = new Set<string>();
    for (const { kind, known: id, unknown } of ids.toReversed()) {
      for (const route of routes) {
        const others = requestsWith(route, unknown);
        for (const [index, request] of requestsWith(route, id).entries()) {
          for (const [who, client] of Object.entries({ other, nobody })) {
            const place = `${who}, ${route}, ${request.position}: ${kind} ${id}`;
            const { seen, added, lost } = await ask(client, request, id);
            const nothing = await ask(client, others[index] as Sent, unknown);
            expect(withoutNew(seen), place).toBe(withoutNew(nothing.seen));
            const told = secrets.filter((secret) => secret !== id && seen.includes(secret));
            expect([place, told, lost.filter((row) => !isOfAnn(row))]).toEqual([place, [], []]);
            if (/^[45]/.test(seen)) expect([place, added, lost]).toEqual([place, [], []]);
          }
          if (!request.position.startsWith(":") || known.has(route)) continue;
          const own = await ask(owner, request, id);
          if (own.seen !== (await ask(owner, others[index] as Sent, unknown)).seen) known.add(route);
        }
      }
    }
    const unknown = [...routes].filter((route) => route.includes(":") && !known.has(route));
    // Public ones, which `takedown.slow.test.ts` drives, and files that are not stored here.
    expect(unknown.filter((route) => !/ \/(p|assets|generations|hooks)\//.test(route))).toEqual([
      "get /works/:slug/picture.jpg",
      "get /works/:slug/thumbnail.webp",
    ]);
  }, 600_000); // thousands of requests
});

/** The number of rows that were ever written: most requests write none, and to read every row takes long. */
const writtenSoFar = async ({ database }: WebService) => (await database.sql("select total_changes() as n"))[0]?.n;

/** Rows by table, in the order of foreign keys, and each as text. What searches find does not change. */
const everyRow = async ({ database }: WebService) => {
  const tables = new Map<string, readonly Row[]>();
  for (const { name } of await database.sql(`select name from sqlite_master where type = 'table'
    and name not like 'sqlite%' and name not like 'task_search%' and name not like 'task_words%'`))
    tables.set(String(name), await database.sql(`select * from ${name}`));
  const rows = [...tables].flatMap(([table, found]) => found.map((row) => `${table} ${JSON.stringify(row)}`));
  return { tables, rows };
};

const without = (rows: readonly string[], others: readonly string[]): string[] => {
  const known = new Set(others);
  return rows.filter((row) => !known.has(row));
};

const restore = ({ database }: WebService, { tables }: Awaited<ReturnType<typeof everyRow>>): Promise<unknown> =>
  database.transaction(async (sql) => {
    for (const table of [...tables.keys()].reverse()) await sql(`delete from ${table}`);
    for (const [table, rows] of tables) for (const row of rows) await insert(sql, table, row);
    return ok(undefined);
  });
