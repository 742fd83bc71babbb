import { describe, expect, it } from "vitest";
import { USUAL_OFFER } from "../../support/fake-service.js";
import { base64, pngBytes } from "../../support/image-bytes.js";
import { aHarbour, setUpMcp } from "./mcp-setup.js";

const MIB = 1024 * 1024;
const anImage = base64(pngBytes(20));
const images = (count: number) => Array.from({ length: count }, (_, n) => `https://images.test/${n}.jpg`);

const ANOTHER_IMAGE = "Ask the person for another image, or a smaller one, and upload that.";
const A_FILE =
  "Ask the person for the path of an image file or for its https:// URL, and call the tool again with paths";
const A_RESOLUTION = 'Call the tool again with resolution "1k", "2k" or "4k".';
const A_URL =
  "Call the tool again with a public https:// URL. If the person has the image as a file, call upload_reference_images";
const FOLDER =
  /^Ask the person to save the image in the folder \S+allowed .+PANORAMA_UPLOAD_DIRS="\/home\/ann".+restart/;

type Row = readonly [what: string, args: Record<string, unknown>, message: RegExp, whatToDo: string | RegExp];

/** By tool: what a model does wrong, what the answer says, and what it tells the model to do. */
const INVALID: Readonly<Record<string, readonly Row[]>> = {
  generate_panorama_from_text: [
    ["a short prompt", { ...aHarbour, prompt: "ab" }, /^prompt: .*3 char/, "Call the tool again with a prompt of at"],
    ["no text", { ...aHarbour, prompt: 12 }, /^prompt: /, "Call the tool again with prompt as one string."],
    ["a long prompt", { ...aHarbour, prompt: "a ".repeat(150) }, /^prompt: /, "Shorten prompt to at most 100 char"],
    ["an unknown resolution", { ...aHarbour, resolution: "8k" }, /^resolution: /, A_RESOLUTION],
    ["no resolution", { prompt: "a harbour" }, /^resolution: /, A_RESOLUTION],
    ["an unknown visibility", { ...aHarbour, visibility: "secret" }, /^visibility: /, "Call the tool again with visib"],
    [
      "negative max_credits",
      { ...aHarbour, max_credits: -1 },
      /^max_credits: /,
      "Call the tool again with max_credits",
    ],
    ["an unknown argument", { ...aHarbour, seed: 7 }, /seed/, 'Call the tool again without "seed".'],
  ],
  generate_panorama_from_images: [
    ["no image URL", { image_urls: [], resolution: "1k" }, /^image_urls: /, ""],
    [
      "four image URLs",
      { image_urls: images(4), resolution: "1k" },
      /at most 3/,
      "Call the tool again with at most 3 it",
    ],
    ["an ftp URL", { image_urls: ["ftp://a.test/"], resolution: "1k" }, /^image_urls\[0\]: .*https:/, A_URL],
    ["a data: URL", { image_urls: [`data:image/png;base64,${anImage}`], resolution: "1k" }, /https/, ""],
  ],
  get_panorama_task: [
    ["an id that no URL can have", { id: "\ud800" }, /^id: /, ""],
    ["an empty id", { id: "" }, /^id: /, ""],
    [
      "wait_seconds above 30",
      { id: "task-1", wait_seconds: 46 },
      /^wait_seconds: /,
      "Call the tool again with wait_seconds",
    ],
  ],
  upload_reference_images: [
    ["no image", {}, /1 to 5 images, but there are 0/, A_FILE],
    ["an empty list of images", { images: [] }, /1 to 5 images, but there are 0/, A_FILE],
    ["six images", { images: Array(3).fill(anImage), paths: Array(3).fill("/a.png") }, /but there are 6/, ""],
    [
      "a data: URL",
      { images: [`data:image/png;base64,${anImage}`] },
      /^images\[0\]: is a data: URL/,
      "Call the tool again with raw base64 in images[0].",
    ],
    [
      "invalid base64",
      { images: [anImage, "no base64!"] },
      /^images\[1\]: is not valid base64/,
      "Call the tool again with raw base64 in images[1].",
    ],
    ["base64 of a single character", { images: ["A"] }, /^images\[0\]: is not valid base64/, ""],
    ["no picture", { images: [base64(new TextEncoder().encode("text"))] }, /^images\[0\]: .*jpeg/, ANOTHER_IMAGE],
    ["another type", { images: [{ data: anImage, type: "image/jpeg" }] }, /^images\[0\]: is declared as/, ""],
    ["an image of 11 MiB", { images: [base64(pngBytes(11 * MIB))] }, /^images\[0\]: .*10 MiB/, ANOTHER_IMAGE],
    ["21 MiB in total", { images: Array(3).fill(base64(pngBytes(7 * MIB))) }, /^images: .*20 MiB/, ""],
    ["a file outside of the folders", { paths: ["/home/ann/harbour.jpg"] }, /^paths\[0\]: is not a readable/, FOLDER],
  ],
};

describe("invalid arguments of an MCP tool", () => {
  const on = setUpMcp("2026-07-28");

  it.each(
    Object.entries(INVALID).flatMap(([tool, rows]) => rows.map(([what, ...row]) => [tool, what, ...row] as const)),
  )("are refused by %s with the next step, and nothing is sent: %s", async (tool, _, args, message, whatToDo) => {
    if (String(args.prompt).length > 100)
      on.service.offer = { ...USUAL_OFFER, abilities: { ...USUAL_OFFER.abilities, prompt_characters_max: 100 } };
    const error = await on.session.error(tool, args);
    expect(error).toMatchObject({ code: "invalid_request", what_to_do: expect.stringContaining("Nothing was sent") });
    expect(error?.message).toMatch(message);
    if (typeof whatToDo !== "string") expect(error?.what_to_do).toMatch(whatToDo);
    else expect(String(error?.what_to_do).slice(0, whatToDo.length)).toBe(whatToDo);
    expect(on.sent()).toHaveLength(0);
  });

  it("lead to generate_panorama_from_text if they are images for a service that takes none", async () => {
    on.service.offer = { ...USUAL_OFFER, abilities: { ...USUAL_OFFER.abilities, images_max: 0 } };
    const error = await on.session.error("generate_panorama_from_images", { ...aHarbour, image_urls: images(1) });
    expect(error?.what_to_do).toMatch(/^Call generate_panorama_from_text instead, without image_urls\./);
  });

  it("lead to a lower resolution that max_credits allows, or to the person", async () => {
    const guidance = async (args: object) =>
      (await on.session.error("generate_panorama_from_text", { ...aHarbour, ...args }))?.what_to_do;
    expect(await guidance({ resolution: "4k", max_credits: 7 })).toMatch(
      /^Call the tool again with resolution "2k", or ask/,
    );
    expect(await guidance({ max_credits: 0 })).toMatch(/^Ask the person whether you may raise max_credits\./);
  });
});
