import { readFile } from "node:fs/promises";
import { BUNDLED_WORKFLOWS } from "../../adapters/provider/remote/workflows/bundled-workflows.js";
import { parseWorkflow } from "../../adapters/provider/remote/workflows/workflow.js";
import { ConfigurationError } from "../command-error.js";
import type { RemoteProviderConfig } from "./provider-config.js";

/**
 * The workflow of COMFYUI_WORKFLOW or COMFY_WORKFLOW: the name of a bundled one, or the JSON in the file. Absent if it
 * is not set, and for another provider. Throws for an unusable file.
 */
export const workflowOf = async (provider: RemoteProviderConfig): Promise<unknown> => {
  if (provider.kind !== "comfyui" && provider.kind !== "comfy") return undefined;
  const { kind, workflowSetting: set } = provider;
  if (set === undefined || BUNDLED_WORKFLOWS.some((name) => name === set)) return set;
  const setting = `${kind.toUpperCase()}_WORKFLOW=${set}`;
  const json = await jsonIn(set, setting);
  const parsed = parseWorkflow(json);
  if (parsed.isErr()) throw new ConfigurationError(`Bad configuration: ${setting}: ${parsed.error}.`);
  return json;
};

const jsonIn = async (file: string, setting: string): Promise<unknown> => {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    const reason = error instanceof SyntaxError ? "the file is not JSON" : "the file cannot be read";
    throw new ConfigurationError(`Bad configuration: ${setting}: ${reason}.`, { cause: error });
  }
};
