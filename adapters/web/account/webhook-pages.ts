import type { Result } from "neverthrow";
import type { Visitor } from "../../../application/accounts/sessions/find-session.js";
import type { UseCases } from "../../../application/create-application.js";
import type { NotFound } from "../../../application/errors.js";
import type { EndpointOff, ListedDelivery } from "../../../application/ports/stores/delivery-store.js";
import type { RateLimits } from "../../../application/ports/stores/rate-limits.js";
import type { AccountId } from "../../../domain/account-id.js";
import type { Endpoint, EndpointId } from "../../../domain/webhooks/webhook-endpoint.js";
import type { Page, PageBody, PageReply } from "../../web-page/page.js";
import { admitWrite } from "../admit-write.js";
import { dateOf, timeOf } from "../date.js";
import { errorBox } from "../error-box.js";
import { fieldMessage } from "../field-message.js";
import { type Html, html } from "../html.js";
import { hiddenToken, type Layout } from "../layout.js";
import { redirect } from "../redirect.js";
import { type SessionGuard, STALE_FORM } from "../session-guard.js";
import { accountNav } from "./account-nav.js";

type Parts = {
  readonly webhooks: UseCases["webhooks"];
  readonly rateLimits: RateLimits;
  readonly guard: SessionGuard;
  readonly layout: Layout;
};

const PATH = "/account/webhooks";
const DELIVERIES = 20;

/** `/account/webhooks`: the endpoints of the account, their secrets, and what was sent to them. */
export const webhookPages = (parts: Parts): readonly Page[] => {
  const { webhooks, guard } = parts;
  return [
    {
      method: "GET",
      path: PATH,
      body: "none",
      handle: guard.member(({ query }, visitor) => webhooksPage(parts, 200, visitor, { query })),
    },
    {
      method: "POST",
      path: PATH,
      body: "fields",
      handle: guard.memberForm(({ form }, visitor) => createEndpoint(parts, form, visitor), formOptions(parts)),
    },
    changeForm(parts, `${PATH}/:id/delete`, (id, owner) => webhooks.deleteEndpoint(id as EndpointId, owner)),
    changeForm(parts, `${PATH}/:id/rotate`, (id, owner) => webhooks.rotateEndpointSecret(id as EndpointId, owner)),
    changeForm(parts, `${PATH}/:id/enable`, (id, owner) => webhooks.enableEndpoint(id as EndpointId, owner)),
    changeForm(parts, "/account/deliveries/:id/resend", (id, owner) => webhooks.resendDelivery(numberOf(id), owner)),
  ];
};

const formOptions = (parts: Parts) => ({
  stale: ({ form }: PageBody, visitor: Visitor) => webhooksPage(parts, 403, visitor, { error: STALE_FORM, form }),
  back: () => PATH,
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
  handle: parts.guard.memberForm(async ({ params }, visitor) => {
    const limited = await admitWrite(parts, visitor);
    if (limited !== undefined) return limited;
    const changed = await change(params.id ?? "", visitor.account.id);
    if (changed.isOk()) return redirect(PATH);
    return changed.error.kind === "not_found"
      ? parts.layout.notFound(visitor)
      : parts.layout.message(409, "Not sent", "The endpoint is switched off. Switch it on first.", visitor);
  }, formOptions(parts)),
});

const createEndpoint = async (parts: Parts, form: URLSearchParams, visitor: Visitor): Promise<PageReply> => {
  const limited = await admitWrite(parts, visitor);
  if (limited !== undefined) return limited;
  const created = await parts.webhooks.createEndpoint(visitor.account.id, (form.get("url") ?? "").trim());
  if (created.isOk()) return redirect(PATH);
  const refusal = (status: number, error: string) => webhooksPage(parts, status, visitor, { error, form });
  switch (created.error.kind) {
    case "invalid_request":
      return refusal(400, fieldMessage(created.error));
    case "too_many_endpoints":
      return refusal(409, `You already have ${created.error.limit} endpoints, the maximum.`);
    case "not_found":
      return parts.layout.notFound(visitor);
  }
};

/** The number of a delivery; 0, which none has, for other text. */
const numberOf = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : 0);

