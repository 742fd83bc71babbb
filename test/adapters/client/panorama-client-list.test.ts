import { describe, expect, it } from "vitest";
import type { TaskList } from "../../../adapters/client/panorama-client.js";
import type { Fault } from "../../support/fake-service.js";
import { aRequest, failureOf, setUpClient } from "./client-setup.js";

const on = setUpClient();

describe("PanoramaClient.list", () => {
  const ids = async (tasks: TaskList) => {
    const seen: string[] = [];
    for await (const { id } of tasks) seen.push(id);
    return seen;
  };
  const pages = () => on.service.requests("GET", "/panoramas").map(({ path }) => path.replace("/api/v1/panoramas", ""));

  it("yields every task, newest first, and reads each page when the loop reaches it", async () => {
    for (let task = 1; task <= 5; task++) await on.client.create(aRequest());
    expect(await ids(on.client.list({ limit: 2 }))).toEqual(["task-5", "task-4", "task-3", "task-2", "task-1"]);
    expect(pages()).toEqual(["?limit=2", "?limit=2&cursor=2", "?limit=2&cursor=4"]);
  });

  it("resolves to the first page with cursor and response when awaited", async () => {
    for (let task = 1; task <= 3; task++) await on.client.create(aRequest());
    const { next_cursor } = await on.client.list({ limit: 2 });
    expect(next_cursor).toBe("2");
    const list = on.client.list({ limit: 2, cursor: next_cursor ?? "" });
    const { data, requestId } = await list.withResponse();
    expect([data.data.map(({ id }) => id), data.next_cursor, requestId]).toEqual([["task-1"], null, "req-1"]);
    expect(await ids(list)).toEqual(["task-1"]);
    expect(pages()).toEqual(["?limit=2", "?limit=2&cursor=2"]);
  });

  it("reads pages of 100, and one page of an account without tasks", async () => {
    expect(await ids(on.client.list())).toEqual([]);
    expect(pages()).toEqual(["?limit=100"]);
  });

  it("sends no further request after the loop has ended", async () => {
    for (let task = 1; task <= 5; task++) await on.client.create(aRequest());
    for await (const { id } of on.client.list({ limit: 2 })) if (id === "task-4") break;
    expect(pages()).toEqual(["?limit=2"]);
  });

  it("rejects with the error of the client, after its retries", async () => {
    for (let task = 1; task <= 3; task++) await on.client.create(aRequest());
    const tasks = on.client.list({ limit: 2 })[Symbol.asyncIterator]();
    expect([(await tasks.next()).value?.id, (await tasks.next()).value?.id]).toEqual(["task-3", "task-2"]);
    const failure: Fault = {
      kind: "answer",
      status: 500,
      body: '{"error":{"code":"internal_error","message":"oops"}}',
    };
    on.service.failNext("GET", "/panoramas", ...Array<Fault>(6).fill(failure));
    expect(await failureOf(tasks.next())).toMatchObject({ code: "internal_error", message: "oops" });
    expect(pages()).toEqual(["?limit=2", ...Array(6).fill("?limit=2&cursor=2")]);
  });

  it("may be iterated after it has failed", async () => {
    on.service.failNext("GET", "/panoramas", { kind: "answer", status: 401, body: "" });
    const list = on.client.list();
    await expect.poll(() => pages()).toHaveLength(1);
    await on.client.credits(); // an error that nobody waits for would end the process
    expect((await failureOf(ids(list))).status).toBe(401);
  });

  it("rejects a page without next_cursor", async () => {
    on.service.failNext("GET", "/panoramas", { kind: "answer", status: 200, body: '{"data":[]}' });
    expect(await failureOf(ids(on.client.list()))).toMatchObject({ code: "unexpected_answer", status: 200 });
  });

  it("rejects when the caller aborts it", async () => {
    await on.client.create(aRequest());
    expect((await failureOf(ids(on.client.list({ signal: AbortSignal.abort() })))).code).toBe("aborted");
  });
});
