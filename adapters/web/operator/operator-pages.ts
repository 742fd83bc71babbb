import type { OperatorAccess, OperatorVisitor } from "../../../application/accounts/operator-access.js";
import type { UseCases } from "../../../application/create-application.js";
import type { NotFound } from "../../../application/errors.js";
import type { Clock } from "../../../application/ports/clock.js";
import type { ApiKeyStore } from "../../../application/ports/stores/accounts/api-key-store.js";
import type { OperatorStore } from "../../../application/ports/stores/operator-store.js";
import type { OrderStore } from "../../../application/ports/stores/order-store.js";
import type { AccountId } from "../../../domain/account-id.js";
import { type ApiKeyId, parsePrefix } from "../../../domain/accounts/api-key.js";
import { parseAdjustmentReason } from "../../../domain/credits/ledger.js";
import type { OrderId } from "../../../domain/credits/order.js";
import type { InvalidRequest } from "../../../domain/invalid-request.js";
import { isStorable } from "../../../domain/storable-text.js";
import type { TaskId } from "../../../domain/task-id.js";
import type { Page, PageBody, PageReply, PageRequest } from "../../web-page/page.js";
import { attemptRefusal } from "../account/attempt-refusal.js";
import { errorBox } from "../error-box.js";
import { type Html, html } from "../html.js";
import type { Layout } from "../layout.js";
import { redirect } from "../redirect.js";
import type { SessionGuard } from "../session-guard.js";
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
/** Resolves to the sentence that refuses it, or to `undefined` if it is done. `by`: who does it. */
type Act = (request: FormRequest, id: string, by: string) => Promise<string | undefined>;

