import { existsSync, readFileSync } from "node:fs";
import { validate } from "dockerfile-utils";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { OPEN_STREAMS_MAX, OPEN_WAITS_MAX } from "../../adapters/http/limits/open-requests.js";
import { VISITOR_LIMITS } from "../../adapters/http/limits/visitor-limits.js";
import { EXIT_STATUS } from "../../bootstrap/command-error.js";
import { readConfig } from "../../bootstrap/config.js";
import { environmentSchema } from "../../bootstrap/environment.js";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { readContext, readStages, type Stage } from "./dockerfile.js";

const read = (file: string): string => readFileSync(file, "utf8");

const PACKAGE = JSON.parse(read("package.json")) as { version: string; license: string; engines: { node: string } };

/** The variables that the service reads. */
const SETTINGS = Object.keys(environmentSchema.shape);

/** What glibc reads. compose.yaml has it from the image. */
const ALLOCATOR = { name: "MALLOC_MMAP_THRESHOLD_", value: String(1024 * 1024) };
const isRead = (name: string): boolean => SETTINGS.includes(name) || name === ALLOCATOR.name;

const UNIT = "bootstrap/deployment/panorama@.service";

/** The settings of a systemd unit by name; a setting that is given several times has several values. */
const unitSettings = (): Map<string, string[]> => {
  const settings = new Map<string, string[]>();
  for (const [, name = "", value = ""] of read(UNIT).matchAll(/^(\w+)=(.*)$/gm)) {
    settings.set(name, [...(settings.get(name) ?? []), value]);
  }
  return settings;
};

const STOP_SECONDS = 6 + 20 + 20;

describe("Dockerfile", () => {
  const stages = readStages();
  const [build, last] = stages as [Stage, Stage];

  it("passes the linter", () => {
    expect(validate(read("Dockerfile")).map(({ message }) => message)).toEqual([]);
  });

  it("copies only files that exist and that .dockerignore lets through", () => {
    const context = readContext();
    expect(context.filter((path) => !existsSync(path))).toEqual([]);
    const copied = build.steps.flatMap((step) => (step.kind === "copy" && step.from === undefined ? step.sources : []));
    expect(copied.filter((path) => path !== "." && !context.includes(path))).toEqual([]);
    expect(copied).toContain("package-lock.json");
  });

  it("builds in one stage, and runs nothing in the last one", () => {
    expect(stages).toHaveLength(2);
    expect(last.steps.map((step) => (step.kind === "copy" ? step.from : step.kind))).toEqual(
      last.steps.map(() => build.name),
    );
  });

  it("uses the recommended version of Node.js", () => {
    const recommended = read(".nvmrc").split(".")[0];
    expect(stages.map(({ image }) => image)).toEqual(stages.map(() => `node:${recommended}-bookworm-slim`));
    expect(PACKAGE.engines.node).toMatch(new RegExp(`^>=${recommended}\\.`));
  });

  it("names the version and licence of the package", () => {
    expect(last.labels).toEqual({
      "org.opencontainers.image.title": "panorama-service",
      "org.opencontainers.image.version": PACKAGE.version,
      "org.opencontainers.image.licenses": PACKAGE.license,
    });
  });

  it("runs the service as a direct process without root, with its data in a volume", () => {
    expect(last).toMatchObject({
      user: "node",
      volumes: ["/data"],
      stopSignal: "SIGTERM",
      entrypoint: ["node", "dist/bootstrap/panorama.cjs"],
      command: ["serve"],
      healthCheck: ["node", "bootstrap/deployment/ready.mjs"],
    });
    expect(last.environment.DATA_DIR).toBe("/data");
  });

  it("sets only variables that the service reads", () => {
    expect(Object.keys(last.environment).filter((name) => name !== "PATH" && !isRead(name))).toEqual([]);
  });

  it("returns the memory of pictures to the system", () => {
    expect(last.environment[ALLOCATOR.name]).toBe(ALLOCATOR.value);
  });
});

