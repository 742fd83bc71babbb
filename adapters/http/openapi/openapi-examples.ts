import type * as z from "zod";
import type { PublicTask } from "../../../application/events/public-task.js";
import type { PanoramaPolicy } from "../../../domain/panorama-policy.js";
import type { ServiceAbilities } from "../../client/offer.js";
import type { creationResponseSchema } from "../routes/create-panorama-route.js";
import type { creditsResponseSchema, entryPageSchema } from "../routes/credits-routes.js";
import type { eventSchema } from "../routes/events-route.js";
import type { taskPageSchema } from "../routes/list-panoramas-route.js";
import type { uploadResponseSchema } from "../routes/upload-images-route.js";

/** Bodies for the OpenAPI description: one panorama from its creation to its webhook. */
export const openApiExamples = (
  origin: string,
  { prices }: Pick<PanoramaPolicy, "prices">,
  abilities: ServiceAbilities,
  hasViewer: boolean,
) => {
  const creation = {
    resolution: "2k",
    prompt: "a quiet lake at sunset",
    visibility: "private",
    metadata: { order: "A-17" },
  } as const;
  const image = `${origin}/assets/panoramas/kX2f9vQm7Yt1Ls8Rw4BzNc`;
  const id = "pan_0199f3a56c1e7b529d0e3f8a1c2b4d5e";
  const core = {
    credits_charged: prices["2k"],
    created_at: "2026-11-22T10:15:00.000Z",
    ...creation,
    image_urls: [],
  };
  const created: z.infer<typeof creationResponseSchema> = { id, status: "processing", ...core };
  const task: PublicTask = {
    id,
    status: "succeeded",
    ...core,
    finished_at: "2026-11-22T10:15:41.000Z",
    output: {
      image_url: `${image}.jpg`,
      slug: "h3k9d2m5q8w4e7r6",
      ...(hasViewer && { viewer_url: `${origin}/works/h3k9d2m5q8w4e7r6` }),
      storage_status: "saved",
      ai_generated: true,
      native_width: 2048,
      native_height: 1024,
      thumbnail_url: `${image}-thumbnail.webp`,
    },
  };
  const page: z.infer<typeof taskPageSchema> = { data: [task], next_cursor: null };
  const totals: z.infer<typeof creditsResponseSchema> = {
    remaining_credits: 82,
    reserved_credits: prices["2k"],
    spent_credits: 12,
  };
  const entries: z.infer<typeof entryPageSchema> = {
    data: [
      {
        kind: "reservation",
        credits: -prices["2k"],
        balance_after: totals.remaining_credits,
        task_id: id,
        key_id: "key_0199f39c7d2e7a41b6c83e5f9a0d1b2c",
        at: core.created_at,
      },
    ],
    next_cursor: null,
  };
  const uploaded: z.infer<typeof uploadResponseSchema> = {
    image_urls: [`${origin}/assets/references/pT5n8cJw2Xe6Uq1Hs9VdKb.jpg`],
    expires_at: "2026-11-23T10:15:00.000Z",
  };
  const event: z.infer<typeof eventSchema> = {
    type: "panorama.saved",
    timestamp: "2026-11-22T10:15:42.000Z",
    data: task,
  };
  return { abilities, creation, created, task, page, totals, entries, uploaded, event };
};
