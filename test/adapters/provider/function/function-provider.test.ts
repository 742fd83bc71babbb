import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { generationProviderContract } from "../../../../adapters/contracts/generation-provider-contract.js";
import { aCreationRequest, noon, taskId } from "../../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../../adapters/memory/hand-clock.js";
import { image, readable } from "../../../../adapters/memory/memory-imaging.js";
import { MemoryObjectStorage } from "../../../../adapters/memory/memory-object-storage.js";
import { memoryPorts } from "../../../../adapters/memory/memory-ports.js";
import { memoryStores } from "../../../../adapters/persistence/memory-stores.js";
import {
  type FunctionProviderOptions,
  GenerationError,
} from "../../../../adapters/provider/function/function-options.js";
import { functionProvider } from "../../../../adapters/provider/function/function-provider.js";
import { createApplication } from "../../../../application/create-application.js";
import type { AccountId } from "../../../../domain/ids.js";
import { RATE_LIMITS } from "../../../../domain/panorama-policy.js";
import { SUBMISSION_DEADLINE_MILLISECONDS, useCases } from "../../../support/application.js";
import { FakeImageApi } from "../../../support/fake-image-api.js";
import { anOwner, aWorld, type World } from "../../../support/world.js";
import { generateWith } from "./generate-with-api.js";

let api: FakeImageApi;
let clock: HandClock;
let storage: MemoryObjectStorage;
const closing: (() => Promise<void>)[] = [];

beforeEach(async () => {
  api = await FakeImageApi.start();
  clock = new HandClock();
  storage = new MemoryObjectStorage();
});
afterEach(async () => {
  api.release();
  for (const close of closing.splice(0)) await close();
  await api.close();
});

const opened = (options: Partial<FunctionProviderOptions> = {}) => {
  const provider = functionProvider({
    name: "function",
    storage,
    clock,
    generate: generateWith(api.origin),
    privateOrigins: [api.origin],
    ...options,
  });
  closing.push(() => provider.close());
  return provider;
};
const anOrder = (n = 1, prompt = "a lake") => ({ taskId: taskId(n), request: aCreationRequest({ prompt }) });
const AN_IMAGE = "https://pictures.example/p.jpg";

for (const stopsOnAbort of [false, true]) {
  generationProviderContract(
    { describe, it, afterEach },
    `functionProvider, stopsOnAbort ${stopsOnAbort}`,
    async () => {
      api.hold();
      const provider = opened({ stopsOnAbort });
      const submit = provider.submit.bind(provider);
      const ids: string[] = [];
      provider.submit = async (order, deadline) => {
        const id = await submit(order, deadline);
        if (id.isOk()) ids.push(id.value);
        return id;
      };
      return {
        provider,
        searchable: false,
        order: (n, outcome) => {
          if (outcome === "be refused")
            return { taskId: taskId(n), request: aCreationRequest({ image_urls: [AN_IMAGE] }) };
          return anOrder(n, outcome === "fail" ? "test:fail" : "a lake");
        },
        expire: async (url) => {
          const name = storage.nameOf(url);
          if (name !== undefined) await storage.delete(name);
        },
        allEnded: async () => {
          api.release();
          for (const id of ids) await ended(provider, id);
        },
        close: async () => {},
      };
    },
  );
}

/** Resolves to the end of a generation, when it does not run any more. */
const ended = async (provider: ReturnType<typeof opened>, id: string) => {
  for (;;) {
    const progress = (await provider.poll(id))._unsafeUnwrap();
    if (progress.state !== "running") return progress;
    await new Promise((resolve) => setImmediate(resolve));
  }
};
const endOf = async (provider: ReturnType<typeof opened>, prompt = "a lake") =>
  ended(provider, (await provider.submit(anOrder(1, prompt)))._unsafeUnwrap());
const called = async (times: number) => {
  while (api.requests.length < times) await new Promise((resolve) => setImmediate(resolve));
};

