import { generateKeyPairSync } from "node:crypto";
import { ok } from "neverthrow";
import { expect, it } from "vitest";
import { HandClock } from "../../../../../adapters/memory/hand-clock.js";
import { UpstreamHttp } from "../../../../../adapters/provider/remote/calls/upstream-http.js";
import { falSignature } from "../../../../../adapters/provider/remote/fal/fal-signature.js";
import {
  describeProviderWebhooks,
  describeSignedWebhooks,
} from "../../../../support/contracts/provider-webhooks-contract.js";
import { FakeFal } from "../../../../support/fake-fal.js";
import { arrived } from "../../../../support/fake-provider.js";
import { FAULTS, type Fault, refuses } from "../../../../support/faulty-server.js";
import { startFal } from "../../../../support/providers-under-test.js";

describeProviderWebhooks("fal", startFal);

describeSignedWebhooks<FakeFal>("fal", startFal, {
  headers: ["x-fal-webhook-request-id", "x-fal-webhook-user-id", "x-fal-webhook-timestamp", "x-fal-webhook-signature"],
  signature: ["x-fal-webhook-signature", "00".repeat(64)],
  keyPath: "/.well-known/jwks.json",
  changeKey: (fake) => {
    fake.signingKeys = [generateKeyPairSync("ed25519")];
  },
});

it.each<[string, Fault]>([
  ["does not know the path", refuses(404)],
  ["does not respond", FAULTS.cutBefore],
  ["has no keys", { done: true, instead: { status: 200, body: '{"keys":[]}' } }],
])("falSignature reads the keys from the second URL when the first %s", async (_, fault) => {
  const [fake, http, clock] = [await FakeFal.start(), new UpstreamHttp(), new HandClock()];
  const verify = falSignature([fake.jwksUrl, fake.jwksUrl], http, clock);
  const task = { id: "1", input: {}, state: "succeed", webhook: "https://p.example" } as const;
  fake.faults.keys.push(fault);
  expect(await verify(arrived(fake.webhook(task, clock.now())))).toEqual(ok(undefined));
  fake.faults.keys.push(fault, fault);
  await clock.advance(24 * 3_600_000);
  const later = await verify(arrived(fake.webhook(task, clock.now())));
  expect(later._unsafeUnwrapErr().kind).toBe("provider_unavailable");
  await Promise.all([http.close(), fake.close()]);
});
