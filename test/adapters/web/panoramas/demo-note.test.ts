import { describe, expect, it } from "vitest";
import { promptWords } from "../../../../adapters/provider/local/painter/prompt-words.js";
import { logIn, startService, visiting } from "../../../support/visit.js";

/** A service whose provider has this name. */
const serviceOf = async (name: string) => {
  const service = await startService({ readWords: promptWords });
  Object.assign(service.provider, { name });
  service.provider.play({ poll: "succeeded", download: "image" });
  return { service, ann: await service.person("ann") };
};

const textOf = (page: string) => page.replace(/<[^>]*>/g, "");
const LINK = '<a href="/providers">Other generators</a>';

describe("the note about a picture of the demo painter", () => {
  it.each([
    [
      "a lighthouse over a stormy sea at night",
      "Demo painter: drew stormy, sea; left out night; it does not know lighthouse.",
    ],
    ["inside a <gothic> cathedral", "Demo painter: drew a landscape of its own; it does not know gothic, cathedral."],
    ["a lake in the mountains", "Demo painter: drew lake, mountains."],
    [
      `a lake ${"abcdefghi".split("").join(" ")} ${"x".repeat(60)}`,
      "Demo painter: drew lake; it does not know b, c, d, e, f, g and 3 more.",
    ],
  ])("is on the page of the result and in the list, with a link, for %s", async (prompt, sentence) => {
    const { service, ann } = await serviceOf("local");
    const { slug } = await service.kept(ann, { prompt });
    const { read } = await logIn(service, ann);
    for (const page of [await read("/works"), (await visiting(service).get(`/p/${slug}`)).text]) {
      expect(textOf(page).replaceAll("&lt;", "<").replaceAll("&gt;", ">")).toContain(sentence);
      expect(page.split(LINK)).toHaveLength(2);
    }
    expect((await visiting(service).get(`/p/${slug}?embed=1`)).text).not.toContain("Demo painter");
  });

  it.each([
    ["another provider", "scripted", { prompt: "a cosy living room" }],
    ["a picture without painting", "local", { prompt: "a lake test:plain" }],
    ["a picture from images alone", "local", { prompt: undefined, image_urls: ["https://example.com/a.jpg"] }],
  ])("is not there for %s", async (_, name, body) => {
    const { service, ann } = await serviceOf(name);
    const { slug } = await service.kept(ann, body);
    const { read } = await logIn(service, ann);
    for (const page of [await read("/works"), await read(`/p/${slug}`)]) {
      expect(page).not.toContain("Demo painter");
      expect(page).not.toContain(LINK);
    }
  });

  it("tells the owner while the panorama is being painted", async () => {
    const { service, ann } = await serviceOf("local");
    service.provider.play({ poll: "running" });
    const { slug } = await service.panorama(ann, { prompt: "a cosy living room" });
    const waiting = await (await logIn(service, ann)).read(`/works/${slug}`);
    const sentence = "Demo painter: drew a landscape of its own; it does not know cosy, living, room.";
    expect(textOf(waiting)).toContain(sentence);
  });

  it("leads to PROVIDERS.md", async () => {
    const { service } = await serviceOf("local");
    const page = (await visiting(service).get("/providers")).text;
    expect(page).toContain("<h1>");
    expect(page).toContain('<h2 id="test-triggers-of-local">Test triggers of <code>local</code></h2>');
    for (const [, id] of page.matchAll(/href="#([^"]+)"/g)) if (id !== "content") expect(page).toContain(`id="${id}"`);
  });
});
