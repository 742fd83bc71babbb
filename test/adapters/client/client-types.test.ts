import { describe, expect, it } from "vitest";
import {
  type CreationInput,
  type FailedTask,
  PanoramaClient,
  type PanoramaEvent,
  type PanoramaTask,
} from "../../../adapters/client/panorama-client.js";
import { VISIBILITIES } from "../../../domain/tasks/visibility.js";

/** Compiled by `npm run check types`, never called: an error that the compiler does not find fails there. */
const mistakes = async (client: PanoramaClient) => {
  // @ts-expect-error a name that is misspelt
  await client.create({ prompt: "a lake", resolution: "1k", visibilty: "public" });
  // @ts-expect-error a value that is none of the list
  await client.create({ prompt: "a lake", resolution: "8k" });
  // @ts-expect-error a name in the wrong style
  await client.run({ prompt: "a lake", resolution: "1k", maxCredits: 4 });
  // @ts-expect-error neither a prompt nor images
  await client.create({ resolution: "1k" });
  // @ts-expect-error an option of another call
  await client.credits({ idempotencyKey: "order-17" });
  // @ts-expect-error a filter that does not exist
  await client.list({ state: "failed" });
  // @ts-expect-error an option that is misspelt
  new PanoramaClient({ apikey: "sk-1" });
  // @ts-expect-error a picture that may not be there yet
  return (await client.wait("pan_1")).output.image_url;
};

/** What must compile, without a cast. */
const uses = async (client: PanoramaClient, prompt: string | undefined, event: PanoramaEvent): Promise<string> => {
  const input: CreationInput = { prompt, image_urls: ["https://a.test/b.jpg"], resolution: "1k", seed: undefined };
  const { output } = await client.run(input);
  const tasks: PanoramaTask[] = [];
  for await (const task of client.list({ status: "failed", created_after: new Date() })) tasks.push(task);
  const failed = tasks.find((task): task is FailedTask => task.status === "failed");
  const { data, requestId } = await client.credits().withResponse();
  const left: number = event.type === "credits.low" ? event.data.remaining_credits : data.remaining_credits;
  return `${output.image_url} ${failed?.error.reason === "content_refused"} ${requestId} ${left}`;
};

describe("the types of PanoramaClient", () => {
  it("compile the README examples and reject wrong calls", () => {
    expect([mistakes, uses].map(({ length }) => length)).toEqual([1, 3]);
  });

  it("equal the values of the domain", () => {
    const visibilities: readonly NonNullable<CreationInput["visibility"]>[] = VISIBILITIES;
    expect(visibilities).toEqual(["private", "public"]);
  });
});
