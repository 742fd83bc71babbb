import { describe, expect, it } from "vitest";
import { featuresOf } from "../../../../adapters/provider/local/painter/words.js";
import { ANY_PLACE, DEMO_PLACES } from "../../../../adapters/web/panoramas/suggestions.js";
import { startService, visiting } from "../../../support/visit.js";

const SENTENCE = "This demo draws with rules. It knows words for landscapes, sea, city and space.";

describe("the suggestions of the pages", () => {
  it("of the local provider contain words that it knows", () => {
    const prompts = [...DEMO_PLACES.examples, ...DEMO_PLACES.surprises];
    expect(prompts.filter((prompt) => featuresOf(prompt).size === 0)).toEqual([]);
  });

  it.each([
    [{ suggestions: DEMO_PLACES }, DEMO_PLACES, true],
    [{}, ANY_PLACE, false],
  ])("on the landing page are for the model behind it", async (settings, { examples }, hasSentence) => {
    const page = (await visiting(await startService(settings)).get("/")).text;
    const list = page.slice(page.indexOf('class="hero-examples cluster"')).split("</ul>")[0] ?? "";
    const texts = [...list.matchAll(/<a [^>]*>([^<]*)</gu)].map(([, text]) => text);
    expect([texts, page.includes(SENTENCE)]).toEqual([[...examples, "Surprise me"], hasSentence]);
  });
});
