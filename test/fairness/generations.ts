import { setTimeout } from "node:timers/promises";
import { RESOLUTIONS } from "../../domain/images/resolution.js";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { sendWebhook, type UpstreamTask } from "../support/fake-provider.js";
import { FakeReplicate, REPLICATE_KEY } from "../support/fake-replicate.js";
import type { Installation } from "../support/service-process.js";
import { seamless } from "../support/test-images.js";
import type { OpenArena } from "./arena.js";
import type { Contest } from "./compare.js";
import { clientOf, generate, generateWithoutEnd, installWithLimits } from "./customers.js";

/* Rows about generations: the slots of a remote provider, and the threads of the local one. */

const HOSTILE = 1;
const VICTIM = 2;
const SAMPLES = 4;
const GOLDEN_RATIO = 0.618;
const SLOTS = 2;
const GENERATION_MILLISECONDS = 1_000;
/** Ends are found so late at most. */
const ENDING_MILLISECONDS = 20;

/** A provider that makes two panoramas at a time, and an account that always has as many tasks as it may. */
export const openSlots: OpenArena = async (environment) => {
  const fake = await FakeReplicate.start();
  fake.plan = "run";
  fake.picture = await seamless(RESOLUTIONS["1k"]).jpeg().toBuffer();
  const service = await installWithLimits({
    PROVIDER: "replicate",
    REPLICATE_API_KEY: REPLICATE_KEY,
    REPLICATE_BASE_URL: fake.baseUrl,
    PROVIDER_MAX_CONCURRENT: String(SLOTS),
    PROVIDER_CALLS_PER_SECOND: "1000",
    PUBLIC_URL: "https://panoramas.example", // so that the provider sends webhooks
    ...environment,
  });
  const ended = new Set<UpstreamTask>();
  const ending = setInterval(() => {
    for (const task of fake.tasks) {
      const age = Date.now() - (task.createdAt?.getTime() ?? 0);
      if (ended.has(task) || age < GENERATION_MILLISECONDS) continue;
      ended.add(task);
      task.state = "succeed";
      sendWebhook(fake.webhook(task, new Date()), service.url).catch(() => {});
    }
  }, ENDING_MILLISECONDS);
  const close = async (): Promise<void> => {
    clearInterval(ending);
    await fake.close();
  };
  return { service, contests: [contestOf("slots of the provider", service, "1k")], close };
};

/** The local provider paints 4k pictures for the hostile account, as many as it may have. */
export const openPainter: OpenArena = async (environment) => {
  const service = await installWithLimits({ PROVIDER: "local", LOCAL_PROVIDER_DELAY_MS: "0", ...environment });
  return { service, contests: [contestOf("painter", service, "4k")], close: async () => {} };
};

const contestOf = (name: string, service: Installation, resolution: "1k" | "4k"): Contest => {
  const [hostile, victim] = [clientOf(service, HOSTILE), clientOf(service, VICTIM)];
  const body = { prompt: "a quiet lake at dawn", resolution };
  let sampled = 0;
  return {
    name,
    samples: SAMPLES,
    sample: async () => {
      sampled += 1;
      // At no fixed time after the end of the last one, when the hostile account has just taken its slot.
      await setTimeout(GENERATION_MILLISECONDS * ((sampled * GOLDEN_RATIO) % 1));
      const begun = performance.now();
      const status = await generate(victim, { ...body, resolution: "1k" });
      return { milliseconds: performance.now() - begun, isRefused: status !== "succeeded" };
    },
    attack: generateWithoutEnd(hostile, PANORAMA_POLICY.activeMax, body),
  };
};
