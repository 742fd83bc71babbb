import { QWEN_IMAGE_360 } from "./qwen-image-360.js";
import { QWEN_IMAGE_EDIT } from "./qwen-image-edit.js";
import { parseWorkflow, type Workflow } from "./workflow.js";

const BUNDLED = { "qwen-image-360": QWEN_IMAGE_360, "qwen-image-edit": QWEN_IMAGE_EDIT } as const;

/** `qwen-image-360` makes panoramas from text. `qwen-image-edit` makes them from text and up to three images. */
export type BundledWorkflow = keyof typeof BUNDLED;

export const BUNDLED_WORKFLOWS = Object.keys(BUNDLED) as readonly BundledWorkflow[];

/** A workflow; one that is bundled has its name. */
export type NamedWorkflow = Workflow & { readonly name: BundledWorkflow | undefined };

/** `workflow`: the name of a bundled one, or the JSON of another one. Throws if it is neither. */
export const namedWorkflow = (workflow: unknown): NamedWorkflow => {
  const name = BUNDLED_WORKFLOWS.find((bundled) => bundled === workflow);
  const parsed = parseWorkflow(name === undefined ? workflow : BUNDLED[name]);
  if (parsed.isErr()) throw new TypeError(`workflow: ${parsed.error}.`);
  return { ...parsed.value, name };
};
