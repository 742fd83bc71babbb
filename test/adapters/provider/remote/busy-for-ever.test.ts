import fc from "fast-check";
import { ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { aCreationRequest } from "../../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../../adapters/memory/hand-clock.js";
import { memoryPorts } from "../../../../adapters/memory/memory-ports.js";
import { memoryStores } from "../../../../adapters/persistence/memory-stores.js";
import { PublicFetch } from "../../../../adapters/provider/public-fetch.js";
import type { Answer, UpstreamHttp } from "../../../../adapters/provider/remote/calls/upstream-http.js";
import { comfy } from "../../../../adapters/provider/remote/comfy/comfy-provider.js";
import { comfyui } from "../../../../adapters/provider/remote/comfyui/comfyui.js";
import type { Dialect } from "../../../../adapters/provider/remote/dialect.js";
import { falChoice } from "../../../../adapters/provider/remote/fal/fal-choice.js";
import { fal } from "../../../../adapters/provider/remote/fal/fal-provider.js";
import { http } from "../../../../adapters/provider/remote/http/http-provider.js";
import { RemoteProvider } from "../../../../adapters/provider/remote/remote-provider.js";
import { replicate } from "../../../../adapters/provider/remote/replicate/replicate-provider.js";
import { skybox } from "../../../../adapters/provider/remote/skybox/skybox-provider.js";
import { namedWorkflow } from "../../../../adapters/provider/remote/workflows/bundled-workflows.js";
import { worldlabs } from "../../../../adapters/provider/remote/worldlabs/worldlabs-provider.js";
import { createApplication } from "../../../../application/create-application.js";
import type { Email } from "../../../../domain/accounts/account.js";
import { credits } from "../../../../domain/credits/credits.js";
import { audit } from "../../../../domain/credits/ledger-audit.js";
import { RATE_LIMITS } from "../../../../domain/panorama-policy.js";
import { COMFYUI_WORKFLOW, REPLICATE_MODEL } from "../../../support/providers-under-test.js";

const baseUrl = "https://provider.example";
const apiKey = "key";
const FAL = falChoice({})._unsafeUnwrap();

const DIALECTS: readonly (readonly [string, () => Dialect])[] = [
  ["skybox", () => skybox({ apiKey, baseUrl, styleId: 67 })],
  ["replicate", () => replicate({ apiKey, baseUrl, model: REPLICATE_MODEL })],
  ["fal", () => fal({ apiKey, baseUrl, platformUrl: baseUrl, jwksUrls: [baseUrl], choice: FAL })],
  ["worldlabs", () => worldlabs({ apiKey, baseUrl, model: "marble-1.0-draft" })],
  ["comfy", () => comfy({ apiKey, baseUrl, workflow: namedWorkflow("qwen-image-edit") })],
  ["comfyui", () => comfyui({ baseUrl, workflow: namedWorkflow(COMFYUI_WORKFLOW) })],
  ["http", () => http({ token: apiKey, baseUrl })],
];

/** The sweep runs every five seconds, and a call may be under way. */
const LATER_MILLISECONDS_MAX = 9_000;
/** With one call per second, what a creation has to read before may wait ten seconds for the rate limiter. */
const LATER_AT_LOW_RATE_MILLISECONDS_MAX = 20_000;

describe.each(DIALECTS)("a task at the provider %s, which is busy for ever", (_, dialectOf) => {
  it("fails with its refund within seconds after the deadline, counted from its creation", async () => {
    const settings = fc.record({
      deadlineSeconds: fc.integer({ min: 5, max: 90 }),
      concurrencyMax: fc.constantFrom(undefined, 1, 2),
      callsPerSecond: fc.constantFrom(undefined, 1, 20),
      retryAfter: fc.constantFrom(undefined, "0", "1", "3"),
      answersAfterMilliseconds: fc.integer({ min: 0, max: 1_500 }),
      tasks: fc.integer({ min: 1, max: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(
        settings,
        async ({ deadlineSeconds, retryAfter, answersAfterMilliseconds, tasks, ...limits }) => {
          const clock = new HandClock();
          const ports = { ...memoryPorts(clock), ...memoryStores(clock, RATE_LIMITS) };
          const busy: Answer = { status: 429, retryAfter, body: {} };
          const call = async () => {
            await clock.sleep(answersAfterMilliseconds);
            return ok(busy);
          };
          const generationDeadlineMilliseconds = deadlineSeconds * 1_000;
          const provider = new RemoteProvider({
            dialect: dialectOf(),
            settings: {
              ...limits,
              generationDeadlineMilliseconds,
              submitTimeoutMilliseconds: 30_000,
              pollMilliseconds: undefined,
            },
            http: { call } as unknown as UpstreamHttp,
            publicFetch: new PublicFetch([]),
            storage: ports.storage,
            clock,
            warn: () => {},
            onCircuitChange: () => {},
          });
          const application = createApplication({
            ports: { ...ports, provider },
            settings: { generationDeadlineMilliseconds },
          });
          const account = { id: ports.ids.accountId(), email: "a@example.com" as Email, createdAt: clock.now() };
          const order = {
            id: ports.ids.orderId(),
            accountId: account.id,
            credits: credits(20),
            createdAt: clock.now(),
          };
          const paid = { ...order, state: "paid", paidAt: clock.now() } as const;
          (await ports.accounts.open(account, { order: paid }))._unsafeUnwrap();

          void application.start();
          for (let n = 0; n < tasks; n += 1) void application.panoramas.create(account.id, aCreationRequest());
          const later = limits.callsPerSecond === 1 ? LATER_AT_LOW_RATE_MILLISECONDS_MAX : LATER_MILLISECONDS_MAX;
          await clock.advance(generationDeadlineMilliseconds + later);
          const left = await ports.tasks.list(account.id, 9, undefined);
          expect(left.map(({ state }) => state)).toEqual(left.map(() => "failed"));
          expect(left.length).toBeGreaterThan(0);
          expect(await ports.ledger.balance(account.id)).toBe(20);
          for await (const { standing, entries, tasks } of ports.ledger.all()) {
            expect(audit(standing, entries, tasks)).toEqual([]);
          }
          const stopped = application.stop(1_000);
          await clock.advance(60_000);
          await stopped;
        },
      ),
      { numRuns: 15 },
    );
  });
});
