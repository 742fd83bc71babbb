import { readFile } from "node:fs/promises";
import { parseWorkflow } from "../adapters/provider/remote/comfyui/workflow.js";
import type { RemoteProviderConfig } from "./config.js";
import { ConfigurationError } from "./configuration-error.js";

/** The JSON of COMFYUI_WORKFLOW. Absent: the bundled workflow, or another provider. Throws if the file cannot be used. */
export const workflowOf = async (provider: RemoteProviderConfig): Promise<unknown> => {
  if (provider.kind !== "comfyui" || provider.workflowFile === undefined) return undefined;
  const { workflowFile: file } = provider;
  const json = await jsonIn(file);
  const parsed = parseWorkflow(json);
  if (parsed.isErr()) throw new ConfigurationError(`Bad configuration: COMFYUI_WORKFLOW=${file}: ${parsed.error}.`);
  return json;
};

const jsonIn = async (file: string): Promise<unknown> => {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    const reason = error instanceof SyntaxError ? "the file is not JSON" : "the file cannot be read";
    throw new ConfigurationError(`Bad configuration: COMFYUI_WORKFLOW=${file}: ${reason}.`, { cause: error });
  }
};
