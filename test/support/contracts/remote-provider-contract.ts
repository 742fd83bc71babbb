import { afterEach, describe, it } from "vitest";
import { generationProviderContract } from "../../../adapters/contracts/generation-provider-contract.js";
import type { Plan } from "../fake-provider.js";
import { refuses } from "../faulty-server.js";
import type { Overrides } from "../providers-under-test.js";
import { describeRemoteCancels } from "./remote-cancel-contract.js";
import { describeRemoteCheck } from "./remote-check-contract.js";
import { describeRemoteCircuit } from "./remote-circuit-contract.js";
import { describeRemoteCreations } from "./remote-creation-contract.js";
import { describeRemoteDownloads } from "./remote-download-contract.js";
import { describeRemotePolls } from "./remote-poll-contract.js";
import { describeRemoteRates } from "./remote-rate-contract.js";
import { describeRemoteReferenceImages } from "./remote-reference-image-contract.js";
import { describeRemoteSearch } from "./remote-search-contract.js";
import { aRemoteOrder, type ExpectedDefaults, type RemoteUnderTest, setUpRemote } from "./remote-setup.js";

/** What RemoteProvider does with every dialect. `name` is that of the dialect. */
export const remoteProviderContract = (
  name: string,
  start: (overrides: Overrides) => Promise<RemoteUnderTest>,
  defaults: ExpectedDefaults,
): void => {
  generationProviderContract({ describe, it, afterEach }, `RemoteProvider for ${name}`, async () => {
    const { provider, fake, close } = await start({});
    let ended: Plan = "succeed";
    if (defaults.searchable === "finished") fake.plan = "run";
    return {
      provider,
      searchable: defaults.searchable,
      foundAs: defaults.foundAs,
      close,
      order: (n, outcome) => {
        if (outcome === "be refused") fake.faults.creates.push(refuses(422));
        if (outcome === "fail") ended = "fail";
        if (outcome === "expire") fake.faults.images.push(refuses(404), refuses(404));
        return aRemoteOrder(defaults, n);
      },
      allEnded: async () => {
        fake.plan = ended;
      },
    };
  });

  describe(`RemoteProvider for ${name}`, () => {
    const on = setUpRemote(start, defaults);

    describeRemoteCreations(on);
    describeRemotePolls(on);
    describeRemoteRates(on);
    describeRemoteCircuit(on);
    describeRemoteDownloads(on);
    if (defaults.searchable) describeRemoteSearch(on);
    if (defaults.textOnly !== true) describe("a reference image", () => describeRemoteReferenceImages(on));
    const { keyVariable } = defaults;
    if (keyVariable !== undefined) describe("check", () => describeRemoteCheck(keyVariable, on));
    describe("cancel", () => describeRemoteCancels(on));
  });
};
