import type { OperatorVisitor } from "../../../application/accounts/operator-access.js";
import type { AccountOverview } from "../../../application/accounts/read-account.js";
import type { TaskStory } from "../../../application/operators/explain-task.js";
import type { AccountSummary, QueueSummary, TaskOfAccount } from "../../../application/ports/stores/operator-store.js";
import type { ReportedTask } from "../../../application/ports/stores/report-store.js";
import type { AccountId } from "../../../domain/account-id.js";
import type { ApiKey } from "../../../domain/accounts/api-key.js";
import type { LedgerEntry } from "../../../domain/credits/ledger.js";
import type { Order } from "../../../domain/credits/order.js";
import type { Standing } from "../../../domain/credits/standing.js";
import { isInGallery, isInProgress, placeOf, type Task } from "../../../domain/tasks/task.js";
import type { Endpoint } from "../../../domain/webhooks/webhook-endpoint.js";
import { creditsText } from "../../wording/credits-text.js";
import { thousands } from "../../wording/thousands.js";
import { change } from "../count.js";
import { exactTimeOf, timeOf } from "../date.js";
import { type Html, html } from "../html.js";
import { hiddenToken } from "../layout.js";
import { moneyText } from "../money-text.js";
import { orderState } from "../order-state.js";
import { REPORT_WORDS } from "../panoramas/report-pages.js";

/** Above every page: the search, from which every case begins. */
export const operatorHead = ({ name, formToken }: OperatorVisitor, searched = ""): Html => html`
<div class="row"><h1><a href="/operator">Operator</a></h1><div class="who">${name}
<form method="post" action="/operator/logout">${hiddenToken(formToken)}<button class="button quiet small">Log out</button></form></div></div>
<form method="post" action="/operator/search" class="inline" role="search">${hiddenToken(formToken)}
<label>E-mail address, id, slug, order, key or its beginning<input name="q" value="${searched}" autocomplete="off" required></label><button class="button">Search</button></form>`;

/** A form with one button. */
export const act = (
  { formToken }: OperatorVisitor,
  path: string,
  words: string,
  { fields, kind = "quiet" }: { readonly fields?: Html; readonly kind?: "quiet" | "danger" } = {},
): Html => html`<form method="post" action="${path}" class="inline">${hiddenToken(formToken)}${fields}
<button class="button ${kind} small">${words}</button></form>`;

const table = (columns: readonly string[], rows: readonly Html[]): Html => html`
<div class="table" tabindex="0"><table><thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table></div>`;

const section = (id: string, title: string, content: Html): Html => html`
<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${content}</section>`;

const nothing = (words: string): Html => html`<p class="empty">${words}</p>`;

const accountLink = (id: AccountId): Html => html`<a href="/operator/accounts/${id}"><code>${id}</code></a>`;

/** What the search has found. */
export const accountsFound = (accounts: readonly AccountSummary[]): Html =>
  section(
    "accounts",
    "Accounts",
    accounts.length === 0
      ? nothing("No account.")
      : table(
          ["E-mail", "Account", "Credits", "Since"],
          accounts.map(
            ({
              account,
              standing,
              closedAt,
            }) => html`<tr><td><a href="/operator/accounts/${account.id}">${account.email}</a>${closedAt && " (closed)"}</td>
<td class="id"><code>${account.id}</code></td><td class="number">${thousands(standing.credits)}</td><td>${timeOf(account.createdAt)}</td></tr>`,
          ),
        ),
  );

/** The first page: what needs somebody. */
export const overviewOf = (
  visitor: OperatorVisitor,
  queue: QueueSummary,
  {
    checks,
    orders,
    endpoints,
    reported,
  }: {
    readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[];
    readonly orders: readonly Order[];
    readonly endpoints: readonly Endpoint[];
    readonly reported: readonly ReportedTask[];
  },
): Html => html`
${section("reports", "Reported panoramas", reportList(visitor, reported))}
${section(
  "queue",
  "Queue and providers",
  html`<p>${queue.oldest === undefined ? "No task waits." : html`${queue.waiting} ${queue.waiting === 1 ? "task waits" : "tasks wait"}, the oldest since ${timeOf(queue.oldest)}.`}
