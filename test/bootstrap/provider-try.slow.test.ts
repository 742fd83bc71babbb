import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, it, onTestFinished } from "vitest";
import { FAL_KEY, FakeFal } from "../support/fake-fal.js";
import { FakeReplicate, REPLICATE_KEY } from "../support/fake-replicate.js";
import { refuses } from "../support/faulty-server.js";
import { scratchFolder } from "../support/scratch-folder.js";
import { Installation } from "../support/service-process.js";
import { plain, seamless, withSeam } from "../support/test-images.js";
import { runTrialWith } from "../support/trial.js";

const SIZE = { widthPixels: 1440, heightPixels: 720 };

const fakeFal = async () => {
  const fal = await FakeFal.start();
  onTestFinished(() => fal.close());
  fal.picture = await seamless(SIZE).jpeg({ quality: 95 }).toBuffer();
  const environment = {
    PROVIDER: "fal:seedream-4.5",
    FAL_API_KEY: FAL_KEY,
    FAL_BASE_URL: fal.baseUrl,
    FAL_PLATFORM_URL: fal.platformUrl,
    PROVIDER_POLL_MS: "100",
    PROVIDER_MAX_CONCURRENT: "1",
  };
  return { fal, environment };
};

const file = async (name: string, content: string | Buffer): Promise<string> => {
  const path = join(await scratchFolder(), name);
  await writeFile(path, content);
  return path;
};

