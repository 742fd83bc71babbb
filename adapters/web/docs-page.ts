import type { Visitor } from "../../application/accounts/find-session.js";
import type { ListApiKeys } from "../../application/accounts/list-api-keys.js";
import type { PanoramaPolicy } from "../../domain/panorama-policy.js";
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
  readonly listApiKeys: ListApiKeys;
  readonly guard: SessionGuard;
  readonly layout: Layout;
};

/**
 * `GET /docs`: guides, and the reference of the REST interface from its OpenAPI description. It is rendered at the first
 * request, which loads the description and the libraries. For visitors without a login the page is always the same, so
 * it is kept.
 */
export const docsPage = ({ describe, guidesFolder, policy, listApiKeys, guard, layout }: Parts): Page => {
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
  return {
    method: "GET",
    path: "/docs",
    cost: "page",
    body: "none",
    handle: async (request) => {
      const visitor = await guard.visitor(request);
      return visitor === undefined ? publicReply() : reply(await keysOf(visitor, listApiKeys), visitor);
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
const keysOf = async ({ account }: Visitor, listApiKeys: ListApiKeys): Promise<Html> => {
  const all = (await listApiKeys(account.id)).unwrapOr([]); // a visitor has an account
  const keys = all.filter(({ key }) => key.revokedAt === undefined);
  const variable = html`<code>$PANORAMA_API_KEY</code>`;
  if (keys.length === 0) {
    return html`<p class="keys">The examples read your key from ${variable}. You have none yet:
<a href="/account/keys">create an API key</a>.</p>`;
  }
  const names = keys.map(({ key }, index) => html`${index > 0 && ", "}<bdi>${key.name}</bdi>`);
  return html`<p class="keys">The examples read your key from ${variable}. Your keys: ${names}. A key is shown only when it is
made: <a href="/account/keys">make another one</a> if you have lost it.</p>`;
};
