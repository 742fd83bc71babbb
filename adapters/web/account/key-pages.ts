import type { AccountOverview } from "../../../application/accounts/accounts.js";
import type { KeyWithSpending } from "../../../application/accounts/api-keys.js";
import type { Visitor } from "../../../application/accounts/sessions.js";
import type { UseCases } from "../../../application/create-application.js";
import type { Clock } from "../../../application/ports/clock.js";
import type { AccessEnded, AccessRefused } from "../../../application/ports/stores/access.js";
import {
  type ApiKeyId,
  KEY_NAME_CHARACTERS_MAX,
  type NoPaidOrder,
  parseKeyName,
  type TooManyApiKeys,
} from "../../../domain/accounts/api-key.js";
import { SCOPES, type Scope } from "../../../domain/accounts/key-limits.js";
import { parseKeyLimits } from "../../../domain/accounts/parse-key-limits.js";
import type { InvalidRequest } from "../../../domain/invalid-request.js";
import type { Page, PageBody, PageReply } from "../../web-page/page.js";
import { suspendedSentence } from "../../wording/sentences.js";
import { errorBox, fieldMessage } from "../field-message.js";
import { type Html, html } from "../html.js";
import { hiddenToken, type Layout } from "../layout.js";
import { MCP_PATH, redirect } from "../paths.js";
import { type SessionGuard, STALE_FORM } from "../session-guard.js";
import { count, dateOf, timeOf } from "../texts.js";
import { accountNav } from "./form-parts.js";

type Parts = {
  readonly accounts: UseCases["accounts"];
  readonly clock: Pick<Clock, "now">;
  readonly guard: SessionGuard;
  readonly layout: Layout;
};

const PATH = "/account/keys";

/** `/account/keys`: API keys with their limits and spending. */
export function keyPages(parts: Parts): readonly Page[] {
  const { guard } = parts;
  const forms = {
    onStaleToken: ({ form }: PageBody, visitor: Visitor) => keysPage(parts, 403, visitor, { error: STALE_FORM, form }),
    pathAfterLogin: () => PATH,
  };
  return [
    {
      method: "GET",
      path: PATH,
      body: "none",
      handle: guard.member(async (request, visitor) => {
        const note = guard.takeNote(PATH, request, visitor);
        return keysPage(parts, 200, visitor, { newKey: note && newKeyOf(note.text), headers: note?.headers });
      }),
    },
    {
      method: "POST",
      path: PATH,
      body: "fields",
      handle: guard.writeForm(async ({ form }, visitor) => {
        const name = parseKeyName(form.get("name") ?? "");
        if (name.isErr()) return refusal(parts, visitor, name.error, form);
        const limits = keyLimitsOf(form, parts.clock.now());
        if (limits.isErr()) return refusal(parts, visitor, limits.error, form);
        const { account, admittedBy } = visitor;
        const created = await parts.accounts.createApiKey(account.id, name.value, limits.value, admittedBy);
        return created.match(
          ({ secret, key }) => {
            const [path, anchor] = form.get("shown_on") === MCP_PATH ? [MCP_PATH, "configuration"] : [PATH, "new-key"];
            return redirect(`${path}#${anchor}`, guard.note(path, JSON.stringify([key.name, secret]), visitor));
          },
          (refused) => refusal(parts, visitor, refused, form),
        );
      }, forms),
    },
    {
      method: "POST",
      path: `${PATH}/:id/revoke`,
      body: "fields",
      handle: guard.memberForm(async ({ params }, visitor) => {
        const revoked = await parts.accounts.revokeApiKey(visitor.account.id, (params.id ?? "") as ApiKeyId);
        return revoked.isErr() ? parts.layout.notFound(visitor) : redirect(PATH);
      }, forms),
    },
  ];
}

/** Parses the limits of a key. Missing fields mean no limit: they were added later. */
const keyLimitsOf = (form: URLSearchParams, now: Date) =>
  parseKeyLimits(
    {
      ...(form.has("limits") && { scopes: form.getAll("scope") }),
      expires_at: form.get("expires_at")?.trim(),
      credits_per_day: form.get("credits_per_day")?.trim(),
      credits_per_month: form.get("credits_per_month")?.trim(),
    },
    now,
  );

type Refusal = InvalidRequest | NoPaidOrder | TooManyApiKeys | AccessRefused;

/** `form`: the fields of a new key as typed. */
async function refusal(parts: Parts, visitor: Visitor, refused: Refusal, form: URLSearchParams): Promise<PageReply> {
  if (refused.kind === "access_ended") return parts.guard.login(PATH);
  const [status, error] = refusalOf(refused);
  return keysPage(parts, status, visitor, { error, form });
}

function refusalOf(refused: Exclude<Refusal, AccessEnded>): readonly [number, string] {
  switch (refused.kind) {
    case "invalid_request":
      return [400, fieldMessage(refused)];
    case "account_suspended":
      return [403, suspendedSentence(refused)];
    case "no_paid_order":
      return [409, "You need at least one paid order to create an API key."];
    case "too_many_api_keys":
      return [409, `You already have ${refused.limit} API keys, the maximum. Revoke one before you create another.`];
  }
}

type NewKey = { readonly name: string; readonly secret: string };

