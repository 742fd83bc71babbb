import { describe, expect, it } from "vitest";
import { featuresOf } from "../../../../adapters/provider/local/painter/words.js";
import { ANY_PLACE, demoPlaces } from "../../../../adapters/web/panoramas/suggestions.js";
import { logIn, startService, visiting } from "../../../support/visit.js";

const DEMO = demoPlaces((prompt) => featuresOf(prompt).size > 0);
const SENTENCE = "Demo painter: landscapes, sea, city and space.";

describe("the suggestions of the pages", () => {
  it("of the local provider contain words that it knows", () => {
    expect([...DEMO.examples, ...DEMO.surprises].filter((prompt) => featuresOf(prompt).size === 0)).toEqual([]);
    expect(DEMO.offer?.knows("A cosy living room")).toBe(false);
  });

  it.each([
    [{ suggestions: DEMO }, DEMO, true],
    [{}, ANY_PLACE, false],
  ])("on the landing page are for the model behind it", async (settings, { examples }, hasSentence) => {
    const page = (await visiting(await startService(settings)).get("/")).text;
    const list = page.slice(page.indexOf('class="hero-examples"')).split("</ul>")[0] ?? "";
    const texts = [...list.matchAll(/<a [^>]*>([^<]*)</gu)].map(([, text]) => text);
    expect([texts, page.includes(SENTENCE)]).toEqual([[...examples, "Surprise me"], hasSentence]);
  });

  it("show the owner that the local provider knows no word of the prompt", async () => {
    const demo = await startService({ suggestions: DEMO });
    demo.provider.play({ poll: "running" });
    const ann = await demo.person("ann");
    const { read } = await logIn(demo, ann);
    const hintFor = async (prompt: string) => {
      const { slug } = await demo.panorama(ann, { prompt, resolution: "1k" });
      return /<p class="hint">(Demo[^<]*)</u.exec(await read(`/works/${slug}`))?.[1];
    };
    const sentence = `${SENTENCE} It knows no word of this prompt, and makes some landscape.`;
    expect([await hintFor("a cosy living room"), await hintFor("a lake")]).toEqual([sentence, undefined]);
  });
});
