import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { featuresOf } from "../../../../adapters/provider/local/painter/words.js";
import { ANY_PLACE, demoPlaces } from "../../../../adapters/web/panoramas/suggestions.js";
import { PASSWORD, WebService } from "../../../support/web-service.js";

const DEMO = demoPlaces((prompt) => featuresOf(prompt).size > 0);
const SENTENCE = "Demo painter: landscapes, sea, city and space.";

describe("the suggestions of the pages", () => {
  let demo: WebService;
  let any: WebService;
  beforeAll(async () => {
    [demo, any] = await Promise.all([WebService.start(undefined, false, { suggestions: DEMO }), WebService.start()]);
  });
  afterAll(() => Promise.all([demo.end(), any.end()]));

  it("of the local provider contain words that it knows", () => {
    const known = [...DEMO.examples, ...DEMO.surprises].map((prompt) => [prompt, featuresOf(prompt).size > 0]);
    expect(known.filter(([, isKnown]) => !isKnown)).toEqual([]);
    expect(DEMO.offer?.knows("A cosy living room")).toBe(false);
  });

  it("on the landing page is for the model behind it", async () => {
    const suggested = async ({ url }: WebService) => {
      const page = await (await fetch(url)).text();
      const list = page.slice(page.indexOf('class="hero-examples"')).split("</ul>")[0] ?? "";
      const texts = [...list.matchAll(/<a [^>]*>([^<]*)</gu)].map(([, text]) => text);
      return { texts, hasSentence: page.includes(SENTENCE) };
    };
    expect(await suggested(demo)).toEqual({ texts: [...DEMO.examples, "Surprise me"], hasSentence: true });
    expect(await suggested(any)).toEqual({ texts: [...ANY_PLACE.examples, "Surprise me"], hasSentence: false });
  });

  it("show the owner that the local provider knows no word of the prompt", async () => {
    demo.provider.play({ poll: "running" });
    const ann = await demo.person("ann");
    const body = new URLSearchParams({ email: ann.email, password: PASSWORD });
    const headers = { origin: demo.url };
    const login = await fetch(`${demo.url}/login`, { method: "POST", headers, redirect: "manual", body });
    const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
    const hintFor = async (prompt: string) => {
      const { slug } = await demo.panorama(ann, { prompt, resolution: "1k" });
      const page = await (await fetch(`${demo.url}/works/${slug}`, { headers: { cookie } })).text();
      return /<p class="hint">(Demo[^<]*)</u.exec(page)?.[1];
    };
    expect(await hintFor("a cosy living room")).toBe(
      `${SENTENCE} It knows no word of this prompt, and makes some landscape.`,
    );
    expect(await hintFor("a lake")).toBe(undefined);
  });
});
