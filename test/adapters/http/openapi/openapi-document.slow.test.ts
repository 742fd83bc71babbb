import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openApi30 } from "../../../../adapters/http/openapi/openapi-30.js";
import { openApiDocument } from "../../../../adapters/http/openapi/openapi-document.js";
import { PANORAMA_POLICY } from "../../../../domain/panorama-policy.js";
import { ALL_ABILITIES } from "../../../../domain/tasks/abilities.js";
import { HttpService } from "../../../support/http-service.js";

type Schema = { properties: Record<string, unknown> };

type Tagged = { readonly tags?: readonly string[] };

describe("the OpenAPI description", () => {
  let service: HttpService;
  let description: ReturnType<typeof openApiDocument>;
  let description30: object;

  beforeAll(async () => {
    service = await HttpService.start();
    description = (await (await fetch(`${service.url}/api/v1/openapi.json`)).json()) as typeof description;
    description30 = (await (await fetch(`${service.url}/api/v1/openapi-3.0.json`)).json()) as object;
  });
  afterAll(() => service.end());

  it("needs no key and describes version 1.0.0 in OpenAPI 3.1", () => {
    expect(description).toEqual(
      JSON.parse(
        JSON.stringify(
          openApiDocument("https://panoramas.example", PANORAMA_POLICY, ALL_ABILITIES, { unusedHours: 24 }),
        ),
      ),
    );
    expect(description.openapi).toMatch(/^3\.1\./);
    expect(description.info.version).toBe("1.0.0");
    expect(description.servers).toEqual([{ url: "https://panoramas.example/api/v1" }]);
    expect(description.security).toEqual([{ bearer: [] }, { apiKey: [] }]);
    expect(description.components?.securitySchemes).toMatchObject({
      bearer: { type: "http", scheme: "bearer" },
      apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
    });
  });

  it("exists as OpenAPI 3.0.3 for generators", () => {
    expect(description30).toEqual(openApi30(description));
    expect(description30).toMatchObject({ openapi: "3.0.3", servers: description.servers, tags: description.tags });
  });

  it.each([
    ["3.1", () => description],
    ["3.0", () => description30],
  ])("passes the linter without findings in OpenAPI %s", async (_, document) => {
    const folder = await mkdtemp(join(tmpdir(), "panorama-openapi-"));
    await writeFile(join(folder, "openapi.json"), JSON.stringify(document()));
    const lint = ["lint", "--extends=recommended", "--format=json", join(folder, "openapi.json")];
    const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
    const { stdout } = await promisify(execFile)("node_modules/.bin/redocly", lint, { env });
    expect(JSON.parse(stdout.slice(stdout.indexOf("{"))).problems).toEqual([]);
    await rm(folder, { recursive: true });
  });

  it("gives every operation and webhook one tag, which is described", () => {
    const items = { ...description.paths, ...description.webhooks } as Record<string, Record<string, Tagged>>;
    const used = Object.values(items).flatMap((item) => Object.values(item).map(({ tags = [] }) => tags));
    expect(used.every(({ length }) => length === 1)).toBe(true);
    expect([...new Set(used.flat())].sort()).toEqual((description.tags ?? []).map(({ name }) => name).sort());
  });

  it("requires only the resolution of a creation, also in generated types, where a default makes a field required", () => {
    for (const { components } of [description, description30] as { components: { schemas: object } }[]) {
      const { CreationRequest } = components.schemas as Record<string, Schema & { required: string[] }>;
      expect(CreationRequest?.required).toEqual(["resolution"]);
      expect(JSON.stringify(CreationRequest?.properties)).not.toContain('"default":');
    }
  });

  it("describes the values of metadata, and that answers may have unknown fields", () => {
    const { CreationRequest, PanoramaTask } = (description.components?.schemas ?? {}) as Record<string, Schema>;
    const values = { type: "string", maxLength: 500 };
    expect(CreationRequest?.properties.metadata).toMatchObject({ maxProperties: 16, additionalProperties: values });
    expect(PanoramaTask?.properties.metadata).toMatchObject({ maxProperties: 16, additionalProperties: values });
    expect(CreationRequest?.properties.seed).toMatchObject({ type: "integer", minimum: 0, maximum: 2147483647 });
    expect(PanoramaTask).not.toHaveProperty("additionalProperties");
  });
});
