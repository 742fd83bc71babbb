import { expect, it } from "vitest";
import { logIn, startService, visiting } from "../../../support/visit.js";

it.each([
  ["off", { status: 404, shown: [], links: false, searches: false }],
  ["open", { status: 200, shown: ["a quiet lake", "any other lake"], links: true, searches: true }],
] as const)("a gallery that is %s is %j, and opens public panoramas by their links", async (gallery, expected) => {
  const service = await startService({ gallery });
  const ann = await service.person("ann");
  service.provider.play({ poll: "succeeded", download: "image" });
  await service.kept(ann, { prompt: "a quiet lake" });
  const other = await service.kept(ann, { prompt: "any other lake" });
  const read = async (path: string) => {
    const { status, text } = await visiting(service).get(path);
    return {
      status,
      shown: ["a quiet lake", "any other lake"].filter((prompt) => text.includes(prompt)),
      links: text.includes('href="/gallery"'),
      searches: text.includes('role="search"'),
    };
  };
  for (const path of ["/gallery", "/gallery?q=lake"]) expect(await read(path)).toEqual(expected);
  const { links } = expected;
  expect(await read("/")).toMatchObject({ status: 200, links });
  expect(await read(`/p/${other.slug}`)).toMatchObject({ status: 200, shown: ["any other lake"], links });
  const words = gallery === "off" ? "by its link" : "in the gallery";
  expect(await (await logIn(service, ann)).read("/works")).toContain(`<strong>Public</strong><small>${words}</small>`);
});
