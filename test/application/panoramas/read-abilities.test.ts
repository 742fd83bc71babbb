import { describe, expect, it } from "vitest";
import { ScriptedProvider } from "../../../adapters/memory/scripted-provider.js";
import { progress } from "../../../application/panoramas/progress.js";
import type { GenerationProvider } from "../../../application/ports/generation-provider.js";
import { type Abilities, ALL_ABILITIES } from "../../../domain/tasks/abilities.js";
import { aWorld } from "../../support/world.js";

const TEXT_ONLY: Abilities = { imagesMin: 0, imagesMax: 0, promptCharactersMax: 4000 };
const PHOTOS_ONLY: Abilities = { imagesMin: 1, imagesMax: 1, promptCharactersMax: 1200 };

const providerOf = (abilities: Abilities) => Object.assign(new ScriptedProvider(), { abilities });

const abilitiesAt = (places: GenerationProvider["places"]) => {
  const world = aWorld();
  return progress({ ...world, provider: Object.assign(world.provider, { places }) }).readAbilities;
};

describe("readAbilities", () => {
  it("treats a place without abilities as unlimited", () => {
    const places = () => [{ name: "a", concurrencyMax: undefined, readiness: "ready", canMake: () => true }] as const;
    expect(abilitiesAt(places)()).toEqual(ALL_ABILITIES);
  });

  it("combines what any model can make, also one that is down, and reads again at each call", () => {
    const models = [providerOf(TEXT_ONLY), providerOf(PHOTOS_ONLY)] as const;
    models[0].ready = "down";
    const read = abilitiesAt(() => models.flatMap((model) => model.places()));
    expect(read()).toEqual({ imagesMin: 0, imagesMax: 1, promptCharactersMax: 4000 });
    models[0].abilities = PHOTOS_ONLY;
    expect(read()).toEqual(PHOTOS_ONLY);
  });
});
