import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { settleSubmittedTasks } from "../../../application/background/settle-submitted-tasks.js";
import { eventBody } from "../../../application/events/event-body.js";
import type { Task } from "../../../domain/tasks/task.js";
import { mcpOverService } from "../../support/mcp-over-service.js";
import { textsOf } from "../../support/mcp-session.js";
import { PASSWORD, type Person, WebService } from "../../support/web-service.js";

/** A currency and an amount that stand in no other text. */
const COST = { currency: "XTS", micros: 987_654_321 };
const shows = (text: string): string | undefined =>
  /XTS|98765|987[.,]65|cost_?[mM]icros|"cost":|"billed"/.exec(text)?.[0];

describe("what a panorama costs the operator", () => {
  let service: WebService;
  let person: Person;
  const tasks: Task[] = [];

  beforeAll(async () => {
    service = await WebService.start();
    person = await service.person("ann", 1000);
    const { poll } = service.provider;
    service.provider.poll = async (id) =>
      (await poll.call(service.provider, id)).map((progress) =>
        progress.state === "running" ? progress : { ...progress, billed: COST },
      );
    tasks.push(await service.kept(person), await service.kept(person, { visibility: "private" }));
    service.provider.play({ poll: "failed" });
    tasks.push(await service.panorama(person));
    service.provider.play({ poll: "succeeded", download: "unavailable" });
    const generated = await service.panorama(person);
    await settleSubmittedTasks(service, {
      leaseMilliseconds: 60_000,
      concurrency: 1,
      generationDeadlineMilliseconds: 600_000,
    })();
    tasks.push(generated);
  });
  afterAll(() => service.end());

  const bodyOf = async (path: string, headers: Record<string, string>) => {
    await service.clock.advance(61_000);
    const response = await fetch(service.url + path, { headers, redirect: "manual" });
    const text = await response.text();
    return { status: response.status, text: text + JSON.stringify([...response.headers]) };
  };

  it("is recorded with its task", () => {
    expect(tasks.map((task) => [task.state, "cost" in task ? task.cost : undefined])).toEqual(
      ["succeeded", "succeeded", "failed", "generated"].map((state) => [state, COST]),
    );
    expect(shows(JSON.stringify(tasks[0]))).toBe('"cost":');
  });

  it("is not in the REST interface", async () => {
    const paths = [
      "/panoramas",
      "/credits",
      "/credits/entries",
      "/abilities",
      ...tasks.map(({ id }) => `/panoramas/${id}`),
    ];
    for (const path of paths) {
      const { status, text } = await bodyOf(`/api/v1${path}`, { authorization: `Bearer ${person.key}` });
      expect([status, shows(text)], path).toEqual([200, undefined]);
    }
    const { text } = await bodyOf("/api/v1/openapi.json", {});
    expect(text).not.toMatch(/micros|"cost"/);
  });

  it("is not on the pages", async () => {
    const body = new URLSearchParams({ email: person.email, password: PASSWORD });
    const headers = { origin: service.url };
    const login = await fetch(`${service.url}/login`, { method: "POST", headers, redirect: "manual", body });
    const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
    const [order] = service.database.orders.keys();
    const paths = [
      ...["/works", "/gallery", "/account", "/account/entries.csv", "/account/keys", "/account/webhooks"],
      `/account/orders/${order}`,
      ...tasks.flatMap(({ slug }) => [`/works/${slug}`, `/works/${slug}/status`]),
      `/p/${tasks[0]?.slug}`,
    ];
    for (const path of paths) {
      const { status, text } = await bodyOf(path, { cookie });
      expect([status, shows(text)], path).toEqual([200, undefined]);
    }
  });

  it("is not in webhooks and streams, which have the same bodies", () => {
    for (const task of tasks) {
      const event = {
        accountId: person.id,
        number: 1,
        type: "panorama.succeeded",
        taskId: task.id,
        at: new Date(0),
      } as const;
      expect(shows(eventBody(event, task, { storage: service.storage, viewerUrl: () => service.url }))).toBeUndefined();
    }
  });

  it("is not in the answers of the MCP server", async () => {
    const session = await mcpOverService(service, person.key);
    await service.clock.advance(61_000);
    for (const { id } of tasks.slice(0, 3)) {
      const answer = textsOf(await session.call("get_panorama_task", { id })).join();
      expect([answer, shows(answer)]).toEqual([expect.stringMatching(/succeeded|failed|still/), undefined]);
    }
    expect(shows(textsOf(await session.call("get_credit_balance", {})).join())).toBeUndefined();
  });
});
