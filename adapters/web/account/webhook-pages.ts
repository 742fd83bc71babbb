import type { Result } from "neverthrow";
import type { Visitor } from "../../../application/accounts/sessions.js";
import type { UseCases } from "../../../application/create-application.js";
import type { NotFound } from "../../../application/errors.js";
import type { EndpointOff, ListedDelivery } from "../../../application/ports/stores/webhook-stores.js";
import type { WebhookTest } from "../../../application/webhooks/webhooks.js";
import type { AccountId } from "../../../domain/ids.js";
import type { Endpoint, EndpointId } from "../../../domain/webhooks/webhook-endpoint.js";
import type { Page, PageBody, PageReply } from "../../web-page/page.js";
import { suspendedSentence } from "../../wording/sentences.js";
import { errorBox, fieldMessage } from "../field-message.js";
import { type Html, html } from "../html.js";
import { hiddenToken, type Layout } from "../layout.js";
import { redirect } from "../paths.js";
import { type SessionGuard, STALE_FORM } from "../session-guard.js";
import { dateOf, timeOf } from "../texts.js";
import { accountNav } from "./form-parts.js";

type Parts = {
  readonly webhooks: UseCases["webhooks"];
  readonly guard: SessionGuard;
  readonly layout: Layout;
};

const PATH = "/account/webhooks";
const DELIVERIES = 20;

/** `/account/webhooks`: the endpoints of the account, their secrets and deliveries. */
export function webhookPages(parts: Parts): readonly Page[] {
  const { webhooks, guard } = parts;
  return [
    {
      method: "GET",
      path: PATH,
      body: "none",
      handle: guard.member((request, visitor) => {
        const note = guard.takeNote(PATH, request, visitor);
        const test = note && testOf(note.text);
        return webhooksPage(parts, 200, visitor, { query: request.query, test, headers: note?.headers });
      }),
    },
    {
      method: "POST",
      path: `${PATH}/:id/test`,
      body: "fields",
      handle: guard.writeForm(async ({ params }, visitor) => {
        const id = params.id ?? "";
        const tested = await webhooks.testEndpoint(id as EndpointId, visitor.account.id);
        if (tested.isErr()) return parts.layout.notFound(visitor);
        const test: ShownTest = { id, ...tested.value };
        return redirect(PATH, guard.note(PATH, JSON.stringify(test), visitor));
      }, formOptions(parts)),
    },
    {
      method: "POST",
      path: PATH,
      body: "fields",
      handle: guard.writeForm(({ form }, visitor) => createEndpoint(parts, form, visitor), formOptions(parts)),
    },
    changeForm(parts, `${PATH}/:id/delete`, (id, owner) => webhooks.deleteEndpoint(id as EndpointId, owner)),
    changeForm(parts, `${PATH}/:id/rotate`, (id, owner) => webhooks.rotateEndpointSecret(id as EndpointId, owner)),
    changeForm(parts, `${PATH}/:id/enable`, (id, owner) => webhooks.enableEndpoint(id as EndpointId, owner)),
    changeForm(parts, "/account/deliveries/:id/resend", (id, owner) => webhooks.resendDelivery(numberOf(id), owner)),
  ];
}

const formOptions = (parts: Parts) => ({
  onStaleToken: ({ form }: PageBody, visitor: Visitor) =>
    webhooksPage(parts, 403, visitor, { error: STALE_FORM, form }),
  pathAfterLogin: () => PATH,
});

/** A form that changes one endpoint or delivery. */
const changeForm = (
  parts: Parts,
  path: string,
  change: (id: string, owner: AccountId) => Promise<Result<unknown, NotFound | EndpointOff>>,
): Page => ({
  method: "POST",
  path,
  body: "fields",
  handle: parts.guard.writeForm(async ({ params }, visitor) => {
    const changed = await change(params.id ?? "", visitor.account.id);
    if (changed.isOk()) return redirect(PATH);
    if (changed.error.kind === "not_found") return parts.layout.notFound(visitor);
    const sentence = "The endpoint is switched off. Switch it on first.";
    return parts.layout.message(409, { title: "Not sent", sentence }, visitor);
  }, formOptions(parts)),
});

async function createEndpoint(parts: Parts, form: URLSearchParams, visitor: Visitor): Promise<PageReply> {
  const url = (form.get("url") ?? "").trim();
  const created = await parts.webhooks.createEndpoint(visitor.account.id, url, visitor.admittedBy);
  if (created.isOk()) return redirect(PATH);
  const refusal = (status: number, error: string) => webhooksPage(parts, status, visitor, { error, form });
  switch (created.error.kind) {
    case "invalid_request":
      return refusal(400, fieldMessage(created.error));
    case "too_many_endpoints":
      return refusal(409, `You already have ${created.error.limit} endpoints, the maximum.`);
    case "account_suspended":
      return refusal(403, suspendedSentence(created.error));
    case "access_ended":
      return parts.guard.login(PATH);
    case "not_found":
      return parts.layout.notFound(visitor);
  }
}

/** The number of a delivery; 0, which none has, for other text. */
const numberOf = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : 0);

type ShownTest = WebhookTest & { readonly id: string };

/** The test in a note of this page; its signature proves that this service has written it. */
const testOf = (note: string): ShownTest => JSON.parse(note) as ShownTest;

type Shown = {
  readonly error?: string;
  /** Test of an endpoint in this request. */
  readonly test?: ShownTest | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Fields of a refused form. */
  readonly form?: URLSearchParams;
  /** Names the page of the deliveries. */
  readonly query?: URLSearchParams;
};

