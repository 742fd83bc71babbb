import { expect, it, onTestFinished } from "vitest";
import { httpProvider } from "../../../../adapters/provider/remote/http/http-provider.js";
import type { ProviderCall } from "../../../../adapters/provider/remote/remote-options.js";
import { FakeHttpProvider, HTTP_TOKEN } from "../../../support/fake-http-provider.js";
import { FAULTS } from "../../../support/faulty-server.js";

it("a remote provider reports each call with its method, outcome and time", async () => {
  const fake = await FakeHttpProvider.start();
  const calls: ProviderCall[] = [];
  const onCall = (call: ProviderCall) => void calls.push(call);
  const provider = httpProvider({ baseUrl: fake.baseUrl, token: HTTP_TOKEN, onCall });
  onTestFinished(async () => {
    await provider.close();
    await fake.close();
  });
  await provider.check();
  await provider.poll("unknown");
  fake.faults.lists.push(FAULTS.cutBefore);
  await provider.poll("unknown");
  expect(calls).toEqual(
    [
      ["GET", "2xx"],
      ["GET", "4xx"],
      ["GET", "no_answer"],
    ].map(([method, outcome]) => ({ provider: "http", method, outcome, seconds: expect.any(Number) })),
  );
  expect(calls.every(({ seconds }) => seconds > 0 && seconds < 10)).toBe(true);
});
