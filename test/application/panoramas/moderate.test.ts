import fc from "fast-check";
import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/support/builders.js";
import { settled } from "../../../adapters/memory/settled.js";
import { checkGeneratedImages } from "../../../application/background/check-generated-images.js";
import { withholdPanorama } from "../../../application/operators/withhold-panorama.js";
import { createPanorama } from "../../../application/panoramas/create-panorama.js";
import type { ModeratedPart, Moderation, ModerationAnswer } from "../../../application/ports/moderation.js";
import type { IdempotencyKey } from "../../../domain/credits/idempotency.js";
import {
  CREATION_SETTINGS,
  GENERATION_DEADLINE_MILLISECONDS,
  LEASE_MILLISECONDS,
  RESULT_BOUNDS,
} from "../../support/application.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

type Says = ModerationAnswer | "down" | "throws" | "lies" | "hangs";

const moderationThat = (says: Partial<Record<ModeratedPart["kind"], Says>>): Moderation & { asked: number } => ({
  asked: 0,
  hashOf: ({ kind }) => `hash of ${kind}`,
  async judge({ kind }) {
    this.asked += 1;
    const answer = says[kind] ?? "allow";
    if (answer === "throws") throw new Error("broken");
    if (answer === "hangs") return new Promise(() => {});
    if (answer === "down") return err({ kind: "moderation_unavailable", reason: "status 500" });
    return ok(answer === "lies" ? ("maybe" as ModerationAnswer) : answer);
  },
});

const REFERENCE = "https://example.com/photo.jpg";
const lake = aCreationRequest({ prompt: "a quiet lake", image_urls: [REFERENCE], visibility: "public" });
const key = "order-1" as IdempotencyKey;
const anySays = fc.constantFrom<Says>("allow", "review", "block", "down", "throws", "lies");
const isNoAnswer = (says: Says) => says === "down" || says === "throws" || says === "lies";

const creating = (world: World, moderation: Moderation, whenUnavailable: "refuse" | "allow" = "refuse") =>
  createPanorama({ ...world, moderation }, { ...CREATION_SETTINGS, moderationWhenUnavailable: whenUnavailable });

const checking = (world: World, moderation: Moderation, whenUnavailable: "refuse" | "allow" = "refuse") =>
  checkGeneratedImages(
    { ...world, moderation },
    {
      resultBounds: RESULT_BOUNDS,
      generationDeadlineMilliseconds: GENERATION_DEADLINE_MILLISECONDS,
      leaseMilliseconds: LEASE_MILLISECONDS,
      concurrency: 1,
      moderationWhenUnavailable: whenUnavailable,
    },
  );

/** A creation that the provider has finished, without a look at its result. */
const aGenerated = async (moderation: Moderation) => {
  const world = aWorld();
  const owner = await anOwner(world, 100);
  const { task } = (await creating(world, moderation)(owner, lake))._unsafeUnwrap();
  await world.clock.advance(world.provider.nextPollMilliseconds());
  await world.poll();
  return { world, owner, id: task.id, slug: task.slug, read: async () => world.tasks.find(task.id, owner) };
};

