import { describe, expect, it } from "vitest";
import { type Abilities, ALL_ABILITIES } from "../../../domain/tasks/abilities.js";
import { setUpService, visiting } from "../../support/visit.js";

const TEXT_ONLY: Abilities = { imagesMin: 0, imagesMax: 0, promptCharactersMax: 4000 };
const ONE_IMAGE: Abilities = { imagesMin: 0, imagesMax: 1, promptCharactersMax: 1200 };
const NEEDS_IMAGES: Abilities = { imagesMin: 1, imagesMax: 3, promptCharactersMax: 4000 };

describe("the pages of an installation", () => {
  const on = setUpService();
  const pageWith = async (path: string, abilities: Abilities) => {
    on.service.provider.abilities = abilities;
    return (await visiting(on.service).get(path)).text;
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
