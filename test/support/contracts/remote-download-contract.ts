import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { describe, expect, it, vi } from "vitest";
import { FAULTS, type Fault, refuses } from "../faulty-server.js";
import { manualTimeouts, type RemoteSetup } from "./remote-setup.js";

/** Resolves when the headers of the next answer have arrived at the HTTP client. */
const answerBegins = (): Promise<void> =>
  new Promise((resolve) => {
    const arrived = () => {
      unsubscribe("undici:request:headers", arrived);
      resolve();
    };
    subscribe("undici:request:headers", arrived);
  });

/** How a RemoteProvider downloads a result. */
export const describeRemoteDownloads = (on: RemoteSetup): void => {
  const { succeeded, requests } = on;

  describe("download", () => {
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
      ["leads to a private address", [refuses(302, { location: "https://169.254.169.254/" })]],
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
  });

  describe("download of a slow result", () => {
    const half: Fault = { done: true, instead: { status: 200, body: "half", cutShort: "and stay open" } };

    it.each<[string, Fault, string]>([
      ["unavailable", FAULTS.noAnswerAfter, "provider_unavailable"],
      ["unusable", half, "result_unusable"],
    ])("returns %s after 20 seconds, and can be retried", async (_, fault, kind) => {
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
      expect((await on.remote.provider.download(url, id)).isOk()).toBe(true);
    });
  });
};
