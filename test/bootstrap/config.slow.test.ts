import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTrustedProxies } from "../../adapters/http/requests/client-address.js";
import { readConfig, shownEnvironment } from "../../bootstrap/config.js";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";

const valid = (environment: Record<string, string>) => readConfig(environment)._unsafeUnwrap();

const FAL = { FAL_API_KEY: "id:secret", FAL_MODEL: "fal-ai/hunyuan_world" };

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

  it("derives URLs from the port, and ignores empty variables", () => {
    expect(valid({ PORT: "9000", TLS_PORT: "9443", PUBLIC_URL: "" })).toMatchObject({
      publicUrl: "http://localhost:9000",
      storage: { assetUrl: "http://localhost:9000/assets", referenceUrl: "https://localhost:9443/assets" },
    });
  });

  it("takes the host of the TLS listener from PUBLIC_URL", () => {
    expect(valid({ PUBLIC_URL: "http://panorama.internal:8080" }).storage).toMatchObject({
      referenceUrl: "https://panorama.internal:8443/assets",
    });
  });

  it("opens no TLS listener if images are served over https", () => {
    expect(valid({ PUBLIC_URL: "https://pano.example/", ASSET_URL: "https://cdn.example/assets/" })).toMatchObject({
      publicUrl: "https://pano.example",
      storage: {
        assetUrl: "https://cdn.example/assets",
        referenceUrl: "https://cdn.example/assets",
        tlsPort: undefined,
      },
    });
  });

  it("rejects the same port for both listeners", () => {
    expect(readConfig({ PORT: "8443" })._unsafeUnwrapErr()).toContain("PORT and TLS_PORT are both 8443");
    expect(valid({ PORT: "8443", ASSET_URL: "https://cdn.example" }).port).toBe(8443);
  });

  it("enables Stripe only with both secrets, and shows neither in an error", () => {
    const secrets = { STRIPE_SECRET_KEY: "sk_live_x", STRIPE_WEBHOOK_SECRET: "whsec_y" };
    expect(valid(secrets).stripe).toEqual({ secretKey: "sk_live_x", webhookSecret: "whsec_y" });
    for (const name of Object.keys(secrets)) {
      const half = readConfig({ ...secrets, [name]: "" })._unsafeUnwrapErr();
      expect(half).toBe("Bad configuration: set both STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET, or neither.");
      const wrong = readConfig({ ...secrets, [name]: "swapped" })._unsafeUnwrapErr();
      expect(wrong).toContain(`${name}=(not shown)`);
    }
  });

  it("sends e-mails only with both variables, and shows the URL of the mail server in no error", () => {
    const mail = { SMTP_URL: "smtp://user:secret@mail.example:587", MAIL_FROM: "Panorama <no-reply@pano.example>" };
    expect(valid(mail).mail).toEqual({ url: mail.SMTP_URL, from: mail.MAIL_FROM });
    expect(valid({ ...mail, MAIL_FROM: "no-reply@pano.example" }).mail?.from).toBe("no-reply@pano.example");
    for (const name of Object.keys(mail)) {
      const half = readConfig({ ...mail, [name]: "" })._unsafeUnwrapErr();
      expect(half).toBe("Bad configuration: set both SMTP_URL and MAIL_FROM, or neither.");
    }
    const wrong = readConfig({ ...mail, SMTP_URL: "http://user:secret@mail.example" })._unsafeUnwrapErr();
    expect(wrong).toContain("SMTP_URL=(not shown): must be smtp:// or smtps://");
    for (const from of ["Panorama", "a@b\r\nBcc: c@d", "Panorama <no-reply>"]) {
      expect(readConfig({ ...mail, MAIL_FROM: from })._unsafeUnwrapErr()).toContain("MAIL_FROM=");
    }
  });

  it("trusts the listed proxies instead of this machine", () => {
    const list = "10.0.0.5, fd00::/8";
    expect(valid({ TRUSTED_PROXIES: list }).trustedProxies).toEqual(parseTrustedProxies(list));
    expect(readConfig({ TRUSTED_PROXIES: "proxy.internal" })._unsafeUnwrapErr()).toContain(
      'TRUSTED_PROXIES="proxy.internal": must be IP addresses or networks',
    );
  });

  it("disables the demo account in production by default", () => {
    expect(valid({ NODE_ENV: "production" }).demo).toBe(false);
    expect(valid({ NODE_ENV: "production", DEMO: "true" }).demo).toBe(true);
    for (const other of ["prod", "Production", "staging", "test"]) expect(valid({ NODE_ENV: other }).demo).toBe(false);
    expect(valid({ NODE_ENV: "development" }).demo).toBe(true);
    expect(valid({ DEMO: "off" }).demo).toBe(false);
  });

  describe("with STORAGE=s3", () => {
    const s3 = (environment: Record<string, string>) => ({ STORAGE: "s3", S3_BUCKET: "panoramas", ...environment });
    const MINIO = { S3_ENDPOINT: "http://minio:9000/", S3_PUBLIC_URL: "https://images.example/panoramas/" };

    it("stores images in a bucket of another service, whose requests have the bucket in their path", () => {
      const storage = {
        kind: "s3",
        bucket: "panoramas",
        region: "us-east-1",
        endpoint: "http://minio:9000",
        pathStyle: true,
        publicUrl: "https://images.example/panoramas",
      };
      expect(valid(s3(MINIO)).storage).toEqual(storage);
      expect(valid(s3({ ...MINIO, S3_REGION: "auto", S3_PATH_STYLE: "off" })).storage).toEqual({
        ...storage,
        region: "auto",
        pathStyle: false,
      });
    });

    it.each<[Record<string, string>, string]>([
      [{ S3_BUCKET: "" }, "STORAGE=s3 needs S3_BUCKET, the name of the bucket"],
      [{}, "STORAGE=s3 needs S3_REGION"],
      [{ S3_ENDPOINT: "http://minio:9000" }, "STORAGE=s3 needs S3_PUBLIC_URL with S3_ENDPOINT"],
      [{ ...MINIO, AWS_ACCESS_KEY_ID: "AKIA" }, "set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or neither"],
      [
        { ...MINIO, S3_ENDPOINT: "https://account.example/panoramas" },
        'S3_ENDPOINT="https://account.example/panoramas"',
      ],
      [{ ...MINIO, S3_ENDPOINT: "https://panoramas.spaces.example" }, 'S3_ENDPOINT="https://panoramas.spaces.example"'],
    ])("refuses %j with one line", (environment, sentence) => {
      const message = readConfig(s3(environment))._unsafeUnwrapErr();
      expect(message).toContain(`Bad configuration: ${sentence}`);
      expect(message).not.toContain("\n");
    });
  });

  it("configures a remote provider with its key and defaults", () => {
    const remote = (environment: Record<string, string>) => {
      const { provider } = valid(environment);
      return provider.kind === "remote" ? provider.inOrder : [];
    };
    expect(remote({ PROVIDER: "skybox", SKYBOX_API_KEY: "key" })).toEqual([
      {
        kind: "skybox",
        apiKey: "key",
        baseUrl: "https://backend.blockadelabs.com/api/v1",
        pollMilliseconds: undefined,
        callsPerSecond: undefined,
        concurrencyMax: undefined,
        styleId: 67,
      },
    ]);
    expect(
      remote({ PROVIDER: "replicate", REPLICATE_API_KEY: "r8", REPLICATE_BASE_URL: "http://localhost:1/v1/" }),
    ).toMatchObject([{ baseUrl: "http://localhost:1/v1", model: "bytedance/seedream-4" }]);
    expect(remote({ PROVIDER: "fal", ...FAL })).toMatchObject([
      {
        model: "fal-ai/hunyuan_world",
        platformUrl: "https://api.fal.ai/v1",
        jwksUrls: ["https://rest.fal.ai/.well-known/jwks.json", "https://rest.alpha.fal.ai/.well-known/jwks.json"],
      },
    ]);
    const worldlabs = { PROVIDER: "worldlabs, worldlabs:marble-1.1", WORLDLABS_API_KEY: "wlt" };
    expect(remote(worldlabs)).toMatchObject([
      { kind: "worldlabs", apiKey: "wlt", baseUrl: "https://api.worldlabs.ai", model: "marble-1.0-draft" },
      { kind: "worldlabs", model: "marble-1.1" },
    ]);
    const jwks = { FAL_JWKS_URL: "https://keys.example/jwks" };
    expect(remote({ PROVIDER: "fal", FAL_API_KEY: "id:secret", ...jwks })).toMatchObject([
      { model: undefined, jwksUrls: ["https://keys.example/jwks"] },
    ]);
    const loraUrl = "https://weights.example/360.safetensors";
    expect(
      remote({ PROVIDER: "fal", FAL_API_KEY: "id:secret", FAL_MODEL: "fal-ai/flux-lora", FAL_LORA_URL: loraUrl }),
    ).toMatchObject([{ model: "fal-ai/flux-lora", loraUrl }]);
    const chosen = { FAL_MODEL: "fal-ai/a", FAL_EDIT_MODEL: "fal-ai/a/edit", FAL_QUALITY: "low" };
    expect(remote({ PROVIDER: "fal, fal:gpt-image-2", FAL_API_KEY: "id:secret", ...chosen })).toMatchObject([
      { model: "fal-ai/a", editModel: "fal-ai/a/edit", quality: "low" },
      { model: "gpt-image-2", quality: "low" },
    ]);
  });

  it.each<[Record<string, string>, string]>([
    [
      { PROVIDER: "fal", FAL_MODEL: "fal-ai/flux-lora" },
      "FAL_MODEL=flux-lora needs FAL_LORA_URL, the URL of the LoRA weights for panoramas.",
    ],
    [
      { PROVIDER: "fal:seedream" },
      "FAL_MODEL=seedream: must be seedream-4.5, gpt-image-2, gpt-image-2.5, flux-2, flux-3, hunyuan-world, flux-lora " +
        "or the id of an endpoint.",
    ],
    [
      { PROVIDER: "worldlabs:marble-9", WORLDLABS_API_KEY: "wlt" },
      "PROVIDER=worldlabs:marble-9: the model must be one of marble-1.0-draft, marble-1.0, marble-1.1, marble-1.1-plus.",
    ],
    [
      { PROVIDER: "fal", FAL_REFERENCES: "canvas" },
      "FAL_REFERENCES=canvas needs a model with a mask, and FAL_MODEL=seedream-4.5 has none; set separate.",
    ],
  ])("names the variable to set instead of %o", (environment, sentence) => {
    const message = readConfig({ FAL_API_KEY: "id:secret", ...environment })._unsafeUnwrapErr();
    expect(message).toBe(`Bad configuration: ${sentence}`);
  });

  it.each(["fal,fal", "local,fal", "fal,", "fal;skybox"])("rejects PROVIDER=%s", (list) => {
    const keys = { FAL_API_KEY: "id:secret", SKYBOX_API_KEY: "key" };
    expect(readConfig({ PROVIDER: list, ...keys })._unsafeUnwrapErr()).toBe(
      `Bad configuration: PROVIDER="${list}": must be local, or a comma-separated list of skybox, replicate, fal, ` +
        "worldlabs, comfy, comfyui, http without duplicates, where replicate, fal and worldlabs may name a model, such " +
        "as fal:seedream-4.5, and comfy and comfyui a bundled workflow. See bootstrap/CONFIGURATION.md for the allowed values.",
    );
  });

  it.each([
    ["FAL_API_KEY", { PROVIDER: "skybox,fal", SKYBOX_API_KEY: "key" }],
    ["FAL_LORA_URL", { PROVIDER: "fal", FAL_API_KEY: "id:secret", FAL_MODEL: "fal-ai/flux-lora" }],
    ["HTTP_PROVIDER_URL", { PROVIDER: "http", HTTP_PROVIDER_TOKEN: "secret" }],
  ])("reports that %s is missing for %o", (name, environment) => {
    expect(readConfig(environment)._unsafeUnwrapErr()).toContain(`needs ${name}`);
  });

  it.each([
    ["PROVIDER_POLL_MS", "0"],
    ["REPLICATE_MODEL", "flux-360"],
    ["WORLDLABS_MODEL", "Marble 0.1-mini"],
    ["COMFYUI_BASE_URL", "http://one:8188,http://one:8188/"],
    ["HTTP_PROVIDER_URL", "http://user:password@localhost:8000"],
    ["S3_ENDPOINT", "http://user:password@minio:9000"],
    ["GCS_PUBLIC_URL", "http://cdn.example"],
    ["PORT", "65536"],
    ["PUBLIC_URL", "localhost:8080"],
    ["GENERATION_DEADLINE_MS", "1.5"],
    ["DEMO", "perhaps"],
  ])("rejects %s=%s with one line that names the variable", (name, value) => {
    const message = readConfig({ [name]: value })._unsafeUnwrapErr();
    expect(message).toContain(`${name}="${value.replace("user:password", "(not shown)")}"`);
    expect(message).not.toContain("\n");
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

  it("equals the values shown in errors", () => {
    const S3 = { STORAGE: "s3", S3_BUCKET: "panoramas", S3_ENDPOINT: "http://admin:hunter22@minio.internal" };
    expect(readConfig(S3)._unsafeUnwrapErr()).toContain(
      'S3_ENDPOINT="http://(not shown)@minio.internal": must not have',
    );
  });
});
