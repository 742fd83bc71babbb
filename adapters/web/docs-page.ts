import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import type { Visitor } from "../../application/accounts/find-session.js";
import type { ReadAccount } from "../../application/accounts/read-account.js";
import type { PanoramaPolicy } from "../../domain/panorama-policy.js";
import { acceptsCoding } from "../web-page/accepts-coding.js";
import type { Page, PageReply } from "../web-page/page.js";
import type { Description } from "./docs/description.js";
import { type Html, html } from "./html.js";
import type { Layout } from "./layout.js";
import type { SessionGuard } from "./session-guard.js";

type Parts = {
  /** Makes the OpenAPI description of the REST interface. */
  readonly describe: () => Promise<object>;
  /** The folder with the guides in Markdown. */
  readonly guidesFolder: string;
  readonly policy: PanoramaPolicy;
  readonly readAccount: ReadAccount;
  readonly guard: SessionGuard;
  readonly layout: Layout;
};

/**
 * `GET /docs`: guides, and the reference of the REST interface from its OpenAPI description. It is rendered at the first
 * request, which loads the description and the libraries. For visitors without a login the page is always the same, so
 * it is kept compressed. Pages with a form token are not compressed: their size could tell the token (the attack BREACH).
 */
export const docsPage = ({ describe, guidesFolder, policy, readAccount, guard, layout }: Parts): Page => {
  const rendered = once(async () => {
    const { renderDocs } = await import("./docs/render-docs.js");
    return renderDocs((await describe()) as Description, guidesFolder, policy);
  });
  const reply = async (keys: Html, visitor: Visitor | undefined): Promise<PageReply> =>
    layout.reply(200, {
      title: "API reference",
      description:
        "The REST interface of Panorama: create 360° panoramas from your own programs, poll them or get webhooks.",
      visitor,
      scripts: ["docs.js"],
      styles: ["docs.css"],
      main: (await rendered())(keys),
    });
  const publicReply = once(() => reply(NO_KEYS, undefined));
  const compressed = {
    br: once(async () => promisify(brotliCompress)(String((await publicReply()).body))),
    gzip: once(async () => promisify(gzip)(String((await publicReply()).body))),
  };
  return {
    method: "GET",
    path: "/docs",
    body: "none",
    handle: async (request) => {
      const visitor = await guard.visitor(request);
      if (visitor !== undefined) return reply(await keysOf(visitor, readAccount), visitor);
      const { headers, ...answer } = await publicReply();
      const coding = (["br", "gzip"] as const).find((name) => acceptsCoding(request.headers["accept-encoding"], name));
      if (coding === undefined) return { ...answer, headers: { ...headers, vary: "accept-encoding" } };
      const coded = { ...headers, vary: "accept-encoding", "content-encoding": coding };
      return { ...answer, headers: coded, body: await compressed[coding]() };
    },
  };
};

/** Calls `make` at the first call, and again after it has failed. */
const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
};

const NO_KEYS = html`<p class="keys">The examples read your key from <code>$PANORAMA_API_KEY</code>.
<a href="/signup">Sign up</a> or <a href="/login?next=%2Fdocs">log in</a> to get one.</p>`;

/** The names of the visitor's keys. The keys themselves are not stored, so they cannot be shown. */
const keysOf = async ({ account }: Visitor, readAccount: ReadAccount): Promise<Html> => {
  const { keys } = await readAccount(account.id);
  const variable = html`<code>$PANORAMA_API_KEY</code>`;
  if (keys.length === 0) {
    return html`<p class="keys">The examples read your key from ${variable}. You have none yet:
<a href="/account#keys">create an API key</a>.</p>`;
  }
  const names = keys.map(({ key }, index) => html`${index > 0 && ", "}<bdi>${key.name}</bdi>`);
  return html`<p class="keys">The examples read your key from ${variable}. Your keys: ${names}. A key is shown only when it is
made: <a href="/account#keys">make another one</a> if you have lost it.</p>`;
};