describe("functionProvider", () => {
  it("stores the bytes of an answer in base64, and of a URL, under the id of the generation", async () => {
    const provider = opened();
    for (const prompt of ["a lake", "a lake test:url"]) {
      const id = (await provider.submit(anOrder(1, prompt)))._unsafeUnwrap();
      expect(id).toMatch(/^[0-9a-z]{9}-[\w-]{8}-[\w-]{22}$/);
      const temporaryUrl = `https://objects.example/generations/${id}.jpg`;
      expect(await ended(provider, id)).toEqual({ state: "succeeded", temporaryUrl });
      const downloaded = (await provider.download(temporaryUrl, id))._unsafeUnwrap();
      expect([readable(downloaded.bytes), downloaded.thumbnail]).toEqual(["a panorama", "possible"]);
    }
    expect(api.requests).toHaveLength(2);
  });

  it.each([
    ["a GenerationError", "test:content", "content_refused", "The safety system has refused the prompt."],
    ["another error", "test:fail", "unusable_result", "It broke."],
    ["a URL at a private address", "test:private-url", "unusable_result", /^the URL that generate returned: /],
  ])("fails with the cause and the message of %s", async (_, prompt, cause, reason) => {
    expect(await endOf(opened(), prompt)).toEqual({
      state: "failed",
      cause,
      reason: typeof reason === "string" ? reason : expect.stringMatching(reason),
    });
  });

  it.each([
    ["undefined", undefined, "generate must return bytes (Uint8Array) or their URL, but the result is missing"],
    ["an object", { data: [] }, "generate must return bytes (Uint8Array) or their URL, but the result is an object"],
    ["empty", new Uint8Array(), "the picture is no JPEG, PNG or WebP"],
    ["an SVG", Buffer.from("<svg/>"), "the picture is no JPEG, PNG or WebP"],
    ["other text", "no URL", "the URL that generate returned: not a URL"],
    ["a file", "file:///etc/passwd", expect.stringMatching(/^the URL that generate returned: /)],
    ["too large", new Uint8Array(64 * 1024 * 1024 + 1), "the picture has more than 64 MiB"],
  ])("fails if the result is %s", async (_, result, reason) => {
    const provider = opened({ generate: async () => result as Uint8Array });
    expect(await endOf(provider)).toEqual({ state: "failed", cause: "unusable_result", reason });
  });

  it.each([
    ["throws no error", "out of order", '"out of order"'],
    ["throws nothing", undefined, "missing"],
    ["throws a text that PostgreSQL refuses", new Error("a\u0000b\nc\ud800"), "a b c\ufffd"],
    ["throws a cause that is none", new GenerationError("no", "weather" as "content_refused"), "no"],
    ["throws with causes", new Error("outer", { cause: new Error("inner", { cause: 5 }) }), "outer: inner"],
  ])("fails with unusable_result if generate %s", async (_, error, reason) => {
    const generate = () => {
      throw error;
    };
    expect(await endOf(opened({ generate }))).toEqual({ state: "failed", cause: "unusable_result", reason });
  });

  it("refuses what its abilities exclude, by default reference images", async () => {
    const withImage = aCreationRequest({ prompt: "a lake", image_urls: [AN_IMAGE] });
    expect(opened().checkRequest(withImage)._unsafeUnwrapErr()).toMatchObject({ field: "image_urls" });
    expect(opened().places()[0]?.abilities).toEqual({ imagesMin: 0, imagesMax: 0, promptCharactersMax: 4000 });
    const able = opened({ abilities: { imagesMax: 1, promptCharactersMax: 6 } });
    expect(able.checkRequest(withImage).isOk()).toBe(true);
    expect(able.checkRequest(aCreationRequest({ prompt: "a lake!" }))._unsafeUnwrapErr()).toMatchObject({
      field: "prompt",
    });
  });

  it("is busy without a free slot, after the submission deadline, and after close", async () => {
    api.hold();
    const provider = opened();
    for (const n of [1, 2]) expect((await provider.submit(anOrder(n))).isOk()).toBe(true);
    expect((await provider.submit(anOrder(3)))._unsafeUnwrapErr()).toEqual({ kind: "busy", reason: "no slot is free" });
    await called(2);
    api.release();
    await provider.close();
    expect((await provider.submit(anOrder(4)))._unsafeUnwrapErr().kind).toBe("busy");
    const late = await opened().submit(anOrder(5), clock.now());
    expect(late._unsafeUnwrapErr()).toEqual({ kind: "busy", reason: "the submission deadline has passed" });
    expect(api.requests).toHaveLength(2);
  });

  it("finds only what this process runs, and never answers that there is none", async () => {
    api.hold();
    const [provider, other] = [opened(), opened()];
    const id = (await provider.submit(anOrder(1)))._unsafeUnwrap();
    expect((await provider.search(taskId(1), noon))._unsafeUnwrap()).toBe(id);
    for (const search of [other.search(taskId(1), noon), provider.search(taskId(2), noon)]) {
      expect((await search)._unsafeUnwrapErr().kind).toBe("provider_unavailable");
    }
    api.release();
    await ended(provider, id);
    expect((await provider.search(taskId(1), noon))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
  });

  it("can be polled in another process, which counts it as lost a minute after its time-out", async () => {
    api.hold();
    const [provider, other] = [opened({ timeoutMilliseconds: 30_000 }), opened({ timeoutMilliseconds: 30_000 })];
    const [lost, finished] = [await provider.submit(anOrder(1)), await provider.submit(anOrder(2))];
    storage.available = false; // as if its process was killed
    await clock.advance(89_999);
    storage.available = true;
    const id = lost._unsafeUnwrap();
    expect((await other.poll(id))._unsafeUnwrap()).toEqual({ state: "running" });
    storage.available = false;
    await clock.advance(1);
    storage.available = true;
    const reason = "the process that ran it has ended, or could not store its end";
    for (const process of [other, provider]) {
      expect(await ended(process, id)).toEqual({ state: "failed", cause: "provider_unavailable", reason });
    }
    expect(finished.isOk()).toBe(true);
  });

  it("stores an end as soon as the storage is back", async () => {
    api.hold();
    const provider = opened();
    const id = (await provider.submit(anOrder(1)))._unsafeUnwrap();
    storage.available = false;
    api.release();
    while (clock.sleeping === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(3_000);
    storage.available = true;
    expect((await provider.poll(id))._unsafeUnwrap()).toEqual({ state: "running" });
    await clock.advance(1_000);
    expect((await ended(provider, id)).state).toBe("succeeded");
  });

  it("aborts generate at the time-out, and frees its slot although generate ignores it", async () => {
    const signals: AbortSignal[] = [];
    const provider = opened({
      concurrencyMax: 1,
      timeoutMilliseconds: 5_000,
      generate: (_, { signal }) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    });
    const id = (await provider.submit(anOrder(1)))._unsafeUnwrap();
    await clock.advance(5_000);
    const reason = "took longer than 5000 ms";
    expect(await ended(provider, id)).toEqual({ state: "failed", cause: "deadline_passed", reason });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect((await provider.submit(anOrder(2))).isOk()).toBe(true);
    await clock.advance(5_000);
  });

  it("cancels only with stopsOnAbort, here only, and not what has ended", async () => {
    expect("cancel" in opened()).toBe(false);
    api.hold();
    const [provider, other] = [opened({ stopsOnAbort: true }), opened({ stopsOnAbort: true })];
    const id = (await provider.submit(anOrder(1)))._unsafeUnwrap();
    await called(1);
    expect((await other.cancel?.(id))?._unsafeUnwrap()).toBe("too_late");
    expect((await provider.cancel?.(id))?._unsafeUnwrap()).toBe("canceled");
    while (api.aborted === 0) await new Promise((resolve) => setImmediate(resolve));
    const canceled = { state: "failed", cause: "provider_unavailable", reason: "it was canceled" };
    for (const process of [provider, other]) expect((await process.poll(id))._unsafeUnwrap()).toEqual(canceled);
    expect((await provider.cancel?.(id))?._unsafeUnwrap()).toBe("too_late");
  });

  it("is too late to cancel a generation whose function answers although it was aborted", async () => {
    let answer: (bytes: Uint8Array) => void = () => {};
    const generate = () => new Promise<Uint8Array>((resolve) => (answer = resolve));
    const provider = opened({ stopsOnAbort: true, generate });
    const id = (await provider.submit(anOrder(1)))._unsafeUnwrap();
    const canceled = provider.cancel?.(id);
    answer(image("made"));
    expect((await canceled)?._unsafeUnwrap()).toBe("too_late");
    expect((await provider.poll(id))._unsafeUnwrap().state).toBe("succeeded");
  });

  it("aborts and waits at close, and what was aborted fails with provider_unavailable", async () => {
    api.hold();
    const [provider, other] = [opened(), opened()];
    const id = (await provider.submit(anOrder(1)))._unsafeUnwrap();
    await called(1);
    await provider.close();
    const reason = "the provider was closed";
    expect((await other.poll(id))._unsafeUnwrap()).toEqual({ state: "failed", cause: "provider_unavailable", reason });
  });

  it.each(["", "unknown", "../references/0f0f0f0f0f0f0f0f0f0f0f.png", "local-1"])("knows no id %j", async (id) => {
    const provider = opened();
    const reason = "the provider has no such generation";
    expect((await provider.poll(id))._unsafeUnwrap()).toEqual({ state: "failed", reason });
    expect((await provider.download(AN_IMAGE, id))._unsafeUnwrapErr().kind).toBe("result_gone");
    expect((await provider.discard?.(id))?.isOk()).toBe(true);
  });

  it("reports a storage that does not answer as provider_unavailable, and deletes nothing", async () => {
    const provider = opened();
    const id = (await provider.submit(anOrder(1)))._unsafeUnwrap();
    await ended(provider, id);
    storage.available = false;
    const unavailable = { kind: "provider_unavailable", reason: "the storage is switched off" };
    for (const call of [provider.poll(id), provider.download("", id), provider.discard?.(id)]) {
      expect((await call)?._unsafeUnwrapErr()).toEqual(unavailable);
    }
    await expect(provider.clean()).rejects.toThrow("the storage is switched off");
    expect(storage.objects.size).toBe(1);
  });

  it.each([
    [{ storage: undefined }, "storage must be the object storage of the application"],
    [{ name: "" }, 'name must be a text, and is "".'],
    [{ generate: "https://api.example" }, 'generate must be a function, and is "https://api.example".'],
    [{ timeoutMilliseconds: 0 }, "timeoutMilliseconds must be a number above 0, and is 0."],
    [{ timeoutMilliseconds: Number.NaN }, "and is NaN."],
    [{ timeoutMilliseconds: Number.POSITIVE_INFINITY }, "and is Infinity."],
    [{ concurrencyMax: 0 }, "concurrencyMax must be a whole number from 1, and is 0."],
    [{ concurrencyMax: 1.5 }, "and is 1.5."],
    [{ abilities: { imagesMax: 4 } }, "abilities must have whole numbers (imagesMin up to imagesMax"],
    [{ abilities: { imagesMin: 1 } }, 'and are {"imagesMin":1}.'],
  ])("refuses the options %j at once", (options, message) => {
    expect(() => opened(options as Partial<FunctionProviderOptions>)).toThrow(message);
  });

  it("is refused by an application whose generation deadline is shorter than its time-out", () => {
    const ports = { ...memoryPorts(clock), ...memoryStores(clock, RATE_LIMITS), provider: opened() };
    const slow = { ...ports, provider: opened({ timeoutMilliseconds: 600_001 }) };
    expect(() => createApplication({ ports: slow })).toThrow(
      "generationDeadlineMilliseconds (600000) must not be below the time-out of the provider, 600001 ms.",
    );
    expect(() => createApplication({ ports, settings: { generationDeadlineMilliseconds: 119_999 } })).toThrow(
      "generationDeadlineMilliseconds (119999) must not be below the time-out of the provider, 120000 ms.",
    );
    createApplication({ ports, settings: { generationDeadlineMilliseconds: 120_000 } });
  });
});

describe("the application on functionProvider", () => {
  let world: World;
  let owner: AccountId;

  beforeEach(async () => {
    world = aWorld();
    clock = world.clock;
    storage = world.storage;
    owner = await anOwner(world, 10);
  });

  /** A process: its use cases on the shared stores and storage. */
  const aProcess = () => {
    const provider = opened();
    return { provider, ...useCases({ ...world, provider }) };
  };
  type Process = ReturnType<typeof aProcess>;
  const created = async (process: Process, prompt = "a lake") =>
    (await process.createPanorama(owner, aCreationRequest({ prompt, resolution: "1k" })))._unsafeUnwrap().task;
  const settled = async (process: Process, id: Parameters<Process["readTask"]>[0]) => {
    for (;;) {
      await clock.advance(1_000);
      await process.settle();
      const task = (await process.readTask(id, owner))._unsafeUnwrap();
      if (task.state === "succeeded" || task.state === "failed") return task;
    }
  };
  const balance = () => world.ledger.balance(owner);
  const folders = () => [...storage.objects.keys()].map((name) => name.split("/")[0]);

  it("saves the picture, and deletes the raw bytes then", async () => {
    const process = aProcess();
    const task = await settled(process, (await created(process)).id);
    expect(task).toMatchObject({ state: "succeeded", image: { status: "saved" } });
    expect(folders()).toEqual(["panoramas", "panoramas"]);
    expect(await balance()).toBe(6);
  });

  it("fails and refunds a task that the API refuses, and does not answer 502", async () => {
    const process = aProcess();
    const task = await settled(process, (await created(process, "a lake test:content")).id);
    const detail = "The safety system has refused the prompt.";
    expect(task).toMatchObject({ state: "failed", reason: "content_refused" });
    expect(world.reporter.of("task_failed")).toEqual([
      { kind: "task_failed", taskId: task.id, provider: "function", reason: "content_refused", detail },
    ]);
    expect([await balance(), api.requests.length]).toEqual([10, 1]);
  });

  it("keeps nothing but saved pictures and thumbnails a day later, also of late and lost ends", async () => {
    const process = aProcess();
    await settled(process, (await created(process)).id);
    await settled(process, (await created(process, "test:fail")).id);
    api.picture = image("black"); // unusable: its raw bytes stay for a day
    const flat = await settled(process, (await created(process)).id);
    expect(flat).toMatchObject({ state: "failed", reason: "unusable_result" });
    // An end of a process that nobody waits for: its submission was never recorded.
    await endOf(process.provider);
    expect(folders().sort()).toEqual(["generations", "generations", "generations", "panoramas", "panoramas"]);
    await clock.advance(24 * 60 * 60 * 1000 - 1);
    await aProcess().provider.clean();
    expect(folders().filter((folder) => folder === "generations").length).toBeGreaterThan(0);
    await clock.advance(1);
    await aProcess().provider.clean();
    expect(folders()).toEqual(["panoramas", "panoramas"]);
  });

  it("refunds a submission whose process was killed before it was recorded, and does not repeat it", async () => {
    api.hold();
    const [killed, next] = [aProcess(), aProcess()];
    const submit = killed.provider.submit.bind(killed.provider);
    killed.provider.submit = async (order, deadline) => {
      await submit(order, deadline);
      return new Promise(() => {});
    };
    void killed.createPanorama(owner, aCreationRequest({ prompt: "a lake", resolution: "1k" }));
    await called(1);
    await clock.advance(SUBMISSION_DEADLINE_MILLISECONDS + 1);
    await next.recover();
    expect(world.reporter.of("task_failed")).toMatchObject([{ reason: "never_submitted" }]);
    expect([await balance(), api.requests.length]).toEqual([10, 1]);
  });
});
