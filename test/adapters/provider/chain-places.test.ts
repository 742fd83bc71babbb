import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/support/builders.js";
import { ScriptedProvider } from "../../../adapters/memory/scripted-provider.js";
import { ProviderChain } from "../../../adapters/provider/provider-chain.js";
import type { AccountId } from "../../../domain/ids.js";
import { useCases } from "../../support/application.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

/** The application with a chain of two providers with different limits. */
describe("a chain of two providers", () => {
  let world: World;
  let first: ScriptedProvider;
  let second: ScriptedProvider;
  let cases: ReturnType<typeof useCases>;
  let owners: AccountId[];

  const begin = async () => {
    world = aWorld();
    [first, second] = [
      new ScriptedProvider({ poll: "running" }, "first"),
      new ScriptedProvider({ poll: "running" }, "second"),
    ];
    for (const provider of [first, second]) provider.clock = world.clock;
    first.concurrencyMax = 2;
    second.concurrencyMax = 3;
    cases = useCases({ ...world, provider: new ProviderChain([first, second], () => {}) });
    owners = await Promise.all([1, 2, 3].map(() => anOwner(world, 1_000)));
  };

  const states = async () => {
    const all = await Promise.all(owners.map((owner) => world.tasks.list(owner, 99, undefined)));
    return all.flat().map((task) => (task.state === "submitted" ? task.upstreamTaskId.split(":")[0] : task.state));
  };
  const count = async (state: string) => (await states()).filter((one) => one === state).length;

  it("never exceeds the limit of a provider under random refusals, pauses and outages", async () => {
    const event = fc.oneof(
      fc.record({ kind: fc.constant("create" as const), n: fc.nat(2) }),
      fc.record({ kind: fc.constantFrom("start" as const, "settle" as const) }),
      fc.record({
        kind: fc.constant("play" as const),
        provider: fc.nat(1),
        submit: fc.constantFrom("accept" as const, "refuse" as const, "busy" as const),
        poll: fc.constantFrom("running" as const, "failed" as const),
        ready: fc.constantFrom("ready" as const, "busy" as const, "probing" as const, "down" as const),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 10, maxLength: 60 }), async (events) => {
        await begin();
        for (const one of events) {
          if (one.kind === "create") {
            await cases.createPanorama(owners[one.n] as AccountId, aCreationRequest());
          } else if (one.kind === "play") {
            const provider = [first, second][one.provider] as ScriptedProvider;
            provider.play({ submit: one.submit, poll: one.poll });
            provider.ready = one.ready;
          } else {
            await world.clock.advance(5_000);
            await cases[one.kind]();
          }
          expect(await count("first")).toBeLessThanOrEqual(2);
          expect(await count("second")).toBeLessThanOrEqual(3);
        }
        // Nothing waits for ever: when both take tasks and end them, all tasks end.
        for (const provider of [first, second]) {
          provider.ready = "ready";
          provider.play({ submit: "accept", poll: "failed" });
        }
        for (let n = 0; n < 20; n += 1) {
          await cases.start();
          await world.clock.advance(5_000);
          await cases.settle();
        }
        expect(new Set(await states())).toEqual(new Set((await states()).length === 0 ? [] : ["failed"]));
      }),
      { numRuns: 60 },
    );
  });
});
