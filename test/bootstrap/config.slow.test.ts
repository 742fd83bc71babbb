import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTrustedProxies } from "../../adapters/http/requests/client-address.js";
import { readConfig, shownEnvironment } from "../../bootstrap/config.js";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";

const valid = (environment: Record<string, string>) => readConfig(environment)._unsafeUnwrap();

const FAL = { PROVIDER: "fal", FAL_API_KEY: "id:secret" };
const STRIPE = { STRIPE_SECRET_KEY: "sk_live_x", STRIPE_WEBHOOK_SECRET: "whsec_y" };
const MAIL = { SMTP_URL: "smtp://user:secret@mail.example:587", MAIL_FROM: "Panorama <no-reply@pano.example>" };
const MINIO = {
  ...{ STORAGE: "s3", S3_BUCKET: "panoramas" },
  ...{ S3_ENDPOINT: "http://minio:9000/", S3_PUBLIC_URL: "https://images.example/panoramas/" },
};

const BASE_URLS = [
  ...["SKYBOX", "REPLICATE", "FAL", "WORLDLABS", "COMFY", "COMFYUI"].map((name) => `${name}_BASE_URL`),
  ...["FAL_PLATFORM_URL", "HTTP_PROVIDER_URL"],
];

const LISTENERS = { assetUrl: "http://localhost:9000/assets", referenceUrl: "https://localhost:9443/assets" };
const WITHOUT_TLS_LISTENER = {
  assetUrl: "https://cdn.example/assets",
  referenceUrl: "https://cdn.example/assets",
  tlsPort: undefined,
};
const inOrder = (...providers: readonly object[]) => ({ provider: { kind: "remote", inOrder: providers } });

