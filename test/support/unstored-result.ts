import { aCreationRequest } from "../../adapters/contracts/support/builders.js";
import type { AccountId, TaskId } from "../../domain/ids.js";
import { LEASE_MILLISECONDS, useCases } from "./application.js";
import { PortGates } from "./port-gates.js";
import { anOwner, aWorld, type World } from "./world.js";

/** A world with a task that has succeeded, as if the process was killed before it stored the image. */
export const anUnstoredResult = async (): Promise<{ world: World; owner: AccountId; id: TaskId }> => {
  const world = aWorld();
  const owner = await anOwner(world, 100);
  const { task } = (await world.createPanorama(owner, aCreationRequest({ resolution: "2k" })))._unsafeUnwrap();
  await world.clock.advance(world.provider.nextPollMilliseconds());
  await world.poll();
  await succeedWithoutStoring(world);
  return { world, owner, id: task.id };
};

/** The leases of the checked tasks have expired afterwards. */
const succeedWithoutStoring = async (world: World): Promise<void> => {
  const gates = new PortGates();
  const stopping = new AbortController();
  const clock = { now: () => world.clock.now(), sleep: () => new Promise<void>(() => {}) }; // does not wake it again
  const { check } = useCases({ ...world, clock, storage: gates.guard(world.storage) });
  void check(stopping.signal);
  await world.clock.advance(0);
  stopping.abort();
  gates.kill();
  await world.clock.advance(LEASE_MILLISECONDS);
};
