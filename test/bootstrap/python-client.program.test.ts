import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { migratedInstallation } from "../support/migrated-installation.js";
import { generatePythonClient, modelsOf, runPython } from "../support/python.js";
import { scratchFolder } from "../support/scratch-folder.js";
import { plain } from "../support/test-images.js";

const SCRIPT = fileURLToPath(new URL("use-python-client.py", import.meta.url));

it("a Python client generated from the OpenAPI description works with every operation of the running service", async () => {
  const folder = await scratchFolder();
  const installation = await migratedInstallation({ LOCAL_PROVIDER_DELAY_MS: "100" });
  try {
    const { demo_api_key = "" } = await installation.start();
    const baseUrl = `${installation.url}/api/v1`;
    const client = join(folder, "client");
    await mkdir(client);
    await generatePythonClient((await (await fetch(`${baseUrl}/openapi-3.0.json`)).json()) as object, client);
    expect((await modelsOf(client)).filter((name) => name.startsWith("creation_request"))).toEqual([
      "creation_request",
    ]);

    const images = [join(folder, "a.jpg"), join(folder, "b.jpg")];
    for (const [index, image] of images.entries()) {
      await writeFile(
        image,
        await plain({ widthPixels: 300 + index, heightPixels: 200 })
          .jpeg()
          .toBuffer(),
      );
    }
    const seen = (await runPython(SCRIPT, client, [baseUrl, demo_api_key, ...images])) as { credits_before: number };
    expect(seen).toEqual({
      credits_before: seen.credits_before,
      created: [202, "processing", 4],
      replayed: [true, "true"],
      task: [true, "succeeded", "saved", true],
      uploaded: 2,
      running: ["processing", null, true],
      listed: [true, true, null],
      credits_after: seen.credits_before - 8,
      refusals: [
        [401, "invalid_api_key"],
        [404, "not_found"],
        [400, "invalid_request"],
        [400, "invalid_request"],
      ],
    });
  } finally {
    await installation.remove();
  }
});
