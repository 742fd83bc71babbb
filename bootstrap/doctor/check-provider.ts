import type { RemoteOptions } from "../../adapters/provider/remote/remote-options.js";
import { StartError } from "../command-error.js";
import type { Config } from "../config.js";
import { workflowOf } from "../providers/comfyui-workflow.js";
import { openProvider } from "../providers/open-provider.js";
import { providerProblem } from "../providers/provider-check.js";
import type { RemoteProviderConfig } from "../providers/provider-config.js";
import { installationUserAgent } from "../user-agent.js";
import { broken, type Finding, fine, warning } from "./finding.js";

/** Facts that the check of each provider has verified. */
const ACCEPTED: Readonly<Record<RemoteProviderConfig["kind"], string>> = {
  skybox: "Skybox AI accepts SKYBOX_API_KEY, and has the style of SKYBOX_STYLE_ID.",
  replicate: "Replicate accepts REPLICATE_API_KEY, and has the model of REPLICATE_MODEL.",
  fal: "fal accepts FAL_API_KEY, and the schema of the model fits.",
  worldlabs:
    "World Labs accepts WORLDLABS_API_KEY. The model was not checked, because no call without a generation does it.",
  comfy:
    "Comfy API v2 answers, and accepts COMFY_API_KEY if it asks for one. The workflow was not checked, because no " +
    "call without a job does it.",
  comfyui: "Each ComfyUI server has the nodes of the workflow.",
  http: "The worker answers, and accepts HTTP_PROVIDER_TOKEN if it asks for one.",
};

/** Asks each provider whether key and model are right. Nothing is generated, and nothing is paid. */
export const checkProvider = async (
  config: Pick<Config, "provider" | "providerPrompt" | "publicUrl" | "operatorEmail">,
): Promise<readonly Finding[]> => {
  const { provider, providerPrompt } = config;
  if (provider.kind === "local") return [fine("provider", "The local provider paints here, and needs no key.")];
  const options = { promptTemplate: providerPrompt, userAgent: installationUserAgent(config) };
  return Promise.all(provider.inOrder.map((remote) => checkRemote(remote, options)));
};

const checkRemote = async (remote: RemoteProviderConfig, options: RemoteOptions): Promise<Finding> => {
  const name = `provider ${remote.kind}`;
  try {
    const opened = openProvider(remote, options, await workflowOf(remote));
    try {
      const checked = await opened.check();
      if (checked.isOk()) return fine(name, ACCEPTED[remote.kind]);
      const message = providerProblem(checked.error);
      return checked.error.kind === "misconfigured"
        ? broken(name, "configuration", message)
        : warning(name, `${message} Creations are refused while the provider does not answer.`);
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (error instanceof StartError) return broken(name, "configuration", error.message);
    throw error;
  }
};
