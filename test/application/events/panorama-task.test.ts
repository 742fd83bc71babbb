import { describe, expect, it } from "vitest";
import {
  aCreationRequest,
  accountId,
  aFailedTask,
  anImageName,
  aQueuedTask,
  aSucceededTask,
  noon,
  secondsAfter,
  taskId,
} from "../../../adapters/contracts/support/builders.js";
import { eventBody, panoramaTask, type TaskUrls } from "../../../application/events/panorama-task.js";
import { credits } from "../../../domain/credits/credits.js";

const urls: TaskUrls = {
  storage: { urlOf: (name) => `https://objects.example/${name}` },
  viewerUrl: (slug, visibility) => `https://panoramas.example/${visibility}/${slug}`,
};
const fields = {
  resolution: "2k",
  visibility: "public",
  prompt: "a lake",
  image_urls: ["https://example.com/a.jpg"],
  seed: 7,
  metadata: { shop: "main" },
};
const request = aCreationRequest(fields);
const common = { id: taskId(1), credits_charged: 6, created_at: noon.toISOString(), ...fields };
const finished_at = secondsAfter(noon, 30).toISOString();
const temporaryUrl = "https://provider.example/1.jpg";
const stored = `https://objects.example/${anImageName()}`;

const failed = aFailedTask({ request, reason: "reference_unusable", imageIndex: 0 });
const failedShown = {
  ...common,
  status: "failed",
  finished_at,
  error: {
    code: "generation_failed",
    message:
      "The image generator could not use a reference image. Try another JPEG, PNG or WebP. " +
      "The 6 reserved credits were refunded.",
    reason: "reference_unusable",
    param: "image_urls[0]",
  },
};

describe("panoramaTask", () => {
  it("returns the creation and its forecast, with at most 100 tasks ahead", () => {
    const shown = { ...common, status: "processing" };
    expect(panoramaTask(aQueuedTask({ request }), urls)).toEqual(shown);
    expect(panoramaTask(aQueuedTask({ request }), urls, { ahead: 101, estimatedSeconds: 20 })).toEqual({
      ...shown,
      queue_position: 100,
      estimated_seconds: 20,
    });
  });

  it.each([
    ["saved", stored, stored.replace(".jpg", "-thumbnail.webp")],
    ["saved-no-thumb", stored, undefined],
    ["failed", temporaryUrl, undefined],
  ] as const)("returns the URLs of a picture that is %s", (status, image_url, thumbnail_url) => {
    const task = aSucceededTask({ request, image: { status, temporaryUrl, imageName: anImageName() } });
    const output = {
      image_url,
      slug: task.slug,
      viewer_url: `https://panoramas.example/public/${task.slug}`,
      storage_status: status,
      ai_generated: true,
      native_width: 1440,
      native_height: 720,
      thumbnail_url,
    };
    expect(panoramaTask(task, urls)).toEqual({ ...common, status: "succeeded", finished_at, output });
    const { output: withoutViewer } = panoramaTask(task, { ...urls, viewerUrl: undefined });
    expect(withoutViewer).toEqual({ ...output, viewer_url: undefined });
  });

  it("returns the error of a failed task", () => {
    expect(panoramaTask(failed, urls)).toEqual(failedShown);
  });
});

describe("eventBody", () => {
  const event = { accountId: accountId(1), number: 3, at: noon };
  const timestamp = noon.toISOString();

  it("returns the type, the time, and the task or the remaining credits", () => {
    const ofTask = { ...event, type: "panorama.failed", taskId: failed.id } as const;
    expect(JSON.parse(eventBody(ofTask, failed, urls))).toEqual({ type: ofTask.type, timestamp, data: failedShown });
    const low = { ...event, type: "credits.low", remainingCredits: credits(4) } as const;
    const data = { remaining_credits: 4 };
    expect(JSON.parse(eventBody(low, undefined, urls))).toEqual({ type: low.type, timestamp, data });
    expect(() => eventBody(ofTask, undefined, urls)).toThrow(`event 3 of account ${event.accountId} is missing`);
  });
});