describe("compose.yaml", () => {
  type Service = {
    readonly environment?: Record<string, string>;
    readonly depends_on?: string[] | Record<string, { readonly condition: string }>;
    readonly volumes?: string[];
    readonly configs?: { readonly source: string }[];
    readonly command?: string[];
    readonly stop_grace_period?: string;
    readonly read_only?: boolean;
    readonly tmpfs?: string[];
  };
  const file = parse(read("compose.yaml"), { merge: true }) as {
    readonly services: Record<string, Service>;
    readonly volumes: object;
    readonly configs: Record<string, { readonly content: string }>;
  };
  const { panorama = {}, migrate = {}, minio = {} } = file.services;

  it("refers only to services, volumes and files of its own", () => {
    for (const { depends_on = {}, volumes = [], configs = [] } of Object.values(file.services)) {
      const names = Array.isArray(depends_on) ? depends_on : Object.keys(depends_on);
      expect(Object.keys(file.services)).toEqual(expect.arrayContaining(names));
      expect(Object.keys(file.volumes)).toEqual(expect.arrayContaining(volumes.map((volume) => volume.split(":")[0])));
      expect(Object.keys(file.configs)).toEqual(expect.arrayContaining(configs.map(({ source }) => source)));
    }
  });

  it("gives the service a configuration that it accepts, with names of real settings", () => {
    const environment = Object.fromEntries(
      // ${NAME:-default}: what the operator may set.
      Object.entries(panorama.environment ?? {}).map(([name, value]) => [
        name,
        value.replace(/\$\{\w+:-(.*?)\}/, "$1"),
      ]),
    );
    expect(Object.keys(environment).filter((name) => !SETTINGS.includes(name))).toEqual([]);
    expect(readConfig(environment)._unsafeUnwrap()).toMatchObject({
      databaseUrl: "postgresql://panorama:panorama@postgres/panorama",
      storage: { kind: "s3", bucket: "panorama", endpoint: "http://minio:9000" },
      demo: true,
    });
    expect(environment.AWS_SECRET_ACCESS_KEY).toBe("panorama-secret");
    expect(minio.environment?.MINIO_ROOT_PASSWORD).toBe(panorama.environment?.AWS_SECRET_ACCESS_KEY);
    expect(minio.environment?.MINIO_ROOT_USER).toBe(environment.AWS_ACCESS_KEY_ID);
  });

  it("migrates before it serves, both with a read-only root file system", () => {
    expect(migrate.command).toEqual(["migrate"]);
    expect(panorama.command).toBeUndefined();
    expect(panorama.depends_on).toMatchObject({ migrate: { condition: "service_completed_successfully" } });
    for (const { read_only, tmpfs } of [panorama, migrate])
      expect({ read_only, tmpfs }).toEqual({ read_only: true, tmpfs: ["/tmp"] });
  });

  it("lets everybody read the objects of the bucket, but not list them", () => {
    const { Statement } = JSON.parse(file.configs.policy?.content ?? "") as { Statement: { Action: string[] }[] };
    expect(Statement.map(({ Action }) => Action)).toEqual([["s3:GetObject"]]);
  });

  it("gives the service the time to stop", () => {
    expect(Number.parseInt(panorama.stop_grace_period ?? "", 10)).toBeGreaterThan(STOP_SECONDS);
  });
});

describe("the systemd unit", () => {
  const settings = unitSettings();

  it("names commands and files that exist", () => {
    const started = ["ExecStart", "ExecStartPost"].flatMap((name) => settings.get(name) ?? []).join(" ");
    expect(started.match(/bootstrap\/deployment\/\S+/g)?.filter((path) => !existsSync(path))).toEqual([]);
    const stages = readStages();
    expect(started).toContain(`exec /usr/bin/node ${stages.at(-1)?.entrypoint[1]} serve`);
  });

  it("sets only variables that the service reads", () => {
    const names = settings.get("Environment")?.flatMap((line) => line.split(" ").map((pair) => pair.split("=")[0]));
    expect(names?.filter((name = "") => !isRead(name))).toEqual([]);
  });

  it("returns the memory of pictures to the system", () => {
    expect(settings.get("Environment")).toContain(`${ALLOCATOR.name}=${ALLOCATOR.value}`);
  });

  it("restarts after errors, except those that a restart does not repair", () => {
    expect(settings.get("Restart")).toEqual(["on-failure"]);
    const { usage, refused, configuration } = EXIT_STATUS;
    expect(settings.get("RestartPreventExitStatus")).toEqual([[usage, refused, configuration].join(" ")]);
  });

  it("gives the service the time to stop", () => {
    expect(Number(settings.get("TimeoutStopSec"))).toBeGreaterThan(STOP_SECONDS);
  });
});

describe("bootstrap/deployment/nginx.conf", () => {
  const nginx = read("bootstrap/deployment/nginx.conf");
  const numberOf = (pattern: RegExp) => Number(pattern.exec(nginx)?.[1]);

  it("limits requests and connections per address, above the limits of the service", () => {
    const perMinute = numberOf(/limit_req_zone \$binary_remote_addr .* rate=(\d+)r\/s/) * 60;
    expect(perMinute).toBeGreaterThan(Math.max(...Object.values(VISITOR_LIMITS)));
    // The landing page and the gallery load a page of pictures with several copies at once.
    expect(numberOf(/limit_req zone=panorama_requests burst=(\d+) nodelay/)).toBeGreaterThan(4 * 24);
    // One account can hold all its waits, its streams and its uploads.
    const held = OPEN_WAITS_MAX + OPEN_STREAMS_MAX + PANORAMA_POLICY.rates.total.limit;
    expect(numberOf(/limit_conn panorama_connections (\d+)/)).toBeGreaterThanOrEqual(held);
    expect(nginx.match(/limit_(req|conn)_status 429;/g)).toHaveLength(2);
  });

  it("takes uploads that the service takes", () => {
    const MIB = 1024 * 1024;
    expect(numberOf(/client_max_body_size (\d+)m/) * MIB).toBeGreaterThan(PANORAMA_POLICY.uploads.requestBytesMax);
  });

  it("sends the native server only HTTP that it supports", () => {
    expect(nginx.match(/^ {2}proxy_http_version 1\.1;/gm)).toHaveLength(1); // HTTP/1.0 is refused
    expect(nginx).not.toMatch(/proxy_request_buffering off|underscores_in_headers on|ignore_invalid_headers off/);
  });

  it("contains every line that bootstrap/deployment/README.md explains", () => {
    const [, explained = ""] = /^## nginx$(.*?)^## /ms.exec(read("bootstrap/deployment/README.md")) ?? [];
    const lines = [...explained.matchAll(/^\| `([^`]+)` \|/gm)].map(([, line = ""]) => line);
    expect(lines.length).toBeGreaterThanOrEqual(6);
    expect(lines.filter((line) => !nginx.includes(line))).toEqual([]);
  });
});
