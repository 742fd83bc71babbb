import fc from "fast-check";
import { err } from "neverthrow";
import { expect, it } from "vitest";
import {
  BUNDLED_WORKFLOWS,
  namedWorkflow,
} from "../../../../../adapters/provider/remote/workflows/bundled-workflows.js";
import { filled, optionalLinks, parseWorkflow } from "../../../../../adapters/provider/remote/workflows/workflow.js";

const encode = (text: unknown) => ({ class_type: "CLIPTextEncode", inputs: { text } });
const save = { class_type: "SaveImage", inputs: { images: ["1", 0] } };

it.each([
  [[], "not a workflow in API format; export it with File, Export (API)"],
  [{ nodes: [], links: [] }, "not a workflow in API format; export it with File, Export (API)"],
  [{ "1": encode("a lake"), "2": save }, "no input of a node has the placeholder {prompt} or {leading_prompt}"],
  [{ "1": encode("{prompt}") }, "no output node, such as SaveImage"],
])("parseWorkflow refuses %j", (json, reason) => {
  expect(parseWorkflow(json)).toEqual(err(reason));
});

const load = (image: string) => ({ class_type: "LoadImage", inputs: { image } });

it.each<[string[], number, number]>([
  [[], 0, 0],
  [["{image1}"], 1, 1],
  [["{image1}", "{image3}"], 1, 3],
  [["{image1?}", "{image2?}"], 0, 2],
  [["{image1}", "{image2?}", "{image3?}"], 1, 3],
])("parseWorkflow counts the placeholders %j: from %i to %i reference images", (placeholders, imagesMin, imagesMax) => {
  const nodes = Object.fromEntries(placeholders.map((image, n) => [`load${n}`, load(image)]));
  const parsed = parseWorkflow({ p: encode("{leading_prompt}"), s: save, ...nodes });
  expect(parsed._unsafeUnwrap()).toMatchObject({ imagesMin, imagesMax });
});

it("filled gives a required placeholder without an image of its own the image before it", () => {
  const nodes = { a: load("{image1}"), b: load("{image2}"), c: load("{image3}"), d: encode("like {image3}") };
  expect(filled(nodes, { text: {}, images: ["1.png", "2.png"] })).toEqual({
    a: load("1.png"),
    b: load("2.png"),
    c: load("2.png"),
    d: encode("like 2.png"),
  });
});

it("filled leaves out a node with an optional placeholder without an image, and every link to it", () => {
  const mix = { class_type: "Mix", inputs: { first: ["a", 0], second: ["b", 0], list: ["c", 1], strength: 1 } };
  const nodes = { a: load("{image1}"), b: load("{image2?}"), c: load("{image3?}"), mix };
  expect(filled(nodes, { text: {}, images: ["1.png", "2.png"] })).toEqual({
    a: load("1.png"),
    b: load("2.png"),
    mix: { class_type: "Mix", inputs: { first: ["a", 0], second: ["b", 0], strength: 1 } },
  });
  expect(optionalLinks(nodes)).toEqual([
    { class_type: "Mix", input: "second" },
    { class_type: "Mix", input: "list" },
  ]);
});

it("filled replaces placeholders once, not in the customer's words", () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom("{seed}", "{prompt}", "$&", ""), (text, special) => {
      const prompt = text + special;
      const nodes = {
        a: encode("360, {prompt}, {width}"),
        b: encode("{seed}"),
        c: encode("{other}"),
        d: encode(["a", 0]),
      };
      expect(filled(nodes, { text: { prompt, seed: 7, width: 2048 }, images: [] })).toEqual({
        a: encode(`360, ${prompt}, 2048`),
        b: encode(7),
        c: encode("{other}"),
        d: encode(["a", 0]),
      });
    }),
  );
});

it.each([
  ["qwen-image-360", 0, "{prompt}"],
  ["qwen-image-edit", 3, "{leading_prompt}"],
] as const)(
  "the bundled workflow %s takes 0 to %i images, and every link leads to a node",
  (name, imagesMax, prompt) => {
    const { nodes, ...workflow } = namedWorkflow(name);
    expect(workflow).toEqual({ name, imagesMin: 0, imagesMax });
    const text = JSON.stringify(nodes);
    for (const placeholder of [prompt, "{negative_prompt}", "{seed}", "{width}", "{height}"]) {
      expect(text).toContain(placeholder);
    }
    for (let count = 0; count <= imagesMax; count += 1) {
      const images = ["1.png", "2.png", "3.png"].slice(0, count);
      const sent = filled(nodes, { text: {}, images });
      const links = Object.values(sent).flatMap(({ inputs }) => Object.values(inputs).filter(Array.isArray));
      for (const [node] of links) expect(sent).toHaveProperty([String(node)]);
      const loaded = Object.values(sent).filter(({ class_type }) => class_type === "LoadImage");
      expect(loaded.map(({ inputs }) => inputs.image)).toEqual(images);
    }
  },
);

it("namedWorkflow returns bundled workflows, and undefined for other names", () => {
  expect(BUNDLED_WORKFLOWS).toEqual(["qwen-image-360", "qwen-image-edit"]);
  expect(() => namedWorkflow("sdxl")).toThrow("workflow: not a workflow in API format");
});