${queue.running.map(({ place, tasks }) => html` ${tasks} running at ${place ?? "an unrecorded place"}.`)}</p>
${queue.accounts.length > 0 && html`<ul>${queue.accounts.map(({ accountId, waiting }) => html`<li>${waiting} of ${accountLink(accountId)}</li>`)}</ul>`}
<ul class="checks">${checks.map(({ name, ok, detail }) => html`<li><span class="state ${ok ? "good" : "bad"}">${ok ? "Good" : "Failing"}</span> ${name}: ${detail}</li>`)}</ul>`,
)}
${section("orders", "Pending orders", ordersTable(visitor, orders))}
${section(
  "webhooks",
  "Failing webhooks",
  endpoints.length === 0
    ? nothing("None.")
    : table(
        ["Since", "URL", "Account", "State"],
        endpoints.map(
          ({ failingSince, url, accountId, off }) => html`<tr><td>${failingSince && timeOf(failingSince)}</td>
<td class="id">${url ?? "of single tasks"}</td><td class="id">${accountLink(accountId)}</td><td>${off === undefined ? "on" : `off: ${off.reason}`}</td></tr>`,
        ),
      ),
)}`;

const reportList = (visitor: OperatorVisitor, reported: readonly ReportedTask[]): Html =>
  reported.length === 0
    ? nothing("None.")
    : html`<div class="sections">${reported.map(({ task, total, reports }) => {
        const path = `/operator/tasks/${task.id}`;
        return html`<article class="panel" aria-label="${task.slug}"><p><a href="${path}"><code>${task.slug}</code></a> of ${accountLink(task.accountId)}</p>
${readByVisitors(task)}
<p>${total === 1 ? "1 report" : `${total} reports`}</p><ul>${reports.map(({ reason, text, at }) => html`<li>${timeOf(at)} · ${REPORT_WORDS[reason]}${text !== undefined && html`: <bdi>${text}</bdi>`}</li>`)}</ul>
${act(visitor, `${path}/dismiss`, "Dismiss")}${hideAct(visitor, path)}</article>`;
      })}</div>`;

/** The texts of the owner on a public page. What only the owner reads is nobody else's business. */
const readByVisitors = ({
  request,
  hotspots,
}: Task): Html => html`<p><bdi>${request.prompt ?? "Panorama from images"}</bdi></p>
${hotspots && html`<ul aria-label="Hotspots">${hotspots.map(({ note, to }) => html`<li><bdi>${note}</bdi>${to !== undefined && html` → <code>${to}</code>`}</li>`)}</ul>`}`;

const reasonField = html`<label>Reason, which the owner sees<input name="reason" maxlength="200" required></label>`;

const hideAct = (visitor: OperatorVisitor, path: string): Html =>
  act(visitor, `${path}/hide`, "Hide it from others", { kind: "danger", fields: reasonField });

const ordersTable = (visitor: OperatorVisitor, orders: readonly Order[]): Html =>
  orders.length === 0
    ? nothing("None.")
    : table(
        ["Date", "Credits", "Price", "Account", "Order", "State"],
        orders.map(
          (order) => html`<tr><td>${timeOf(order.createdAt)}</td><td class="number">${thousands(order.credits)}</td>
<td>${order.checkout && moneyText(order.checkout)}</td>
<td class="id">${accountLink(order.accountId)}</td><td class="id"><code>${order.id}</code></td>
<td>${order.state !== "pending" ? orderState(order) : act(visitor, `/operator/orders/${order.id}/pay`, "Mark as paid")}</td></tr>`,
        ),
      );

