import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PanoramaClient } from "../../../adapters/client/panorama-client.js";
import { type Abilities, ALL_ABILITIES } from "../../../domain/tasks/abilities.js";
import { type Customer, HttpService } from "../../support/http-service.js";
import { base64, pngBytes } from "../../support/image-bytes.js";
import { messageOf } from "../../support/mcp-session.js";
import { setUpMcp } from "./mcp-setup.js";

const TEXT_ONLY: Abilities = { imagesMin: 0, imagesMax: 0, promptCharactersMax: 4000 };
const ONE_IMAGE: Abilities = { imagesMin: 0, imagesMax: 1, promptCharactersMax: 1200 };
const NEEDS_IMAGES: Abilities = { imagesMin: 1, imagesMax: 3, promptCharactersMax: 4000 };

describe("the MCP tools of a service", () => {
  const on = setUpMcp();
  let service: HttpService;
  let customer: Customer;

  beforeEach(async () => {
    service = await HttpService.start();
    customer = await service.customer();
  });
  afterEach(() => service.end());

  const client = () => new PanoramaClient({ baseUrl: service.url, apiKey: customer.key });

  const started = async (abilities: Abilities) => {
    service.provider.abilities = abilities;
    return on.sessionWith(on.service.apiKey, client());
  };

  it.each([
    [
      ONE_IMAGE,
      /^Creates a 360° equirectangular panorama from a text description\. Costs/,
      /from 1 reference image, with an optional description\. Costs/,
      { minItems: 1, maxItems: 1 },
      1200,
      /This installation takes up to 1 reference image\./,
    ],
    [
      NEEDS_IMAGES,
      /^Cannot be used here\. This installation needs 1 to 3 reference images\. Call generate_panorama_from_images/,
      /from 1 to 3 reference images, with an optional description\. Costs/,
      { minItems: 1, maxItems: 3 },
      4000,
      /This installation needs 1 to 3 reference images\./,
    ],
    [
      TEXT_ONLY,
      /^Creates a 360° equirectangular panorama from a text description\. Costs/,
      /^Cannot be used here\. This installation takes no reference images\. Call generate_panorama_from_text/,
      { minItems: 1, maxItems: 3 },
      4000,
      /This installation takes no reference images\./,
    ],
  ])("describe its abilities: %o", async (abilities, fromText, fromImages, counts, maxLength, instructions) => {
    const session = await started(abilities);
    const { tools } = await session.client.listTools();
    expect(tools).toHaveLength(5);
    const tool = (name: string) => tools.find((one) => one.name === name);
    expect(tool("generate_panorama_from_text")?.description).toMatch(fromText);
    expect(tool("generate_panorama_from_images")?.description).toMatch(fromImages);
    expect(tool("generate_panorama_from_images")?.inputSchema.properties?.image_urls).toMatchObject(counts);
    for (const name of ["generate_panorama_from_text", "generate_panorama_from_images"]) {
      expect(tool(name)?.inputSchema.properties?.prompt).toMatchObject({ maxLength });
    }
    expect(session.client.getInstructions()).toMatch(instructions);
    await session.client.close();
  });

  it("answer an upload with the number of usable URLs", async () => {
    const next = async (abilities: Abilities) => {
      const session = await started(abilities);
      const images = [base64(pngBytes(100)), base64(pngBytes(200))];
      const text = messageOf(await session.call("upload_reference_images", { images }));
      await session.client.close();
      return text.split("\n").at(-1);
    };
    expect(await next(ONE_IMAGE)).toBe(
      "Next: use up to 1 of these URLs as image_urls of generate_panorama_from_images. Unused, they are kept until 2026-01-02T12:00:00.000Z.",
    );
    expect(await next(TEXT_ONLY)).toBe(
      "This installation takes no reference images. Do not use these URLs there. Unused, they are kept until 2026-01-02T12:00:00.000Z.",
    );
  });

  it("pass on the refusal of the service, which decides, also if it can do more or less than at the start", async () => {
    const session = await started(ALL_ABILITIES);
    const two = { image_urls: ["https://images.example/1.jpg", "https://images.example/2.jpg"], resolution: "1k" };
    service.provider.abilities = ONE_IMAGE;
    expect(await session.error("generate_panorama_from_images", two)).toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("must have at most 1 item, but has 2."),
    });
    service.provider.abilities = ALL_ABILITIES;
    expect(await session.error("generate_panorama_from_images", two)).toBeUndefined();
    await session.client.close();
  });

  it("follow the specification if the service does not report its abilities", async () => {
    const { tools } = await on.session.client.listTools();
    const { description, inputSchema } = tools.find(({ name }) => name === "generate_panorama_from_images") ?? {};
    expect(description).toContain("from 1 to 3 reference images, with an optional description.");
    expect(inputSchema?.properties).toMatchObject({ image_urls: { maxItems: 3 }, prompt: { maxLength: 4000 } });
  });
});
