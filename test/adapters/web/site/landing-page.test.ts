import { beforeAll, describe, expect, it, vi } from "vitest";
import { setUpService, visiting } from "../../../support/visit.js";
import type { Person } from "../../../support/web-service.js";

/** The mean of the colours of the test image (web-service.ts). */
const MEAN_OF_QUARTERS = "#7c7054";

describe("the newest panoramas on the landing page", () => {
  const service = setUpService();
  let ann: Person;
  const shown = async () => {
    const { text } = await visiting(service).get("/");
    const section = /<h2 id="newest">[\s\S]*?<\/section>/.exec(text)?.[0] ?? "";
    return {
      section,
      titles: [...section.matchAll(/class="tile-title" dir="auto">([^<]*)</g)].map(([, title]) => title),
    };
  };
  const laterBy = (milliseconds: number) => service.clock.advance(milliseconds);

  beforeAll(async () => {
    ann = await service.person("ann", 1000);
  });

  it("are not there without a public panorama", async () => {
    await service.kept(ann, { prompt: "a private place", visibility: "private" });
    expect((await shown()).section).toBe("");
  });

  it("are the last six, each with the colour of its picture, which is loaded when the reader comes near", async () => {
    for (let index = 1; index <= 7; index++) await service.kept(ann, { prompt: `place ${index}` });
    await laterBy(10_000);
    const { section, titles } = await shown();
    expect(titles).toEqual([7, 6, 5, 4, 3, 2].map((index) => `place ${index}`));
    expect(section.match(/ loading="lazy"/g)).toHaveLength(6);
    expect(section.match(/<rect [^>]* fill="(#\w+)"/)?.[1]).toBe(MEAN_OF_QUARTERS);
  });

  it("are read once in ten seconds, whoever comes", async () => {
    await laterBy(10_000);
    const list = vi.spyOn(service.tasks, "listPublic");
    await shown();
    await laterBy(9_999);
    await shown();
    expect(list).toHaveBeenCalledTimes(1);
    await laterBy(1);
    await shown();
    expect(list).toHaveBeenCalledTimes(2);
    list.mockRestore();
  });
});