/** Everything about an account on one page. */
export const accountView = (
  visitor: OperatorVisitor,
  { account, standing, closedAt }: AccountSummary,
  {
    overview,
    keys,
    tasks,
    now,
  }: {
    readonly overview: AccountOverview;
    readonly keys: readonly ApiKey[];
    readonly tasks: readonly TaskOfAccount[];
    readonly now: Date;
  },
): Html => {
  const path = `/operator/accounts/${account.id}`;
  return html`
<h2>${account.email}${closedAt && html` (closed ${timeOf(closedAt)})`}</h2>
<p><code>${account.id}</code>, since ${timeOf(account.createdAt)}. ${creditsText(overview.credits.remaining)}, ${thousands(overview.credits.reserved)} reserved, ${thousands(overview.credits.spent)} spent. ${owedWords(standing)}${standing.activeTasks} ${standing.activeTasks === 1 ? "task" : "tasks"} in progress.</p>
<div class="sections">
<section class="panel" aria-labelledby="give"><h2 id="give">Credits</h2>${act(
    visitor,
    `${path}/credits`,
    "Give credits",
    {
      fields: html`<label>Credits, negative to take some<input name="credits" inputmode="text" required></label>
<label>Reason, which the customer sees<input name="reason" maxlength="200" required></label>
<input type="hidden" name="reference" value="form of ${now.toISOString()}">`,
    },
  )}</section>
<section class="panel" aria-labelledby="access"><h2 id="access">Access</h2>
${act(visitor, `${path}/password-link`, "Send a link for a new password")}
${
  account.suspension === undefined
    ? act(visitor, `${path}/suspend`, "Suspend the account", { kind: "danger", fields: reasonField })
    : html`<p>Suspended ${timeOf(account.suspension.at)}: ${account.suspension.reason}</p>${act(visitor, `${path}/resume`, "Resume the account")}`
}
${act(visitor, `${path}/hide-all`, "Hide everything public", { kind: "danger", fields: reasonField })}
${act(visitor, `${path}/revoke-keys`, "Revoke all keys", { kind: "danger" })}
<details class="revoke"><summary>Close and erase</summary>${act(visitor, `${path}/close`, "Close and erase now", {
    kind: "danger",
    fields: html`<p>Erases the person and every picture at once. Nothing brings them back.</p><label>The e-mail address, to confirm<input name="confirm" autocomplete="off" required></label>`,
  })}</details></section></div>
${section(
  "tasks",
  "Tasks",
  tasks.length === 0
    ? nothing("None.")
    : table(
        ["Created", "Task", "State", "Credits", "Made by"],
        tasks.map(
          ({ task, isHidden }) => html`<tr><td>${timeOf(task.reservedAt)}</td>
<td class="id"><a href="/operator/tasks/${task.id}"><code>${task.id}</code></a></td><td>${stateOf(task)}${isHidden && ", deleted"}</td>
<td class="number">${task.reservation.state === "refunded" ? 0 : task.reservation.credits}</td><td>${placeOf(task)}</td></tr>`,
        ),
      ),
)}
${section("ledger", "Ledger", ledgerTable(overview.ledger.map(({ entry }) => entry)))}
${section("keys", "Keys", keysTable(visitor, keys, now))}
${section("orders", "Orders", ordersTable(visitor, overview.orders))}`;
};

const owedWords = ({ debt, openDisputes = 0 }: Standing): string => {
  const owed = debt === undefined ? "" : `It owes ${creditsText(debt)}. `;
  if (openDisputes === 0) return owed;
  return `${owed}${openDisputes === 1 ? "1 payment is" : `${openDisputes} payments are`} disputed. `;
};

const ledgerTable = (entries: readonly LedgerEntry[]): Html =>
  entries.length === 0
    ? nothing("None.")
    : table(
        ["Time", "Kind", "Credits", "Of"],
        entries.map(
          (entry) =>
            html`<tr><td>${timeOf(entry.at)}</td><td>${entry.kind}</td><td class="number">${change(entry.credits)}</td><td class="id">${subjectOf(entry)}</td></tr>`,
        ),
      );

const subjectOf = (entry: LedgerEntry): Html | string => {
  if ("taskId" in entry) return html`<a href="/operator/tasks/${entry.taskId}"><code>${entry.taskId}</code></a>`;
  if ("orderId" in entry) return html`<code>${entry.orderId}</code>`;
  return "reason" in entry ? entry.reason : "";
};

/** The keys of an account, or those that a search has found. */
export const keysTable = (visitor: OperatorVisitor, keys: readonly ApiKey[], now: Date): Html =>
  keys.length === 0
    ? nothing("None.")
    : table(
        ["Key", "Name", "Begins with", "Account", "Last used", "State"],
        keys.map(
          ({
            id,
            name,
            prefix,
            accountId,
            lastUsedAt,
            revokedAt,
            limits: { expiresAt },
          }) => html`<tr><td class="id"><code>${id}</code></td><td>${name}</td>
<td>${prefix && html`<code>${prefix}…</code>`}</td><td class="id">${accountLink(accountId)}</td><td>${lastUsedAt ? timeOf(lastUsedAt) : "never"}</td>
<td>${
            revokedAt !== undefined
              ? html`revoked ${timeOf(revokedAt)}`
              : html`${expiresAt && html`${expiresAt <= now ? "expired" : "until"} ${timeOf(expiresAt)} `}${act(visitor, `/operator/keys/${id}/revoke`, "Revoke", { kind: "danger" })}`
          }</td></tr>`,
        ),
      );

