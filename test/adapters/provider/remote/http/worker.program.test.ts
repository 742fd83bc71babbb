import { spawn } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ok } from "neverthrow";
import { describe, expect, it, onTestFinished } from "vitest";
import { aCreationRequest, noon, taskId } from "../../../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../../../adapters/memory/hand-clock.js";
import { MemoryObjectStorage } from "../../../../../adapters/memory/memory-object-storage.js";
import { httpProvider } from "../../../../../adapters/provider/remote/http/http-provider.js";
import { freePort } from "../../../../support/free-port.js";
import { PYTHON } from "../../../../support/python.js";
import { scratchFolder } from "../../../../support/scratch-folder.js";
import { plain } from "../../../../support/test-images.js";

const EXAMPLE = "test/examples/http-provider";

/** The example with its model replaced: it copies a picture, or fails if the prompt says so. */
const WITHOUT_MODEL = `
import os, shutil, sys
sys.path.insert(0, ${JSON.stringify(EXAMPLE)})
import worker
def paint(order, path):
    if "fail" in order["prompt"]: raise Exception("out of memory")
    if "refuse" in order["prompt"]:
        error = Exception("No.")
        error.cause = "content_refused"
        raise error
    shutil.copyfile(os.environ["PICTURE"], path)
worker.main(paint)
`;

describe("the reference worker", () => {
  /** The worker as a process, and the adapter that calls it. */
  const started = async (token = "secret") => {
    const [folder, port] = [await scratchFolder(), await freePort()];
    const picture = join(folder, "picture.png");
    const bytes = await plain({ widthPixels: 64, heightPixels: 32 }).png().toBuffer();
    await writeFile(picture, bytes);
    const results = join(folder, "results");
    const environment = {
      WORKER_TOKEN: "secret",
      WORKER_PORT: String(port),
      WORKER_FOLDER: results,
      PICTURE: picture,
    };
    const process_ = spawn(PYTHON, ["-c", WITHOUT_MODEL], {
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1", ...environment },
      stdio: "ignore",
    });
    const baseUrl = `http://127.0.0.1:${port}`;
    const provider = httpProvider({
      baseUrl,
      token,
      clock: new HandClock(),
      storage: new MemoryObjectStorage(),
      submitTimeoutMilliseconds: 10_000,
      callsPerSecond: Number.POSITIVE_INFINITY,
    });
    onTestFinished(async () => {
      process_.kill("SIGKILL");
      await provider.close();
    });
    await expect.poll(() => fetch(baseUrl).then(({ status }) => status, String), { interval: 50 }).toBe(401);
    const submit = (n: number, body = {}) => provider.submit({ taskId: taskId(n), request: aCreationRequest(body) });
    const ended = async (n: number) => {
      const state = async () => (await provider.poll(taskId(n)))._unsafeUnwrap();
      await expect.poll(async () => (await state()).state, { interval: 20 }).not.toBe("running");
      return state();
    };
    return { provider, submit, ended, baseUrl, bytes, results };
  };

  it("has at most 80 lines", async () => {
    const text = await readFile(`${EXAMPLE}/worker.py`, "utf8");
    expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(80);
  });

  it("makes one panorama for repeated PUTs, and finds it by the task id", async () => {
    const { provider, submit, ended, bytes, results } = await started();
    expect(await provider.check()).toEqual(ok(undefined));
    expect(await provider.search(taskId(1), noon)).toEqual(ok(undefined));
    expect(await submit(1)).toEqual(ok(taskId(1)));
    expect(await submit(1)).toEqual(ok(taskId(1)));
    const progress = await ended(1);
    if (progress.state !== "succeeded") throw new Error(`The generation is ${JSON.stringify(progress)}.`);
    expect(await submit(1)).toEqual(ok(taskId(1)));
    expect(await provider.search(taskId(1), noon)).toEqual(ok(taskId(1)));
    expect(await submit(2)).toEqual(ok(taskId(2)));
    expect((await ended(2)).state).toBe("succeeded");
    const downloaded = (await provider.download(progress.temporaryUrl, taskId(1)))._unsafeUnwrap();
    expect(Buffer.from(downloaded.bytes).equals(bytes)).toBe(true);
    expect(await readdir(results)).toHaveLength(2);
  });

  it("reports a failed generation, refuses images and an unknown path", async () => {
    const { provider, submit, ended, baseUrl } = await started();
    await submit(1, { prompt: "please fail" });
    expect(await ended(1)).toEqual({ state: "failed", reason: "the provider ended it as failed" });
    await submit(3, { prompt: "please refuse" });
    const reason = "the provider ended it as failed";
    expect(await ended(3)).toEqual({ state: "failed", reason, cause: "content_refused" });
    const image_urls = ["https://pictures.example/p.jpg"];
    expect((await submit(2, { prompt: "a lake", image_urls }))._unsafeUnwrapErr().kind).toBe("refused");
    await provider.check();
    expect(provider.checkRequest(aCreationRequest({ prompt: "a lake", image_urls })).isErr()).toBe(true);
    expect(provider.checkRequest(aCreationRequest({ prompt: "x".repeat(1_500) }))).toEqual(ok(undefined));
    expect(provider.checkRequest(aCreationRequest({ prompt: "x".repeat(1_501) })).isErr()).toBe(true);
    const headers = { authorization: "Bearer secret" };
    expect((await fetch(`${baseUrl}/results/..%2Fpicture.png`, { headers })).status).toBe(404);
  });

  it("refuses a wrong token", async () => {
    const { provider, submit } = await started("wrong");
    expect((await provider.check())._unsafeUnwrapErr().kind).toBe("misconfigured");
    expect((await submit(1))._unsafeUnwrapErr().kind).toBe("refused");
  });
});
