import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../../../adapters/memory/hand-clock.js";
import type { IncomingWebhook } from "../../../../../application/ports/generation-provider.js";
import {
  describeProviderWebhooks,
  describeSignedWebhooks,
} from "../../../../support/contracts/provider-webhooks-contract.js";
import { aWebhookSecret } from "../../../../support/fake-replicate.js";
import { arrived, startReplicateWebhooks } from "../../../../support/webhooks-under-test.js";

describeProviderWebhooks("replicate", startReplicateWebhooks);

describeSignedWebhooks("replicate", startReplicateWebhooks, {
  headers: ["webhook-id", "webhook-timestamp", "webhook-signature"],
  signature: ["webhook-signature", `v1,${Buffer.alloc(32).toString("base64")}`],
  keyPath: "/v1/webhooks/default/secret",
  changeKey: ({ fake }) => {
    fake.webhookSecret = aWebhookSecret();
  },
});

/** The example from the documentation of the reference implementation of Standard Webhooks. */
const PUBLISHED = {
  secret: "whsec_plJ3nmyCDGBKInavdOK15jsl",
  id: "msg_loFOjxBNrRLzqYUf",
  timestamp: "1731705121",
  body: '{"event_type":"ping","data":{"success":true}}',
  signature: "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=",
};

describe("replicateSignature", () => {
  let remote: Awaited<ReturnType<typeof startReplicateWebhooks>>;
  let query: URLSearchParams;

  beforeEach(async () => {
    remote = await startReplicateWebhooks(new HandClock(new Date(Number(PUBLISHED.timestamp) * 1000)));
    remote.fake.webhookSecret = PUBLISHED.secret;
    await remote.provider.submit({ taskId: taskId(1), request: aCreationRequest() });
    query = arrived(remote.fake.webhook(remote.fake.tasks[0]!, new Date())).query;
  });
  afterEach(() => remote.close());

  const signedWith = (signature: string): IncomingWebhook => ({
    body: Buffer.from(PUBLISHED.body),
    headers: { "webhook-id": PUBLISHED.id, "webhook-timestamp": PUBLISHED.timestamp, "webhook-signature": signature },
    query,
  });

  it("accepts the published example of Standard Webhooks", async () => {
    expect(await remote.webhooks.taskOf(signedWith(PUBLISHED.signature))).toEqual(ok(taskId(1)));
  });

  it("accepts one matching v1 signature among several and ignores other versions", async () => {
    const another = `v1,${Buffer.alloc(32).toString("base64")}`;
    for (const signatures of [`${another} ${PUBLISHED.signature}`, `v1a,AAAA ${PUBLISHED.signature} ${another}`]) {
      expect(await remote.webhooks.taskOf(signedWith(signatures))).toEqual(ok(taskId(1)));
    }
    const rejected = err({ kind: "unverified_webhook", reason: "No webhook-signature matches." });
    for (const signatures of [another, PUBLISHED.signature.replace("v1,", "v2,"), "v1,", " "]) {
      expect(await remote.webhooks.taskOf(signedWith(signatures))).toEqual(rejected);
    }
  });
});
