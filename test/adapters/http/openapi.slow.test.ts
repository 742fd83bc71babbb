import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { openApi30 } from "../../../adapters/http/openapi/openapi-30.js";
import { openApiDocument } from "../../../adapters/http/openapi/openapi-document.js";
import type { TaskId } from "../../../domain/ids.js";
import { PANORAMA_POLICY } from "../../../domain/panorama-policy.js";
import { ALL_ABILITIES } from "../../../domain/tasks/abilities.js";
import { eventIdOf } from "../../../domain/tasks/account-event.js";
import { A_CREATION, type Customer, HttpService } from "../../support/http-service.js";

type Schema = { properties: Record<string, unknown> };

type Tagged = { readonly tags?: readonly string[] };

type Operation = {
  responses: Record<
    string,
    { headers?: Record<string, { required?: boolean }>; content?: { "application/json": { schema: unknown } } }
  >;
};

describe("the OpenAPI description", () => {
  let service: HttpService;
  let description: ReturnType<typeof openApiDocument>;
  let description30: object;

  beforeAll(async () => {
    service = await HttpService.start();
    description = (await (await fetch(`${service.url}/api/v1/openapi.json`)).json()) as typeof description;
    description30 = (await (await fetch(`${service.url}/api/v1/openapi-3.0.json`)).json()) as object;
  });
  afterAll(() => service.end());

  it("is public, is OpenAPI 3.1, and describes version 1.0.0", () => {
    expect(description).toEqual(
      JSON.parse(
        JSON.stringify(
          openApiDocument("https://panoramas.example", PANORAMA_POLICY, ALL_ABILITIES, { unusedHours: 24 }),
        ),
      ),
    );
    expect(description.openapi).toMatch(/^3\.1\./);
    expect(description.info.version).toBe("1.0.0");
    expect(description.servers).toEqual([{ url: "https://panoramas.example/api/v1" }]);
    expect(description.security).toEqual([{ bearer: [] }, { apiKey: [] }]);
    expect(description.components?.securitySchemes).toMatchObject({
      bearer: { type: "http", scheme: "bearer" },
      apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
    });
  });

  it("is also there in the words of OpenAPI 3.0.3, for generators", () => {
    expect(description30).toEqual(openApi30(description));
    expect(description30).toMatchObject({ openapi: "3.0.3", servers: description.servers, tags: description.tags });
  });

  it.each([
    ["3.1", () => description],
    ["3.0", () => description30],
  ])("passes the linter without findings in OpenAPI %s", async (_, document) => {
    const folder = await mkdtemp(join(tmpdir(), "panorama-openapi-"));
    await writeFile(join(folder, "openapi.json"), JSON.stringify(document()));
    const lint = ["lint", "--extends=recommended", "--format=json", join(folder, "openapi.json")];
    const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
    const { stdout } = await promisify(execFile)("node_modules/.bin/redocly", lint, { env });
    expect(JSON.parse(stdout.slice(stdout.indexOf("{"))).problems).toEqual([]);
    await rm(folder, { recursive: true });
  });

  it.each([
    ["post /panoramas", ["202", "400", "401", "402", "429", "500", "502"]],
    ["get /panoramas", ["200", "400", "401", "429", "500"]],
    ["get /panoramas/{id}", ["200", "401", "404", "429", "500"]],
    ["delete /panoramas/{id}", ["204", "400", "401", "404", "429", "500"]],
    ["post /panoramas/{id}/cancel", ["200", "401", "404", "429", "500"]],
    ["get /panoramas/{id}/events", ["200", "204", "401", "404", "429", "500"]],
    ["get /events", ["200", "401", "429", "500"]],
    ["post /images", ["200", "400", "401", "429", "500"]],
    ["get /abilities", ["200", "401", "429", "500"]],
    ["get /credits", ["200", "401", "429", "500"]],
    ["get /credits/entries", ["200", "400", "401", "429", "500"]],
  ])("lists every status of %s", (operation, statuses) => {
    expect(Object.keys(operationOf(operation).responses).sort()).toEqual(statuses);
  });

  it("gives every operation and webhook one tag, which is described", () => {
    const items = { ...description.paths, ...description.webhooks } as Record<string, Record<string, Tagged>>;
    const used = Object.values(items).flatMap((item) => Object.values(item).map(({ tags = [] }) => tags));
    expect(used.every(({ length }) => length === 1)).toBe(true);
    expect([...new Set(used.flat())].sort()).toEqual((description.tags ?? []).map(({ name }) => name).sort());
  });

  const operationOf = (name: string): Operation => {
    const [method = "", path = ""] = name.split(" ");
    const item = description.paths?.[path] as Record<string, Operation> | undefined;
    return item?.[method] ?? { responses: {} };
  };

  /** The schema with every reference resolved. */
  const resolved = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(resolved);
    if (typeof schema !== "object" || schema === null) return schema;
    const reference = (schema as { $ref?: string }).$ref;
    if (reference !== undefined) {
      const component = description.components?.schemas?.[reference.split("/").at(-1) ?? ""];
      expect(component, reference).toBeDefined();
      return resolved(component);
    }
    return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, resolved(value)]));
  };

  const checked = async (operation: string, response: Response): Promise<string> => {
    const described = operationOf(operation).responses[response.status];
    expect(described, `${operation} answered ${response.status}`).toBeDefined();
    const { content } = described!;
    if (content === undefined) expect(await response.text()).toBe("");
    else {
      const schema = resolved(content["application/json"].schema);
      z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).parse(await response.json());
    }
    for (const [name, { required }] of Object.entries(described!.headers ?? {})) {
      if (required) expect(response.headers.has(name), `${operation} ${response.status}: ${name}`).toBe(true);
    }
    return `${operation} ${response.status}`;
  };

  it("describes the values of metadata, and that answers may have unknown fields", () => {
    const { CreationRequest, PanoramaTask } = (description.components?.schemas ?? {}) as Record<string, Schema>;
    const values = { type: "string", maxLength: 500 };
    expect(CreationRequest?.properties.metadata).toMatchObject({ maxProperties: 16, additionalProperties: values });
    expect(PanoramaTask?.properties.metadata).toMatchObject({ maxProperties: 16, additionalProperties: values });
    expect(CreationRequest?.properties.seed).toMatchObject({ type: "integer", minimum: 0, maximum: 2147483647 });
    expect(PanoramaTask).not.toHaveProperty("additionalProperties");
  });

  /** A stream, or an answer without a body. */
  const checkedStream = async (operation: string, response: Response): Promise<string> => {
    const content = operationOf(operation).responses[response.status]?.content ?? {};
    const types = response.headers.get("content-type")?.split(";")[0];
    expect(Object.keys(content)).toEqual(types === undefined ? [] : [types]);
    await response.body?.cancel();
    return `${operation} ${response.status}`;
  };

  it("matches the real answers of the server, for every operation and nearly every status", async () => {
    const customer = await service.customer(1000);
    const unauthenticated: Customer = { ...customer, key: "sk-unknown" };
    const jpeg = () => {
      const form = new FormData();
      form.append("files", new Blob([new Uint8Array([0xff, 0xd8, 0xff])], { type: "image/jpeg" }), "a.jpg");
      return form;
    };
    const remove = (id: string, by: Customer) => service.request(`/panoramas/${id}`, by, { method: "DELETE" });
    const cancel = (id: string, by: Customer) => service.request(`/panoramas/${id}/cancel`, by, { method: "POST" });
    const succeeded = await service.created(customer, { ...A_CREATION, seed: 7, metadata: { order: "A-17" } });
    await service.settle();
    const deletedKey = { "idempotency-key": "deleted" };
    const deleted = ((await (await service.create(customer, A_CREATION, deletedKey)).json()) as { id: TaskId }).id;
    await service.settle();
    await service.tasks.hide(deleted, customer.accountId, service.clock.now());
    await service.keep();
    service.provider.play({ poll: "failed" });
    const failed = await service.created(customer);
    await service.settle();

    const seen = [
      await checked("post /panoramas", await service.create(customer)),
      await checked("post /panoramas", await service.create(customer, {})),
      await checked("post /panoramas", await service.create(unauthenticated)),
      await checked("post /panoramas", await service.create(await service.customer(1))),
      await checked("post /panoramas", await service.create(customer, A_CREATION, deletedKey)),
      await checked("get /panoramas", await service.request("/panoramas", customer)),
      await checked("get /panoramas", await service.request("/panoramas?limit=0", customer)),
      await checked("get /panoramas", await service.request("/panoramas", unauthenticated)),
      await checked("get /panoramas/{id}", await service.request(`/panoramas/${succeeded}`, customer)),
      await checked("get /panoramas/{id}", await service.request(`/panoramas/${failed}`, customer)),
      await checked("get /panoramas/{id}", await service.request("/panoramas/unknown", customer)),
      await checked("get /panoramas/{id}", await service.request("/panoramas/unknown", unauthenticated)),
      await checked("delete /panoramas/{id}", await remove(failed, customer)),
      await checked("delete /panoramas/{id}", await remove("unknown", customer)),
      await checked("delete /panoramas/{id}", await remove("unknown", unauthenticated)),
      await checked("post /images", await service.request("/images", customer, { method: "POST", body: jpeg() })),
      await checked("post /images", await service.request("/images", customer, { method: "POST", body: "{}" })),
      await checked(
        "post /images",
        await service.request("/images", unauthenticated, { method: "POST", body: jpeg() }),
      ),
      await checked("get /abilities", await service.request("/abilities", customer)),
      await checked("get /abilities", await service.request("/abilities", unauthenticated)),
      await checked("get /credits", await service.request("/credits", customer)),
      await checked("get /credits", await service.request("/credits", unauthenticated)),
      await checked("get /credits/entries", await service.request("/credits/entries?limit=1", customer)),
      await checked("get /credits/entries", await service.request("/credits/entries?limit=0", customer)),
      await checked("get /credits/entries", await service.request("/credits/entries", unauthenticated)),
    ];
    for (const [operation, path] of [
      ["get /panoramas/{id}/events", `/panoramas/${succeeded}/events`],
      ["get /events", "/events"],
    ] as const) {
      seen.push(await checkedStream(operation, await service.request(path, customer)));
      seen.push(await checked(operation, await service.request(path, unauthenticated)));
    }
    const { accountId } = customer;
    const number = (await service.events.latest([accountId])).get(accountId) ?? 0;
    const last = { headers: { "last-event-id": eventIdOf({ accountId, number }) } };
    const ended = await service.request(`/panoramas/${succeeded}/events`, customer, last);
    seen.push(await checkedStream("get /panoramas/{id}/events", ended));
    const unknown = await service.request("/panoramas/unknown/events", customer);
    seen.push(await checked("get /panoramas/{id}/events", unknown));
    for (let n = 0; n < 4; n++) await service.create(customer, A_CREATION);
    seen.push(await checked("post /panoramas", await service.create(customer))); // too many active tasks
    const careful = await service.customer();
    const running = await service.created(careful);
    seen.push(await checked("delete /panoramas/{id}", await remove(running, careful)));
    seen.push(await checked("post /panoramas/{id}/cancel", await cancel(running, careful)));
    seen.push(await checked("post /panoramas/{id}/cancel", await cancel("unknown", careful)));
    seen.push(await checked("post /panoramas/{id}/cancel", await cancel("unknown", unauthenticated)));
    const busy = await service.customer();
    service.provider.play({ submit: "refuse" });
    for (let n = 0; n < 11; n++) seen.push(await checked("post /panoramas", await service.create(busy)));
    seen.push(await checked("post /images", await service.request("/images", busy, { method: "POST", body: jpeg() })));
    seen.push(await checked("delete /panoramas/{id}", await remove("unknown", busy)));
    seen.push(await checked("post /panoramas/{id}/cancel", await cancel("unknown", busy)));
    for (let n = 0; n < 60; n++) await service.request("/credits", busy);
    for (const path of [
      "/abilities",
      "/credits",
      "/credits/entries",
      "/panoramas",
      "/panoramas/{id}",
      "/panoramas/{id}/events",
      "/events",
    ]) {
      seen.push(await checked(`get ${path}`, await service.request(path.replace("{id}", "x"), busy)));
    }

    const described = Object.entries(description.paths ?? {}).flatMap(([path, item]) =>
      Object.entries(item as Record<string, Operation>).flatMap(([method, { responses }]) =>
        Object.keys(responses).map((status) => `${method} ${path} ${status}`),
      ),
    );
    const unseen = described.filter((answer) => !seen.includes(answer) && !answer.endsWith(" 500"));
    expect(unseen).toEqual([]);
  });
});
