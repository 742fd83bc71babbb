import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { generationProviderContract } from "../../../adapters/contracts/generation-provider-contract.js";
import { aCreationRequest, noon, taskId } from "../../../adapters/contracts/support/builders.js";
import { ScriptedProvider } from "../../../adapters/memory/scripted-provider.js";
import { ProviderChain } from "../../../adapters/provider/provider-chain.js";
import type { Readiness } from "../../../application/ports/generation-provider.js";
import { invalidRequest } from "../../../domain/invalid-request.js";
import type { Plan } from "../../support/fake-provider.js";
import { refuses } from "../../support/faulty-server.js";
import { startReplicate, startSkybox } from "../../support/providers-under-test.js";

generationProviderContract({ describe, it, afterEach }, "ProviderChain of Skybox and Replicate", async () => {
  const [one, other] = [await startSkybox(), await startReplicate()];
  const fakes = [one.fake, other.fake];
  let ended: Plan = "succeed";
  for (const fake of fakes) fake.plan = "run";
  return {
    provider: new ProviderChain([one.provider, other.provider], () => {}),
    searchable: true,
    close: async () => {
      await one.close();
      await other.close();
    },
    order: (n, outcome) => {
      if (n === 2 || outcome === "be refused") one.fake.faults.creates.push(refuses(422));
      if (outcome === "be refused") other.fake.faults.creates.push(refuses(422));
      if (outcome === "fail") ended = "fail";
      for (const fake of fakes) if (outcome === "expire") fake.faults.images.push(refuses(404), refuses(404));
      return { taskId: taskId(n), request: aCreationRequest({ prompt: "a lake" }) };
    },
    allEnded: async () => {
      for (const fake of fakes) fake.plan = ended;
    },
  };
});

const ORDER = { taskId: taskId(1), request: aCreationRequest() };

let first: ScriptedProvider;
let second: ScriptedProvider;
let chain: ProviderChain;
let warnings: string[];

beforeEach(() => {
  first = new ScriptedProvider({}, "first");
  second = new ScriptedProvider({}, "second");
  warnings = [];
  chain = new ProviderChain([first, second], (message) => warnings.push(message));
});

