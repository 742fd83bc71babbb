import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/ids.js";
import { panoramaName } from "../../domain/images/object-name.js";
import { type InvalidRequest, invalidRequest } from "../../domain/invalid-request.js";
import type { Task } from "../../domain/tasks/task.js";
import { isVisible } from "../../domain/text.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { AccountStore } from "../ports/stores/account-stores.js";
import type { OperatorStore } from "../ports/stores/operator-store.js";
import type { TaskAccess } from "../ports/stores/tasks/task-access.js";

type HidePanoramaPorts = {
  readonly operators: Pick<OperatorStore, "record">;
  readonly tasks: Pick<TaskAccess, "hide">;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "unguessable">;
};

/** Reason, which the owner sees, and name of the operator. */
export type OperatorReason = { readonly reason: string; readonly by: string };

const REASON_CHARACTERS_MAX = 200;
/** Longer operator names are cut in the row of a task. The operator log has them complete. */
const BY_CHARACTERS_MAX = 100;

/** Trims the reason. */
export const parseReason = ({ reason: given, by }: OperatorReason): Result<OperatorReason, InvalidRequest> => {
  const reason = given.trim();
  const rule = { name: "visible_characters", min: 1, max: REASON_CHARACTERS_MAX, actual: reason } as const;
  return isVisible(reason, REASON_CHARACTERS_MAX)
    ? ok({ reason, by: by.slice(0, BY_CHARACTERS_MAX) })
    : err(invalidRequest("reason", rule));
};

/**
 * For the operator: hides a panorama, by its slug or id, from everybody but its owner, who sees the reason. Without a
 * reason, shows it again with its owner's visibility. Background work then renames the files of a hidden one
 * (background/keep-finished-images.ts), because a bucket serves known URLs.
 */
export const hidePanorama =
  ({ operators, tasks, clock, ids }: HidePanoramaPorts) =>
  async (slugOrId: string, given: OperatorReason | undefined): Promise<Result<Task, NotFound | InvalidRequest>> => {
    const parsed = given === undefined ? ok(undefined) : parseReason(given);
    if (parsed.isErr()) return err(parsed.error);
    const refusal = notFound(`There is no ${given === undefined ? "hidden " : ""}panorama ${slugOrId}.`);
    const task = (await operators.record(slugOrId))?.task;
    if (task === undefined) return err(refusal);
    const hidden = parsed.value && { at: clock.now(), ...parsed.value };
    const changed = await tasks.hide(task.id, hidden, () => panoramaName(ids.unguessable()));
    return changed.map(() => task).mapErr(() => refusal);
  };

/** Panoramas per transaction. */
const HIDE_BATCH = 50;

/** For the operator: `hidePanorama` for all public panoramas of an account. Resolves to their number. */
export const hideAllPanoramas =
  ({
    accounts,
    tasks,
    clock,
    ids,
  }: {
    readonly accounts: Pick<AccountStore, "exists">;
    readonly tasks: Pick<TaskAccess, "hideAll">;
    readonly clock: Pick<Clock, "now">;
    readonly ids: Pick<Ids, "unguessable">;
  }) =>
  async (account: AccountId, given: OperatorReason): Promise<Result<number, NotFound | InvalidRequest>> => {
    const parsed = parseReason(given);
    if (parsed.isErr()) return err(parsed.error);
    if (!(await accounts.exists(account))) return err(notFound(`There is no account ${account}.`));
    const hiding = { at: clock.now(), ...parsed.value };
    let hidden = 0;
    const nextName = () => panoramaName(ids.unguessable());
    for (let page = 1; page > 0; hidden += page) {
      page = await tasks.hideAll(account, hiding, HIDE_BATCH, nextName);
    }
    return ok(hidden);
  };

type SuspendAccountPorts = {
  readonly accounts: Pick<AccountStore, "exists">;
  readonly operators: Pick<OperatorStore, "suspend">;
  readonly clock: Pick<Clock, "now">;
};

/** For the operator: suspends an account (domain/accounts/account.ts), or resumes it without a reason. */
export const suspendAccount =
  ({ accounts, operators, clock }: SuspendAccountPorts) =>
  async (id: AccountId, given: OperatorReason | undefined): Promise<Result<void, NotFound | InvalidRequest>> => {
    const parsed = given === undefined ? ok(undefined) : parseReason(given);
    if (parsed.isErr()) return err(parsed.error);
    if (!(await accounts.exists(id))) return err(notFound(`There is no account ${id}.`));
    return operators.suspend(id, parsed.value && { at: clock.now(), reason: parsed.value.reason });
  };
