import { readFileSync } from "node:fs";
import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { aCreationRequest, noon, taskId } from "../../../../../adapters/contracts/support/builders.js";
import { correlationSeed } from "../../../../../adapters/provider/remote/dialect.js";
import { invalidRequest } from "../../../../../domain/invalid-request.js";
import { remoteProviderContract } from "../../../../support/contracts/remote-provider-contract.js";
import { HTTP_TOKEN } from "../../../../support/fake-http-provider.js";
import { answers, refuses } from "../../../../support/faulty-server.js";
import { startHttp } from "../../../../support/providers-under-test.js";

remoteProviderContract("a worker over HTTP", startHttp, {
  callsPerSecond: 20,
  concurrencyMax: 1,
  pauseSeconds: 10,
  searchable: true,
  cancels: false,
  keyVariable: "HTTP_PROVIDER_TOKEN",
});

const URLS = ["https://pictures.example/1.jpg", "https://pictures.example/2.jpg", "https://pictures.example/3.jpg"];

describe("http dialect", () => {
  let http: Awaited<ReturnType<typeof startHttp>>;

  beforeEach(async () => {
    http = await startHttp();
  });
  afterEach(() => http.close());

  const submit = (body: Readonly<Record<string, unknown>> = {}) =>
    http.provider.submit({ taskId: taskId(1), request: aCreationRequest(body) });

  it("sends PUT with the task id, according to the OpenAPI description", async () => {
    expect((await submit({ prompt: "a lake", image_urls: URLS, resolution: "4k" }))._unsafeUnwrap()).toBe(taskId(1));
    const [{ method, path, headers, body } = {}] = http.fake.server.requests;
    expect([method, path, headers?.authorization]).toEqual([
      "PUT",
      `/worker/generations/${taskId(1)}`,
      `Bearer ${HTTP_TOKEN}`,
    ]);
    expect(body).toEqual({
      prompt: "a lake",
      images: URLS,
      width: 3840,
      height: 1920,
      seed: correlationSeed(taskId(1)),
      deadline_seconds: 600,
    });
    expect(schemaOf("Input").safeParse(body).success).toBe(true);
  });

  it.each([0, 2147483647])("sends the customer's seed %i", async (seed) => {
    await submit({ seed });
    const { body } = http.fake.server.requests[0] ?? {};
    expect(body).toMatchObject({ seed });
    expect(schemaOf("Input").safeParse(body).success).toBe(true);
  });

  it("sends no authorization without a token", async () => {
    const open = await startHttp({ apiKey: "" });
    await open.provider.submit({ taskId: taskId(1), request: aCreationRequest() });
    expect(open.fake.server.requests[0]?.headers).not.toHaveProperty("authorization");
    await open.close();
  });

  it("gets answers from the fake that the OpenAPI description allows", async () => {
    const { baseUrl } = http.fake;
    const headers = { authorization: `Bearer ${HTTP_TOKEN}` };
    const read = async (path: string) => (await fetch(baseUrl + path, { headers })).json();
    expect(schemaOf("Abilities").safeParse(await read("/abilities")).success).toBe(true);
    await submit();
    for (const plan of ["run", "fail"] as const) {
      http.fake.plan = plan;
      expect(schemaOf("Generation").parse(await read(`/generations/${taskId(1)}`))).toHaveProperty("status");
    }
  });

  it("does not conclude from a 404 without the contract's error that there is no generation", async () => {
    http.fake.faults.lists.push(refuses(404));
    expect((await http.provider.search(taskId(2), noon))._unsafeUnwrapErr().reason).toBe(
      "the answer is not an error of the worker",
    );
  });

  it("reads a result URL that is relative to the base URL", async () => {
    http.fake.relativeUrls = true;
    await submit();
    const temporaryUrl = `${http.fake.baseUrl}/results/${taskId(1)}.png`;
    expect(await http.provider.poll(taskId(1))).toEqual(ok({ state: "succeeded", temporaryUrl }));
  });

  it.each([
    ["no URL", {}, "there is no result"],
    [
      "a URL that cannot be downloaded",
      { image_url: "ftp://x/y.png" },
      "the provider's result is not a URL that can be downloaded",
    ],
  ])("reports a success with %s as failed", async (_, result, reason) => {
    await submit();
    http.fake.faults.polls.push(answers({ id: taskId(1), status: "succeeded", ...result }));
    expect(await http.provider.poll(taskId(1))).toEqual(ok({ state: "failed", reason, cause: "unusable_result" }));
  });

  it.each<[unknown, string | undefined]>([
    ["content_refused", "content_refused"],
    ["reference_unreachable", "reference_unreachable"],
    ["reference_unusable", "reference_unusable"],
    ["bad_weather", undefined],
    [7, undefined],
    [null, undefined],
    ["", undefined],
  ])("reports a refusal and a failure with the cause %o as %s", async (told, cause) => {
    const refusal = { error: "No: a secret lake", cause: told };
    expect(schemaOf("Refusal").safeParse(refusal).success).toBe(cause !== undefined);
    http.fake.faults.creates.push(refuses(422, {}, refusal));
    expect((await submit())._unsafeUnwrapErr()).toEqual({
      kind: "refused",
      reason: "status 422: the provider rejects the request as invalid",
      cause,
    });
    await submit();
    const failed = { id: taskId(1), status: "failed", ...refusal };
    expect(schemaOf("Generation").safeParse(failed).success).toBe(cause !== undefined);
    http.fake.faults.polls.push(answers(failed));
    const reason = "the provider ended it as failed";
    expect((await http.provider.poll(taskId(1)))._unsafeUnwrap()).toEqual({ state: "failed", reason, cause });
  });

  it.each([
    [{ images_min: 0, images_max: 0 }, 1, { name: "text_only" }],
    [{ images_min: 1, images_max: 1 }, 0, { name: "images_only" }],
    [{ images_min: 0, images_max: 2 }, 3, { name: "items_max", max: 2, actual: 3 }],
  ] as const)("refuses %i images for a worker with %o", async (abilities, images, rule) => {
    http.fake.abilities = abilities;
    const request = aCreationRequest({ prompt: "a lake", image_urls: URLS.slice(0, images) });
    expect(http.provider.checkRequest(request)).toEqual(ok(undefined));
    expect(await http.provider.check()).toEqual(ok(undefined));
    expect(http.provider.checkRequest(request)).toEqual(err(invalidRequest("image_urls", rule)));
    const possible = aCreationRequest({ prompt: "a lake", image_urls: URLS.slice(0, abilities.images_max) });
    expect(http.provider.checkRequest(possible)).toEqual(ok(undefined));
  });

  it.each([
    [undefined, 4_000],
    [700, 700],
    [1_000_000, 4_000],
  ])("refuses a longer prompt than the worker with prompt_characters_max %s takes", async (told, max) => {
    http.fake.abilities = { images_min: 0, images_max: 3, prompt_characters_max: told };
    expect(schemaOf("Abilities").safeParse({ ...(http.fake.abilities as object) }).success).toBe(true);
    expect(await http.provider.check()).toEqual(ok(undefined));
    expect(http.provider.places()[0]?.abilities).toEqual({ imagesMin: 0, imagesMax: 3, promptCharactersMax: max });
    expect(http.provider.checkRequest(aCreationRequest({ prompt: "x".repeat(max) }))).toEqual(ok(undefined));
    if (max === 4_000) return;
    expect(http.provider.checkRequest(aCreationRequest({ prompt: "x".repeat(max + 1) }))).toEqual(
      err(invalidRequest("prompt", { name: "characters_max", max, actual: max + 1 })),
    );
  });

  it("reports a URL without a worker as misconfigured, and other abilities as unchecked", async () => {
    http.fake.faults.checks.push(refuses(404), answers({ images_max: 9 }));
    const reason = `HTTP_PROVIDER_URL=${http.fake.baseUrl}: GET /abilities is not there; set the URL of a worker`;
    expect(await http.provider.check()).toEqual(err({ kind: "misconfigured", reason }));
    const unchecked = { kind: "unchecked", reason: "the answer is not a worker's capabilities" };
    expect(await http.provider.check()).toEqual(err(unchecked));
  });
});

type JsonSchema = Parameters<typeof z.fromJSONSchema>[0];

const description = readFileSync("test/examples/http-provider/openapi.json", "utf8");
const { components } = JSON.parse(description.replaceAll("#/components/schemas/", "#/$defs/")) as {
  readonly components: { readonly schemas: Record<string, Exclude<JsonSchema, boolean>> };
};

const schemaOf = (name: string) => z.fromJSONSchema({ ...components.schemas[name], $defs: components.schemas });
