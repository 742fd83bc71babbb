import fc from "fast-check";
import type { TaskStore } from "../../../application/ports/stores/tasks/task-store.js";
import { submit, type Task } from "../../../domain/tasks/task.js";
import { aCreationRequest, aSubmittingTask, noon, taskId } from "../support/builders.js";
import { checkProperty, ON_ONE_STORE } from "../support/check-property.js";
import { expect } from "../support/expect.js";
import type { SuiteOptions, TestFunctions } from "../support/test-functions.js";
import { type TaskSetup, unwrap } from "./task-setup.js";

/** Reads of one task: `find`, `findBySlug`. */
export const describeReading = ({ it, beforeEach }: TestFunctions, on: TaskSetup, options: SuiteOptions): void => {
  const { owner, stranger, open, submitting, failed, keyed } = on;
  let tasks: TaskStore;

  beforeEach(async () => {
    ({ tasks } = on.stores);
  });

  it("returns every kind of text unchanged", async () => {
    let n = 100;
    const text = fc.oneof(fc.string({ unit: "grapheme" }), fc.stringMatching(/^[?'"`\\\n\r\t%_$:;{}🌄é-]*$/u));
    await checkProperty(
      fc.asyncProperty(text, text, text, async (prompt, path, upstreamTaskId) => {
        n += 1;
        const url = `https://example.com/${encodeURIComponent(path)}?'"\\&a=?`;
        const request = aCreationRequest({ prompt: `a ${storable(prompt)} b`, image_urls: [url, url] });
        const task = aSubmittingTask({ id: taskId(n), request });
        unwrap(await open(task, { idempotent: keyed(`k?'"\\${n}`) }));
        expect(await tasks.find(task.id, owner)).toEqual(task);
        const next = submit(task, storable(upstreamTaskId), noon);
        unwrap(await tasks.move(task, next, undefined));
        expect(await tasks.find(task.id, owner)).toEqual(next);
        unwrap(await tasks.move(next, failed(next), undefined));
      }),
      { ...ON_ONE_STORE, numRuns: 60 },
      options,
    );
  });

  it("returns a task without a prompt", async () => {
    const request = aCreationRequest({
      prompt: undefined,
      image_urls: ["https://example.com/a.png"],
      visibility: "public",
      resolution: "4k",
    });
    const task = aSubmittingTask({ request, reservedAt: new Date("2026-02-03T04:05:06.789Z") });
    unwrap(await open(task));
    expect(await tasks.find(task.id, owner)).toEqual(task);
  });

  it("returns seed and metadata unchanged, in every state", async () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 16 }, (_, n) => ["🌊".repeat(38) + String(n).padStart(2), "🌊".repeat(500)]),
    );
    const request = aCreationRequest({ seed: 2147483647, metadata });
    const task = aSubmittingTask({ request });
    unwrap(await open(task, { idempotent: keyed("k") }));
    expect(await tasks.find(task.id, owner)).toEqual(task);
    const again = unwrap(await open(aSubmittingTask({ id: taskId(2), request }), { idempotent: keyed("k") }));
    expect(again).toEqual({ task, replayed: true });
    const other = aSubmittingTask({ id: taskId(3), request: aCreationRequest({ seed: 0, metadata: { a: "" } }) });
    unwrap(await open(other));
    const next = submit(other, "upstream-3", noon);
    unwrap(await tasks.move(other, next, noon));
    expect(await tasks.find(other.id, owner)).toEqual(next);
  });

  it("returns undefined for unknown ids and for tasks of other accounts", async () => {
    const { id } = await submitting();
    expect(await tasks.find(id, stranger)).toBeUndefined();
    expect(await tasks.find(taskId(99), owner)).toBeUndefined();
  });

  it("findBySlug finds the task of any account", async () => {
    const task = await submitting();
    expect(await tasks.findBySlug(task.slug)).toEqual(task);
    expect(await tasks.findBySlug("0000000000000000" as Task["slug"])).toBeUndefined();
  });
};

/** Removes the characters that a request must not contain (domain/tasks/creation-request.ts). */
const storable = (text: string): string => text.replaceAll("\u0000", "").toWellFormed();
