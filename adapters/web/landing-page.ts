import type { ListPublicPanoramas } from "../../application/panoramas/list-public-panoramas.js";
import { type Prices, RESOLUTION_NAMES, RESOLUTIONS, type Resolution } from "../../domain/resolution.js";
import type { Page } from "../web-page/page.js";
import { pixelSize } from "../wording/pixel-size.js";
import { type Html, html } from "./html.js";
import type { Layout } from "./layout.js";
import { galleryCard, type Images } from "./panorama-card.js";
import type { SessionGuard } from "./session-guard.js";

const LATEST_PANORAMAS = 6;

/** `GET /`: an introduction, the latest panoramas, a quick start and the prices. */
export const landingPage = (
  list: ListPublicPanoramas,
  images: Images,
  guard: SessionGuard,
  layout: Layout,
  publicUrl: string,
  prices: Prices,
): Page => ({
  method: "GET",
  path: "/",
  body: "none",
  handle: async (request) => {
    const visitor = await guard.visitor(request);
    const { panoramas } = await list(LATEST_PANORAMAS);
    const main = html`<section class="hero"><div class="page">
<h1>Describe a place.<br>Then stand in it.</h1>
<p class="lead">Panorama generates seamless 360° images from a text, from your own images, or from both: for the web, for
games and for headsets.</p>
<p class="actions"><a class="button" href="${visitor ? "/works" : "/signup"}">Create a panorama</a>
<a class="button quiet" href="/gallery">See the gallery</a></p>
</div></section>
<div class="page">
${
  panoramas.length > 0 &&
  html`<section aria-labelledby="latest"><div class="row"><h2 id="latest">Latest panoramas</h2><a href="/gallery">All panoramas</a></div>
<ul class="grid">${panoramas.map((task) => galleryCard(task, images))}</ul></section>`
}
<section aria-labelledby="start"><h2 id="start">Quick start</h2>
<ol class="steps">
<li><h3>Get a key</h3><p><a href="/signup">Sign up</a>, buy credits on your account page, and create an API key there.</p></li>
<li><h3>Create</h3><p>One request reserves the credits and returns a task. If the generation fails, the credits are refunded.</p></li>
<li><h3>Collect</h3><p>Read the task until it has succeeded. You get an equirectangular JPEG and a link to the viewer.</p></li>
</ol>
<pre tabindex="0" aria-label="Example"><code>curl -sS ${publicUrl}/api/v1/panoramas \\
  -H "Authorization: Bearer $PANORAMA_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"prompt": "a quiet lake at sunset", "resolution": "2k"}'</code></pre>
<p>You can read and try <a href="/docs">the whole interface</a> in the browser.</p>
</section>
<section aria-labelledby="prices"><h2 id="prices">Prices</h2>
<ul class="prices">${RESOLUTION_NAMES.map((name) => price(name, prices))}</ul>
</section>
</div>`;
    return layout.reply(200, { title: "360° images from text and images", main, visitor, styles: ["landing.css"] });
  },
});

const price = (name: Resolution, prices: Prices): Html =>
  html`<li><strong>${name.toUpperCase()}</strong><span>${pixelSize(RESOLUTIONS[name])} pixels</span><span>${prices[name]} credits</span></li>`;
