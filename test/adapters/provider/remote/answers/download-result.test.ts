import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { ok } from "neverthrow";
import { describe, expect, it, vi } from "vitest";
import { manualTimeouts, setUpRemote } from "../../../../support/contracts/remote-setup.js";
import { FAULTS, type Fault, refuses } from "../../../../support/faulty-server.js";
import { startSkybox } from "../../../../support/providers-under-test.js";

const on = setUpRemote(startSkybox);
const { succeeded, requests } = on;

describe("downloadResult", () => {
  it.each([403, 404, 410])("polls for a fresh URL once when the URL answers %i", async (status) => {
    const { id, url } = await succeeded();
    on.remote.fake.faults.images.push(refuses(status));
    expect((await on.remote.provider.download(url, id)).isOk()).toBe(true);
    on.remote.fake.faults.images.push(refuses(status), refuses(status));
    expect((await on.remote.provider.download(url, id))._unsafeUnwrapErr().kind).toBe("result_gone");
  });

  it.each<[string, Fault]>([
    ["fails with status 500", FAULTS.failsBefore],
    ["is cut short", { done: true, instead: { status: 200, body: "half", cutShort: true } }],
  ])("reports a result that %s as unavailable", async (_, fault) => {
    const { id, url } = await succeeded();
    on.remote.fake.faults.images.push(fault);
    expect((await on.remote.provider.download(url, id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
    expect((await on.remote.provider.download(url, id)).isOk()).toBe(true);
  });

  it.each<[string, readonly Fault[]]>([
    [
      "is larger than 64 MiB",
      [{ done: true, instead: { status: 200, headers: {}, body: Buffer.alloc(64 * 1024 * 1024 + 1) } }],
    ],
    ["leads to another port of the same host", [refuses(302, { location: "http://127.0.0.1:1/" })]],
    ["is redirected four times", Array.from({ length: 4 }, () => refuses(302, { location: "?next" }))],
    [
      "is gone, and its fresh URL leads to a private address",
      [refuses(404), refuses(302, { location: "https://[::1]/" })],
    ],
  ])("reports a result that %s as unusable", async (_, faults) => {
    const { id, url } = await succeeded();
    on.remote.fake.faults.images.push(...faults);
    expect((await on.remote.provider.download(url, id))._unsafeUnwrapErr()).toEqual({
      kind: "result_unusable",
      reason: expect.stringMatching(/^the result's URL: ./),
    });
  });

  const half: Fault = { done: true, instead: { status: 200, body: "half", cutShort: "and stay open" } };

  it.each<[string, Fault, string]>([
    ["unavailable", FAULTS.noAnswerAfter, "provider_unavailable"],
    ["unusable", half, "result_unusable"],
  ])("reports a slow result as %s after 20 seconds, and can be retried", async (_, fault, kind) => {
    const { id, url } = await succeeded();
    on.remote.fake.faults.images.push(fault);
    const timeouts = manualTimeouts();
    const before = requests();
    const answered = answerBegins();
    const downloading = on.remote.provider.download(url, id);
    await expect.poll(requests, { interval: 5 }).toBe(before + 1);
    if (fault === half) await answered;
    timeouts.expire();
    expect((await downloading)._unsafeUnwrapErr().kind).toBe(kind);
    expect(timeouts.requested).toEqual([20_000]);
    vi.restoreAllMocks();
    expect(await on.remote.provider.download(url, id)).toEqual(ok(expect.anything()));
  });
});

/** Resolves when the headers of the next answer have arrived at the HTTP client. */
const answerBegins = (): Promise<void> =>
  new Promise((resolve) => {
    const arrived = () => {
      unsubscribe("undici:request:headers", arrived);
      resolve();
    };
    subscribe("undici:request:headers", arrived);
  });