describe("panorama provider try", () => {
  it("makes each prompt again and again with the next seed, and keeps pictures, figures and times", async () => {
    const promptsFile = await file("prompts.txt", "# two prompts\na lake\n\n  a forest at night \n");
    const trial = await runTrialWith(
      { PROVIDER: "local", LOCAL_PROVIDER_DELAY_MS: "0" },
      { promptsFile, count: 3, seed: 7 },
    );

    const { providers, pictures, references } = await trial.results();
    expect(
      pictures.map(({ provider, number, prompt, seed, status }) => [provider, number, prompt, seed, status]),
    ).toEqual([
      ["local", 1, "a lake", 7, "made"],
      ["local", 2, "a forest at night", 7, "made"],
      ["local", 3, "a lake", 8, "made"],
    ]);
    expect(pictures[0]).toMatchObject({
      native_width: 1024,
      native_height: 512,
      seam: 0,
      picture: "local-01.jpg",
      thumbnail: "thumbnails/local-01.webp",
      sphere: "spheres/local-01.js",
    });
    expect(providers).toMatchObject([{ provider: "local", made: 3, failed: 0, picture_dollars: 0, total_dollars: 0 }]);
    expect(references).toEqual([]);
    expect((await readdir(trial.folder)).toSorted()).toEqual([
      "index.html",
      "local-01.jpg",
      "local-02.jpg",
      "local-03.jpg",
      "results.json",
      "spheres",
      "thumbnails",
    ]);
    const jpeg = await readFile(join(trial.folder, "local-01.jpg"));
    expect(await sharp(jpeg).metadata()).toMatchObject({ width: 1024, height: 512, format: "jpeg" });
    expect(await sharp(join(trial.folder, "thumbnails/local-01.webp")).metadata()).toMatchObject({ format: "webp" });
    expect(await readFile(join(trial.folder, "spheres/local-01.js"), "utf8")).toBe(
      `showSphere("data:image/jpeg;base64,${jpeg.toString("base64")}");\n`,
    );
    expect(trial.lines[0]).toBe("local: 3 pictures, $0 each, at most 32 at once");
    expect(
      trial.lines
        .slice(1)
        .toSorted()
        .map((line) => line.replace(/.*local/, "local").replace(/[\d.]+ s.*/, "… s")),
    ).toEqual(expect.arrayContaining(["local 1: … s", "local 2: … s", "local 3: … s"]));
  });

  it("sends the references to two remote providers, and compares what they make", async () => {
    const { fal, environment } = await fakeFal();
    const replicate = await FakeReplicate.start();
    onTestFinished(() => replicate.close());
    replicate.picture = await withSeam({ widthPixels: 2048, heightPixels: 1024 }, 80).png().toBuffer();
    const photo = await plain({ widthPixels: 60, heightPixels: 40 }).png().toBuffer();
    const images = [await file("one.png", photo), await file("two.png", photo)];

    const trial = await runTrialWith(
      {
        ...environment,
        PROVIDER: "fal:seedream-4.5,replicate:bytedance/seedream-4",
        REPLICATE_API_KEY: REPLICATE_KEY,
        REPLICATE_BASE_URL: replicate.baseUrl,
      },
      { images, promptsFile: await file("prompts.txt", "a lake"), count: 2 },
    );

    expect(trial.outcome._unsafeUnwrap().failed).toBeUndefined();
    expect([fal.tasks, replicate.tasks].map((tasks) => tasks.length)).toEqual([2, 2]);
    for (const [fake, tasks] of [
      [fal, fal.tasks],
      [replicate, replicate.tasks],
    ] as const) {
      expect(tasks.map((task) => fake.referencesOf?.(task).length)).toEqual([2, 2]);
    }
    const [first] = fal.referencesOf(fal.tasks[0]!) as readonly string[];
    const sent = Buffer.from(first?.replace(/^data:[^,]*,/, "") ?? "", "base64");
    expect(await sharp(sent).metadata()).toMatchObject({ width: 60, height: 40 });
    const { providers, pictures, references } = await trial.results();
    expect(references).toEqual(["one.png", "two.png"]);
    expect(pictures.map(({ provider, number, native_width }) => [provider, number, native_width])).toEqual([
      ["fal:seedream-4.5", 1, 1440],
      ["replicate:bytedance/seedream-4", 1, 2048],
      ["fal:seedream-4.5", 2, 1440],
      ["replicate:bytedance/seedream-4", 2, 2048],
    ]);
    expect(providers).toMatchObject([
      { provider: "fal:seedream-4.5", made: 2, median_seam: 0, picture_dollars: 0.04, total_dollars: 0.08 },
      { provider: "replicate:bytedance/seedream-4", made: 2, picture_dollars: null, total_dollars: null },
    ]);
    expect(providers[1]?.median_seam).toBeGreaterThan(50);
    expect(trial.lines.slice(0, 2)).toEqual([
      "fal:seedream-4.5: 2 pictures, $0.04 each, at most 1 at once",
      "replicate:bytedance/seedream-4: 2 pictures, at a price that is not known here, at most 1 at once",
    ]);
    const sheet = await readFile(join(trial.folder, "index.html"), "utf8");
    expect(sheet).toContain("<td>$0.04</td><td>$0.08</td>");
    expect(sheet).toContain("<td>unknown</td><td>unknown</td>");
  });

  it("has a row with the reason for what is refused, and goes on", async () => {
    const { fal, environment } = await fakeFal();
    fal.faults.creates.push(refuses(400, {}, { detail: "the prompt is not allowed" }));
    const trial = await runTrialWith(environment, { promptsFile: await file("p.txt", "<b>a lake</b>"), count: 2 });

    const { providers, pictures } = await trial.results();
    expect(pictures.map(({ status }) => status)).toEqual(["failed", "made"]);
    expect(pictures[0]?.reason).toBe("status 400: the provider rejects the request as invalid");
    expect(providers).toMatchObject([{ made: 1, failed: 1, total_dollars: 0.04 }]);
    const sheet = await readFile(join(trial.folder, "index.html"), "utf8");
    expect(sheet).toContain("&lt;b&gt;a lake&lt;/b&gt;");
    expect(sheet).not.toContain("<b>");
  });

  it("says why the content was refused, and ends with a failure if nothing was made", async () => {
    const { fal, environment } = await fakeFal();
    fal.plan = "be moderated";
    const trial = await runTrialWith(environment, { count: 1 });
    expect((await trial.results()).pictures).toMatchObject([{ status: "failed", cause: "content_refused" }]);
    expect(trial.outcome._unsafeUnwrap().failed).toBe("failed");
  });

  it("keeps a picture that the service would refund, with the reason", async () => {
    const { fal, environment } = await fakeFal();
    fal.picture = await withSeam(SIZE, 80).png().toBuffer();
    const trial = await runTrialWith({ ...environment, SEAM_MAX: "20" }, { count: 1 });
    const { providers, pictures } = await trial.results();
    expect(pictures[0]).toMatchObject({ status: "unusable", picture: "fal-seedream-4.5-01.jpg" });
    expect(pictures[0]?.reason).toMatch(/^its seam of [\d.]+ is above 20$/);
    expect(providers).toMatchObject([{ made: 0, unusable: 1, total_dollars: 0.04 }]);
  });

  it("sends nothing that the provider cannot make, and says why", async () => {
    const { fal, environment } = await fakeFal();
    const trial = await runTrialWith({ ...environment, PROVIDER: "fal:hunyuan-world" }, { count: 1 });
    expect((await trial.results()).pictures).toMatchObject([
      { status: "failed", reason: expect.stringMatching(/^the provider cannot make it: image_urls .*[^.]$/) },
    ]);
    expect(fal.tasks).toEqual([]);
  });

  it("makes nothing with a key that is not accepted, and leaves the folder empty", async () => {
    const { fal, environment } = await fakeFal();
    const out = await scratchFolder();
    const trial = runTrialWith({ ...environment, FAL_API_KEY: "another" }, { out });
    await expect(trial).rejects.toThrow(/^Bad configuration: .*FAL_API_KEY/);
    expect([fal.tasks, await readdir(out)]).toEqual([[], []]);
  });

  it("submits again while the provider is busy", async () => {
    const { fal, environment } = await fakeFal();
    fal.faults.creates.push(refuses(429, { "retry-after": "1" }));
    const trial = await runTrialWith(environment, { count: 1 });
    expect((await trial.results()).pictures).toMatchObject([{ status: "made" }]);
    expect(fal.tasks).toHaveLength(1);
  });

  it("gives up at the deadline of a generation, and cancels it", async () => {
    const { fal, environment } = await fakeFal();
    Object.assign(fal, { plan: "run", waiting: true });
    const trial = await runTrialWith({ ...environment, GENERATION_DEADLINE_MS: "1000" }, { count: 1 });
    expect((await trial.results()).pictures).toMatchObject([
      { status: "failed", reason: "not finished after 1 s; it was canceled" },
    ]);
    expect(fal.server.requests.filter(({ path }) => path.endsWith("/cancel"))).toHaveLength(1);
  });

  it("cancels what it can when it is interrupted, and writes the page of what is there", async () => {
    const { fal, environment } = await fakeFal();
    const interrupted = new AbortController();
    const trial = await runTrialWith(environment, {
      count: 3,
      signal: interrupted.signal,
      print: (line) => {
        if (!line.startsWith("1/3")) return;
        Object.assign(fal, { plan: "run", waiting: true });
        // The next one has been submitted when its first poll arrives.
        const before = fal.server.requests.length;
        const timer = setInterval(() => {
          const polled = fal.server.requests.slice(before).some(({ path }) => path.endsWith("/status"));
          if (polled) interrupted.abort();
        }, 10);
        interrupted.signal.addEventListener("abort", () => clearInterval(timer));
      },
    });
    expect(trial.outcome._unsafeUnwrapErr()).toEqual({
      kind: "interrupted",
      message: `Interrupted with 1 of 3 pictures. The page: ${join(trial.folder, "index.html")}`,
    });
    const { interrupted: isInterrupted, pictures } = await trial.results();
    expect(isInterrupted).toBe(true);
    expect(pictures.map(({ status, reason }) => [status, reason])).toEqual([
      ["made", undefined],
      ["canceled", "interrupted; it was canceled"],
      ["canceled", "interrupted"],
    ]);
    expect(fal.tasks).toHaveLength(2);
  });

  it("refuses a picture that is none, and a folder with files, before anything is sent", async () => {
    const { fal, environment } = await fakeFal();
    const text = await file("text.png", "no picture");
    const [one, two] = [
      await runTrialWith(environment, { images: [text] }),
      await runTrialWith(environment, { out: join(text, "..") }),
    ];
    expect(one.outcome._unsafeUnwrapErr()).toMatchObject({ kind: "usage" });
    expect(one.outcome._unsafeUnwrapErr().message).toMatch(/^--images \S+text\.png: the file must be /);
    expect(two.outcome._unsafeUnwrapErr()).toEqual({
      kind: "usage",
      message: `--out ${join(text, "..")}: the folder is not empty.`,
    });
    expect(fal.server.requests).toEqual([]);
  });

  it("names the line of a prompt that is too short", async () => {
    const promptsFile = await file("prompts.txt", "a lake\nx\n");
    const trial = await runTrialWith({ PROVIDER: "local" }, { promptsFile });
    expect(trial.outcome._unsafeUnwrapErr().message).toMatch(/^--prompts \S+prompts\.txt, line 2: the prompt .*3/);
  });
});

