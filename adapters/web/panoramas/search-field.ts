import { SEARCH_CHARACTERS_MAX, searchWords } from "../../../domain/tasks/prompt-search.js";
import { type Html, html } from "../html.js";

/** What a form with this field sends: the text, and the words that it looks for. */
export const searchedIn = (query: URLSearchParams): { readonly text: string; readonly words: readonly string[] } => {
  const text = [...(query.get("q") ?? "")].slice(0, SEARCH_CHARACTERS_MAX).join("").trim();
  return { text, words: searchWords(text) };
};

/** A field for words, with its button. `label`: for screen readers. */
export const searchField = (text: string, label: string, placeholder: string): Html => html`
<input type="search" name="q" value="${text}" aria-label="${label}" placeholder="${placeholder}"
maxlength="${SEARCH_CHARACTERS_MAX}" autocomplete="off" enterkeyhint="search" dir="auto">
<button aria-label="Search"><svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><circle cx="10.5" cy="10.5" r="6.5"/><path d="M15.5 15.5 21 21"/></svg></button>`;