/** Each choice of a panorama for the gallery, and its end. */
const GALLERY_ACTS = [
  ["feature", "featured", true],
  ["unfeature", "featured", false],
  ["approve", "approved", true],
  ["unapprove", "approved", false],
] as const;

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
  const acts = Object.entries(actsOf(parts)).map(([path, { command, run, back }]) =>
    post(
      `/operator/${path}`,
      guard.form((request, operator) => perform(parts, operator, request, { command, run, back })),
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
        await record(parts, operator, "operator logout", {}, async () => {
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
  if (operator !== undefined) await record(parts, operator, "operator login", {}, async () => undefined);
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
    ...layout.reply(status, { title: "Operator", main, withoutMenu: true, styles: ["account.css", "operator.css"] }),
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

type Performed = {
  readonly command: string;
  readonly run: Act;
  /** The page that shows the result; `undefined` if nothing has this id. */
  readonly back: (id: string) => Promise<string | undefined>;
};

/** The log has the fields of the form as the options of the command. */
const perform = async (
  parts: Parts,
  operator: OperatorVisitor,
  request: FormRequest,
  { command, run, back }: Performed,
): Promise<PageReply> => {
  const id = request.params.id ?? "";
  // Before it is recorded: the log has no acts on what nobody has.
  const path = isStorable(id) ? await back(id) : undefined;
  if (path === undefined) return parts.layout.notFound("operator");
  const fields = Object.fromEntries([...request.form].filter(([name]) => name !== "form_token"));
  const refusal = await record(parts, operator, command, { id, ...fields }, () =>
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
  command: string,
  given: Readonly<Record<string, string>>,
  run: () => Promise<string | undefined>,
): Promise<string | undefined> =>
  operators.recordAction({ operator: nameInLog(operator), command, arguments: given }, run, (refusal) =>
    refusal === undefined ? "done" : "refused",
  );

/** By their paths: each does what its command does. */
const actsOf = (parts: Parts): Readonly<Record<string, Performed>> => {
  const { accounts, credits, panoramas, operators } = parts;
  const { store, orders } = parts.operator;
  const toAccount = async (id: string) => (await store.account(id as AccountId)) && `/operator/accounts/${id}`;
  const toTask = async (id: string) => (await store.task(id as TaskId)) && `/operator/tasks/${id}`;
  return {
    "accounts/:id/credits": { command: "credits grant", back: toAccount, run: adjustBy(parts) },
    "accounts/:id/revoke-keys": {
      command: "key revoke",
      back: toAccount,
      run: async (_request, id) => refusalOf(await operators.revokeKeys(id as AccountId)),
    },
    "accounts/:id/password-link": {
      command: "account password-link",
      back: toAccount,
      run: async ({ remoteAddress }, id) => {
        const email = (await store.account(id as AccountId))?.account.email;
        if (email === undefined) return "There is no such account.";
        const sent = await accounts.sendPasswordLink({ email, remoteAddress, purpose: "new_password" });
        return sent.isOk() ? undefined : "No e-mail was sent. Try again later.";
      },
    },
    "accounts/:id/hide-all": {
      command: "gallery hide",
      back: toAccount,
      run: async ({ form }, id, by) =>
        (await operators.withholdAccount(id as AccountId, { reason: form.get("reason") ?? "", by })).match(
          () => undefined,
          withholdRefusal,
        ),
    },
    "accounts/:id/suspend": {
      command: "account suspend",
      back: toAccount,
      run: async ({ form }, id, by) =>
        (await operators.suspendAccount(id as AccountId, { reason: form.get("reason") ?? "", by })).match(
          () => undefined,
          withholdRefusal,
        ),
    },
    "accounts/:id/resume": {
      command: "account resume",
      back: toAccount,
      run: async (_request, id) =>
        (await operators.suspendAccount(id as AccountId, undefined)).match(() => undefined, withholdRefusal),
    },
    "accounts/:id/close": { command: "account close", back: toAccount, run: closeBy(parts) },
    "keys/:id/revoke": {
      command: "key revoke",
      back: async (id) => {
        const key = await store.key(id as ApiKeyId);
        return key && toAccount(key.accountId);
      },
      run: async (_request, id) => refusalOf(await accounts.revokeAnyApiKey(id as ApiKeyId)),
    },
    "orders/:id/pay": {
      command: "order pay",
      back: async (id) => (await orders.find(id as OrderId)) && "/operator",
      run: async (_request, id) => refusalOf(await credits.payOrder(id as OrderId)),
    },
    "tasks/:id/retry": {
      command: "task retry",
      back: toTask,
      run: async (_request, id) => {
        const found = await store.task(id as TaskId);
        if (found === undefined) return "There is no such task.";
        const retried = await panoramas.retryImage(found.task.id, found.task.accountId);
        return retried.isOk() ? undefined : "Only an image whose storage has failed can be fetched again.";
      },
    },
    "tasks/:id/hide": {
      command: "gallery hide",
      back: toTask,
      run: async ({ form }, id, by) =>
        (await operators.withholdPanorama(id, { reason: form.get("reason") ?? "", by })).match(
          () => undefined,
          withholdRefusal,
        ),
    },
    "tasks/:id/show": {
      command: "gallery show",
      back: toTask,
      run: async (_request, id) =>
        (await operators.withholdPanorama(id, undefined)).isOk() ? undefined : "It is not hidden.",
    },
    "tasks/:id/dismiss": {
      command: "report dismiss",
      back: toTask,
      run: async (_request, id) => refusalOf(await operators.dismissReports(id)),
    },
    ...Object.fromEntries(
      GALLERY_ACTS.map(([verb, choice, isChosen]) => [
        `tasks/:id/${verb}`,
        {
          command: `gallery ${verb}`,
          back: toTask,
          run: async (_request: FormRequest, id: string) =>
            refusalOf(await operators.choosePanorama(id, choice, isChosen)),
        },
      ]),
    ),
  };
};

const withholdRefusal = (error: NotFound | InvalidRequest): string =>
  error.kind === "not_found" ? error.message : "Give a reason of 1 to 200 characters.";

const CREDITS_MAX = 1_000_000;

const adjustBy =
  ({ operators }: Parts): Act =>
  async ({ form }, id) => {
    const text = (form.get("credits") ?? "").trim().replace("−", "-");
    const amount = Number(text);
    const reason = parseAdjustmentReason(form.get("reason") ?? "");
    if (!/^[+-]?\d+$/.test(text) || amount === 0 || Math.abs(amount) > CREDITS_MAX) {
      return `Give a whole number of credits, at most ${CREDITS_MAX}.`;
    }
    if (reason.isErr()) return "Give a reason of 1 to 200 characters.";
    const adjusted = await operators.adjustCredits(id as AccountId, amount, reason.value);
    return adjusted.match(
      () => undefined,
      (error) =>
        error.kind === "insufficient_credits"
          ? `The account has only ${error.balance} credits.`
          : "There is no such account.",
    );
  };

const closeBy =
  ({ operators, operator: { store } }: Parts): Act =>
  async ({ form }, id) => {
    const summary = await store.account(id as AccountId);
    if (summary === undefined) return "There is no such account.";
    const confirmed = (form.get("confirm") ?? "").trim().toLowerCase();
    if (summary.closedAt === undefined && confirmed !== summary.account.email) {
      return "The e-mail address is not that of the account. Nothing was closed.";
    }
    const closed = await operators.closeAccount(id as AccountId);
    return closed.match(
      () => undefined,
      (error) =>
        error.kind === "not_found"
          ? error.message
          : `${error.activeTasks} of its tasks are in progress. Try again when they have ended.`,
    );
  };

const refusalOf = (result: {
  match<T>(done: () => T, refused: (error: { readonly message: string }) => T): T;
}): string | undefined =>
  result.match<string | undefined>(
    () => undefined,
    ({ message }) => message,
  );
