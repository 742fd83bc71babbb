import { cp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { migratedInstallation } from "../support/migrated-installation.js";
import { scratchFolder } from "../support/scratch-folder.js";

it("an account that was closed after a backup is closed again after its restore", async () => {
  const folder = await scratchFolder();
  const installation = await migratedInstallation({ DEMO: "false" });
  onTestFinished(() => installation.remove());
  const run = async (...args: string[]) => {
    const { status, json, stderr } = await installation.answer(...args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    return json;
  };
  const id = String((await run("account", "create", "--email", "ann@example.com")).account_id);
  await run("account", "create", "--email", "bob@example.com");
  const file = join(folder, "panorama.sqlite");
  await run("backup", file);
  await run("account", "close", "--account", id, "--confirm", "ann@example.com");
  const list = await run("account", "erasures");
  expect(list).toEqual({ erasures: [{ account_id: id, closed_at: expect.any(String) }] });
  const erasures = join(folder, "erasures.json");
  const erased = list.erasures as object[];
  await writeFile(erasures, JSON.stringify({ erasures: [...erased, { account_id: "acc_opened_later" }] }));

  for (const suffix of ["", "-wal", "-shm"]) {
    await rm(join(installation.dataDir, `panorama.sqlite${suffix}`), { force: true });
  }
  await cp(file, join(installation.dataDir, "panorama.sqlite"));
  expect(await run("account", "show", "--account", id)).toMatchObject({ email: "ann@example.com", closed_at: null });
  expect(await run("account", "erase-again", erasures)).toEqual({
    closed: 1,
    closed_before: 0,
    unknown: 1,
    active: [],
  });
  expect(await run("account", "show", "--account", id)).toMatchObject({ closed_at: expect.any(String) });
  const ann = await installation.answer("account", "show", "--email", "ann@example.com");
  expect(ann.error?.message).toBe("There is no account for ann@example.com.");
  expect(await run("account", "show", "--email", "bob@example.com")).toMatchObject({ closed_at: null });
  expect(await run("account", "erase-again", erasures)).toMatchObject({ closed: 0, closed_before: 1 });
  await writeFile(erasures, "{}");
  expect((await installation.answer("account", "erase-again", erasures)).error?.code).toBe("usage");
});
