import type { UseCases } from "../../../application/create-application.js";
import type { SignUpMode } from "../../../domain/accounts/account.js";
import { RESOLUTION_NAMES, RESOLUTIONS, type Resolution } from "../../../domain/images/resolution.js";
import type { PanoramaPolicy } from "../../../domain/panorama-policy.js";
import { type Abilities, PROMPT_CHARACTERS_MAX } from "../../../domain/tasks/abilities.js";
import type { SucceededTask } from "../../../domain/tasks/task.js";
import { sharedFor } from "../../system/shared-for.js";
import type { Page, PageReply, PageRequest } from "../../web-page/page.js";
import { pixelSize } from "../../wording/numbers.js";
import { NO_SIGN_UP } from "../account/form-parts.js";
import { type Html, html } from "../html.js";
import type { Layout } from "../layout.js";
import { galleryTile } from "../panoramas/panorama-card.js";
import type { Suggestions } from "../panoramas/suggestions.js";
import { entryPath } from "../paths.js";
import type { SessionGuard } from "../session-guard.js";
import { atMostText } from "../texts.js";
import { type HeroPicture, heroPicture } from "./hero-picture.js";

type Parts = Parameters<typeof heroPicture>[0] & {
  readonly policy: Pick<PanoramaPolicy, "prices" | "packs">;
  readonly panoramas: UseCases["panoramas"];
  readonly guard: SessionGuard;
  readonly layout: Layout;
  readonly publicUrl: string;
  readonly suggestions: Suggestions;
  readonly signUpMode: SignUpMode;
};

const descriptionOf = ({ imagesMax }: Abilities): string =>
  imagesMax > 0
    ? "Describe a place, then stand in it: seamless 360° panoramas from a sentence or from your own images, for the web, for games and for headsets."
    : "Describe a place, then stand in it: seamless 360° panoramas from a sentence, for the web, for games and for headsets.";

/** `GET /`: a panorama with a prompt field in it, how it works, a quick start, the prices and the newest panoramas. */
export function landingPage(parts: Parts): Page {
  const newest = newestPanoramas(parts);
  return { method: "GET", path: "/", body: "none", cost: "page", handle: (request) => show(parts, newest, request) };
}

async function show(parts: Parts, newest: Newest, request: PageRequest): Promise<PageReply> {
  const { guard, layout, publicUrl, suggestions, signUpMode } = parts;
  const visitor = await guard.visitor(request);
  const picture = await heroPicture(parts);
  const abilities = parts.panoramas.readAbilities();
  const enter = (path: string) => entryPath(path, visitor !== undefined, layout.hasSignUp);
  const main = html`${hero(picture, enter, visitor === undefined ? signUpMode : "member", suggestions)}
<div class="page">
<section aria-labelledby="how"><h2 id="how">How it works</h2>
<ol class="steps">
<li><h3>Describe it</h3><p>${wordsAndPictures(abilities)}</p></li>
<li><h3>Step inside</h3><p>After a moment you are in the middle of it. Look around with a finger, a mouse or a headset.</p></li>
<li><h3>Take it with you</h3><p>Share a link, put it on a website, or download the picture for your game.</p></li>
</ol></section>
<section aria-labelledby="start"><h2 id="start">For developers</h2>
<div class="start"><div><p>One request starts a panorama and reserves its credits. If the generation fails, you get them back.
Read the task until it has succeeded: it has the address of the picture and of its viewer.</p>
<p><a href="/docs">Guides and the API reference</a> have examples in curl, TypeScript and Python. There is also a server
for <a href="/mcp">assistants (MCP)</a>.
You find your API keys in <a href="${enter("/account/keys")}">your account</a>.</p></div>
<pre tabindex="0" aria-label="Example"><code>curl -sS ${publicUrl}/api/v1/panoramas \\
  -H "Authorization: Bearer $PANORAMA_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"prompt": "a quiet lake at sunset", "resolution": "2k"}'</code></pre></div>
</section>
<section aria-labelledby="prices"><h2 id="prices">Prices</h2>
<ul class="prices">${RESOLUTION_NAMES.map((name) => priceOf(name, parts.policy))}</ul>
</section>
${layout.hasGallery && newestSection(await newest())}
</div>`;
  const title = abilities.imagesMax > 0 ? "360° images from text and images" : "360° images from text";
  const description = descriptionOf(abilities);
  return layout.reply(200, {
    title,
    description,
    head: html`<meta property="og:type" content="website">
<meta property="og:site_name" content="${layout.site.name}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${publicUrl}/">
<meta property="og:image" content="${new URL(picture.picture, publicUrl).href}">
<meta name="twitter:card" content="summary_large_image">`,
    main,
    visitor,
    frame: "hero-page",
    scripts: ["hero.js"],
    styles: ["gallery.css", "landing.css"],
    // Most who come for the first time come here. Members have the files already.
    inlineStyles: visitor === undefined,
  });
}

