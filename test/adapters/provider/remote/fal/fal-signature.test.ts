import { generateKeyPairSync } from "node:crypto";
import {
  describeProviderWebhooks,
  describeSignedWebhooks,
} from "../../../../support/contracts/provider-webhooks-contract.js";
import { startFalWebhooks } from "../../../../support/webhooks-under-test.js";

describeProviderWebhooks("fal", startFalWebhooks);

describeSignedWebhooks("fal", startFalWebhooks, {
  headers: ["x-fal-webhook-request-id", "x-fal-webhook-user-id", "x-fal-webhook-timestamp", "x-fal-webhook-signature"],
  signature: ["x-fal-webhook-signature", "00".repeat(64)],
  keyPath: "/.well-known/jwks.json",
  changeKey: ({ fake }) => {
    fake.signingKeys = [generateKeyPairSync("ed25519")];
  },
});
