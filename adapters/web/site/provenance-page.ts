import type { UseCases } from "../../../application/create-application.js";
import type { MadeFile } from "../../../application/ports/stores/provenance-log.js";
import type { Page } from "../../web-page/page.js";
import { timeOf } from "../date.js";
import { type Html, html } from "../html.js";
import type { Layout } from "../layout.js";
import type { SessionGuard } from "../session-guard.js";

type Parts = {
  readonly panoramas: Pick<UseCases["panoramas"], "findFile">;
  readonly guard: SessionGuard;
  readonly layout: Layout;
};

/**
 * `GET /provenance?sha256=…`: whether a file was made here. The script client/provenance.ts computes the digest of a
 * file in the browser, so that the file stays there. Without the script people enter the digest.
 */
export const provenancePage = ({ panoramas, guard, layout }: Parts): Page => ({
  method: "GET",
  path: "/provenance",
  body: "none",
  cost: "search",
  handle: async (request) => {
    const sha256 = (request.query.get("sha256") ?? "").trim();
    const answer = sha256 === "" ? undefined : answerFor(await panoramas.findFile(sha256));
    return layout.reply(200, {
      title: "Is it from here?",
      description: "Check whether a picture was made by this service.",
      visitor: await guard.visitor(request),
      scripts: ["provenance.js"],
      main: html`<div class="page prose"><h1>Is it from here?</h1>
<p class="lead">Every picture of this service is made with AI, and says so in signed data inside the file. Some sites remove
that. Here you can check whether a file was made by this service.</p>
<div id="drop" hidden><p><label for="file">Choose a file, or drop it on this page. It stays on your device.</label></p>
<p><input type="file" id="file" accept="image/*"></p></div>
<p class="notice" id="answer" role="status" data-words-reading="Reading the file…" data-words-unreadable="The file cannot be read.">${answer}</p>
<form method="get" action="/provenance"><p><label for="sha256">SHA-256 of the file</label>
<input id="sha256" name="sha256" value="${sha256.slice(0, 64)}" pattern="[0-9A-Fa-f]{64}" maxlength="64" required spellcheck="false" autocomplete="off" dir="ltr"></p>
<p><button class="button">Check</button></p></form>
<noscript><p>To choose a file, this page needs JavaScript. Without it, compute the digest yourself, such as with
<code>sha256sum FILE</code>, or <code>certutil -hashfile FILE SHA256</code> on Windows.</p></noscript>
<p>Only the exact file is found: a copy that was resized, cut or saved again is another file. The answer does not tell who
made it.</p></div>`,
    });
  },
});

const answerFor = (file: MadeFile | "invalid" | undefined): Html => {
  if (file === "invalid") return html`A SHA-256 has 64 hexadecimal digits. Check what you have entered.`;
  if (file === undefined) return html`No: this exact file was not made here, or was changed since.`;
  return html`<strong>Yes: it was made here with AI</strong>, on ${timeOf(file.madeAt)}, by ${file.provider}.`;
};