describe("the command panorama provider try", () => {
  const withInstallation = async (environment: Record<string, string> = {}) => {
    const installation = await Installation.create(environment);
    onTestFinished(() => installation.remove());
    return installation;
  };

  it("needs no database, and prints the results", async () => {
    const installation = await withInstallation({ LOCAL_PROVIDER_DELAY_MS: "0" });
    const out = join(await scratchFolder(), "trial");
    const { status, json, stderr } = await installation.command(
      ..."provider try --resolution 1k --count 1 --out".split(" "),
      out,
    );
    expect([status, stderr]).toEqual([0, ""]);
    expect(json).toMatchObject({ page: join(out, "index.html"), pictures: [{ provider: "local", status: "made" }] });
    expect(await readdir(installation.dataDir)).toEqual([]);
  });

  it("ends by Ctrl-C with the page of what is there", async () => {
    const installation = await withInstallation({ LOCAL_PROVIDER_DELAY_MS: "600000" });
    const out = join(await scratchFolder(), "trial");
    const child = spawn(process.execPath, ["dist/bootstrap/panorama.cjs", "provider", "try", "--out", out], {
      env: installation.environment,
      stdio: ["ignore", "ignore", "pipe"],
    });
    let printed = "";
    child.stderr.on("data", (chunk: Buffer) => {
      if (printed === "") child.kill("SIGINT");
      printed += chunk.toString();
    });
    const [status] = await once(child, "close");
    expect(status).toBe(130);
    expect(printed.trimEnd().split("\n").at(-1)).toBe(
      `Interrupted with 0 of 5 pictures. The page: ${join(out, "index.html")}`,
    );
    expect(await readFile(join(out, "index.html"), "utf8")).toContain("Canceled: interrupted");
  });

  it.each([
    [["--providers", "fal:seedream-4.5"], 6, "Bad configuration: --providers fal:seedream-4.5 needs FAL_API_KEY."],
    [["--providers", "dream"], 2, /^--providers "dream": must be local, or a comma-separated list of skybox, /],
    [["--count", "0"], 2, "--count must be an integer from 1 to 1000."],
    [["--seed", "x"], 2, "--seed must be an integer from 0 to 2147483647."],
    [["--prompts", "/nowhere"], 2, "--prompts /nowhere: the file cannot be read."],
    [["--resolution", "8k"], 2, '--resolution must be "1k", "2k" or "4k", but is "8k".'],
  ])("refuses %j with one sentence", async (options, expected, message) => {
    const installation = await withInstallation();
    const out = join(await scratchFolder(), "trial");
    const { status, error } = await installation.command("provider", "try", "--out", out, ...options);
    expect(status).toBe(expected);
    expect(error?.message).toEqual(typeof message === "string" ? message : expect.stringMatching(message));
  });
});
