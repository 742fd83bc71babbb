import { RESOLUTION_NAMES, type Resolution } from "../../../domain/images/resolution.js";
import { SEARCH_CHARACTERS_MAX, searchWords } from "../../../domain/tasks/prompt-search.js";
import { TASK_STATUSES } from "../../../domain/tasks/public-reason.js";
import type { TaskFilter } from "../../../domain/tasks/task-filter.js";
import { VISIBILITIES } from "../../../domain/tasks/visibility.js";
import { type Html, html } from "../html.js";

/** Filters of the works list. */
export type WorksSearch = Pick<TaskFilter, "status" | "visibility"> & {
  readonly text: string;
  readonly words: readonly string[];
  readonly resolution: Resolution | undefined;
};

export function parseWorksSearch(query: URLSearchParams): WorksSearch {
  const { text, words } = parseSearchText(query);
  const status = TASK_STATUSES.find((one) => one === query.get("status"));
  const visibility = VISIBILITIES.find((one) => one === query.get("visibility"));
  return {
    text: words.length === 0 ? "" : text,
    words,
    ...(status && { status }),
    ...(visibility && { visibility }),
    resolution: RESOLUTION_NAMES.find((one) => one === query.get("resolution")),
  };
}

export const hasFilters = ({ words, status, visibility, resolution }: WorksSearch): boolean =>
  words.length > 0 || status !== undefined || visibility !== undefined || resolution !== undefined;

/** Path of a page of the works list. */
export function worksPath(
  { text, status, visibility, resolution }: WorksSearch,
  place: Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams({
    ...(text !== "" && { q: text }),
    ...(status && { status }),
    ...(visibility && { visibility }),
    ...(resolution && { resolution }),
    ...place,
  });
  return query.size === 0 ? "/works" : `/works?${query}`;
}

const STATUS_LABELS: Readonly<Record<(typeof TASK_STATUSES)[number], string>> = {
  processing: "In progress",
  succeeded: "Finished",
  failed: "Failed or canceled",
};

/** Renders the fields that filter the list. */
export const worksSearchForm = ({ text, status, visibility, resolution }: WorksSearch): Html => html`
<form class="cluster filters" method="get" action="/works" role="search" id="filters">
<div class="search">${searchField(text, "Search in your prompts", "Search your prompts")}</div>
${select(
  "status",
  "Status",
  status,
  TASK_STATUSES.map((one) => [one, STATUS_LABELS[one]]),
)}
${select(
  "visibility",
  "Visibility",
  visibility,
  VISIBILITIES.map((one) => [one, one === "public" ? "Public" : "Private"]),
)}
${select(
  "resolution",
  "Resolution",
  resolution,
  RESOLUTION_NAMES.map((one) => [one, one.toUpperCase()]),
)}</form>`;

/** `label` names the field for screen readers, and is the first option, which removes the filter. */
const select = (
  name: "status" | "visibility" | "resolution",
  label: string,
  chosen: string | undefined,
  options: readonly (readonly [value: string, label: string])[],
): Html =>
  html`<select name="${name}" aria-label="${label}" autocomplete="off"><option value="">${label}</option>${options.map(
    ([value, shown]) => html`<option value="${value}"${value === chosen && html` selected`}>${shown}</option>`,
  )}</select>`;

/** Reads the search text from the query, and its words. */
export function parseSearchText(query: URLSearchParams): { readonly text: string; readonly words: readonly string[] } {
  const text = [...(query.get("q") ?? "")].slice(0, SEARCH_CHARACTERS_MAX).join("").trim();
  return { text, words: searchWords(text) };
}

/** Renders a search field with its button. `label`: for screen readers. */
export const searchField = (text: string, label: string, placeholder: string): Html => html`
<input type="search" name="q" value="${text}" aria-label="${label}" placeholder="${placeholder}"
maxlength="${SEARCH_CHARACTERS_MAX}" autocomplete="off" enterkeyhint="search" dir="auto">
<button class="round" aria-label="Search"><svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><circle cx="10.5" cy="10.5" r="6.5"/><path d="M15.5 15.5 21 21"/></svg></button>`;
