import { describe, expect, it } from "vitest";
import {
  aCreationRequest,
  aFailedTask,
  aGeneratedTask,
  aNativeSize,
  anImageName,
  aQueuedTask,
  aSubmittedTask,
  aSubmittingTask,
  aSucceededTask,
  noon,
  secondsAfter,
} from "../../../adapters/contracts/support/builders.js";
import {
  expire,
  giveUp,
  keep,
  keepWithoutThumbnail,
  type StoredImage,
  uploading,
} from "../../../domain/images/storage-status.js";
import {
  declineCancel,
  isCancelable,
  isCancelRequested,
  requestCancel,
  wasCancelDeclined,
} from "../../../domain/tasks/cancel-request.js";
import {
  fail,
  finish,
  isActive,
  isInGallery,
  isInProgress,
  isRefusedCreation,
  isRenamed,
  placeOf,
  requeue,
  start,
  startViewOf,
  statusOf,
  submit,
  succeed,
  TASK_STATES,
  type Task,
  withFigures,
} from "../../../domain/tasks/task.js";
import { TEXTS_KEPT_MILLISECONDS, withoutTexts } from "../../../domain/tasks/task-texts.js";

const later = secondsAfter(noon, 90);
const image = uploading("https://provider.example.com/temporary/1.jpg", anImageName());

const states = {
  queued: aQueuedTask(),
  submitting: aSubmittingTask(),
  submitted: aSubmittedTask(),
  generated: aGeneratedTask(),
  succeeded: aSucceededTask(),
  failed: aFailedTask(),
} as const satisfies Record<Task["state"], Task>;

