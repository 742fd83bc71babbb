import { parseTaskId } from "../../../domain/ids.js";
import { isActive, type Task } from "../../../domain/tasks/task.js";
import { VISIBILITIES } from "../../../domain/tasks/visibility.js";
import type { Page } from "../../web-page/page.js";
import { hiddenSentence } from "../../wording/sentences.js";
import { redirect } from "../paths.js";
import type { MemberFormOptions } from "../session-guard.js";
import { refuseSuspended } from "./selected-works.js";
import type { WorksParts } from "./works-list-page.js";

export const visibilityRoute = (parts: WorksParts, options: MemberFormOptions): Page => ({
  method: "POST",
  path: "/works/:id/visibility",
  body: "fields",
  handle: parts.guard.memberForm(async ({ params, form }, visitor) => {
    const id = parseTaskId(params.id ?? "");
    const visibility = VISIBILITIES.find((one) => one === form.get("visibility"));
    if (id === undefined || visibility === undefined) return parts.layout.notFound(visitor);
    if (visibility === "public") {
      const refusal = refuseSuspended(parts.layout, visitor);
      if (refusal !== undefined) return refusal;
    }
    const changed = await parts.panoramas.changeVisibility(id, visitor.account.id, visibility);
    return changed.match(
      () => redirect("/works"),
      (error) =>
        error.kind === "hidden"
          ? parts.layout.message(
              409,
              {
                title: "This panorama stays private",
                sentence: hiddenSentence(error.reason),
              },
              visitor,
            )
          : parts.layout.notFound(visitor),
    );
  }, options),
});

export const cancelRoute = (parts: WorksParts, options: MemberFormOptions): Page => ({
  method: "POST",
  path: "/works/:id/cancel",
  body: "fields",
  handle: parts.guard.memberForm(async ({ params }, visitor) => {
    const id = parseTaskId(params.id ?? "");
    if (id === undefined) return parts.layout.notFound(visitor);
    const refusal = await parts.guard.admit(visitor, "write"); // counts as a write, because it may call the provider
    if (refusal !== undefined) return refusal;
    const canceled = await parts.panoramas.cancel(id, visitor.account.id);
    return canceled.match(
      (task) =>
        task.state === "failed"
          ? redirect("/works")
          : parts.layout.message(409, { title: "Too late to cancel", sentence: tooLateSentence(task) }, visitor),
      () => parts.layout.notFound(visitor),
    );
  }, options),
});

export const deleteRoute = (parts: WorksParts, options: MemberFormOptions): Page => ({
  method: "POST",
  path: "/works/:id/delete",
  body: "fields",
  handle: parts.guard.memberForm(async ({ params }, visitor) => {
    const id = parseTaskId(params.id ?? "");
    if (id === undefined) return parts.layout.notFound(visitor);
    const deleted = await parts.panoramas.delete(id, visitor.account.id, "page");
    return deleted.match(
      () => redirect("/works"),
      ({ kind }) => {
        if (kind === "not_found") return parts.layout.notFound(visitor);
        return kind === "not_finished"
          ? parts.layout.message(
              409,
              {
                title: "Not finished yet",
                sentence: "This panorama is still being generated. You can delete it when it is finished.",
              },
              visitor,
            )
          : parts.layout.message(
              503,
              {
                title: "Not deleted",
                sentence: "The image storage is currently unavailable. Please try again.",
              },
              visitor,
            );
      },
    );
  }, options),
});

const tooLateSentence = (task: Task): string => {
  if (!isActive(task)) return "This panorama is finished. You can delete it in your panoramas.";
  return task.state === "submitting"
    ? "This panorama is being started at this moment. Try again in a few seconds."
    : "This panorama cannot be stopped without a charge any more, so it is being finished.";
};
