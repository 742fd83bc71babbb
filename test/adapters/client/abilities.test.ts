import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { abilitiesOf } from "../../../adapters/client/offer.js";
import { PanoramaClient } from "../../../adapters/client/panorama-client.js";
import { ALL_ABILITIES } from "../../../domain/tasks/abilities.js";
import { HttpService } from "../../support/http-service.js";

const TOLD = { images_min: 0, images_max: 1, prompt_characters_max: 1200, resolutions: ["1k", "2k", "4k"] };

describe("PanoramaClient and what a service can make", () => {
  let service: HttpService;

  beforeEach(async () => {
    service = await HttpService.start();
    service.provider.abilities = { imagesMin: 0, imagesMax: 1, promptCharactersMax: 1200 };
  });
  afterEach(() => service.end());

  const clientOf = (baseUrl: string, apiKey: string) => new PanoramaClient({ baseUrl, apiKey });

  it("reads the current abilities, also from the offer", async () => {
    const client = clientOf(service.url, (await service.customer()).key);
    expect(await client.abilities()).toEqual(TOLD);
    expect((await client.offer()).abilities).toEqual(TOLD);
    service.provider.abilities = ALL_ABILITIES;
    expect(await client.abilities()).toMatchObject({ images_max: 3 });
  });

  it("caps abilities at the limits of this version", () => {
    expect(abilitiesOf(TOLD)).toEqual({ imagesMin: 0, imagesMax: 1, promptCharactersMax: 1200 });
    const later = { images_min: 0, images_max: 10, prompt_characters_max: 32_000, resolutions: ["8k"] };
    expect(abilitiesOf(later)).toEqual(ALL_ABILITIES);
  });
});
