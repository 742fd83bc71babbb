import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { readConfig } from "../../bootstrap/config.js";
import { createService } from "../../bootstrap/service.js";
import { tokens } from "../../bootstrap/tokens.js";
import { FakeComfyui } from "../support/fake-comfyui.js";
import { COMFYUI_WORKFLOW } from "../support/providers-under-test.js";
import { scratchFolder } from "../support/scratch-folder.js";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** The service's provider with two ComfyUI servers and this text as its workflow file. */
const opened = async (workflow: string) => {
  const [folder, one, two] = [await scratchFolder(), await FakeComfyui.start(), await FakeComfyui.start()];
  const file = join(folder, "workflow.json");
  await writeFile(file, workflow);
  const config = readConfig({
    PROVIDER: "comfyui",
    COMFYUI_BASE_URL: `${one.baseUrl},${two.baseUrl}`,
    COMFYUI_WORKFLOW: file,
    DATA_DIR: folder,
    LOG_LEVEL: "silent",
  });
  const service = createService(config._unsafeUnwrap());
  ends.push(
    () => one.close(),
    () => two.close(),
  );
  await service.loadServer();
  const provider = await service.get(tokens.provider);
  ends.push(() => service.close());
  return provider;
};

it("opens two ComfyUI servers with the workflow in the file, and checks it", async () => {
  const provider = await opened(JSON.stringify(COMFYUI_WORKFLOW));
  expect([provider.name, provider.places().map(({ concurrencyMax }) => concurrencyMax)]).toEqual(["comfyui", [1, 1]]);
});

it.each([
  ["{", "the file is not JSON"],
  ["{}", "no input of a node has the placeholder {prompt} or {leading_prompt}"],
])("does not start with the workflow %s, and names the setting and the reason", async (workflow, reason) => {
  await expect(opened(workflow)).rejects.toThrow(
    new RegExp(`^Bad configuration: COMFYUI_WORKFLOW=\\S+workflow.json: ${reason.replace(/[{}]/g, "\\$&")}\\.$`),
  );
});
