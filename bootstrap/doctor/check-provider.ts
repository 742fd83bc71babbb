import { workflowOf } from "../comfyui-workflow.js";
import type { Config, RemoteProviderConfig } from "../config.js";
import { StartError } from "../configuration-error.js";
import { openProvider } from "../open-provider.js";
import { providerProblem } from "../provider-check.js";
import { broken, type Finding, fine, warning } from "./finding.js";

/** What the check of each provider has verified. */
const ACCEPTED: Readonly<Record<RemoteProviderConfig["kind"], string>> = {
  skybox: "Skybox AI accepts SKYBOX_API_KEY, and has the style of SKYBOX_STYLE_ID.",
  replicate: "Replicate accepts REPLICATE_API_KEY, and has the model of REPLICATE_MODEL.",
  fal: "fal accepts FAL_API_KEY. The model was not checked, because no call of fal without a generation does it.",
  comfyui: "Each ComfyUI server has the nodes of the workflow.",
  http: "The worker answers, and accepts HTTP_PROVIDER_TOKEN if it asks for one.",
};

/** Asks each provider whether key and model are right. Nothing is generated, and nothing is paid. */
export const checkProvider = async (config: Pick<Config, "provider">): Promise<readonly Finding[]> => {
  const { provider } = config;
  if (provider.kind === "local") return [fine("provider", "The local provider paints here, and needs no key.")];
  return Promise.all(provider.inOrder.map(checkRemote));
};

const checkRemote = async (remote: RemoteProviderConfig): Promise<Finding> => {
  const name = `provider ${remote.kind}`;
  try {
    const opened = openProvider(remote, {}, await workflowOf(remote));
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
