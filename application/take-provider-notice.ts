import { err, ok, type Result } from "neverthrow";
import { type ForgedNotice, type NotFound, notFound } from "./errors.js";
import type { Clock } from "./ports/clock.js";
import type { ProviderUnavailable } from "./ports/generation-provider.js";
import type { ProviderNotice, ProviderNotices } from "./ports/provider-notices.js";
import type { TaskStore } from "./ports/task-store.js";

type Ports = {
  /** By the provider's name. */
  readonly notices: ReadonlyMap<string, ProviderNotices>;
  readonly tasks: TaskStore;
  readonly clock: Clock;
  /** Told that a look is due now. */
  readonly lookDue: () => void;
};

export type TakeProviderNotice = ReturnType<typeof takeProviderNotice>;

/**
 * A notice of a provider: its task is looked at now instead of later. A notice that comes again, or too late, or is
 * about a task that nobody knows, changes nothing else.
 */
export const takeProviderNotice =
  ({ notices, tasks, clock, lookDue }: Ports) =>
  async (
    provider: string,
    notice: ProviderNotice,
  ): Promise<Result<void, NotFound | ForgedNotice | ProviderUnavailable>> => {
    const taken = await notices.get(provider)?.taskOf(notice);
    if (taken === undefined) return err(notFound(`No notices are taken from ${provider}.`));
    if (taken.isErr()) return err(taken.error);
    await tasks.hasten(taken.value, clock.now());
    lookDue();
    return ok(undefined);
  };
