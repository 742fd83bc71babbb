import { expect } from "vitest";
import { aCreationRequest } from "../../adapters/contracts/support/builders.js";
import { verifyLedger } from "../../application/credits/ledger.js";
import { anOwner, type World } from "./world.js";

/** Fifty concurrent creations on an account with credits for all of them: five are accepted and charged. */
export const createsFiftyConcurrently = async (world: World): Promise<void> => {
  const { ledger, tasks, provider, clock } = world;
  const owner = await anOwner(world, 1_000);

  for (const round of [1, 2]) {
    const results = await Promise.all(
      Array.from({ length: 50 }, () => world.createPanorama(owner, aCreationRequest({ resolution: "2k" }))),
    );
    const refusals = results.flatMap((result) => (result.isErr() ? [result.error.kind] : []));
    expect(refusals).toEqual(Array.from({ length: 45 }, () => "too_many_active_tasks"));
    expect(await ledger.balance(owner)).toBe(1_000 - round * 5 * 6);
    expect(await tasks.list(owner, 100, undefined)).toHaveLength(round * 5);
    expect(provider.started).toBe(round * 5);
    expect((await verifyLedger({ ledger })()).findings).toEqual([]);

    await clock.advance(provider.nextPollMilliseconds());
    expect(await world.settle()).toBe(5);
  }
};
