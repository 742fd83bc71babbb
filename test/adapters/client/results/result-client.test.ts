import { ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { ResultClient } from "../../../../adapters/client/results/result-client.js";
import { parseServiceUrl } from "../../../../adapters/client/service-url.js";
import { aCreationRequest, noon } from "../../../../adapters/contracts/support/builders.js";
import { pngBytes } from "../../../support/image-bytes.js";
import { setUpClient } from "../client-setup.js";

const on = setUpClient();
const clientOf = () =>
  new ResultClient(
    { baseUrl: parseServiceUrl(on.service.origin)._unsafeUnwrap(), apiKey: on.service.apiKey },
    on.clock,
    () => 0.5,
  );

describe("the client of version 2.0, which returns results", () => {
  it("creates, reads, waits, lists, cancels and deletes as it did", async () => {
    const client = clientOf();
    const request = aCreationRequest({ prompt: "a lake", metadata: { order: "17" } });
    const created = (await client.create(request, { idempotencyKey: "mine", maxCredits: 4 }))._unsafeUnwrap();
    expect(created).toMatchObject({ id: "task-1", status: "processing", metadata: { order: "17" } });
    const sent = JSON.parse(String(on.service.requests("POST", "/panoramas")[0]?.body));
    expect(sent).toMatchObject({ prompt: "a lake", max_credits: 4 });
    expect((await client.read("task-1", { waitSeconds: 1 })).isOk()).toBe(true);
    const seen: string[] = [];
    const wait = { seconds: 60, onProgress: ({ task }: { task: { id: string } }) => seen.push(task.id) };
    expect((await client.waitUntilDone("task-1", wait))._unsafeUnwrap().status).toBe("succeeded");
    expect((await client.waitFor("task-1", { seconds: 60 }))._unsafeUnwrap().status).toBe("succeeded");
    expect((await client.list({ createdAfter: noon }))._unsafeUnwrap().data).toHaveLength(1);
    expect(on.service.requests("GET", "/panoramas?").at(-1)?.path).toContain("created_after=2026-01-01T12%3A00");
    for await (const task of client.listAll()) expect(task._unsafeUnwrap().id).toBe("task-1");
    expect((await client.cancel("task-1"))._unsafeUnwrap().status).toBe("failed");
    expect(await client.delete("task-1")).toEqual(ok(undefined));
  });

  it("returns balance, offer and uploads", async () => {
    const client = clientOf();
    expect(await client.credits()).toEqual(ok(100));
    expect((await client.creditTotals())._unsafeUnwrap()).toEqual({ remaining_credits: 100 });
    expect((await client.offer({ timeoutSeconds: 10 }))._unsafeUnwrap()).toEqual(on.service.offer);
    expect((await client.upload([{ bytes: pngBytes(20) }]))._unsafeUnwrap().image_urls).toHaveLength(1);
    expect((await client.abilities())._unsafeUnwrapErr().code).toBe("not_found");
  });

  it("returns errors as plain values", async () => {
    on.service.remainingCredits = 0;
    expect((await clientOf().create(aCreationRequest()))._unsafeUnwrapErr()).toStrictEqual({
      code: "insufficient_credits",
      message: "refused: insufficient_credits",
      param: undefined,
      status: 402,
      requestId: "req-1",
      retryAfterSeconds: undefined,
      mayHaveBeenAccepted: false,
    });
    const tasks = clientOf().listAll({ signal: AbortSignal.abort() });
    expect((await tasks.next()).value?._unsafeUnwrapErr().code).toBe("aborted");
    expect((await tasks.next()).done).toBe(true);
  });
});
