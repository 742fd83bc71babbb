import type { Hotspot } from "../../../domain/tasks/hotspots.js";
import { viewerPath } from "../../../domain/tasks/slug.js";
import { startViewText } from "../../../domain/tasks/start-view.js";
import type { Task } from "../../../domain/tasks/task.js";
import { cutAtWord } from "../../wording/cut-at-word.js";
import { type Html, html } from "../html.js";
import { icon } from "../icon.js";
import type { StaticFiles } from "../static-files.js";
import { titleOf } from "./panorama-card.js";

const NAME_CHARACTERS_MAX = 40;

type Options = {
  readonly files: StaticFiles;
  /** The panoramas that this visitor may see. What leads elsewhere is a note. */
  readonly linked: readonly Task[];
  /** In a frame of another page: what is linked opens there, too. */
  readonly isEmbedded: boolean;
};

/** The hotspots of a panorama over the sphere. Their script (client/viewer/hotspots.ts) shows and places them. */
export const hotspotList = (hotspots: readonly Hotspot[], { files, linked, isEmbedded }: Options): Html => html`
<div class="hotspots" id="hotspots" data-script="${files.urlOf("hotspots.js")}" hidden><link rel="stylesheet" href="${files.urlOf("hotspots.css")}">
<ul aria-label="Hotspots">${hotspots.map((hotspot) => {
  const target = linked.find(({ slug }) => slug === hotspot.to);
  return html`<li data-at="${startViewText(hotspot)}">${target ? link(hotspot, target, isEmbedded) : note(hotspot)}</li>`;
})}</ul></div>`;

const note = ({ note }: Hotspot): Html =>
  html`<button type="button" class="spot" aria-expanded="false" aria-label="Note: ${cutAtWord(note, NAME_CHARACTERS_MAX)}">${icon("M12 10.500v8M12 5.500h.01")}</button><p dir="auto" hidden>${note}</p>`;

const link = ({ note }: Hotspot, target: Task, isEmbedded: boolean): Html =>
  html`<a class="spot" href="${viewerPath(target.slug, target.request.visibility)}${isEmbedded && "?embed=1"}" title="${titleOf(target)}">${icon("M12 19V5M6 11l6-6 6 6")}<span dir="auto">${note}</span></a>`;
