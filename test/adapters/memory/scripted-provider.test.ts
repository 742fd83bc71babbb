import { afterEach, describe, it } from "vitest";
import { generationProviderContract } from "../../../adapters/contracts/generation-provider-contract.js";
import { aCreationRequest, taskId } from "../../../adapters/contracts/support/builders.js";
import { ScriptedProvider } from "../../../adapters/memory/scripted-provider.js";

/** All tests of the use cases use this provider, so it passes the contract of the port, too. */
generationProviderContract({ describe, it, afterEach }, "ScriptedProvider", async () => {
  const provider = new ScriptedProvider();
  return {
    provider,
    searchable: true,
    order: (n, outcome) => {
      if (outcome === "be refused") provider.play({ submit: "refuse" });
      if (outcome === "fail") provider.play({ poll: "failed" });
      if (outcome === "expire") provider.play({ download: "gone" });
      return { taskId: taskId(n), request: aCreationRequest() };
    },
    allEnded: async () => {},
    close: async () => {},
  };
});
