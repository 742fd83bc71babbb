import type { Visitor } from "../../../application/accounts/sessions.js";
import type { UseCases } from "../../../application/create-application.js";
import { parseTaskId, type TaskId } from "../../../domain/ids.js";
import type { Task } from "../../../domain/tasks/task.js";
import type { Page, PageBody, PageReply } from "../../web-page/page.js";
import { suspendedSentence } from "../../wording/sentences.js";
import { type Html, html } from "../html.js";
import { hiddenToken, type Layout } from "../layout.js";
import { redirect } from "../paths.js";
import type { MemberFormOptions, SessionGuard } from "../session-guard.js";
import { hasPermanentImage, titleOf } from "./panorama-card.js";
import { SELECTION_FORM } from "./work-card.js";

type Parts = {
  readonly panoramas: UseCases["panoramas"];
  readonly guard: SessionGuard;
  readonly layout: Layout;
};

/** Maximum number of panoramas in one form: four pages of the list. */
const SELECTED_MAX = 96;

const PATH = "/works/selected";

/** `POST /works/selected`: publishes or deletes several panoramas. A separate page asks before deleting. */
export const selectedWorks = (parts: Parts, options: MemberFormOptions): Page => ({
  method: "POST",
  path: PATH,
  body: "fields",
  handle: parts.guard.memberForm(async ({ form }, visitor) => {
    const tasks = await ownTasks(parts, form, visitor);
    if (tasks.length === 0) return redirect("/works");
    const isDeletion = form.get("act") === "delete";
    if (isDeletion && form.get("sure") !== "1") return confirmPage(parts, tasks, visitor);
    const refusal = isDeletion ? undefined : refuseSuspended(parts.layout, visitor);
    if (refusal !== undefined) return refusal;
    let done = 0;
    // One after the other: each is a transaction of the same account.
    for (const task of tasks) done += (await (isDeletion ? remove : publish)(parts, task, visitor)) ? 1 : 0;
    const query = new URLSearchParams({
      done: isDeletion ? "deleted" : "published",
      count: String(done),
      left: String(tasks.length - done),
    });
    return redirect(`/works?${query}`);
  }, options),
});

async function ownTasks({ panoramas }: Parts, form: PageBody["form"], visitor: Visitor): Promise<readonly Task[]> {
  const ids = new Set<TaskId>();
  for (const text of form.getAll("id").slice(0, SELECTED_MAX)) {
    const id = parseTaskId(text);
    if (id !== undefined) ids.add(id);
  }
  const found: Task[] = [];
  for (const id of ids) {
    const task = await panoramas.read(id, visitor.account.id);
    if (task.isOk()) found.push(task.value);
  }
  return found;
}

type Act = (parts: Parts, task: Task, visitor: Visitor) => Promise<boolean>;

/** Already public panoramas count as published. */
const publish: Act = async ({ panoramas }, task, { account }) =>
  hasPermanentImage(task) && (await panoramas.changeVisibility(task.id, account.id, "public")).isOk();

const remove: Act = async ({ panoramas }, task, { account }) =>
  (await panoramas.delete(task.id, account.id, "page")).isOk();

function confirmPage({ layout }: Parts, tasks: readonly Task[], visitor: Visitor): PageReply {
  const what = panoramas(tasks.length);
  const main = html`<div class="narrow"><h1>Delete ${what}?</h1>
<p class="lead">This can’t be undone. Used credits aren’t returned.</p>
<form method="post" action="${PATH}" class="panel">${hiddenToken(visitor.formToken)}<input type="hidden" name="act" value="delete"><input type="hidden" name="sure" value="1">
<ul class="chosen">${tasks.map((task) => html`<li dir="auto"><input type="hidden" name="id" value="${task.id}">${titleOf(task)}</li>`)}</ul>
<button class="button danger">Delete permanently</button><a class="button quiet" href="/works">${tasks.length === 1 ? "Keep it" : "Keep them"}</a></form></div>`;
  return layout.reply(200, { title: `Delete ${what}?`, main, visitor, frame: "gate", styles: ["works.css"] });
}

const panoramas = (number: number): string => (number === 1 ? "1 panorama" : `${number} panoramas`);

/** The buttons below the list. With the script, they appear with the first selected panorama. */
export const selectionForm = ({ formToken }: Visitor): Html => html`
<form method="post" action="${PATH}" class="raised cluster selection" id="${SELECTION_FORM}">${hiddenToken(formToken)}
<p id="selected" role="status">Selected panoramas:</p>
<button type="button" class="button quiet small" id="download-selected" hidden>Download</button>
<button class="button quiet small" name="act" value="publish">Publish</button>
<button class="button danger small" name="act" value="delete">Delete</button>
<button type="reset" class="link">Clear</button></form>`;

/** Result message of the last bulk action, read from the query of its redirect. */
export function doneSentence(query: URLSearchParams): string | undefined {
  const [count, left] = ["count", "left"].map((name) => Number(query.get(name)));
  const done = query.get("done");
  if ((done !== "deleted" && done !== "published") || !isCount(count) || !isCount(left)) return undefined;
  if (done === "deleted") {
    const deleted = `${panoramas(count)} deleted.`;
    return left === 0
      ? deleted
      : `${deleted} ${left} could not be deleted. Panoramas in progress can be deleted when they are finished.`;
  }
  const published = `${panoramas(count)} published.`;
  return left === 0
    ? published
    : `${published} ${left} could not be published, because there is no picture to show, or the operator has hidden it.`;
}

const isCount = (value: number | undefined): value is number =>
  value !== undefined && Number.isInteger(value) && value >= 0 && value <= SELECTED_MAX;

/** Refuses creating and publishing for a suspended account. Its other pages work. */
export function refuseSuspended(layout: Layout, visitor: Visitor): PageReply | undefined {
  const { suspension } = visitor.account;
  if (suspension === undefined) return undefined;
  const sentence = suspendedSentence(suspension);
  return layout.message(403, { title: "Account suspended", sentence }, visitor);
}
