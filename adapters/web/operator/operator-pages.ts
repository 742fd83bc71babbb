import type { OperatorAccess, OperatorVisitor } from "../../../application/accounts/operator-access.js";
import type { UseCases } from "../../../application/create-application.js";
import type { Clock } from "../../../application/ports/clock.js";
import type { ApiKeyStore } from "../../../application/ports/stores/accounts/api-key-store.js";
import type { OperatorStore } from "../../../application/ports/stores/operator-store.js";
import type { OrderStore } from "../../../application/ports/stores/order-store.js";
import type { AccountId } from "../../../domain/account-id.js";
import { parsePrefix } from "../../../domain/accounts/api-key.js";
import { isStorable } from "../../../domain/storable-text.js";
import type { Page, PageBody, PageReply, PageRequest } from "../../web-page/page.js";
import { attemptRefusal } from "../account/attempt-refusal.js";
import { errorBox } from "../error-box.js";
import { type Html, html } from "../html.js";
import type { Layout } from "../layout.js";
import { redirect } from "../redirect.js";
import type { SessionGuard } from "../session-guard.js";
import { type OperatorAct, operatorActs } from "./operator-acts.js";
import { OperatorGuard } from "./operator-guard.js";
import { accountsFound, accountView, keysTable, operatorHead, overviewOf, storyView } from "./operator-views.js";

/** What only the operator's pages need. */
export type OperatorParts = {
  readonly access: OperatorAccess;
  readonly store: Pick<
    OperatorStore,
    "searchAccounts" | "account" | "tasks" | "task" | "queue" | "failingEndpoints" | "key"
  >;
  readonly keys: Pick<ApiKeyStore, "list">;
  readonly orders: Pick<OrderStore, "listAll" | "find">;
  /** What `/readyz` checks, with the providers. */
  readonly checks: () => Promise<readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[]>;
};

type Parts = Pick<UseCases, "accounts" | "panoramas" | "credits" | "operators"> & {
  readonly operator: OperatorParts;
  readonly guard: Pick<SessionGuard, "visitor">;
  readonly layout: Layout;
  readonly publicUrl: string;
  readonly clock: Pick<Clock, "now">;
};

type FormRequest = PageRequest & PageBody;

const LIST_MAX = 50;

/** `/operator`: search, accounts, the story of a task. Every act is in the log of operators, under its command. */
export const operatorPages = (parts: Parts): readonly Page[] => {
  const guard = new OperatorGuard(parts.operator.access, parts.guard, parts.layout, parts.publicUrl);
  const get = (path: string, handle: Page["handle"]): Page => ({ method: "GET", path, body: "none", handle });
  // What commands can do during a maintenance, these forms can.
  const post = (path: string, handle: Page["handle"]): Page => ({
    method: "POST",
    path,
    body: "fields",
    duringMaintenance: true,
    handle,
  });
  const acts = Object.entries(operatorActs(parts)).map(([path, act]) =>
    post(
      `/operator/${path}`,
      guard.form((request, operator) => perform(parts, operator, request, act)),
    ),
  );
  return [
    get(
      "/operator/login",
      guard.login(async () => loginPage(parts)),
    ),
    post(
      "/operator/login",
      guard.loginForm((request) => logIn(parts, guard, request)),
    ),
    post(
      "/operator/logout",
      guard.form(async (_request, operator) => {
        await record(parts, operator, { command: "operator logout", arguments: {} }, async () => {
          await parts.operator.access.logOut(operator.token);
          return undefined;
        });
        return redirect("/operator/login", guard.cookie(""));
      }),
    ),
    get(
      "/operator",
      guard.page((request, operator) => searchPage(parts, operator, request)),
    ),
    post(
      "/operator/search",
      guard.form(async ({ form }) => redirect(searchPath(form.get("q") ?? ""))),
    ),
    get(
      "/operator/accounts/:id",
      guard.page((request, operator) => accountPage(parts, operator, request)),
    ),
    get(
      "/operator/tasks/:id",
      guard.page((request, operator) => taskPage(parts, operator, request)),
    ),
    ...acts,
  ];
};

/** Of a secret only the beginning: URLs stay in histories and logs. */
const searchPath = (searched: string): string => {
  const text = searched.trim();
  return `/operator?${new URLSearchParams({ q: parsePrefix(text) ?? text })}`;
};

const loginPage = ({ layout }: Parts, refusal?: ReturnType<typeof attemptRefusal>): PageReply => {
  const main = html`<div class="narrow"><h1>Operator</h1>${errorBox(refusal?.error)}
<form method="post" action="/operator/login" class="panel">
<label>Name<input name="name" autocomplete="username" required></label>
<label>Password<input type="password" name="password" autocomplete="current-password" required></label>
<label>Code of the authenticator app<input name="code" inputmode="numeric" autocomplete="one-time-code" required></label>
<button class="button">Log in</button></form></div>`;
  return layout.reply(refusal?.status ?? 200, { title: "Operator", main, withoutMenu: true }, refusal?.headers);
};

const logIn = async (parts: Parts, guard: OperatorGuard, request: FormRequest): Promise<PageReply> => {
  const { form, remoteAddress, signal } = request;
  const [name = "", password = "", code = ""] = ["name", "password", "code"].map((field) => form.get(field) ?? "");
  const { access } = parts.operator;
  const session = await access.logIn({ name, password, code, remoteAddress }, signal);
  if (session.isErr()) {
    const { error } = session;
    return loginPage(
      parts,
      error.kind === "wrong_login"
        ? { status: 401, error: "The name, the password or the code is wrong. A code works once." }
        : attemptRefusal(error),
    );
  }
  const operator = await access.find(session.value);
  if (operator !== undefined)
    await record(parts, operator, { command: "operator login", arguments: {} }, async () => undefined);
  return redirect("/operator", guard.cookie(session.value));
};