async function webhooksPage(
  { webhooks, layout }: Parts,
  status: number,
  visitor: Visitor,
  { error, test, headers, form, query = new URLSearchParams() }: Shown,
): Promise<PageReply> {
  const { account, formToken } = visitor;
  const endpoints = await webhooks.listEndpoints(account.id);
  if (endpoints.isErr()) return layout.notFound(visitor);
  const before = numberOf(query.get("before") ?? "") || undefined;
  const listed = await webhooks.listDeliveries(account.id, DELIVERIES, before);
  if (listed.isErr()) return layout.notFound(visitor);
  const { deliveries, next } = listed.value;
  const main = html`<div class="page">
<h1>Webhooks</h1>
${accountNav(PATH)}
<p class="lead">Your endpoints are told when a panorama has succeeded, has failed, or is saved, and when credits are low.</p>
${errorBox(error)}${test && outcome(test, endpoints.value)}
<section class="panel" aria-labelledby="endpoints"><h2 id="endpoints">Endpoints</h2>
<ul class="keys">${endpoints.value.map((endpoint) => endpointLine(endpoint, formToken))}</ul>
<form method="post" action="${PATH}" class="cluster inline">${hiddenToken(formToken)}
<label>URL of the new endpoint<input name="url" type="url" value="${form?.get("url") ?? ""}" required placeholder="https://example.com/webhooks"></label><button class="button">Add endpoint</button></form></section>
<section aria-labelledby="deliveries"><h2 id="deliveries">Deliveries of the last 30 days</h2>${
    deliveries.length === 0
      ? html`<p class="empty">Nothing was sent${query.has("before") && " before that"}.</p>`
      : html`<div class="table" tabindex="0"><table><thead><tr>${["Time", "Event", "State", "Endpoint", "Task"].map(
          (column) => html`<th scope="col">${column}</th>`,
        )}<th scope="col"><span class="visually-hidden">Send again</span></th></tr></thead><tbody>${deliveries.map((delivery) => deliveryRow(delivery, formToken))}</tbody></table></div>`
  }<p class="cluster more">${query.has("before") && html`<a class="button quiet" rel="prev" href="${PATH}#deliveries">Newest deliveries</a> `}${
    next !== undefined &&
    html`<a class="button quiet" rel="next" href="${PATH}?before=${next}#deliveries">Older deliveries</a>`
  }</p></section>
</div>`;
  return layout.reply(
    status,
    { title: "Webhooks", main, visitor, scripts: ["account.js"], styles: ["account.css"], place: "/account" },
    headers,
  );
}

/** Result of the test event, with a remedy if it has not arrived. */
function outcome({ id, isDelivered, detail, milliseconds }: ShownTest, endpoints: readonly Endpoint[]): Html {
  const url = endpoints.find((endpoint) => endpoint.id === id)?.url ?? "the endpoint";
  const time = milliseconds < 1000 ? `${milliseconds} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
  return isDelivered
    ? html`<p class="notice" role="status">The test event has arrived at <strong>${url}</strong>: ${detail} after ${time}.</p>`
    : html`<p class="error" role="alert">The test event has not arrived at <strong>${url}</strong>: ${detail} after ${time}. An endpoint must answer within ten seconds with a status from 200 to 299.</p>`;
}

const endpointLine = (endpoint: Endpoint, formToken: string): Html => {
  const { id, url, secret, off } = endpoint;
  const name = url ?? "Tasks with a webhook_url of their own";
  const button = (action: string, label: string, style: string) =>
    html`<form method="post" action="${PATH}/${id}/${action}">${hiddenToken(formToken)}<button class="button ${style} small" aria-label="${label} ${name}">${label}</button></form>`;
  return html`<li class="cluster"><span><strong>${name}</strong>
<small>${stateOf(endpoint)}</small>
<details><summary aria-label="Secret of ${name}">Secret</summary><code>${secret}</code></details></span>
${off !== undefined && button("enable", "Switch on", "quiet")}${url !== undefined && button("test", "Send a test", "quiet")}${button("rotate", "New secret", "quiet")}${
  url !== undefined &&
  html`<details class="revoke"><summary aria-label="Delete ${name}">Delete</summary>
<p>Nothing more is sent to this URL, and its secret is lost. This can’t be undone.</p>${button("delete", "Delete now", "danger")}</details>`
}</li>`;
};

const stateOf = ({ url, off, failingSince, previous }: Endpoint): Html => {
  if (off !== undefined) {
    const reason = off.reason === "gone" ? "it answered with status 410" : "every attempt of three days has failed";
    return html`Switched off on ${dateOf(off.at)}: ${reason}.`;
  }
  if (failingSince !== undefined) return html`Failing since ${timeOf(failingSince)}.`;
  const what = url === undefined ? "Their webhooks are signed with this secret" : "On";
  return html`${what}${previous !== undefined && html`; the previous secret is valid until ${timeOf(previous.until)}`}.`;
};

const STATE_WORDS: Readonly<Record<ListedDelivery["delivery"]["state"], string>> = {
  delivered: "delivered",
  pending: "pending",
  failed: "failed",
};

function deliveryRow({ id, delivery, event, url }: ListedDelivery, formToken: string): Html {
  const style = { delivered: "good", pending: "busy", failed: "bad" }[delivery.state];
  return html`<tr><td>${timeOf(event.at)}</td><td class="event">${event.type}</td>
<td><span class="state ${style}">${STATE_WORDS[delivery.state]}</span> ${delivery.detail}</td>
<td class="address">${url}</td><td class="id"><code>${event.type === "credits.low" ? "" : event.taskId}</code></td>
<td><form method="post" action="/account/deliveries/${id}/resend">${hiddenToken(formToken)}<button class="button quiet small" aria-label="Send again: delivery ${id}">Send again</button></form></td></tr>`;
}