type Shown = {
  readonly error?: string;
  /** What was typed into a refused form. */
  readonly form?: URLSearchParams;
  /** Names the page of the deliveries. */
  readonly query?: URLSearchParams;
};

const webhooksPage = async (
  { webhooks, layout }: Parts,
  status: number,
  visitor: Visitor,
  { error, form, query = new URLSearchParams() }: Shown,
): Promise<PageReply> => {
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
${errorBox(error)}
<section class="panel" aria-labelledby="endpoints"><h2 id="endpoints">Endpoints</h2>
<ul class="keys">${endpoints.value.map((endpoint) => endpointLine(endpoint, formToken))}</ul>
<form method="post" action="${PATH}" class="inline">${hiddenToken(formToken)}
<label>URL of the new endpoint<input name="url" type="url" value="${form?.get("url") ?? ""}" required placeholder="https://example.com/webhooks"></label><button class="button">Add endpoint</button></form></section>
<section aria-labelledby="deliveries"><h2 id="deliveries">Deliveries of the last 30 days</h2>${
    deliveries.length === 0
      ? html`<p class="empty">Nothing was sent${query.has("before") && " before that"}.</p>`
      : html`<div class="table" tabindex="0"><table><thead><tr>${["Time", "Event", "State", "Endpoint", "Task", ""].map(
          (column) => html`<th scope="col">${column}</th>`,
        )}</tr></thead><tbody>${deliveries.map((delivery) => deliveryRow(delivery, formToken))}</tbody></table></div>`
  }<p class="more">${query.has("before") && html`<a class="button quiet" rel="prev" href="${PATH}#deliveries">Newest deliveries</a> `}${
    next !== undefined &&
    html`<a class="button quiet" rel="next" href="${PATH}?before=${next}#deliveries">Older deliveries</a>`
  }</p></section>
</div>`;
  return layout.reply(status, { title: "Webhooks", main, visitor, styles: ["account.css"] });
};

const endpointLine = (endpoint: Endpoint, formToken: string): Html => {
  const { id, url, secret, off } = endpoint;
  const name = url ?? "webhook_url of single tasks";
  const button = (action: string, label: string, style: string) =>
    html`<form method="post" action="${PATH}/${id}/${action}">${hiddenToken(formToken)}<button class="button ${style} small" aria-label="${label} ${name}">${label}</button></form>`;
  return html`<li><span><strong>${name}</strong>
<small>${stateOf(endpoint)}</small>
<details><summary aria-label="Secret of ${name}">Secret</summary><code>${secret}</code></details></span>
${off !== undefined && button("enable", "Switch on", "quiet")}${button("rotate", "New secret", "quiet")}${
  url !== undefined &&
  html`<details class="revoke"><summary aria-label="Delete ${name}">Delete</summary>
<p>Nothing more is sent to this URL, and its secret is lost. This can’t be undone.</p>${button("delete", "Delete now", "danger")}</details>`
}</li>`;
};

const stateOf = ({ off, failingSince, previous }: Endpoint): Html => {
  if (off !== undefined) {
    const reason = off.reason === "gone" ? "it answered with status 410" : "every attempt of three days has failed";
    return html`switched off on ${dateOf(off.at)}: ${reason}`;
  }
  if (failingSince !== undefined) return html`failing since ${dateOf(failingSince)}`;
  return previous === undefined ? html`on` : html`on; the previous secret is valid until ${dateOf(previous.until)}`;
};

const deliveryRow = ({ id, delivery, event, url }: ListedDelivery, formToken: string): Html => {
  const style = { delivered: "good", pending: "busy", failed: "bad" }[delivery.state];
  return html`<tr><td>${timeOf(event.at)}</td><td class="event">${event.type}</td>
<td><span class="state ${style}">${delivery.state}</span> ${delivery.detail}</td>
<td class="address">${url}</td><td class="id"><code>${event.type === "credits.low" ? "" : event.taskId}</code></td>
<td><form method="post" action="/account/deliveries/${id}/resend">${hiddenToken(formToken)}<button class="button quiet small" aria-label="Send delivery ${id} again">Send again</button></form></td></tr>`;
};