describe("readConfig", () => {
  it("has a default for every variable", () => {
    expect(valid({})).toEqual({
      host: "127.0.0.1",
      port: 8080,
      httpServer: undefined,
      publicUrl: "http://localhost:8080",
      trustedProxies: parseTrustedProxies("127.0.0.0/8,::1"),
      dataDir: "./data",
      databaseUrl: undefined,
      databaseConnections: 10,
      storage: {
        kind: "filesystem",
        assetUrl: "http://localhost:8080/assets",
        referenceUrl: "https://localhost:8443/assets",
        tlsPort: 8443,
      },
      provider: { kind: "local", delayMilliseconds: 1_500 },
      submitTimeoutMilliseconds: 30_000,
      generationDeadlineMilliseconds: 600_000,
      queueMax: 10_000,
      leaseMilliseconds: 60_000,
      webhookPrivateOrigins: [],
      heroPanoramas: [],
      legalPagesFolder: undefined,
      referenceRetentionHours: 24,
      operatorLogDays: 730,
      stripe: undefined,
      mail: undefined,
      demo: true,
      logLevel: "info",
      policy: PANORAMA_POLICY,
      signUp: "open",
      gallery: "open",
      identity: {},
      welcomeCredits: 12,
      resultBounds: { seamMax: undefined },
    });
  });

  it.each<[Record<string, string>, object]>([
    [
      { PORT: "9000", TLS_PORT: "9443", PUBLIC_URL: "" },
      { publicUrl: "http://localhost:9000", storage: LISTENERS },
    ],
    [
      { PUBLIC_URL: "http://panorama.internal:8080" },
      { storage: { referenceUrl: "https://panorama.internal:8443/assets" } },
    ],
    [
      { PUBLIC_URL: "https://pano.example/", ASSET_URL: "https://cdn.example/assets/" },
      { publicUrl: "https://pano.example", storage: WITHOUT_TLS_LISTENER },
    ],
    [{ PORT: "8443", ASSET_URL: "https://cdn.example" }, { port: 8443 }],
    [{ PUBLIC_URL: "HTTPS://Pano.Example:443//" }, { publicUrl: "https://pano.example" }],
    [{ PUBLIC_URL: "http://[::1]:8080/" }, { publicUrl: "http://[::1]:8080" }],
    [{ ASSET_URL: "HTTPS://CDN.example/Some/path/" }, { storage: { assetUrl: "https://cdn.example/Some/path" } }],
    [
      { STORAGE: "gcs", GCS_BUCKET: "panoramas", GCS_PUBLIC_URL: "https://cdn.example/panoramas/" },
      { storage: { publicUrl: "https://cdn.example/panoramas" } },
    ],
    ...["0.0.0.0", "::", "fe80::1%eth0", "localhost", "node_1.internal"].map(
      (HOST): [Record<string, string>, object] => [{ HOST }, { host: HOST }],
    ),
    ...["postgresql:///panorama", "postgres://u:p%40%23%2F@db/panorama?sslmode=require"].map(
      (DATABASE_URL): [Record<string, string>, object] => [{ DATABASE_URL }, { databaseUrl: DATABASE_URL }],
    ),
    [{ ...MAIL, SMTP_URL: "smtps://mail.example:465" }, { mail: { url: "smtps://mail.example:465" } }],
    // One poll follows at the deadline.
    [{ LOCAL_PROVIDER_DELAY_MS: "700000", PROVIDER_POLL_MS: "700000", ...FAL }, { provider: { kind: "remote" } }],
    [STRIPE, { stripe: { secretKey: "sk_live_x", webhookSecret: "whsec_y" } }],
    [MAIL, { mail: { url: MAIL.SMTP_URL, from: MAIL.MAIL_FROM } }],
    [{ ...MAIL, MAIL_FROM: "no-reply@pano.example" }, { mail: { from: "no-reply@pano.example" } }],
    [{ TRUSTED_PROXIES: "10.0.0.5, fd00::/8" }, { trustedProxies: parseTrustedProxies("10.0.0.5, fd00::/8") }],
    [{ NODE_ENV: "production" }, { demo: false }],
    [{ NODE_ENV: "production", DEMO: "true" }, { demo: true }],
    ...["prod", "Production", "staging", "test"].map((NODE_ENV): [Record<string, string>, object] => [
      { NODE_ENV },
      { demo: false },
    ]),
    [{ NODE_ENV: "development" }, { demo: true }],
    [{ DEMO: "off" }, { demo: false }],
    [
      MINIO,
      {
        storage: {
          kind: "s3",
          bucket: "panoramas",
          region: "us-east-1",
          endpoint: "http://minio:9000",
          pathStyle: true,
          publicUrl: "https://images.example/panoramas",
        },
      },
    ],
    [{ ...MINIO, S3_REGION: "auto", S3_PATH_STYLE: "off" }, { storage: { region: "auto", pathStyle: false } }],
    [
      { PROVIDER: "skybox", SKYBOX_API_KEY: "key" },
      inOrder({ kind: "skybox", apiKey: "key", baseUrl: "https://backend.blockadelabs.com/api/v1", styleId: 67 }),
    ],
    [
      { PROVIDER: "replicate", REPLICATE_API_KEY: "r8", REPLICATE_BASE_URL: "http://localhost:1/v1/" },
      inOrder({ baseUrl: "http://localhost:1/v1", model: "bytedance/seedream-4" }),
    ],
    [
      { PROVIDER: "worldlabs, worldlabs:marble-1.1", WORLDLABS_API_KEY: "wlt" },
      inOrder(
        { kind: "worldlabs", apiKey: "wlt", baseUrl: "https://api.worldlabs.ai", model: "marble-1.0-draft" },
        { kind: "worldlabs", model: "marble-1.1" },
      ),
    ],
    [
      { ...FAL, FAL_MODEL: "fal-ai/hunyuan_world" },
      inOrder({
        model: "fal-ai/hunyuan_world",
        platformUrl: "https://api.fal.ai/v1",
        jwksUrls: ["https://rest.fal.ai/.well-known/jwks.json", "https://rest.alpha.fal.ai/.well-known/jwks.json"],
      }),
    ],
    [
      { ...FAL, FAL_JWKS_URL: "https://keys.example/jwks" },
      inOrder({ model: undefined, jwksUrls: ["https://keys.example/jwks"] }),
    ],
    [
      { ...FAL, FAL_MODEL: "fal-ai/flux-lora", FAL_LORA_URL: "https://weights.example/360.safetensors" },
      inOrder({ model: "fal-ai/flux-lora", loraUrl: "https://weights.example/360.safetensors" }),
    ],
    [
      {
        ...FAL,
        PROVIDER: "fal, fal:gpt-image-2",
        FAL_MODEL: "fal-ai/a",
        FAL_EDIT_MODEL: "fal-ai/a/edit",
        FAL_QUALITY: "low",
      },
      inOrder(
        { model: "fal-ai/a", editModel: "fal-ai/a/edit", quality: "low" },
        { model: "gpt-image-2", quality: "low" },
      ),
    ],
  ])("of %j has %j", (environment, expected) => {
    expect(valid(environment)).toMatchObject(expected);
  });

  /** What is refused, and the beginning of the sentence; one that ends with a dot is all of it. */
  it.each<[Record<string, string>, string]>([
    [{ PORT: "8443" }, "PORT and TLS_PORT are both 8443"],
    [{ PORT: "65536" }, 'PORT="65536": '],
    [{ PUBLIC_URL: "localhost:8080" }, 'PUBLIC_URL="localhost:8080": '],
    [{ GCS_PUBLIC_URL: "http://cdn.example" }, 'GCS_PUBLIC_URL="http://cdn.example": must start with https://'],
    [{ GENERATION_DEADLINE_MS: "1.5" }, 'GENERATION_DEADLINE_MS="1.5": '],
    [{ DEMO: "perhaps" }, 'DEMO="perhaps": '],
    [{ TRUSTED_PROXIES: "proxy.internal" }, 'TRUSTED_PROXIES="proxy.internal": must be IP addresses or networks'],
    [{ STRIPE_SECRET_KEY: "sk_live_x" }, "set both STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET, or neither."],
    [{ STRIPE_WEBHOOK_SECRET: "whsec_y" }, "set both STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET, or neither."],
    [{ ...STRIPE, STRIPE_SECRET_KEY: "swapped" }, "STRIPE_SECRET_KEY=(not shown): "],
    [{ ...STRIPE, STRIPE_WEBHOOK_SECRET: "swapped" }, "STRIPE_WEBHOOK_SECRET=(not shown): "],
    [{ SMTP_URL: MAIL.SMTP_URL }, "set both SMTP_URL and MAIL_FROM, or neither."],
    [{ MAIL_FROM: MAIL.MAIL_FROM }, "set both SMTP_URL and MAIL_FROM, or neither."],
    [{ ...MAIL, SMTP_URL: "http://user:secret@mail.example" }, "SMTP_URL=(not shown): must be smtp:// or smtps://"],
    ...["Panorama", "a@b\r\nBcc: c@d", "Panorama <no-reply>"].map((MAIL_FROM): [Record<string, string>, string] => [
      { ...MAIL, MAIL_FROM },
      `MAIL_FROM=${JSON.stringify(MAIL_FROM)}: must be an e-mail address`,
    ]),
    [{ STORAGE: "gcs" }, "STORAGE=gcs needs GCS_BUCKET, the name of the bucket."],
    [{ STORAGE: "s3" }, "STORAGE=s3 needs S3_BUCKET, the name of the bucket."],
    [{ STORAGE: "s3", S3_BUCKET: "panoramas" }, "STORAGE=s3 needs S3_REGION"],
    [{ ...MINIO, S3_PUBLIC_URL: "" }, "STORAGE=s3 needs S3_PUBLIC_URL with S3_ENDPOINT"],
    [{ ...MINIO, AWS_ACCESS_KEY_ID: "AKIA" }, "set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or neither."],
    [
      { ...MINIO, S3_ENDPOINT: "https://account.example/panoramas" },
      'S3_ENDPOINT="https://account.example/panoramas": must be the URL of the service, without the bucket.',
    ],
    [
      { ...MINIO, S3_ENDPOINT: "https://panoramas.spaces.example" },
      'S3_ENDPOINT="https://panoramas.spaces.example": must be the URL of the service, without the bucket.',
    ],
    [{ S3_ENDPOINT: "http://user:password@minio:9000" }, 'S3_ENDPOINT="http://(not shown)@minio:9000": must not have'],
    [{ PROVIDER_POLL_MS: "0" }, 'PROVIDER_POLL_MS="0": '],
    [{ REPLICATE_MODEL: "flux-360" }, 'REPLICATE_MODEL="flux-360": must be owner/name'],
    [{ WORLDLABS_MODEL: "Marble 0.1-mini" }, 'WORLDLABS_MODEL="Marble 0.1-mini": must be one of'],
    [{ COMFYUI_BASE_URL: "http://one:8188,http://one:8188/" }, 'COMFYUI_BASE_URL="http://one:8188,http://one:8188/": '],
    [
      { HTTP_PROVIDER_URL: "http://user:password@localhost:8000" },
      'HTTP_PROVIDER_URL="http://(not shown)@localhost:8000": must not have',
    ],
    [{ ...FAL, FAL_MODEL: "fal-ai/flux-lora" }, "FAL_MODEL=flux-lora needs FAL_LORA_URL, the URL of the LoRA weights"],
    [{ ...FAL, PROVIDER: "fal:seedream" }, "FAL_MODEL=seedream: must be seedream-4.5, gpt-image-2, "],
    [
      { PROVIDER: "worldlabs:marble-9", WORLDLABS_API_KEY: "wlt" },
      "PROVIDER=worldlabs:marble-9: the model must be one of marble-1.0-draft, ",
    ],
    [
      { ...FAL, FAL_REFERENCES: "canvas" },
      "FAL_REFERENCES=canvas needs a model with a mask, and FAL_MODEL=seedream-4.5 has none; set separate.",
    ],
    ...["fal,fal", "local,fal", "fal,", "fal;skybox"].map((PROVIDER): [Record<string, string>, string] => [
      { ...FAL, SKYBOX_API_KEY: "key", PROVIDER },
      `PROVIDER="${PROVIDER}": must be local, or a comma-separated list of skybox, replicate, fal, worldlabs, `,
    ]),
    [{ PROVIDER: "skybox,fal", SKYBOX_API_KEY: "key" }, "PROVIDER=fal needs FAL_API_KEY."],
    [{ PROVIDER: "http", HTTP_PROVIDER_TOKEN: "secret" }, "PROVIDER=http needs HTTP_PROVIDER_URL."],
    // Well formed, and no service can work with it.
    ...["127.0.0.1:8080", "http://localhost", "[::1]", "*", "local host"].map(
      (HOST): [Record<string, string>, string] => [
        { HOST },
        `HOST=${JSON.stringify(HOST)}: must be an IP address or a host name alone, without scheme, port and brackets`,
      ],
    ),
    ...(
      [
        ["http://localhost:8080/pano", "must not have a path: remove /pano. The service needs a host name of its own"],
        ["https://pano.example/a/b/", "must not have a path: remove /a/b. The service needs a host name of its own"],
        ["http://localhost:6000", "must not have port 6000, which browsers refuse to open"],
        ["https://pano.example/#top", "must not have a fragment, the part from # on"],
        ["https://*.pano.example", "must not have the host *.pano.example, which is no name and no address"],
        ["http:localhost:8080", "Invalid URL"],
        ["http://localhost:0", "must not have port 0"],
      ] as const
    ).map(([PUBLIC_URL, rule]): [Record<string, string>, string] => [
      { PUBLIC_URL },
      `PUBLIC_URL=${JSON.stringify(PUBLIC_URL)}: ${rule}`,
    ]),
    ...[
      "PUBLIC_URL",
      "ASSET_URL",
      "GCS_PUBLIC_URL",
      "S3_PUBLIC_URL",
      "GCS_API_ENDPOINT",
      "S3_ENDPOINT",
      ...BASE_URLS,
    ].flatMap((name): [Record<string, string>, string][] => [
      [{ [name]: "https://host.example?a=b" }, `${name}="https://host.example?(not shown)": must not have a query`],
      [{ [name]: "https://host.example/#a" }, `${name}="https://host.example/#a": must not have a fragment`],
      [
        { [name]: "https://ann:secret@host.example" },
        `${name}="https://(not shown)@host.example": must not have a user name or password`,
      ],
    ]),
    [{ ...MAIL, SMTP_URL: "smtp://mail.example:465" }, "SMTP_URL=(not shown): must be smtps:// with port 465"],
    [{ ...MAIL, SMTP_URL: "smtps://u:p@mail.example:587/" }, "SMTP_URL=(not shown): must be smtps:// with port 465"],
    [{ ...MAIL, SMTP_URL: "smtp://" }, "SMTP_URL=(not shown): must have a host"],
    ...["postgres://u:pa#ss@db/p", "postgres://u:1/s@db/p", "postgres://u:1?s@db/p", "postgres://u:9%@db/p"].map(
      (DATABASE_URL): [Record<string, string>, string] => [
        { DATABASE_URL },
        "DATABASE_URL=(not shown): must be postgresql://USER:PASSWORD@HOST/DATABASE, with #, /, ?, @ and % in user and",
      ],
    ),
    [{ DATABASE_URL: "postgres://db:0/p" }, "DATABASE_URL=(not shown): must not have port 0"],
    [{ WEBHOOK_PRIVATE_ORIGINS: "http://*:9000" }, 'WEBHOOK_PRIVATE_ORIGINS="http://*:9000": must be origins such as'],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318?k=v" },
      'OTEL_EXPORTER_OTLP_ENDPOINT="http://c:4318?(not shown)": must',
    ],
    [
      { ...MINIO, AWS_ACCESS_KEY_ID: "AKIA\n", AWS_SECRET_ACCESS_KEY: "s" },
      "AWS_ACCESS_KEY_ID=(not shown): must be visible",
    ],
    [{ ...STRIPE, STRIPE_SECRET_KEY: "sk_live x" }, "STRIPE_SECRET_KEY=(not shown): must be visible ASCII"],
    [{ STORAGE: "gcs", GCS_BUCKET: "gs://panoramas" }, 'GCS_BUCKET="gs://panoramas": must be the name of a bucket'],
    // Each is right alone.
    [{ PORT: "6000" }, "PORT=6000: browsers refuse to open it. Choose another port, or set PUBLIC_URL"],
    [
      { PUBLIC_URL: "http://pano.internal:8443" },
      "PUBLIC_URL and TLS_PORT have both port 8443, where one listener cannot",
    ],
    [{ PUBLIC_URL: "http://pano.internal", TLS_PORT: "80" }, "PUBLIC_URL and TLS_PORT have both port 80, where one"],
    [
      { LOCAL_PROVIDER_DELAY_MS: "5001", GENERATION_DEADLINE_MS: "5000" },
      "LOCAL_PROVIDER_DELAY_MS is 5001 and GENERATION_DEADLINE_MS 5000: every generation would be over its deadline",
    ],
  ])("refuses %j with one line: %s", (environment, sentence) => {
    const message = readConfig(environment)._unsafeUnwrapErr();
    const all = `Bad configuration: ${sentence}`;
    expect(sentence.endsWith(".") ? message : message.slice(0, all.length)).toBe(all);
    expect(message).toMatch(/^[^\n]+\.$/);
  });
});

