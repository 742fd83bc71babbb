import { err, ok, type Result } from "neverthrow";
import type { LedgerEntry } from "../../domain/credits/ledger.js";
import { endedAtOf } from "../../domain/tasks/account-event.js";
import { isActive } from "../../domain/tasks/task.js";
import { type NotFound, notFound } from "../errors.js";
import type { LedgerStore } from "../ports/stores/ledger-store.js";
import type { OperatorStore, TaskRecord } from "../ports/stores/operator-store.js";
import type { DeliveryStore, ListedDelivery } from "../ports/stores/webhook-stores.js";

type Ports = {
  readonly operators: Pick<OperatorStore, "record">;
  readonly ledger: Pick<LedgerStore, "ofTask">;
  readonly deliveries: Pick<DeliveryStore, "ofTask">;
};

/** Something that happened to a task. `afterSeconds`: since the stage before; 0 for the first one. */
export type Stage = {
  readonly name:
    | "created"
    | "started"
    | "submitted"
    | "generated"
    | "succeeded"
    | "failed"
    | "saved"
    | "expired"
    | "hidden"
    | "deleted";
  readonly at: Date;
  readonly afterSeconds: number;
};

/** The history of a task: its stages, credits and deliveries. */
export type TaskStory = {
  readonly record: TaskRecord;
  /** The stages, oldest first. */
  readonly stages: readonly Stage[];
  readonly entries: readonly LedgerEntry[];
  readonly deliveries: readonly ListedDelivery[];
};

/** For the operator: explains the task with this id or slug, of any account, even if deleted. */
export const explainTask =
  ({ operators, ledger, deliveries }: Ports) =>
  async (idOrSlug: string): Promise<Result<TaskStory, NotFound>> => {
    const record = await operators.record(idOrSlug);
    if (record === undefined) return err(notFound(`There is no task ${idOrSlug}.`));
    const { id, accountId } = record.task;
    const [entries, told] = await Promise.all([ledger.ofTask(id), deliveries.ofTask(accountId, id)]);
    return ok({ record, stages: stagesOf(record), entries, deliveries: told });
  };

const stagesOf = ({ task, times, hidden, deleted }: TaskRecord): readonly Stage[] => {
  const ended = isActive(task) ? [] : [{ name: task.state, at: endedAtOf(task) }];
  const reached: readonly { readonly name: Stage["name"]; readonly at: Date | undefined }[] = [
    { name: "created", at: task.reservedAt },
    { name: "started", at: times.startedAt },
    { name: "submitted", at: times.submittedAt },
    { name: "generated", at: times.generatedAt },
    ...ended,
    { name: "saved", at: times.savedAt },
    { name: "expired", at: times.expiredAt },
    { name: "hidden", at: hidden?.at },
    { name: "deleted", at: deleted?.at },
  ];
  const stages: Stage[] = [];
  for (const { name, at } of reached) {
    if (at === undefined) continue;
    // The clock may have been set back: a wait is never negative.
    const before = stages.at(-1)?.at ?? at;
    stages.push({ name, at, afterSeconds: Math.max(0, at.getTime() - before.getTime()) / 1000 });
  }
  return stages;
};
