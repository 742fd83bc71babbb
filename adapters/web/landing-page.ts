import type { ListPublicPanoramas } from "../../application/panoramas/list-public-panoramas.js";
import { RESOLUTIONS, type Resolution } from "../../domain/resolution.js";
import type { Page } from "../web-page/page.js";
import { type Html, html } from "./html.js";
import type { Layout } from "./layout.js";
import { galleryCard, type Images } from "./panorama-card.js";
import type { SessionGuard } from "./session-guard.js";

const LATEST = 6;

/** `GET /`: what this is, how to begin, and what others have made. */
export const landingPage = (
  list: ListPublicPanoramas,
  images: Images,
  guard: SessionGuard,
  layout: Layout,
  publicUrl: string,
): Page => ({
  method: "GET",
  path: "/",
  body: "none",
  handle: async (request) => {
    const visitor = await guard.visitor(request);
    const { panoramas } = await list(LATEST);
    const main = html`<section class="hero"><div class="page">
<h1>Describe a place.<br>Then stand in it.</h1>
<p class="lead">Panorama makes seamless 360° images from a sentence, from your own pictures, or from both, for the web, for
games and for headsets.</p>
<p class="actions"><a class="button" href="${visitor ? "/works" : "/signup"}">Make a panorama</a>
<a class="button quiet" href="/gallery">See the gallery</a></p>
</div></section>
<div class="page">
${
  panoramas.length > 0 &&
  html`<section aria-labelledby="latest"><div class="row"><h2 id="latest">Latest panoramas</h2><a href="/gallery">All of them</a></div>
<ul class="grid">${panoramas.map((task) => galleryCard(task, images))}</ul></section>`
}
<section aria-labelledby="start"><h2 id="start">Quick start</h2>
<ol class="steps">
<li><h3>Get a key</h3><p><a href="/signup">Sign up</a>, buy credits on your account page, and make an API key there.</p></li>
<li><h3>Create</h3><p>One call reserves the credits and answers with a task; if the generation fails, you get them back.</p></li>
<li><h3>Collect</h3><p>Ask for the task until it has succeeded. The image is an equirectangular JPEG, the viewer a link.</p></li>
</ol>
<pre tabindex="0" aria-label="Example"><code>curl -sS ${publicUrl}/api/v1/panoramas \\
  -H "Authorization: Bearer $PANORAMA_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"prompt": "a quiet lake at sunset", "resolution": "2k"}'</code></pre>
<p><a href="/docs">The whole interface</a> can be read and tried in the browser.</p>
</section>
<section aria-labelledby="prices"><h2 id="prices">What it costs</h2>
<ul class="prices">${Object.entries(RESOLUTIONS).map(price)}</ul>
</section>
</div>`;
    return layout.reply(200, { title: "360° images from words and pictures", main, visitor });
  },
});

const price = ([name, { widthPixels, heightPixels, credits }]: [string, (typeof RESOLUTIONS)[Resolution]]): Html =>
  html`<li><strong>${name.toUpperCase()}</strong><span>${widthPixels} × ${heightPixels} pixels</span><span>${credits} credits</span></li>`;