describe("shownEnvironment", () => {
  /** Every variable of the service, each with this text. */
  const all = (text: string) => shownEnvironment(new Proxy({}, { get: () => text }));
  const secret = fc.stringMatching(/^[!-~]{8,40}$/).filter((text) => !"(not shown)".includes(text));
  const user = fc.constantFrom("", "user", "a:b");

  it("shows no variable of a secret", () => {
    const secrets = Object.keys(all("x")).filter((name) => /KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL|^AWS_/.test(name));
    expect(secrets).toEqual(expect.arrayContaining(["AWS_SECRET_ACCESS_KEY", "FAL_API_KEY", "STRIPE_WEBHOOK_SECRET"]));
    fc.assert(
      fc.property(secret, (text) => {
        const shown = all(text);
        for (const name of [...secrets, "DATABASE_URL", "SMTP_URL"])
          expect([name, shown[name]]).toEqual([name, "(not shown)"]);
      }),
    );
  });

  it("shows neither user nor query of a URL", () => {
    const urls = Object.keys(all("x")).filter((name) => /URL|ENDPOINT|ORIGIN/.test(name));
    fc.assert(
      fc.property(secret, user, (text, name) => {
        for (const url of [`https://${name}:${text}@host.example/path`, `https://host.example/path?token=${text}`]) {
          const shown = all(url);
          for (const variable of urls) expect(shown[variable]).not.toContain(text);
        }
      }),
    );
    for (const url of ["https://host.example/path?token=a@secret", "https://user:a?secret@host.example"]) {
      expect(all(url).PUBLIC_URL).toBe("https://(not shown)");
    }
    expect(all("https://u:p@host.example/a?b")).toMatchObject({
      PUBLIC_URL: "https://(not shown)@host.example/a?(not shown)",
    });
  });

  it("shows changed variables, and no foreign variables", () => {
    const environment = { PORT: "9000", PUBLIC_URL: "https://pano.example", STORAGE: "", PATH: "/bin", HOME: "/root" };
    expect(shownEnvironment(environment)).toEqual({ PORT: "9000", PUBLIC_URL: "https://pano.example" });
  });
});
