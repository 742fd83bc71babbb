import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { initSync, WasmReader } from "@contentauth/c2pa-wasm";

type Manifest = {
  readonly claim_generator_info?: readonly { readonly name: string }[];
  readonly assertions: readonly { readonly label: string; readonly data: { readonly actions?: readonly object[] } }[];
  readonly ingredients?: readonly { readonly active_manifest?: string }[];
};

/**
 * What the reference library of the C2PA says of a file; `undefined` if the file has no manifest. `anchors`:
 * certificates that it trusts, as PEM.
 */
export const verifiedProvenance = async (file: Uint8Array, type = "image/jpeg", anchors?: string) => {
  loaded ??= readFile(createRequire(import.meta.url).resolve("@contentauth/c2pa-wasm/c2pa.wasm"));
  initSync({ module: await loaded });
  const settings = anchors === undefined ? undefined : JSON.stringify({ trust: { trust_anchors: anchors } });
  const reader = await WasmReader.fromBytes(type, new Uint8Array(file), settings).catch((error: unknown) => {
    if (/no JUMBF/i.test(String(error))) return undefined;
    throw error;
  });
  if (reader === undefined) return undefined;
  const said = JSON.parse(reader.json()) as {
    readonly active_manifest: string;
    readonly manifests: Readonly<Record<string, Manifest>>;
    readonly validation_state: "Invalid" | "Valid" | "Trusted";
    readonly validation_status?: readonly { readonly code: string }[];
  };
  reader.free();
  const manifest = said.manifests[said.active_manifest];
  const [action] = manifest?.assertions.flatMap(({ data }) => data.actions ?? []) ?? [];
  return {
    state: said.validation_state,
    failures: (said.validation_status ?? []).map(({ code }) => code),
    action: action as { readonly action: string; readonly digitalSourceType: string } | undefined,
    ingredients: manifest?.ingredients?.length ?? 0,
    manifests: Object.keys(said.manifests).length,
  };
};

let loaded: Promise<Buffer> | undefined;
