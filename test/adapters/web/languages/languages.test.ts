import { readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fieldMessage } from "../../../../adapters/web/field-message.js";
import { said } from "../../../../adapters/web/html.js";
import type { Language } from "../../../../adapters/web/languages/language.js";
import { LANGUAGES, languageOf } from "../../../../adapters/web/languages/languages.js";
import { ANY_PLACE, demoPlaces } from "../../../../adapters/web/panoramas/suggestions.js";
import { imagesRange } from "../../../../adapters/wording/abilities-sentence.js";
import type { RequestRule } from "../../../../adapters/wording/message-rule.js";
import { returnedPaymentSentence } from "../../../../adapters/wording/returned-payment-sentence.js";
import { suspendedSentence } from "../../../../adapters/wording/suspended-sentence.js";
import { withheldSentence } from "../../../../adapters/wording/withheld-sentence.js";
import { failureSentence } from "../../../../application/events/failure-sentence.js";
import { credits } from "../../../../domain/credits/credits.js";
import { invalidRequest } from "../../../../domain/invalid-request.js";
import type { FailedTask } from "../../../../domain/tasks/task.js";
import { builtClient } from "../../../support/built-client.js";
import { pageMessages } from "../../../support/page-messages.js";
import { PASSWORD, WebService } from "../../../support/web-service.js";

const OTHERS = LANGUAGES.filter(({ code }) => code !== "en");
const [GERMAN] = OTHERS as [Language];

describe("the language of a page", () => {
  it.each([
    [undefined, undefined, "en"],
    [undefined, "de", "de"],
    [undefined, "de-AT,en;q=0.8", "de"],
    [undefined, "fr, en;q=0.5, de;q=0.7", "de"],
    [undefined, "de;q=0, en", "en"],
    [undefined, "de;q=0", "en"],
    [undefined, "den, *", "en"],
    [undefined, "DE;Q=0.9", "de"],
    ["session=x; language=en", "de", "en"],
    ["__Host-language=de", "en", "de"],
    ["language=xx", "de", "de"],
    ["mylanguage=de", "en", "en"],
  ])("with the cookie %s and Accept-Language %s is %s", (cookie, accepted, code) => {
    expect(languageOf({ cookie, "accept-language": accepted }).code).toBe(code);
  });

  it("is one that there is, whatever the headers", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (cookie, accepted) => {
        expect(LANGUAGES).toContain(languageOf({ cookie, "accept-language": accepted }));
      }),
    );
  });
});

/** Sentences of other places that pages show: with all values that change their words. */
const FAILURES: readonly Pick<FailedTask, "reason" | "imageIndex" | "request">[] = (
  [
    "never_started",
    "refused",
    "never_submitted",
    "generation_failed",
    "unusable_result",
    "deadline_passed",
    "canceled",
    "content_refused",
    "reference_unreachable",
    "reference_unusable",
  ] as const
).flatMap((reason) =>
  (
    [
      { prompt: "a lake", imageUrls: [] },
      { prompt: undefined, imageUrls: ["a", "b"] },
      { prompt: "a lake", imageUrls: ["a", "b"] },
    ] as const
  ).flatMap((request) =>
    [undefined, 1].map((imageIndex) => ({ reason, imageIndex, request }) as unknown as FailedTask),
  ),
);
const RULES: readonly RequestRule[] = [
  { name: "characters", min: 1, max: 2, actual: 3 },
  { name: "items_max", max: 1, actual: 3 },
  { name: "items_max", max: 2, actual: 3 },
  { name: "visible_characters", min: 1, max: 2, actual: "x" },
  { name: "email", actual: "x" },
  { name: "https_url", actual: "x" },
  { name: "http_url", actual: "x" },
  { name: "new_endpoint" },
  { name: "public_host", actual: "x" },
  { name: "no_user_info" },
  { name: "bytes_max", max: 1024 * 1024 },
  { name: "total_bytes_max", max: 1024 * 1024 },
  { name: "files_max", max: 2 },
  { name: "content_refused" },
  { name: "missing_image" },
  { name: "paid_order_or_credits", credits: 2 },
  { name: "key_reused", hours: 24 },
  { name: "storable_text" },
] as readonly RequestRule[];
const debt = (owed: number) =>
  returnedPaymentSentence({
    kind: "insufficient_credits",
    cost: 4,
    balance: 0,
    debt: owed,
    isSuspended: false,
  } as unknown as Parameters<typeof returnedPaymentSentence>[0]) ?? "";