describe("ProviderChain.discard", () => {
  it("asks the provider of the generation, and returns unavailable without it", async () => {
    expect(await chain.discard("second:upstream-7")).toEqual(ok(undefined));
    expect({ first: first.discarded, second: second.discarded }).toEqual({ first: [], second: ["upstream-7"] });
    expect((await chain.discard("third:upstream-7"))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
  });
});

describe("ProviderChain.submit", () => {
  const atSecond = ok("second:upstream-1");
  const refused = (reason: string, cause?: "provider_unavailable") =>
    err({ kind: "refused", reason, ...(cause !== undefined && { cause }) });
  const textOnly = err(invalidRequest("prompt", { name: "text_only" }));

  it("uses the first provider and prefixes the upstream task id with its name", async () => {
    expect(await chain.submit(ORDER)).toEqual(ok("first:upstream-1"));
    expect([second.started, warnings]).toEqual([0, []]);
  });

  it.each<[string, () => void, unknown, string[]]>([
    ["refuses", () => first.play({ submit: "refuse" }), atSecond, ["the script refuses"]],
    ["is busy", () => first.play({ submit: "busy" }), atSecond, ["the script is busy"]],
    ["is down", () => Object.assign(first, { ready: "down" }), atSecond, ["does not respond"]],
    ["cannot make the request", () => Object.assign(first, { makes: textOnly }), atSecond, []],
    ["is probing", () => Object.assign(first, { ready: "probing" }), ok("first:upstream-1"), []],
  ])("asks the next provider, with a warning, only where it must: the first one %s", async (_, set, sent, why) => {
    set();
    expect(await chain.submit(ORDER)).toEqual(sent);
    expect(first.started + second.started).toBe(1);
    expect(warnings).toEqual(why.map((reason) => `second is asked instead (first: ${reason}).`));
  });

  it.each<[string, () => void, unknown]>([
    [
      "all refuse",
      () => [first, second].map((one) => one.play({ submit: "refuse" })),
      refused("first: the script refuses; second: the script refuses"),
    ],
    [
      "all are down",
      () => [first, second].map((one) => Object.assign(one, { ready: "down" })),
      refused("first: does not respond; second: does not respond", "provider_unavailable"),
    ],
    [
      "none can make it",
      () => [first, second].map((one) => Object.assign(one, { makes: textOnly })),
      refused("no provider can make it"),
    ],
    [
      "one is busy and the other refuses",
      () => [first.play({ submit: "busy" }), second.play({ submit: "refuse" })],
      err({ kind: "busy", reason: "first: the script is busy; second: the script refuses" }),
    ],
  ])("starts nothing if %s", async (_, set, failure) => {
    set();
    expect(await chain.submit(ORDER)).toEqual(failure);
    expect(first.started + second.started).toBe(0);
  });

  it.each(["unknown", "unknown_but_started"] as const)(
    "does not try another provider after an unknown outcome: %s",
    async (submit) => {
      first.play({ submit });
      const reason = "first: the script gives no clear answer";
      expect(await chain.submit(ORDER)).toEqual(err({ kind: "unknown", reason }));
      expect(second.started).toBe(0);
    },
  );

  it("passes the submission deadline on to each provider", async () => {
    first.play({ submit: "refuse" });
    const over = await chain.submit(ORDER, second.clock.now());
    expect(over).toEqual(err({ kind: "busy", reason: expect.stringContaining("second: it is too late") }));
    expect(second.started).toBe(0);
  });
});

describe("ProviderChain.submit with places", () => {
  const play = (...refusing: ScriptedProvider[]) => {
    for (const one of refusing) one.play({ submit: "refuse" });
  };
  const cannot = err(invalidRequest("image_urls", { name: "images_only" }));
  const atFirst = "first:upstream-1";
  const atSecond = "second:upstream-1";

  it.each<[string, () => void, string | undefined, string[], string, string[]]>([
    ["sends the order to its place, without a move", () => {}, "second", ["first"], atSecond, []],
    ["moves it to a free slot of the next one", () => play(first), "first", ["second"], atSecond, ["second"]],
    ["is busy if the next one has no free slot", () => play(first), "first", [], "busy", ["second"]],
    ["is busy if the place refuses and an earlier one is full", () => play(second), "second", [], "busy", ["first"]],
    ["moves it to a free slot of an earlier one", () => play(second), "second", ["first"], atFirst, ["first"]],
    [
      "asks nobody else after an unknown outcome",
      () => second.play({ submit: "unknown" }),
      "second",
      ["first"],
      "unknown",
      [],
    ],
    [
      "moves to none that is down",
      () => [play(first), Object.assign(second, { ready: "down" })],
      "first",
      ["second"],
      "refused",
      [],
    ],
    [
      "moves to none that cannot make it",
      () => [play(first), Object.assign(second, { makes: cannot })],
      "first",
      ["second"],
      "refused",
      [],
    ],
    ["gives an order without a place a free slot", () => {}, undefined, ["second"], atSecond, ["first", "second"]],
  ])("%s", async (_, set, place, free, outcome, moves) => {
    set();
    const moved: string[] = [];
    const changePlace = async ({ name }: { readonly name: string }) => {
      moved.push(name);
      return free.includes(name);
    };
    const sent = await chain.submit({ ...ORDER, place, changePlace });
    expect(sent.isOk() ? sent.value : sent.error.kind).toBe(outcome);
    expect(moved).toEqual(moves);
    const asked = [first, second].map(({ started }) => started);
    expect(asked).toEqual([outcome === atFirst ? 1 : 0, outcome === atSecond ? 1 : 0]);
  });
});

describe("a task of a ProviderChain", () => {
  const submittedToBoth = async () => {
    const one = (await chain.submit(ORDER))._unsafeUnwrap();
    first.play({ submit: "refuse" });
    const other = (await chain.submit({ ...ORDER, taskId: taskId(2) }))._unsafeUnwrap();
    return [one, other] as const;
  };

  it("uses its own provider for polls, downloads and the poll delay", async () => {
    const [one, other] = await submittedToBoth();
    first.play({ poll: "failed" });
    expect((await chain.poll(one))._unsafeUnwrap()).toEqual({ state: "failed", reason: "the script fails" });
    const temporaryUrl = "https://temporary.example/upstream-1";
    expect((await chain.poll(other))._unsafeUnwrap()).toEqual({ state: "succeeded", temporaryUrl });

    first.play({ download: "gone" });
    expect((await chain.download(temporaryUrl, one))._unsafeUnwrapErr().kind).toBe("result_gone");
    expect((await chain.download(temporaryUrl, other)).isOk()).toBe(true);

    second.nextPollMilliseconds = () => 700;
    expect([one, other].map((id) => chain.nextPollMilliseconds(id, 0))).toEqual([5_000, 700]);
  });

  it.each(["third:upstream-1", "upstream-1", "firstly:upstream-1", ""])(
    "returns failed, and no download, if its provider is no longer configured: %j",
    async (id) => {
      const reason = `The provider of this task is not in PROVIDER any more: ${id}`;
      expect(await chain.poll(id)).toEqual(ok({ state: "failed", reason }));
      expect(await chain.download("https://temporary.example/1", id)).toEqual(
        err({ kind: "provider_unavailable", reason }),
      );
      expect(chain.nextPollMilliseconds(id, 0)).toBe(5_000);
    },
  );

  it("cancels at its own provider, unless it is missing or cannot cancel", async () => {
    const [one, other] = await submittedToBoth();
    expect(await chain.cancel(other)).toEqual(ok("canceled"));
    expect([first.canceled.size, second.canceled.size]).toEqual([0, 1]);
    second.play({ cancel: "unavailable" });
    expect((await chain.cancel(other)).isErr()).toBe(true);
    expect(await chain.cancel("third:upstream-1")).toEqual(ok("too_late"));
    Object.assign(first, { cancel: undefined });
    expect(await chain.cancel(one)).toEqual(ok("too_late"));
  });

  it("is searched at every provider until one has it", async () => {
    const [one, other] = await submittedToBoth();
    expect(await chain.search(taskId(1), noon)).toEqual(ok(one));
    expect(await chain.search(taskId(2), noon)).toEqual(ok(other));
    expect(await chain.search(taskId(3), noon)).toEqual(ok(undefined));
  });

  it("is found despite an unavailable provider; otherwise the search returns unavailable", async () => {
    const [, other] = await submittedToBoth();
    first.play({ search: "unavailable" });
    expect(await chain.search(taskId(2), noon)).toEqual(ok(other));
    expect(await chain.search(taskId(3), noon)).toEqual(
      err({ kind: "provider_unavailable", reason: "first: the script is unavailable" }),
    );
  });
});

describe("ProviderChain", () => {
  it("accepts requests that any provider accepts; otherwise returns the reason of the first provider", () => {
    first.makes = err(invalidRequest("prompt", { name: "text_only" }));
    expect(chain.checkRequest(ORDER.request)).toEqual(ok(undefined));
    second.makes = err(invalidRequest("image_urls", { name: "images_only" }));
    expect(chain.checkRequest(ORDER.request)).toEqual(err(invalidRequest("prompt", { name: "text_only" })));
    first.makes = ok(undefined);
    expect(chain.checkRequest(ORDER.request)).toEqual(ok(undefined));
  });

  it.each<[Readiness, Readiness, Readiness]>([
    ["ready", "down", "ready"],
    ["probing", "ready", "ready"],
    ["down", "probing", "probing"],
    ["busy", "ready", "ready"],
    ["probing", "busy", "probing"],
    ["down", "busy", "busy"],
    ["down", "down", "down"],
  ])("with one provider %s and the other %s is %s", (one, other, expected) => {
    first.ready = one;
    second.ready = other;
    expect(chain.readiness()).toBe(expected);
  });

  it("lists the places of its providers with their own limit, readiness and requests", () => {
    first.concurrencyMax = 2;
    second.ready = "busy";
    first.makes = err(invalidRequest("prompt", { name: "text_only" }));
    const places = chain
      .places()
      .map(({ canMake, abilities: _, ...place }) => ({ ...place, makes: canMake(ORDER.request) }));
    expect(places).toEqual([
      { name: "first", concurrencyMax: 2, readiness: "ready", makes: false },
      { name: "second", concurrencyMax: undefined, readiness: "busy", makes: true },
    ]);
  });

  it("names the places of a provider with several ones after the provider, and moves to them", async () => {
    const farm = new ProviderChain([first, second], () => {});
    const other = new ScriptedProvider({}, "other");
    const outer = new ProviderChain([other, farm], () => {});
    expect(outer.places().map(({ name }) => name)).toEqual(["other", "first,second:first", "first,second:second"]);
    other.play({ submit: "refuse" });
    first.play({ submit: "refuse" });
    const moves: string[] = [];
    const changePlace = async ({ name }: { readonly name: string }) => moves.push(name) > 0;
    const sent = await outer.submit({ ...ORDER, place: "other", changePlace });
    expect(sent).toEqual(ok("first,second:second:upstream-1"));
    expect(moves).toEqual(["first,second:first", "first,second:second"]);
  });
});
