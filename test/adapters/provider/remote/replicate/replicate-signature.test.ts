import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../../../adapters/memory/hand-clock.js";
import {
  describeProviderWebhooks,
  describeSignedWebhooks,
} from "../../../../support/contracts/provider-webhooks-contract.js";
import { arrived } from "../../../../support/fake-provider.js";
import { aWebhookSecret, type FakeReplicate } from "../../../../support/fake-replicate.js";
import { startReplicate } from "../../../../support/providers-under-test.js";

describeProviderWebhooks("replicate", startReplicate);

describeSignedWebhooks<FakeReplicate>("replicate", startReplicate, {
  headers: ["webhook-id", "webhook-timestamp", "webhook-signature"],
  signature: ["webhook-signature", `v1,${Buffer.alloc(32).toString("base64")}`],
  keyPath: "/v1/webhooks/default/secret",
  changeKey: (fake) => {
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
const OTHER = `v1,${Buffer.alloc(32).toString("base64")}`;
const UNVERIFIED = err({ kind: "unverified_webhook", reason: "No webhook-signature matches." });

describe("replicateSignature", () => {
  let remote: Awaited<ReturnType<typeof startReplicate>>;

  beforeEach(async () => {
    const clock = new HandClock(new Date(Number(PUBLISHED.timestamp) * 1000));
    remote = await startReplicate({ clock, publicUrl: "https://panoramas.example" });
    remote.fake.webhookSecret = PUBLISHED.secret;
    await remote.provider.submit({ taskId: taskId(1), request: aCreationRequest() });
  });
  afterEach(() => remote.close());

  it.each([
    ["accepts the published example of Standard Webhooks", PUBLISHED.signature, ok(taskId(1))],
    ["accepts one matching v1 signature among several", `${OTHER} ${PUBLISHED.signature}`, ok(taskId(1))],
    ["ignores other versions", `v1a,AAAA ${PUBLISHED.signature} ${OTHER}`, ok(taskId(1))],
    ["refuses another signature", OTHER, UNVERIFIED],
    ["refuses another version", PUBLISHED.signature.replace("v1,", "v2,"), UNVERIFIED],
    ["refuses an empty signature", "v1,", UNVERIFIED],
  ])("%s", async (_, signature, expected) => {
    const { query } = arrived(remote.fake.webhook(remote.fake.tasks[0]!, new Date()));
    const { id, timestamp, body } = PUBLISHED;
    const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
    expect(await remote.provider.webhooks?.taskOf({ body: Buffer.from(body), headers, query })).toEqual(expected);
  });
});
