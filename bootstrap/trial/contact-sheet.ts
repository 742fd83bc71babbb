import { Html, html, type Insertable } from "../../adapters/web/html.js";
import { pixelSize } from "../../adapters/wording/pixel-size.js";
import { RESOLUTIONS } from "../../domain/images/resolution.js";
import { type Results, type Total, totalsOf } from "./results.js";
import type { KeptPicture, TriedPicture } from "./try-providers.js";

/** The built style and script of the sheet (adapters/web/client/contact-sheet.ts). */
export type SheetParts = { readonly style: string; readonly script: string };

/**
 * The page that shows what providers have made: a table of totals, and under each prompt the pictures side by side. It
 * is complete in one file but for the pictures, and works from a folder, without a server and without a network.
 */
export const contactSheet = (results: Results, { style, script }: SheetParts): string =>
  html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Providers compared</title><link rel="icon" href="data:,"><style>${new Html(style)}</style></head>
<body><main class="sheet">
<h1>Providers compared</h1>
<p class="lead">${summaryOf(results)}</p>
${totalsTable(totalsOf(results))}
<p class="hint">Seam: by how many levels of 255 the left and the right edge differ, beyond what neighbouring columns there do; above 3 it is visible, and blended. Seam ratio: the difference of the edges divided by that of columns anywhere, about 1 for a picture that closes. Poles: how much the colours vary in the first and in the last row, each of which is one point of the sphere; 0 is ideal. Horizon: its height from the top, where one is clear; 0.5 is ideal. All are measured before the picture is corrected.</p>
${numbersOf(results).map((number) => promptSection(results, number))}
</main>
${sphereDialog}
<script>${new Html(script)}</script></body></html>
`.text;

const numbersOf = ({ pictures }: Results): readonly number[] => [...new Set(pictures.map(({ number }) => number))];

const summaryOf = ({ startedAt, resolution, references, isInterrupted }: Results): string =>
  [
    `${startedAt.toISOString().slice(0, 16).replace("T", " ")} UTC, ${pixelSize(RESOLUTIONS[resolution])} pixels`,
    references.length > 0 && `, with ${references.join(", ")}`,
    isInterrupted && ". Interrupted before the end",
    ".",
  ]
    .filter((part) => part !== false)
    .join("");

const totalsTable = (
  totals: readonly Total[],
): Html => html`<div class="totals" role="region" aria-label="Totals" tabindex="0"><table>
<thead><tr><th scope="col">Provider</th><th>Made</th><th>Failed</th><th>Seconds</th><th>Seam</th><th>Seam ratio</th><th>Poles</th><th>One costs</th><th>All cost</th></tr></thead>
<tbody>${totals.map(
  (total) =>
    html`<tr><th scope="row">${total.provider}</th><td>${total.made}</td><td>${failedCell(total)}</td><td>${shown(total.medianSeconds, 1)}</td><td>${shown(total.medianSeam, 1)}</td><td>${shown(total.medianSeamRatio, 2)}</td><td>${shown(total.medianPoleDeviation, 1)}</td><td>${dollars(total.pictureDollars)}</td><td>${dollars(total.totalDollars)}</td></tr>
`,
)}</tbody></table></div>
<p class="hint">Seconds, seams and poles are medians. Costs are those of pictures that were made; what is unknown depends on the provider's bill.</p>`;

const failedCell = ({ failed, unusable, canceled }: Total): string =>
  [String(failed + unusable), unusable > 0 && `${unusable} unusable`, canceled > 0 && `${canceled} canceled`]
    .filter((part) => part !== false)
    .join(", ");

const shown = (value: number | undefined, digits: number): string => value?.toFixed(digits) ?? "–";

const dollars = (value: number | undefined): string =>
  value === undefined ? "unknown" : `$${value.toFixed(Number.isInteger(value * 100) ? 2 : 3)}`;

const promptSection = ({ pictures, providers }: Results, number: number): Html => {
  const row = pictures.filter((picture) => picture.number === number);
  const request = row[0]?.request;
  return html`<section><h2><span class="number">${number}</span> ${request?.prompt}</h2>
<p class="hint">Seed ${request?.seed}</p>
<ul class="row-of-pictures">${providers.map((provider) =>
    row.filter((picture) => picture.provider === provider).map(pictureItem),
  )}</ul></section>
`;
};

const pictureItem = (picture: TriedPicture): Html => html`<li class="${picture.status}"><h3>${picture.provider}</h3>
${
  picture.seconds === undefined
    ? html`<p class="no-picture">${STATUS[picture.status]}: ${picture.reason}.</p>`
    : keptPicture(picture)
}</li>
`;

const STATUS = { failed: "Failed", canceled: "Canceled" } as const;

const keptPicture = (picture: TriedPicture & KeptPicture): Html => {
  const { provider, number, request, files, seconds, nativeSize, figures, reason } = picture;
  const { zenith, nadir } = figures.poleDeviation;
  const facts: readonly (readonly [string, Insertable])[] = [
    ["Seconds", seconds.toFixed(1)],
    ["Seam", `${figures.seam.toFixed(1)}, ratio ${figures.seamRatio.toFixed(2)}`],
    ["Poles", `${zenith.toFixed(1)} up, ${nadir.toFixed(1)} down`],
    ["Horizon", shown(figures.horizon, 2)],
    ["Native size", pixelSize(nativeSize)],
  ];
  return html`<a class="picture" href="${files.picture}" data-sphere="${files.sphere}" data-title="${`${number} · ${provider}`}"><img src="${files.thumbnail}" width="1024" height="512" loading="lazy" alt="${`${request.prompt ?? "Picture"}, made by ${provider}`}"></a>
${reason !== undefined && html`<p class="flaw">Unusable: ${reason}.</p>`}
<dl>${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
};

const sphereDialog = html`<dialog id="sphere-dialog" aria-labelledby="sphere-title">
<div id="stage" class="sphere" tabindex="0" role="application" aria-label="360° view. Drag, or use the arrow keys, to look around; plus and minus zoom."></div>
<div class="sphere-bar"><strong id="sphere-title"></strong>
<span class="sphere-buttons"><button type="button" data-look="0,0">Front</button><button type="button" data-look="180,0">Seam</button><button type="button" data-look="0,90">Up</button><button type="button" data-look="0,-90">Down</button></span>
<span class="sphere-buttons"><button type="button" id="sphere-previous">Previous</button><button type="button" id="sphere-next">Next</button><button type="button" id="sphere-close">Close</button></span></div>
<p id="sphere-note" role="status" hidden></p></dialog>`;
