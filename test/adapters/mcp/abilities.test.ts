import { describe, expect, it } from "vitest";
import { abilitiesJson } from "../../../adapters/client/offer.js";
import { ALL_ABILITIES } from "../../../domain/tasks/abilities.js";
import { USUAL_OFFER } from "../../support/fake-service.js";
import { base64, pngBytes } from "../../support/image-bytes.js";
import { messageOf } from "../../support/mcp-session.js";
import { setUpMcp } from "./mcp-setup.js";

const TEXT_ONLY = { ...ALL_ABILITIES, imagesMax: 0 };
const ONE_IMAGE = { imagesMin: 0, imagesMax: 1, promptCharactersMax: 1200 };
const NEEDS_IMAGES = { ...ALL_ABILITIES, imagesMin: 1 };

const FROM_TEXT = /^Creates a 360° equirectangular panorama from a text description\. Costs/;

describe("the MCP tools of a service", () => {
  const on = setUpMcp();

  it.each([
    [
      ONE_IMAGE,
      FROM_TEXT,
      /from 1 reference image, with an optional description\. .+ to change it: say in the prompt what is different\. Costs/,
      { minItems: 1, maxItems: 1 },
      /This installation takes up to 1 reference image\./,
      "Next: use up to 1 of these URLs as image_urls of generate_panorama_from_images. Unused,",
    ],
    [
      NEEDS_IMAGES,
      /^Cannot be used here\. This installation needs 1 to 3 reference images\. Call generate_panorama_from_images/,
      /from 1 to 3 reference images, with an optional description\. .+ to change it: say in the prompt what is different\. Costs/,
      { minItems: 1, maxItems: 3 },
      /This installation needs 1 to 3 reference images\./,
      "Next: use up to 3 of these URLs as image_urls of generate_panorama_from_images. Unused,",
    ],
    [
      TEXT_ONLY,
      FROM_TEXT,
      /^Cannot be used here\. This installation takes no reference images\. Call generate_panorama_from_text/,
      { minItems: 1, maxItems: 3 },
      /This installation takes no reference images\./,
      "This installation takes no reference images. Do not use these URLs there. Unused,",
    ],
  ])("describe its abilities: %o", async (abilities, fromText, fromImages, counts, instructions, next) => {
    on.service.offer = { ...USUAL_OFFER, abilities: abilitiesJson(abilities) };
    const session = await on.sessionWith(on.service.apiKey);
    const { tools } = await session.client.listTools();
    const tool = (name: string) => tools.find((one) => one.name === name);
    expect(tool("generate_panorama_from_text")?.description).toMatch(fromText);
    expect(tool("generate_panorama_from_images")?.description).toMatch(fromImages);
    expect(tool("generate_panorama_from_images")?.inputSchema.properties?.image_urls).toMatchObject(counts);
    for (const name of ["generate_panorama_from_text", "generate_panorama_from_images"]) {
      const maxLength = abilities.promptCharactersMax;
      expect(tool(name)?.inputSchema.properties?.prompt).toMatchObject({ maxLength });
    }
    expect(session.client.getInstructions()).toMatch(instructions);
    const uploaded = await session.call("upload_reference_images", { images: [base64(pngBytes(100))] });
    expect(messageOf(uploaded).split("\n").at(-1)).toContain(next);
    await session.client.close();
  });
});