const stateOf = (task: Task): string => {
  if (task.state === "failed") return `failed: ${task.reason}`;
  return task.state === "succeeded" ? `succeeded, image ${task.image.status}` : task.state;
};

/** What happened, in words: the stages of application/operators/explain-task.ts. */
const STAGE_WORDS: Readonly<Record<TaskStory["stages"][number]["name"], string>> = {
  created: "Created",
  started: "Left the queue",
  submitted: "Accepted by the provider",
  generated: "Result was there",
  succeeded: "Checked, succeeded",
  failed: "Failed, refunded",
  saved: "Image stored",
  expired: "Image expired",
  withheld: "Hidden by an operator",
  deleted: "Deleted",
};

export const storyView = (visitor: OperatorVisitor, { record, stages, entries, deliveries }: TaskStory): Html => {
  const { task, withheld, deleted } = record;
  const path = `/operator/tasks/${task.id}`;
  const keptUntil = task.state === "succeeded" ? task.image.keptUntil : undefined;
  const isShown = deleted === undefined && task.state !== "failed";
  const isPublic = deleted === undefined && isInGallery(task);
  const facts: readonly (readonly [string, Html | string | number | undefined])[] = [
    ["Account", accountLink(task.accountId)],
    ["State", stateOf(task)],
    ["What was said", task.state === "failed" ? task.detail : undefined],
    ["Made by", placeOf(task)],
    ["Id at the provider", record.upstreamTaskId],
    ["Returns to the queue", record.submissions || undefined],
    ["Failed attempts to store", record.imageAttempts || undefined],
    ["Next work", isInProgress(task) ? record.dueAt && timeOf(record.dueAt) : undefined],
    ["Key", task.apiKeyId ?? "none, or made on the pages"],
    ["Trace", task.traceparent?.split("-")[1]],
    ["Visibility", task.request.visibility],
    ["Seen at", isPublic ? html`<a href="/p/${task.slug}">/p/${task.slug}</a>` : undefined],
    ["Hidden because", withheld?.reason],
    ["Hidden by", withheld?.by],
    ["Its files", task.state === "succeeded" && task.image.nextName ? "are being given other names" : undefined],
    ["Deleted by", deleted && (deleted.by ?? "not recorded")],
    ["Kept until", keptUntil && timeOf(keptUntil)],
  ];
  return html`
<h2>Task <code>${task.id}</code></h2>
<dl class="facts">${facts.flatMap(([name, value]) => (value === undefined ? [] : [html`<div><dt>${name}</dt><dd>${value}</dd></div>`]))}</dl>
${(isPublic || (deleted === undefined && withheld !== undefined)) && section("read", "What visitors read", readByVisitors(task))}
${section(
  "stages",
  "What happened",
  table(
    ["Time", "Stage", "After"],
    stages.map(
      ({ name, at, afterSeconds }, index) =>
        html`<tr><td>${exactTimeOf(at)}</td><td>${STAGE_WORDS[name]}</td><td class="number">${index > 0 && `${afterSeconds.toFixed(1)} s`}</td></tr>`,
    ),
  ),
)}
${section("ledger", "Credits", ledgerTable(entries))}
${section(
  "webhooks",
  "Webhooks",
  deliveries.length === 0
    ? nothing("None.")
    : table(
        ["Event", "URL", "State", "Attempts", "Last answer"],
        deliveries.map(
          ({ event, url, delivery }) =>
            html`<tr><td>${event.type}</td><td class="id">${url}</td><td>${delivery.state}</td><td class="number">${delivery.attempts}</td><td>${delivery.detail}</td></tr>`,
        ),
      ),
)}
<div class="sections">
${task.state === "succeeded" && task.image.status === "failed" && act(visitor, `${path}/retry`, "Fetch the image again")}
${withheld !== undefined && act(visitor, `${path}/show`, "Show it again")}
${keptUntil !== undefined && act(visitor, `${path}/restore`, "Bring it back, private")}
${isShown && withheld === undefined && hideAct(visitor, path)}</div>
${
  isPublic &&
  html`<div class="inline-acts">${record.featured ? act(visitor, `${path}/unfeature`, "Take from the front page") : act(visitor, `${path}/feature`, "Show on the front page")}
${record.approved ? act(visitor, `${path}/unapprove`, "Take back the approval") : act(visitor, `${path}/approve`, "Approve for the gallery")}</div>`
}`;
};
