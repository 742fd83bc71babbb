import { err, type Result } from "neverthrow";
import type { AccountId } from "../../domain/account-id.js";
import { type InvalidRequest, invalidRequest } from "../../domain/invalid-request.js";
import type { TaskId } from "../../domain/task-id.js";
import { type Hotspots, linksOf, notOwn } from "../../domain/tasks/hotspots.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { TaskStore } from "../ports/stores/tasks/task-store.js";
import { type ModerationPorts, type ModerationSettings, moderateNotes } from "./moderate.js";
import type { UpstreamError } from "./submit-task.js";

type Ports = ModerationPorts & {
  readonly tasks: Pick<TaskStore, "find" | "setHotspots" | "findOwnBySlugs" | "holdForReview">;
  readonly clock: Pick<Clock, "now">;
};

/** Why hotspots are refused. Those of before stay. */
export type SetHotspotsError = NotFound | InvalidRequest | UpstreamError;

/** `needsReview`: the panorama is private now, until an operator has seen it. */
export type SetHotspots = { readonly needsReview: boolean };

/**
 * The owner replaces all hotspots of a finished panorama. Each link leads to another finished one of theirs, also a
 * private one. What becomes of it later is decided when the hotspots are shown (find-linked-panoramas.ts).
 *
 * Notes go through the moderation as prompts do, but only new ones: an operator may have allowed those of before.
 */
export const setHotspots =
  (ports: Ports, settings: ModerationSettings = {}) =>
  async (id: TaskId, owner: AccountId, hotspots: Hotspots): Promise<Result<SetHotspots, SetHotspotsError>> => {
    const { tasks, clock } = ports;
    const [task, linked] = await Promise.all([tasks.find(id, owner), tasks.findOwnBySlugs(owner, linksOf(hotspots))]);
    if (task?.state !== "succeeded") return err(notFound(`There is no panorama ${id}.`));
    const others = new Set(linked.flatMap((other) => (other.id === id ? [] : other.slug)));
    for (const [index, { to }] of hotspots.entries()) {
      if (to !== undefined && !others.has(to)) return err(invalidRequest("to", notOwn(to), index));
    }
    const known = new Set(task.hotspots?.map(({ note }) => note));
    const added = [...new Set(hotspots.map(({ note }) => note))].filter((note) => !known.has(note));
    const { refusal, needsReview } = await moderateNotes(ports, settings, added);
    if (refusal?.kind === "invalid_request") {
      const blocked = hotspots.findIndex(({ note }) => note === added[refusal.index ?? 0]);
      return err({ ...refusal, index: blocked });
    }
    if (refusal !== undefined) return err(refusal);
    // It is private before it has the note: nobody else sees what waits for a review.
    if (needsReview) await tasks.holdForReview(id, clock.now());
    const stored = await tasks.setHotspots(id, owner, hotspots);
    return stored.map(() => ({ needsReview }));
  };