/** Why a webhook was not delivered: adapters/webhooks/http-webhook-sender.ts. */
const WEBHOOK_FAILURES = [
  "status 301: redirects are not followed",
  "not a public address",
  "no answer",
  "no answer in time",
  "the host name is unknown",
  "the host name could not be looked up",
  "the connection was refused",
  "the connection was closed before an answer",
];
const OTHER_SENTENCES = [
  ...FAILURES.map((task) => said(failureSentence(task))),
  ...RULES.map((rule) => fieldMessage(invalidRequest("prompt", rule as never))),
  said(withheldSentence("it is spam"), "it is spam"),
  said(suspendedSentence({ reason: "it is spam" }), "it is spam"),
  said(debt(credits(1))),
  said(debt(credits(9))),
  said(
    returnedPaymentSentence({ kind: "insufficient_credits", isSuspended: true } as unknown as Parameters<
      typeof returnedPaymentSentence
    >[0]) ?? "",
  ),
  ...[ANY_PLACE, demoPlaces(() => true)].flatMap(({ offer }) => (offer ? [said(offer.sentence)] : [])),
  said(imagesRange({ imagesMin: 1, imagesMax: 3 })),
  ...["Welcome credits", "status 500", "the endpoint is switched off"].map((sentence) => said(sentence)),
  ...WEBHOOK_FAILURES.map((sentence) => said(sentence)),
];

describe.each(OTHERS)("the file of $code", (language) => {
  const needed = new Map(pageMessages());
  beforeAll(async () => {
    const scripts = JSON.parse(await readFile(join(await builtClient(), "words.json"), "utf8"));
    for (const [script, messages] of Object.entries<readonly string[]>(scripts))
      for (const message of messages) needed.set(message, script);
    const asked = (message: string): undefined => void needed.set(message, "a sentence of another place");
    const recording: Language = { ...language, messages: { get: asked } as unknown as Language["messages"] };
    for (const sentence of OTHER_SENTENCES) sentence.in(recording);
  });

  it("has a text for every message of the pages and their scripts", () => {
    const missing = [...needed].filter(([message]) => !language.messages.has(message));
    expect(missing.map(([message, place]) => `${place}: ${message}`)).toEqual([]);
  });

  it("has no text for what no page says, and is sorted", () => {
    const messages = [...language.messages.keys()];
    expect(messages.filter((message) => !needed.has(message))).toEqual([]);
    expect(messages).toEqual([...messages].sort());
  });

  it("has the placeholders and tags of each message, and nothing that looks like one", () => {
    const marks = (text: string) => (text.match(/\{\d+\}|<\/?[a-z]+\d*>/g) ?? []).sort();
    for (const [message, text] of language.messages) {
      expect([message, marks(text)]).toEqual([message, marks(message)]);
      expect(text.replaceAll(/\{\d+\}|<\/?[a-z]+\d*>/g, ""), message).not.toMatch(/[<>{}&]/);
    }
  });
});