const show = (
  { layout }: Parts,
  visitor: OperatorVisitor,
  content: Html,
  { status = 200, error, searched }: { status?: number; error?: string | undefined; searched?: string } = {},
): PageReply => {
  const main = html`<div class="page operator">${operatorHead(visitor, searched)}${errorBox(error)}${content}</div>`;
  // Not compressed, as the pages of members: it has the form token.
  return {
    ...layout.reply(status, {
      title: "Operator",
      main,
      withoutMenu: true,
      styles: ["account.css", "operator.css"],
      scripts: ["account.js"], // times in the reader's zone
    }),
    compressible: false,
  };
};

const searchPage = async (parts: Parts, visitor: OperatorVisitor, { query }: PageRequest): Promise<PageReply> => {
  const { store, orders: orderStore, checks } = parts.operator;
  const given = query.get("q")?.trim() ?? "";
  const searched = isStorable(given) ? given : "";
  if (searched === "") {
    const [queue, orders, endpoints, reported, checked] = await Promise.all([
      store.queue(LIST_MAX),
      orderStore.listAll({ isPending: true }, LIST_MAX, undefined),
      store.failingEndpoints(LIST_MAX),
      parts.operators.listReports(LIST_MAX),
      checks(),
    ]);
    return show(parts, visitor, overviewOf(visitor, queue, { checks: checked, orders, endpoints, reported }));
  }
  const [accounts, keys, story] = await Promise.all([
    store.searchAccounts(searched, LIST_MAX),
    parts.operators.findKeys(searched),
    parts.operators.explainTask(slugIn(searched)),
  ]);
  if (story.isOk()) return redirect(`/operator/tasks/${story.value.record.task.id}`);
  const [only, ...others] = accounts;
  if (only !== undefined && others.length === 0 && keys.length === 0)
    return redirect(`/operator/accounts/${only.account.id}`);
  const found = html`${
    keys.length > 0 &&
    html`<section aria-labelledby="keys"><h2 id="keys">Keys</h2>${keysTable(visitor, keys, parts.clock.now())}</section>`
  }${accountsFound(accounts)}`;
  return show(parts, visitor, found, { searched });
};

/** Customers send the address of a page. */
const slugIn = (text: string): string => /\/(?:p|works)\/([A-Za-z0-9_-]+)/.exec(text)?.[1] ?? text;

const accountPage = async (
  parts: Parts,
  visitor: OperatorVisitor,
  { params }: PageRequest,
  shown: { status?: number; error?: string } = {},
): Promise<PageReply> => {
  const { store, keys: keyStore } = parts.operator;
  const summary = await store.account((params.id ?? "") as AccountId);
  if (summary === undefined) return parts.layout.notFound("operator");
  const { id } = summary.account;
  const [overview, keys, tasks] = await Promise.all([
    parts.accounts.read(id),
    keyStore.list(id),
    store.tasks(id, LIST_MAX, undefined),
  ]);
  const about = { overview, keys: keys.toReversed(), tasks, now: parts.clock.now() };
  return show(parts, visitor, accountView(visitor, summary, about), shown);
};

const taskPage = async (
  parts: Parts,
  visitor: OperatorVisitor,
  { params }: PageRequest,
  shown: { status?: number; error?: string } = {},
): Promise<PageReply> => {
  const story = await parts.operators.explainTask(params.id ?? "");
  return story.match(
    (told) => show(parts, visitor, storyView(visitor, told), shown),
    () => parts.layout.notFound("operator"),
  );
};

/** The fields that acts have beside `confirm`, which repeats an e-mail address that a closed account leaves behind. */
const RECORDED_FIELDS = ["credits", "reason", "reference"];

/** The log has the fields of the form as the options of the command. */
const perform = async (
  parts: Parts,
  operator: OperatorVisitor,
  request: FormRequest,
  { command, run, back }: OperatorAct,
): Promise<PageReply> => {
  const id = request.params.id ?? "";
  // Before it is recorded: the log has no acts on what nobody has.
  const path = isStorable(id) ? await back(id) : undefined;
  if (path === undefined) return parts.layout.notFound("operator");
  const fields = Object.fromEntries([...request.form].filter(([name]) => RECORDED_FIELDS.includes(name)));
  const refusal = await record(parts, operator, { command, arguments: { id, ...fields } }, () =>
    run(request, id, nameInLog(operator)),
  );
  if (refusal === undefined) return redirect(path);
  const content = html`<p><a class="button quiet" href="${path}">Back</a></p>`;
  return show(parts, operator, content, { status: 409, error: refusal });
};

const nameInLog = ({ name }: OperatorVisitor): string => `${name} at /operator`;

const record = (
  { operators }: Parts,
  operator: OperatorVisitor,
  action: { readonly command: string; readonly arguments: Readonly<Record<string, string>> },
  run: () => Promise<string | undefined>,
): Promise<string | undefined> =>
  operators.recordAction({ operator: nameInLog(operator), ...action }, run, (refusal) =>
    refusal === undefined ? "done" : "refused",
  );