/** As many as fill two rows on a wide screen. */
const NEWEST = 6;
/** Shorter than ten seconds: then a hidden or deleted panorama is gone. Its picture is gone at once. */
const KEPT_MILLISECONDS = 9_999;

type Newest = () => Promise<readonly SucceededTask[]>;

/** The newest public panoramas: one query, whoever comes. None while the database does not answer. */
const newestPanoramas = ({ panoramas, clock }: Parts): Newest =>
  sharedFor(KEPT_MILLISECONDS, clock, () =>
    panoramas.listPublic(NEWEST).then(
      (found) => found.panoramas,
      () => [],
    ),
  );

/** Last on the page: browsers load lazy pictures before they are in sight, which delays the first paint on phones. */
const newestSection = (tasks: readonly SucceededTask[]): Html | false =>
  tasks.length > 0 &&
  html`<section aria-labelledby="newest"><h2 id="newest">Newest panoramas</h2>
<ul class="tiles">${tasks.map((task) => galleryTile(task, false))}</ul>
<p class="cluster more"><a class="button quiet" href="/gallery">Open the gallery</a></p></section>`;

function wordsAndPictures({ imagesMin, imagesMax }: Abilities): string {
  if (imagesMax === 0) return "A sentence is enough.";
  const pictures = imagesMax === 1 ? "one picture" : imagesMax === 2 ? "up to two pictures" : "up to three pictures";
  return imagesMin > 0
    ? `Add ${pictures} of your own, and a sentence if you like.`
    : `A sentence is enough. Add ${pictures} of your own if you like.`;
}

/** The form leads strangers over the sign-up to `/works`, with the prompt. If sign-up is closed, it says so. */
function hero(
  { title, viewer, thumbnail, picture, scrim }: HeroPicture,
  enter: (path: string) => string,
  reader: SignUpMode | "member",
  { examples, surprises, offer }: Suggestions,
): Html {
  const surprise = surprises[Math.floor(Math.random() * surprises.length)] ?? surprises[0];
  const example = (prompt: string, text: string): Html =>
    html`<li><a class="glass" href="${enter(`/works?${new URLSearchParams({ prompt })}`)}">${text}</a></li>`;
  return html`<section class="hero" id="hero" data-scrim="${scrim}" data-picture="${picture}">
<picture><source media="(prefers-reduced-motion: reduce)" srcset="${picture}">
<img class="hero-still" id="hero-still" src="${thumbnail}" alt="" decoding="async"></picture>
<noscript><img class="hero-still" src="${picture}" alt=""></noscript>
<div class="hero-sphere" id="hero-sphere" aria-hidden="true"></div>
<div class="hero-text"><h1>Describe a place. <br>Then stand in it.</h1>
<p class="hero-lead">Type a sentence and get a 360° world to look around in, share, and use in your game or
headset.</p>
${(reader === "invited" || reader === "closed") && html`<p class="glass hero-closed">${NO_SIGN_UP[reader]} <a href="/login">Log in</a></p>`}
<form class="hero-form" id="hero-form" method="get" action="${reader === "open" ? "/signup" : "/works"}"${reader !== "member" && html` data-visitor`}>
<input name="prompt" aria-label="Describe a place" placeholder="A quiet lake at dawn, mist over the water" required
maxlength="${PROMPT_CHARACTERS_MAX}" autocomplete="off" dir="auto"><button class="button">Create</button></form>
<ul class="hero-examples cluster" aria-label="Examples">${examples.map((prompt) => example(prompt, prompt))}${example(surprise, "Surprise me")}</ul>
${offer && html`<p class="hero-offer">${offer}</p>`}</div>
<div class="hero-note cluster"><button type="button" class="round" id="hero-pause" aria-label="Pause the rotation" data-words="Continue the rotation" hidden>
<svg class="icon" viewBox="0 0 24 24" width="18" height="18" aria-hidden="true"><path class="pause" d="M8 5v14M16 5v14"/><path class="play" d="M8 5l11 7-11 7z"/></svg></button>
${viewer === undefined ? html`<span>${title}</span>` : html`<a href="${viewer}" dir="auto">${title}</a>`}</div>
</section>`;
}

function priceOf(name: Resolution, { prices, packs }: Pick<PanoramaPolicy, "prices" | "packs">): Html {
  const price = atMostText(prices[name], packs);
  return html`<li class="panel"><strong>${name.toUpperCase()}</strong><span>${pixelSize(RESOLUTIONS[name])} pixels</span><span>${prices[name]} credits</span>${price && html`<span>${price}</span>`}</li>`;
}