describe("the pages in German", () => {
  let service: WebService;
  let cookie: string;
  let token: string;
  let paths: readonly string[];
  beforeAll(async () => {
    service = await WebService.start();
    const ada = await service.person("ada", 4_000);
    const { slug } = await service.kept(ada, { prompt: "QUARTERS" });
    service.provider.script = { ...service.provider.script, poll: "failed" };
    const failed = await service.panorama(ada, { prompt: "FAILING" });
    service.provider.script = { ...service.provider.script, poll: "running" };
    const waiting = await service.panorama(ada, { prompt: "WAITING" });
    const send = (path: string, init: RequestInit) => fetch(service.url + path, { redirect: "manual", ...init });
    const login = await send("/login", {
      method: "POST",
      headers: { origin: service.url },
      body: new URLSearchParams({ email: ada.email, password: PASSWORD }),
    });
    cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
    token = /name="form_token" value="(\w+)"/.exec(await get("/account", "en"))?.[1] ?? "";
    const order = await post("/account/orders", { credits: "100" });
    await post("/account/webhooks", { url: "https://hooks.example/a" });
    paths = [
      "/gallery",
      "/gallery?q=zebra",
      `/p/${slug}`,
      `/p/${slug}/report`,
      `/works/${slug}`,
      `/works/${failed.slug}`,
      `/works/${waiting.slug}`,
      "/works",
      "/works?q=zebra",
      "/account",
      order.headers.get("location") ?? "",
      "/account/keys",
      "/account/webhooks",
      "/account/settings",
      "/mcp",
      "/provenance",
      "/provenance?sha256=0",
      "/nothing",
    ];
  });
  afterAll(() => service.end());

  const get = async (path: string, language: string, cookies = cookie) =>
    (await fetch(service.url + path, { headers: { cookie: cookies, "accept-language": language } })).text();
  const post = (path: string, fields: Record<string, string>) =>
    fetch(service.url + path, {
      method: "POST",
      redirect: "manual",
      headers: { cookie, origin: service.url },
      body: new URLSearchParams({ form_token: token, ...fields }),
    });

  it("have no English text left", async () => {
    const left: string[] = [];
    for (const [path, cookies] of [
      ...paths.map((path) => [path, cookie] as const),
      ...["/", "/login", "/signup", "/password/forgot", "/password/reset?token=x", "/gallery"].map(
        (path) => [path, ""] as const,
      ),
    ]) {
      const [english, german] = [await get(path, "en", cookies), await get(path, "de", cookies)];
      expect(german, path).toContain('<html lang="de">');
      const inEnglish = new Set(textsOf(english));
      for (const text of textsOf(german))
        if ((inEnglish.has(text) && !isSame(text)) || /\d,\d{3}\b/.test(text)) left.push(`${path}: ${text}`);
    }
    expect(left).toEqual([]);
  });

  it("answer the status of a waiting page in the language of its reader", async () => {
    const path = `${paths[6]}/status`;
    expect(JSON.parse(await get(path, "de"))).toMatchObject({ phase: "making", words: "Ihr Panorama entsteht" });
    expect(JSON.parse(await get(path, "en"))).toMatchObject({ phase: "making", words: "Making your panorama" });
  });

  it("are chosen in the footer, which returns to the page, and other sites cannot choose", async () => {
    const choose = (language: string, headers: Record<string, string>) =>
      fetch(`${service.url}/language`, {
        method: "POST",
        redirect: "manual",
        headers: { origin: service.url, ...headers },
        body: new URLSearchParams({ language }),
      });
    const chosen = await choose("de", { referer: `${service.url}/gallery?q=zebra` });
    expect([chosen.status, chosen.headers.get("location")]).toEqual([303, "/gallery?q=zebra"]);
    expect(chosen.headers.get("set-cookie")).toBe("language=de; Max-Age=31536000; Path=/; HttpOnly; SameSite=Lax");
    expect(await get("/gallery", "en", "language=de")).toContain("<title>Galerie · Panorama</title>");
    const elsewhere = await choose("de", { referer: "https://other.example/x" });
    expect(elsewhere.headers.get("location")).toBe("/");
    const unknown = await choose("xx", {});
    expect([unknown.headers.get("location"), unknown.headers.get("set-cookie")]).toEqual(["/", null]);
    expect((await choose("de", { origin: "https://other.example" })).status).toBe(403);
  });

  it("return from the answer to a form to a page that there is, also where only forms have the address", async () => {
    const at = (method: string, path: string) =>
      service.pages.some(
        (page) => page.method === method && new RegExp(`^${page.path.replaceAll(/:\w+/g, "[^/]+")}$`).test(path),
      );
    const onlyForms = service.pages
      .filter(({ method }) => method === "POST")
      .map(({ path }) => path.replaceAll(/:\w+/g, "x"))
      .filter((path) => !at("GET", path));
    expect(onlyForms).toContain("/account/password");
    for (const path of onlyForms) {
      const chosen = await fetch(`${service.url}/language`, {
        method: "POST",
        redirect: "manual",
        headers: { origin: service.url, referer: `${service.url}${path}?a=b` },
        body: new URLSearchParams({ language: "de" }),
      });
      const to = chosen.headers.get("location") ?? "";
      expect([path, to, at("GET", to), path.startsWith(to)]).toEqual([path, to, true, true]);
    }
  });

  it("bring the messages of their scripts, and English ones none", async () => {
    const [, words = ""] =
      /<script type="application\/json" id="words">(.*?)<\/script>/.exec(await get("/works", "de")) ?? [];
    expect(JSON.parse(words)).toMatchObject({ Undo: "Rückgängig", "{0} selected": "{0} ausgewählt" });
    expect(words).not.toContain("<");
    expect(await get("/works", "en")).not.toContain('id="words"');
    expect(await get("/account/settings", "de")).not.toContain('id="words"');
  });

  it("vary for caches, and the documentation says that it is in English", async () => {
    const answer = await fetch(`${service.url}/docs`, { headers: { "accept-language": "de" } });
    expect(answer.headers.get("vary")).toBe("accept-language, cookie, accept-encoding");
    const page = await answer.text();
    expect(page).toContain('<html lang="de">');
    expect(/<main[^>]*><div class="docs" lang="(\w+)"/.exec(page)?.[1]).toBe("en");
  });
});

/** What people read on a page: its texts and the attributes with text, without examples of code. */
const textsOf = (page: string): readonly string[] => {
  const visible = page.replace(/<(pre|script|style|code|noscript)\b[\s\S]*?<\/\1>/g, "\n");
  const attributes = [
    ...visible.matchAll(
      / (?:title|aria-label|alt|placeholder|(?:name|property)="[\w:]*description" content)="([^"]*)"/g,
    ),
  ];
  return [...visible.replace(/<[^>]*>/g, "\n").split("\n"), ...attributes.map(([, text = ""]) => text)]
    .map((text) => text.trim())
    .filter((text) => /\p{L}{2}/u.test(text));
};

/** Names, what people have typed, and words that German has, too. */
const SAME = new Set([...GERMAN.messages].filter(([message, text]) => message === text).map(([message]) => message));
const TYPED =
  /^(?:Claude Desktop: .*|\W*(?:Cursor|Windsurf|Windows):|in|Neon city in the rain|Inside a glacier|Lavender at dusk|QUARTERS|FAILING|WAITING|zebra|first|https:.*|ada@example\.com|API|English|Deutsch|JPEG, [\d ×]+)$/;
const isSame = (text: string): boolean => {
  const [words = ""] = text.split(" · Panorama");
  return SAME.has(words) || TYPED.test(words);
};
