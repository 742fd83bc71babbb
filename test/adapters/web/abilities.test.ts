import { describe, expect, it } from "vitest";
import { credits } from "../../../domain/credits/credits.js";
import { panoramaPolicy } from "../../../domain/panorama-policy.js";
import { type Abilities, ALL_ABILITIES } from "../../../domain/tasks/abilities.js";
import { logIn, setUpService, startService, visiting } from "../../support/visit.js";

const TEXT_ONLY: Abilities = { imagesMin: 0, imagesMax: 0, promptCharactersMax: 4000 };
const ONE_IMAGE: Abilities = { imagesMin: 0, imagesMax: 1, promptCharactersMax: 1200 };
const NEEDS_IMAGES: Abilities = { imagesMin: 1, imagesMax: 3, promptCharactersMax: 4000 };

describe("the pages of an installation", () => {
  const service = setUpService();
  const pageWith = async (path: string, abilities: Abilities) => {
    service.provider.abilities = abilities;
    return (await visiting(service).get(path)).text;
  };

  it.each([
    [ALL_ABILITIES, "takes up to 3 reference images", "can follow up to 3 pictures, with or", "3", "4000"],
    [ONE_IMAGE, "takes up to 1 reference image", "can follow up to 1 picture, with or", "1", "1200"],
    [NEEDS_IMAGES, "needs 1 to 3 reference images", "follows 1 to 3 pictures, with or", "1 to 3", "4000"],
    [TEXT_ONLY, "takes no reference images", "takes no pictures: it makes panoramas from a prompt only", "0", "4000"],
  ])("describe the abilities in /docs: %o", async (abilities, images, guide, count, characters) => {
    const page = await pageWith("/docs", abilities);
    expect(page).toContain(`<p>This installation ${images}. A prompt has at most ${characters} characters.</p>`);
    expect(page).toContain(guide);
    const cell = (name: string) => new RegExp(`<td>${name}</td>\\s*<td>([^<]*)</td>`).exec(page)?.[1];
    expect([cell("pictures of one panorama"), cell("prompt")]).toEqual([count, `${characters} characters`]);
    expect(page).toContain("/api/v1/abilities");
  });

  it.each([
    [ALL_ABILITIES, "A sentence is enough. Add up to three pictures of your own if you like."],
    [ONE_IMAGE, "A sentence is enough. Add one picture of your own if you like."],
    [NEEDS_IMAGES, "Add up to three pictures of your own, and a sentence if you like."],
    [TEXT_ONLY, "A sentence is enough."],
  ])("describe the abilities on the landing page: %o", async (abilities, sentence) => {
    const page = await pageWith("/", abilities);
    expect(page).toContain(`<p>${sentence}</p>`);
    expect(page.includes("or from your own images")).toBe(abilities !== TEXT_ONLY);
  });
});

it("pages of an installation with other prices and packs show and apply them everywhere", async () => {
  const service = await startService({
    policy: panoramaPolicy({
      prices: { "1k": 3, "2k": 7, "4k": 21 },
      packs: [{ credits: credits(50), priceCents: 450, currency: "EUR" }],
    }),
  });
  const read = async (path: string) => (await visiting(service).get(path)).text;
  const member = await logIn(service, await service.person("ann", 20));
  for (const price of ["3 credits", "7 credits", "21 credits"])
    expect(await read("/")).toContain(`<span>${price}</span>`);
  expect(await read("/mcp")).toContain("3 credits in 1K, 7 in 2K or 21 in 4K");
  const works = await member.read("/works");
  for (const label of ["1K · 3 credits", "2K · 7 credits", "4K · 21 credits"]) expect(works).toContain(label);
  const account = await member.read("/account");
  expect(account).toContain("<strong>50 credits</strong><small>€4.50</small>");
  expect(account).not.toContain("100 credits");
  expect((await member.post("/account/orders", { credits: "100" })).status).toBe(400);
  expect((await member.post("/account/orders", { credits: "50" })).status).toBe(303);
  const error = expect.stringContaining("This costs 21 credits, but you have 20.");
  expect(await member.create({ resolution: "4k", prompt: "a lake" })).toMatchObject({ status: 402, error });
  expect((await member.create({ resolution: "2k", prompt: "a lake" })).status).toBe(303);
  expect(await service.database.sql("select credits from account")).toEqual([{ credits: 13 }]);
});
