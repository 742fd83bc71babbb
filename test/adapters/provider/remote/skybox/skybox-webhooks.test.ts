import { describeProviderWebhooks } from "../../../../support/contracts/provider-webhooks-contract.js";
import { startSkyboxWebhooks } from "../../../../support/webhooks-under-test.js";

describeProviderWebhooks("skybox", startSkyboxWebhooks);
