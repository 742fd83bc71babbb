import fc from "fast-check";
import { err } from "neverthrow";
import { expect, it } from "vitest";
import { QWEN_IMAGE_360 } from "../../../../../adapters/provider/remote/comfyui/qwen-image-360.js";
import { filled, parseWorkflow } from "../../../../../adapters/provider/remote/comfyui/workflow.js";

const encode = (text: unknown) => ({ class_type: "CLIPTextEncode", inputs: { text } });
const save = { class_type: "SaveImage", inputs: { images: ["1", 0] } };

it.each([
  [[], "not a workflow in API format; export it with File, Export (API)"],
  [{ nodes: [], links: [] }, "not a workflow in API format; export it with File, Export (API)"],
  [{ "1": encode("a lake"), "2": save }, "no input of a node has the placeholder {prompt}"],
  [{ "1": encode("{prompt}") }, "no output node, such as SaveImage"],
])("parseWorkflow refuses %j", (json, reason) => {
  expect(parseWorkflow(json)).toEqual(err(reason));
});

it("parseWorkflow counts the placeholders for reference images", () => {
  const load = (image: string) => ({ class_type: "LoadImage", inputs: { image } });
  const imagesMax = (nodes: object) =>
    parseWorkflow({ p: encode("{prompt}"), s: save, ...nodes })._unsafeUnwrap().imagesMax;
  expect(imagesMax({})).toBe(0);
  expect(imagesMax({ a: load("{image1}") })).toBe(1);
  expect(imagesMax({ a: load("{image1}"), b: load("{image3}") })).toBe(3);
});

it("filled replaces placeholders once, and keeps what a customer writes", () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom("{seed}", "{prompt}", "$&", ""), (text, special) => {
      const prompt = text + special;
      const nodes = {
        a: encode("360, {prompt}, {width}"),
        b: encode("{seed}"),
        c: encode("{other}"),
        d: encode(["a", 0]),
      };
      expect(filled(nodes, { prompt, seed: 7, width: 2048 })).toEqual({
        a: encode(`360, ${prompt}, 2048`),
        b: encode(7),
        c: encode("{other}"),
        d: encode(["a", 0]),
      });
    }),
  );
});

it("the bundled workflow is one, has all placeholders of text, and every link leads to a node", () => {
  const { nodes, imagesMax } = parseWorkflow(QWEN_IMAGE_360)._unsafeUnwrap();
  expect(imagesMax).toBe(0);
  const text = JSON.stringify(nodes);
  for (const name of ["prompt", "negative_prompt", "seed", "width", "height"]) expect(text).toContain(`{${name}}`);
  const links = Object.values(nodes).flatMap(({ inputs }) => Object.values(inputs).filter(Array.isArray));
  for (const [node] of links) expect(nodes).toHaveProperty([String(node)]);
});
