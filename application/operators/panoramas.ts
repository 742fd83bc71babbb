import { err, ok, type Result } from "neverthrow";
import type { LedgerEntry } from "../../domain/credits/ledger.js";
import type { AccountId } from "../../domain/ids.js";
import { panoramaName } from "../../domain/images/object-name.js";
import { type InvalidRequest, invalidRequest } from "../../domain/invalid-request.js";
import { endedAtOf } from "../../domain/tasks/account-event.js";
import { isActive, type Task } from "../../domain/tasks/task.js";
import { isVisible } from "../../domain/text.js";
import { type NotFound, notFound } from "../errors.js";
import type { ApplicationPorts } from "../ports/application-ports.js";
import type { TaskRecord } from "../ports/stores/operator-store.js";
import type { TaskAccess } from "../ports/stores/tasks/task-access.js";
import type { ListedDelivery } from "../ports/stores/webhook-stores.js";

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

/** Reason, which the owner sees, and name of the operator. */
export type OperatorReason = { readonly reason: string; readonly by: string };

/** Panoramas per transaction. */
const HIDE_BATCH = 50;

/** Panoramas of all accounts, for the operator: hiding them, and the history of one. */
export function operatedPanoramas(
  ports: Pick<ApplicationPorts, "accounts" | "operators" | "ledger" | "deliveries" | "clock" | "ids"> & {
    readonly tasks: TaskAccess;
  },
) {
  const { accounts, operators, tasks, ledger, deliveries, clock, ids } = ports;
  const nextName = () => panoramaName(ids.unguessable());
  return {
    /**
     * Hides a panorama, by its slug or id, from everybody but its owner, who sees the reason. Without a reason, shows
     * it again with its owner's visibility. Background work then renames the files of a hidden one
     * (background/store-finished-images.ts), because a bucket serves known URLs.
     */
    async hidePanorama(
      slugOrId: string,
      given: OperatorReason | undefined,
    ): Promise<Result<Task, NotFound | InvalidRequest>> {
      const parsed = given === undefined ? ok(undefined) : parseReason(given);
      if (parsed.isErr()) return err(parsed.error);
      const refusal = notFound(`There is no ${given === undefined ? "hidden " : ""}panorama ${slugOrId}.`);
      const task = (await operators.record(slugOrId))?.task;
      if (task === undefined) return err(refusal);
      const hidden = parsed.value && { at: clock.now(), ...parsed.value };
      const changed = await tasks.hide(task.id, hidden, nextName);
      return changed.map(() => task).mapErr(() => refusal);
    },

    /** `hidePanorama` for all public panoramas of an account. Resolves to their number. */
    async hideAllPanoramas(
      account: AccountId,
      given: OperatorReason,
    ): Promise<Result<number, NotFound | InvalidRequest>> {
      const parsed = parseReason(given);
      if (parsed.isErr()) return err(parsed.error);
      if (!(await accounts.exists(account))) return err(notFound(`There is no account ${account}.`));
      const hiding = { at: clock.now(), ...parsed.value };
      let hidden = 0;
      for (let page = 1; page > 0; hidden += page) {
        page = await tasks.hideAll(account, hiding, HIDE_BATCH, nextName);
      }
      return ok(hidden);
    },

    /** Explains the task with this id or slug, of any account, even if deleted. */
    async explainTask(idOrSlug: string): Promise<Result<TaskStory, NotFound>> {
      const record = await operators.record(idOrSlug);
      if (record === undefined) return err(notFound(`There is no task ${idOrSlug}.`));
      const { id, accountId } = record.task;
      const [entries, told] = await Promise.all([ledger.ofTask(id), deliveries.ofTask(accountId, id)]);
      return ok({ record, stages: stagesOf(record), entries, deliveries: told });
    },
  };
}

const REASON_CHARACTERS_MAX = 200;
/** Longer operator names are cut in the row of a task. The operator log has them complete. */
const BY_CHARACTERS_MAX = 100;

/** Trims the reason. */
export function parseReason({ reason: given, by }: OperatorReason): Result<OperatorReason, InvalidRequest> {
  const reason = given.trim();
  const rule = { name: "visible_characters", min: 1, max: REASON_CHARACTERS_MAX, actual: reason } as const;
  return isVisible(reason, REASON_CHARACTERS_MAX)
    ? ok({ reason, by: by.slice(0, BY_CHARACTERS_MAX) })
    : err(invalidRequest("reason", rule));
}

function stagesOf({ task, times, hidden, deleted }: TaskRecord): readonly Stage[] {
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
}
