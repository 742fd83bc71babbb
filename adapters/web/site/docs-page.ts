import type { Visitor } from "../../../application/accounts/sessions.js";
import type { UseCases } from "../../../application/create-application.js";
import type { PanoramaPolicy } from "../../../domain/panorama-policy.js";
import type { Abilities } from "../../../domain/tasks/abilities.js";
import { keptFor } from "../../web-page/cache-headers.js";
import type { Page, PageReply } from "../../web-page/page.js";
import type { Description } from "../docs/description.js";
import { type Html, html } from "../html.js";
import type { Layout } from "../layout.js";
import type { SessionGuard } from "../session-guard.js";

type Parts = {
  /** Makes the OpenAPI description of the REST interface. */
  readonly describe: (abilities: Abilities) => Promise<object>;
  /** The folder with the guides in Markdown. */
  readonly guidesFolder: string;
  readonly policy: PanoramaPolicy;
  readonly panoramas: UseCases["panoramas"];
  readonly guard: SessionGuard;
  readonly layout: Layout;
};

/**
 * `GET /docs`: guides, and the reference of the REST interface from its OpenAPI description. It is rendered at the
 * first request, which loads the description and the libraries. For visitors without a login the page is the same until
 * the abilities change, so it is kept.
 */
export function docsPage({ describe, guidesFolder, policy, panoramas, guard, layout }: Parts): Page {
  const rendered = keptFor(async (abilities: Abilities) => {
    const { renderDocs } = await import("../docs/render-docs.js");
    return renderDocs((await describe(abilities)) as Description, guidesFolder, policy, abilities);
  });
  const reply = async (abilities: Abilities, visitor: Visitor | undefined): Promise<PageReply> =>
    layout.reply(200, {
      title: "API reference",
      description:
        "The REST interface of Panorama: create 360° panoramas from your own programs, poll them or get webhooks.",
      visitor,
      place: "/docs",
      scripts: ["docs.js"],
      styles: ["docs.css"],
      main: (await rendered(abilities))(keysOf(visitor, layout.hasSignUp)),
    });
  const publicReply = keptFor(
    // Given again, so that it is compressed once.
    async (abilities: Abilities): Promise<PageReply> => ({
      ...(await reply(abilities, undefined)),
      compressible: "kept",
    }),
  );
  return {
    method: "GET",
    path: "/docs",
    cost: "page",
    body: "none",
    handle: async (request) => {
      const visitor = await guard.visitor(request);
      const abilities = panoramas.readAbilities();
      return visitor === undefined ? publicReply(abilities) : reply(abilities, visitor);
    },
  };
}

function keysOf(visitor: Visitor | undefined, hasSignUp: boolean): Html {
  const variable = html`The examples read your key from <code>$PANORAMA_API_KEY</code>.`;
  if (visitor !== undefined) {
    return html`<p class="notice">${variable} A key is shown only when it is made: <a href="/account/keys">your keys</a>.</p>`;
  }
  const logIn = html`<a href="/login?next=%2Fdocs">${hasSignUp ? "log in" : "Log in"}</a>`;
  return html`<p class="notice">${variable} ${hasSignUp && html`<a href="/signup">Sign up</a> or `}${logIn} to get one.</p>`;
}
