import sharp from "sharp";
import { beforeAll, describe, expect, it } from "vitest";
import { signPictures } from "../../../adapters/imaging/provenance/sign-picture.js";
import { makeSigningPair } from "../../../adapters/imaging/provenance/signing-pair.js";
import type { DigitalSourceType } from "../../../domain/images/source-type.js";
import { verifiedProvenance } from "../../support/verify-provenance.js";
import { setUpService, visiting } from "../../support/visit.js";
import type { Person } from "../../support/web-service.js";

const REFERENCE = { image_urls: ["https://example.com/a.jpg"] };

describe("what a panorama says of its making", () => {
  const service = setUpService();
  let ann: Person;

  beforeAll(async () => {
    const pair = await makeSigningPair(new Date());
    Object.assign(service.imaging, { sign: signPictures(async () => pair) });
    ann = await service.person("ann");
  });

  /** A panorama of a provider that says this of its result. */
  const made = async (sourceType: DigitalSourceType | undefined, more: object) => {
    const { download } = service.provider;
    service.provider.play({ poll: "succeeded", download: "image" });
    service.provider.download = async (url) =>
      (await download.call(service.provider, url)).map((one) => (sourceType ? { ...one, sourceType } : one));
    try {
      return await service.kept(ann, { prompt: "a place", ...more });
    } finally {
      service.provider.download = download;
    }
  };

  /** What API, pages, link previews and the signed file say. */
  const saidOf = async ({ id, slug }: { readonly id: string; readonly slug: string }) => {
    const { get } = visiting(service);
    const answer = await get(`/api/v1/panoramas/${id}`, { authorization: `Bearer ${ann.key}` });
    const { output } = JSON.parse(answer.text);
    const page = (await get(`/p/${slug}`)).text;
    const tile = (await get("/gallery")).text.split("<li>").find((one) => one.includes(slug)) ?? "";
    const file = Buffer.from(await (await fetch(output.image_url)).arrayBuffer());
    const label = /Made with AI|Drawn with rules/;
    return {
      ai_generated: output.ai_generated,
      label: [label.exec(page)?.[0], label.exec(tile)?.[0]],
      preview: /panorama of 1024 × 512 pixels, ([^.]*)\./u.exec(page)?.[1],
      mark: (await verifiedProvenance(file))?.action?.digitalSourceType.split("/").at(-1),
      xmp: /DigitalSourceType="[^"]*\/(\w+)"/.exec((await sharp(file).metadata()).xmpAsString ?? "")?.[1],
    };
  };

  it.each<[string, DigitalSourceType | undefined, object, DigitalSourceType, string]>([
    ["a model", undefined, {}, "trainedAlgorithmicMedia", "Made with AI"],
    ["a model with references", undefined, REFERENCE, "compositeWithTrainedAlgorithmicMedia", "Made with AI"],
    ["local", "algorithmicMedia", {}, "algorithmicMedia", "Drawn with rules"],
    ["local with panoramas of its own", "algorithmicMedia", REFERENCE, "algorithmicMedia", "Drawn with rules"],
    [
      "local with other references",
      "compositeWithTrainedAlgorithmicMedia",
      REFERENCE,
      "compositeWithTrainedAlgorithmicMedia",
      "Made with AI",
    ],
  ])("is the same everywhere, for a picture of %s", async (_, sourceType, more, mark, label) => {
    const task = await made(sourceType, more);
    expect(task.sourceType).toBe(mark);
    expect(await saidOf(task)).toEqual({
      ai_generated: label === "Made with AI",
      label: [label, label],
      preview: label.replace(/^[MD]/, (first) => first.toLowerCase()),
      mark,
      xmp: mark,
    });
  });

  it("is that a model made it, for a panorama from before the type was stored", async () => {
    const { id, slug } = await made("algorithmicMedia", {});
    await service.database.sql("update task set source_type = null where id = ?", [id]);
    const said = await saidOf({ id, slug });
    expect([said.ai_generated, ...said.label, said.preview]).toEqual([
      true,
      "Made with AI",
      "Made with AI",
      "made with AI",
    ]);
  });

  it("is in the picture of link previews too, in letters", async () => {
    const socialOf = async (sourceType: DigitalSourceType | undefined) => {
      const { slug } = await made(sourceType, {});
      const bytes = await (await fetch(`${service.url}/p/${slug}/social.jpg`)).arrayBuffer();
      // Left of "Made with AI": only the wider "Drawn with rules" has its dark ground and white letters there.
      const place = { left: 930, top: 570, width: 60, height: 30 };
      return Math.max(...(await sharp(Buffer.from(bytes)).extract(place).greyscale().raw().toBuffer())) > 230;
    };
    expect([await socialOf("algorithmicMedia"), await socialOf(undefined)]).toEqual([true, false]);
  });
});