describe("a creation with moderation", () => {
  it("is refused before it costs anything, with the parameter, and otherwise goes on", async () => {
    await fc.assert(
      fc.asyncProperty(anySays, anySays, fc.constantFrom("refuse", "allow"), async (text, image_url, setting) => {
        const world = aWorld();
        const owner = await anOwner(world, 100);
        const created = await creating(world, moderationThat({ text, image_url }), setting)(owner, lake, key);

        const blocked = text === "block" ? "prompt" : image_url === "block" ? "image_urls" : undefined;
        const unavailable = setting === "refuse" && (isNoAnswer(text) || isNoAnswer(image_url));
        if (blocked !== undefined || unavailable) {
          const refusal = blocked
            ? { kind: "invalid_request", field: blocked, rule: { name: "content_refused" } }
            : { kind: "upstream_error" };
          expect(created._unsafeUnwrapErr()).toMatchObject(refusal);
          expect(await world.ledger.balance(owner)).toBe(100);
          // The key is free: another request may use it.
          const other = aCreationRequest({ prompt: "a forest" });
          expect((await creating(world, moderationThat({}))(owner, other, key))._unsafeUnwrap().replayed).toBe(false);
        } else {
          const { task } = created._unsafeUnwrap();
          const isReviewed = text === "review" || image_url === "review";
          expect(task.request.visibility).toBe(isReviewed ? "private" : "public");
          expect((await world.operators.reviews(10)).map(({ task: { id } }) => id)).toEqual(
            isReviewed ? [task.id] : [],
          );
        }
        expect(JSON.stringify(world.reporter.events)).not.toContain("quiet lake");
      }),
    );
  });

  it("is answered with its task when it is repeated, whatever the moderation says now", async () => {
    const world = aWorld();
    const owner = await anOwner(world, 100);
    for (const first of ["allow", "review"] as const) {
      const named = `order-${first}` as IdempotencyKey;
      const { task } = (await creating(world, moderationThat({ text: first }))(owner, lake, named))._unsafeUnwrap();
      for (const text of ["block", "down", "allow"] as const) {
        const again = (await creating(world, moderationThat({ text }))(owner, lake, named))._unsafeUnwrap();
        expect(again).toMatchObject({ replayed: true, task: { id: task.id } });
      }
    }
  });

  it("waits for a moderation that hangs no longer than its time-out", async () => {
    const world = aWorld();
    const owner = await anOwner(world, 100);
    const created = creating(world, moderationThat({ text: "hangs", image_url: "hangs" }))(owner, lake);
    await settled();
    await world.clock.advance(5_000);
    expect((await created)._unsafeUnwrapErr()).toEqual({ kind: "upstream_error" });
    expect(world.clock.sleeping).toBe(0);
    expect(await world.ledger.balance(owner)).toBe(100);
    const unavailable = { of: "creation", answer: "unavailable", seconds: 5, detail: "there was no answer in time" };
    expect(world.reporter.of("moderated")).toEqual([
      expect.objectContaining(unavailable),
      expect.objectContaining(unavailable),
    ]);
  });
});

describe("a result with moderation", () => {
  it("is refunded once if it is blocked, and its image is stored nowhere", async () => {
    const moderation = moderationThat({ image: "block" });
    const { world, owner, read } = await aGenerated(moderation);
    await checking(world, moderation)();
    expect(await read()).toMatchObject({
      state: "failed",
      reason: "content_refused",
      reservation: { state: "refunded" },
    });
    expect(await checking(world, moderation)()).toBe(0);
    expect(await world.ledger.balance(owner)).toBe(100);
    expect(world.storage.objects.size).toBe(0);
  });

  it("shows nothing without an answer, is asked again, and is refunded at the deadline", async () => {
    const moderation = moderationThat({ image: "down" });
    const { world, owner, read } = await aGenerated(moderation);
    await checking(world, moderation)();
    expect((await read())?.state).toBe("generated");
    await world.clock.advance(GENERATION_DEADLINE_MILLISECONDS);
    await checking(world, moderation)();
    expect(await read()).toMatchObject({ state: "failed", reason: "deadline_passed" });
    expect(await world.ledger.balance(owner)).toBe(100);
    expect(world.storage.objects.size).toBe(0);
  });

  it("succeeds without an answer where the operator wants that", async () => {
    const moderation = moderationThat({ image: "down" });
    const { world, read } = await aGenerated(moderation);
    await checking(world, moderation, "allow")();
    expect((await read())?.state).toBe("succeeded");
  });

  it("is private while it is under review, and gets its visibility back, or stays private", async () => {
    const moderation = moderationThat({ image: "review" });
    const { world, owner, id, slug, read } = await aGenerated(moderation);
    await checking(world, moderation)();
    expect(await read()).toMatchObject({ state: "succeeded", request: { visibility: "private" } });
    expect((await world.tasks.setVisibility(id, owner, "public")).isErr()).toBe(true);
    expect((await world.operators.reviews(10)).map(({ task }) => task.id)).toEqual([id]);

    (await withholdPanorama(world)(slug, undefined))._unsafeUnwrap();
    expect(await read()).toMatchObject({ request: { visibility: "public" } });
    expect(await world.operators.reviews(10)).toEqual([]);

    await world.tasks.holdForReview(id, world.clock.now());
    (await withholdPanorama(world)(slug, { reason: "Shows a private person", by: "ann" }))._unsafeUnwrap();
    expect(await world.operators.reviews(10)).toEqual([]);
    expect(await read()).toMatchObject({ request: { visibility: "private" } });
  });
});