describe("a task", () => {
  it("keeps its provider place until it ends, and has none while queued", () => {
    const started = start(aQueuedTask(), "fal:seedream-4.5");
    const submitted = submit(started, "upstream-1", noon);
    const generated = finish(submitted, "https://provider.example.com/temporary/1.jpg");
    const ended = [
      succeed(generated, anImageName(), aNativeSize, later),
      ...[started, submitted, generated].map((task) => fail(task, "deadline_passed", later)),
    ];
    for (const task of [started, submitted, generated, ...ended]) expect(placeOf(task)).toBe("fal:seedream-4.5");
    const requeued = requeue(started, 1);
    for (const task of [requeued, fail(requeued, "never_started", later)]) expect(placeOf(task)).toBeUndefined();
  });

  it("keeps the figures of usable and unusable results, and begins with their view", () => {
    const view = { yaw: 90, pitch: -5 };
    const figures = { seam: 3.5, seamRatio: 2.25, poleDeviation: { zenith: 1, nadir: 60 }, view };
    const measured = withFigures(aGeneratedTask(), figures);
    const succeeded = succeed(measured, anImageName(), aNativeSize, later);
    expect(succeeded.figures).toEqual(figures);
    expect([succeeded, aSucceededTask()].map(startViewOf)).toEqual([view, undefined]);
    expect(fail(measured, "generation_failed", later).figures).toEqual(figures);
    expect(fail(aSubmittedTask(), "generation_failed", later).figures).toBeUndefined();
  });

  it("records when the provider accepted it, and under which id", () => {
    const task = aSubmittingTask();
    const { turn: _, submissions: __, ...core } = task;
    expect(submit(task, "upstream-2", later)).toStrictEqual({
      ...core,
      state: "submitted",
      submittedAt: later,
      upstreamTaskId: "upstream-2",
    });
  });

  it("keeps its turn when it starts", () => {
    const started = { ...aQueuedTask({ turn: 7 }), state: "submitting", place: "only" };
    expect(start(aQueuedTask({ turn: 7 }), "only")).toStrictEqual(started);
  });

  it("requeue keeps the task and increments submissions", () => {
    const sent = start(aQueuedTask({ turn: 7 }), "only");
    expect(requeue(sent, 7)).toStrictEqual({ ...aQueuedTask({ turn: 7 }), submissions: 1 });
    expect(start(requeue(sent, 7), "only")).toStrictEqual({ ...sent, submissions: 1 });
    expect(requeue(aSubmittingTask(), 3)).toStrictEqual(aQueuedTask({ turn: 3, submissions: 1 }));
  });

  it("counts as a refused creation only when it fails before its creation request is answered", () => {
    const failed = aFailedTask({ reason: "refused" });
    expect(isRefusedCreation(aSubmittingTask(), failed)).toBe(true);
    expect(isRefusedCreation(aSubmittingTask({ turn: 7 }), failed)).toBe(false);
    expect(isRefusedCreation(aSubmittingTask(), aFailedTask({ reason: "never_submitted" }))).toBe(false);
    expect(isRefusedCreation(aQueuedTask(), failed)).toBe(false);
    expect(isRefusedCreation(aSubmittedTask(), failed)).toBe(false);
    expect(isRefusedCreation(aSubmittingTask(), aSubmittedTask())).toBe(false);
  });

  it("holds its credits in state generated", () => {
    const task = aSubmittedTask();
    const { temporaryUrl } = image;
    expect(finish(task, temporaryUrl)).toStrictEqual({ ...task, state: "generated", temporaryUrl });
  });

  it("captures its credits when it succeeds, and has an image to keep", () => {
    const { temporaryUrl: _, ...task } = aGeneratedTask();
    expect(succeed(aGeneratedTask(), image.imageName, aNativeSize, later)).toStrictEqual({
      ...task,
      state: "succeeded",
      reservation: { ...task.reservation, state: "captured" },
      succeededAt: later,
      image,
      nativeSize: aNativeSize,
    });
  });

  it.each([
    ["was not asked", aQueuedTask(), ["never_started", "canceled"]],
    ["did not accept it", aSubmittingTask(), ["never_started", "refused", "submission_unknown", "never_submitted"]],
    ["accepted it", aSubmittedTask(), ["generation_failed", "deadline_passed"]],
    ["made a bad picture", aGeneratedTask(), ["unusable_result"]],
  ] as const)("refunds its credits and records the reason when the provider %s", (_, before, reasons) => {
    for (const reason of reasons) {
      const { id, accountId, slug, request, reservedAt } = before;
      const reservation = { ...before.reservation, state: "refunded" };
      const kept = { id, accountId, slug, request, reservedAt, place: placeOf(before) };
      expect(fail(before, reason, later)).toEqual({ ...kept, state: "failed", reservation, failedAt: later, reason });
    }
  });

  it.each([
    ["queued", "processing", true, true],
    ["submitting", "processing", true, true],
    ["submitted", "processing", true, true],
    ["generated", "processing", true, false],
    ["succeeded", "succeeded", false, false],
    ["failed", "failed", false, false],
  ] as const)("in state %s: status %s, isActive %s, isCancelable %s", (state, status, active, cancelable) => {
    expect(statusOf(states[state])).toBe(status);
    expect(isActive(states[state])).toBe(active);
    expect(isCancelable(states[state])).toBe(cancelable);
  });

  it("has exactly these states", () => {
    expect(TASK_STATES).toEqual(Object.keys(states));
  });

  it("is renamed if its image has another name afterwards", () => {
    const renamed = aSucceededTask({ image: { ...image, imageName: anImageName(2) } });
    expect(isRenamed(states.succeeded, renamed)).toBe(true);
    for (const other of [states.succeeded, states.generated, states.failed]) {
      expect([isRenamed(states.succeeded, other), isRenamed(other, states.succeeded)]).toEqual([false, false]);
    }
  });

  it("waits a minute after a declined cancel, also if the clock was set back", () => {
    expect(declineCancel(aSubmittedTask(), later).cancelRequest).toEqual({ wantedAt: later, refusedAt: later });
    const wanted = requestCancel(aSubmittedTask(), noon);
    expect(wanted).toEqual({ ...aSubmittedTask(), cancelRequest: { wantedAt: noon } });
    const declined = declineCancel(wanted, later);
    expect(declined).toEqual({ ...wanted, cancelRequest: { wantedAt: noon, refusedAt: later } });
    expect([aSubmittedTask(), wanted, declined].map(isCancelRequested)).toEqual([false, true, false]);
    const isDeclinedAfter = (seconds: number) => wasCancelDeclined(declined, secondsAfter(later, seconds));
    expect([-60, -59, 0, 59, 60].map(isDeclinedAfter)).toEqual([false, true, true, true, false]);
    for (const task of [aSubmittedTask(), wanted]) expect(wasCancelDeclined(task, later)).toBe(false);
  });

  it("without a picture keeps prompt, image URLs and metadata for a week, and all other fields", () => {
    expect(TEXTS_KEPT_MILLISECONDS).toBe(604_800_000);
    const body = { image_urls: ["https://a.example/1"], metadata: { order: "A-17" }, seed: 7 };
    const failed = aFailedTask({ request: aCreationRequest(body) });
    const request = { ...failed.request, prompt: undefined, imageUrls: [], metadata: {} };
    expect(withoutTexts(failed)).toEqual({ ...failed, request });
  });

  it("counts as in progress while active, and while its image is uploading", () => {
    for (const state of ["queued", "submitting", "submitted", "generated"] as const) {
      expect(isInProgress(states[state])).toBe(true);
    }
    expect(isInProgress(aSucceededTask({ image }))).toBe(true);
    for (const ended of [aSucceededTask({ image: keep(image) }), states.failed])
      expect(isInProgress(ended)).toBe(false);
  });

  it("appears in the gallery while it is public and its image is stored", () => {
    const shown = (visibility: "public" | "private", stored: StoredImage) =>
      isInGallery(aSucceededTask({ request: aCreationRequest({ visibility }), image: stored }));
    for (const stored of [keep(image), keepWithoutThumbnail(image)]) {
      expect([shown("public", stored), shown("private", stored)]).toEqual([true, false]);
    }
    for (const stored of [image, giveUp(image), expire(image)]) expect(shown("public", stored)).toBe(false);
    const request = aCreationRequest({ visibility: "public" });
    for (const task of [aGeneratedTask({ request }), aFailedTask({ request })]) expect(isInGallery(task)).toBe(false);
  });
});
