import { generateKeyPairSync } from "node:crypto";
import {
  describeProviderNotices,
  describeSignedNotices,
} from "../../../support/contracts/provider-notices-contract.js";
import { startFalNotices } from "../../../support/notices-under-test.js";

describeProviderNotices("fal", startFalNotices);

describeSignedNotices("fal", startFalNotices, {
  headers: ["x-fal-webhook-request-id", "x-fal-webhook-user-id", "x-fal-webhook-timestamp", "x-fal-webhook-signature"],
  signature: ["x-fal-webhook-signature", "00".repeat(64)],
  keyPath: "/.well-known/jwks.json",
  changeKey: ({ fake }) => {
    fake.signingKeys = [generateKeyPairSync("ed25519")];
  },
});