/**
 * The key in a note of this page; the signature of the note proves that this service has written it. In a note (a
 * cookie), the key is in no URL, reloading the page makes no second one, and every instance can show it.
 */
export function newKeyOf(note: string): NewKey {
  const [name, secret] = JSON.parse(note) as [string, string];
  return { name, secret };
}

type Shown = {
  readonly error?: string;
  /** Shown only once, on the page after the creation. */
  readonly newKey?: NewKey | undefined;
  /** Fields of a refused form. */
  readonly form?: URLSearchParams | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
};

async function keysPage(
  { accounts, layout, clock }: Parts,
  status: number,
  visitor: Visitor,
  { error, newKey, form, headers }: Shown,
): Promise<PageReply> {
  const overview = await accounts.read(visitor.account.id);
  const main = html`<div class="page">
<h1>Keys and usage</h1>
${accountNav(PATH)}
<p class="lead">Your programs use the service with an API key. See the <a href="/docs">API reference</a>.</p>
${errorBox(error)}
${
  newKey !== undefined &&
  html`<section class="panel new-key" aria-labelledby="new-key"><h2 id="new-key">Your new key “${newKey.name}”</h2>
<p>This key is shown only once. Store it as safely as a password.</p>
<p class="cluster"><code id="secret">${newKey.secret}</code><button type="button" class="button quiet small" id="copy" data-words="Copied" hidden>Copy</button></p></section>`
}
${keysSection(overview, visitor, clock.now(), form)}
</div>`;
  const page = {
    title: "Keys and usage",
    main,
    visitor,
    scripts: ["account.js"],
    styles: ["account.css"],
    place: "/account" as const,
  };
  return layout.reply(status, page, headers);
}

const keysSection = (
  { keys, hasPaidOrder }: AccountOverview,
  visitor: Visitor,
  now: Date,
  form = new URLSearchParams(),
): Html => html`
<section class="panel" aria-labelledby="keys"><h2 id="keys">API keys</h2>
${keys.length === 0 ? html`<p>You have no API keys.</p>` : html`<ul class="keys">${keys.map((key) => keyLine(key, visitor, now))}</ul>`}
${
  hasPaidOrder
    ? html`<form method="post" action="${PATH}" class="cluster inline" id="new-key-form" novalidate>${hiddenToken(visitor.formToken)}
<label>Name of the new key<input name="name" value="${form.get("name") ?? ""}" maxlength="${KEY_NAME_CHARACTERS_MAX}" required placeholder="my program"></label><button class="button">Create key</button>
<details class="limits"${form.has("limits") && html` open`}><summary>Limits of the new key</summary><input type="hidden" name="limits" value="1">
<fieldset><legend>It may</legend>${SCOPES.map((scope) => html`<label class="check"><input type="checkbox" name="scope" value="${scope}"${(!form.has("limits") || form.getAll("scope").includes(scope)) && html` checked`}> ${SCOPE_LABELS[scope]}</label>`)}</fieldset>
<label>Expires (UTC)<input type="datetime-local" name="expires_at" value="${form.get("expires_at") ?? ""}"></label>
<label>Credits per day<input name="credits_per_day" inputmode="numeric" value="${form.get("credits_per_day") ?? ""}" placeholder="no limit"></label>
<label>Credits per month<input name="credits_per_month" inputmode="numeric" value="${form.get("credits_per_month") ?? ""}" placeholder="no limit"></label>
<p class="hint">Days and months begin at 00:00 UTC. A refund gives its credits back.</p></details></form>`
    : html`<p class="hint">You can create API keys after your first order is paid. <a href="/account#buy">Order credits</a></p>`
}</section>`;

const SCOPE_LABELS: Readonly<Record<Scope, string>> = { read: "read", create: "create and upload" };

const keyLine = ({ key, spending }: KeyWithSpending, { formToken }: Visitor, now: Date): Html => {
  const { scopes, expiresAt, creditsPerDay, creditsPerMonth } = key.limits;
  const isExpired = expiresAt !== undefined && expiresAt <= now;
  return html`<li class="cluster"><span><strong>${key.name}</strong>
<small><code>${key.prefix}…</code></small>
<small>created ${dateOf(key.createdAt)}, ${key.lastUsedAt === undefined ? "never used" : html`last used ${timeOf(key.lastUsedAt)}`}</small>
<small>spent ${count(spending.today)}${creditsPerDay !== undefined && ` of ${count(creditsPerDay)}`} credits today, ${count(spending.thisMonth)}${creditsPerMonth !== undefined && ` of ${count(creditsPerMonth)}`} this month</small>
${
  scopes.length < SCOPES.length &&
  html`<small>may only ${scopes.map((scope) => SCOPE_LABELS[scope]).join(", ")}</small>`
}
${expiresAt !== undefined && html`<small>${isExpired ? html`expired ${timeOf(expiresAt)}` : html`expires ${timeOf(expiresAt)}`}</small>`}</span>
<details class="revoke"><summary aria-label="Revoke ${key.name}">Revoke</summary><form method="post" action="${PATH}/${key.id}/revoke">${hiddenToken(formToken)}
<p>Programs with this key stop working at once. This can’t be undone.</p><button class="button danger small" aria-label="Revoke now: ${key.name}">Revoke now</button></form></details></li>`;
};
