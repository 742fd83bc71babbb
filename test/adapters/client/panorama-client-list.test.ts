import { describe, expect, it } from "vitest";
import type { PanoramaClient } from "../../../adapters/client/panorama-client.js";
import type { Fault } from "../../support/fake-service.js";
import { aRequest, setUpClient } from "./client-setup.js";

const on = setUpClient();

describe("PanoramaClient.listAll", () => {
  const ids = async (tasks: ReturnType<PanoramaClient["listAll"]>) => {
    const seen: string[] = [];
    for await (const task of tasks)
      seen.push(
        task.match(
          ({ id }) => id,
          ({ code }) => code,
        ),
      );
    return seen;
  };
  const pages = () => on.service.requests("GET", "/panoramas").map(({ path }) => path.replace("/api/v1/panoramas", ""));

  it("yields every task, newest first, and reads each page when the loop reaches it", async () => {
    for (let task = 1; task <= 5; task++) await on.client.create(aRequest());
    expect(await ids(on.client.listAll({ limit: 2 }))).toEqual(["task-5", "task-4", "task-3", "task-2", "task-1"]);
    expect(pages()).toEqual(["?limit=2", "?limit=2&cursor=2", "?limit=2&cursor=4"]);
  });

  it("reads pages of 100, and one page of an account without tasks", async () => {
    expect(await ids(on.client.listAll())).toEqual([]);
    expect(pages()).toEqual(["?limit=100"]);
  });

  it("sends no further request after the loop has ended", async () => {
    for (let task = 1; task <= 5; task++) await on.client.create(aRequest());
    for await (const task of on.client.listAll({ limit: 2 })) if (task._unsafeUnwrap().id === "task-4") break;
    expect(pages()).toEqual(["?limit=2"]);
  });

  it("ends with the error of the client, after its retries", async () => {
    for (let task = 1; task <= 3; task++) await on.client.create(aRequest());
    const tasks = on.client.listAll({ limit: 2 });
    expect([(await tasks.next()).value?.isOk(), (await tasks.next()).value?.isOk()]).toEqual([true, true]);
    const failure: Fault = {
      kind: "answer",
      status: 500,
      body: '{"error":{"code":"internal_error","message":"oops"}}',
    };
    on.service.failNext("GET", "/panoramas", ...Array<Fault>(6).fill(failure));
    expect((await tasks.next()).value?._unsafeUnwrapErr()).toMatchObject({ code: "internal_error", message: "oops" });
    expect(await tasks.next()).toEqual({ done: true, value: undefined });
    expect(pages()).toEqual(["?limit=2", ...Array(6).fill("?limit=2&cursor=2")]);
  });

  it("ends when the caller aborts it", async () => {
    await on.client.create(aRequest());
    expect(await ids(on.client.listAll({ signal: AbortSignal.abort() }))).toEqual(["aborted"]);
  });
});
