import { expect, it } from "vitest";
import { ProviderChain } from "../../../adapters/provider/provider-chain.js";
import { comfyuiProvider } from "../../../adapters/provider/remote/comfyui/comfyui-provider.js";
import { publicNameOf } from "../../../application/background/store-panorama.js";

it("the public name of a place has no address of an own server", async () => {
  const comfyui = comfyuiProvider({ baseUrls: ["http://user:secret@10.0.0.5:8188/inner"] });
  const places = [comfyui, new ProviderChain([comfyui], () => {})].map((provider) => provider.places()[0]?.name ?? "");
  for (const place of places) expect(place).toContain("10.0.0.5");
  expect(places.map(publicNameOf)).toEqual(["unknown", "comfyui"]);
  await comfyui.close();
  expect(["local", "fal:seedream-4.5", "replicate:owner/name"].map(publicNameOf)).toEqual([
    "local",
    "fal",
    "replicate",
  ]);
});
