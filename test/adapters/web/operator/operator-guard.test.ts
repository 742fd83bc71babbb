import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { anOrderCheckout, aPendingOrder, noon } from "../../../../adapters/contracts/support/builders.js";
import { VISITOR_LIMITS } from "../../../../adapters/http/limits/visitor-limits.js";
import { MemoryOperatorStore } from "../../../../adapters/memory/stores/memory-operator-store.js";
import { nodeOneTimeCodes } from "../../../../adapters/system/one-time-codes.js";
import { StoreBusy } from "../../../../application/ports/stores/store-busy.js";
import { codeStepsAt, parseOperatorName } from "../../../../domain/accounts/operator.js";
import { parsePassword } from "../../../../domain/accounts/password.js";
import { credits } from "../../../../domain/credits/credits.js";
import { type AdjustmentReason, adjust } from "../../../../domain/credits/ledger.js";
import { orderId, pay } from "../../../../domain/credits/order.js";
import { PASSWORD, WebService } from "../../../support/web-service.js";

describe("the operator's pages without an operator", () => {
  let service: WebService;
  beforeAll(async () => {
    service = await WebService.start();
  });
  afterAll(() => service.end());

  const logIn = async (): Promise<string> => {
    const { email } = await service.person("ann");
    const body = new URLSearchParams({ email, password: PASSWORD });
    const headers = { origin: service.url };
    const login = await fetch(`${service.url}/login`, { method: "POST", headers, redirect: "manual", body });
    return login.headers.get("set-cookie")?.split(";")[0] ?? "";
  };

  it("are like pages that nobody has made, for visitors and for customers", async () => {
    for (const cookie of ["", await logIn()]) {
      const read = async (path: string) => {
        const response = await fetch(service.url + path, { headers: { cookie }, redirect: "manual" });
        return { status: response.status, text: await response.text() };
      };
      const unknown = await read("/nothing");
      expect(unknown.status).toBe(404);
      expect(unknown.text.includes("Log out")).toBe(cookie !== "");
      for (const path of ["/operator", "/operator/login", "/operator/accounts/acc_1", "/operator/tasks/pano_1"])
        expect(await read(path)).toEqual(unknown);
    }
  });

  it("take forms during a maintenance, as commands work then", () => {
    const forms = service.pages.filter(({ method, path }) => method === "POST" && path.startsWith("/operator"));
    expect(forms.length).toBeGreaterThan(5);
    expect(forms.filter(({ duringMaintenance }) => duringMaintenance !== true)).toEqual([]);
  });
});

describe("a form of the operator's pages", () => {
  let service: WebService;
  beforeAll(async () => {
    service = await WebService.start();
  });
  afterAll(() => service.end());

  const send = (path: string, fields: Readonly<Record<string, string>>, cookie = "") => {
    const [headers, body] = [{ origin: service.url, cookie }, new URLSearchParams(fields)];
    return fetch(service.url + path, { method: "POST", headers, redirect: "manual", body });
  };
  const logInOperator = async (text: string) => {
    const name = parseOperatorName(text)._unsafeUnwrap();
    const set = await service.operatorAccess.setPassword(name, parsePassword(PASSWORD)._unsafeUnwrap(), false);
    const [, step = 0] = codeStepsAt(service.clock.now());
    const code = nodeOneTimeCodes.codeAt(set._unsafeUnwrap().codeSecret ?? "", step);
    const login = await send("/operator/login", { name, password: PASSWORD, code });
    const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
    const page = await (await fetch(`${service.url}/operator`, { headers: { cookie } })).text();
    return { cookie, form_token: /name="form_token" value="([^"]+)"/.exec(page)?.[1] ?? "" };
  };

  it("and its pages are answered without the menu for customers after an error, and after too many requests", async () => {
    const { cookie } = await logInOperator("oda");
    const seen = async (response: Response) => {
      const text = await response.text();
      return {
        status: response.status,
        isOperators: text.includes("Go to the search"),
        isCustomers: text.includes("Log in"),
      };
    };
    const read = async (path: string) => seen(await fetch(service.url + path, { headers: { cookie } }));
    const find = vi.spyOn(service.operatorAccess, "find");
    onTestFinished(() => find.mockRestore());
    find.mockRejectedValueOnce(new Error("The database is away."));
    expect(await read("/operator?q=ann")).toEqual({ status: 500, isOperators: true, isCustomers: false });
    find.mockRejectedValueOnce(new StoreBusy("A lock was not free."));
    expect(await read("/operator")).toEqual({ status: 429, isOperators: true, isCustomers: false });

    const submit = (path: string) => fetch(service.url + path, { method: "POST", body: new URLSearchParams() });
    for (let form = 0; form < VISITOR_LIMITS.form; form += 1) await submit("/login");
    expect(await seen(await submit("/operator/login"))).toEqual({ status: 429, isOperators: true, isCustomers: false });
    expect(await seen(await submit("/login"))).toEqual({ status: 429, isOperators: false, isCustomers: true });
    await service.clock.advance(60_000);
  });

  it("records nothing about an id that nobody has", async () => {
    const { cookie, form_token } = await logInOperator("olga");
    const recorded = service.database.operatorActions.length;
    const paths = service.pages.flatMap(({ method, path }) =>
      method === "POST" && path.startsWith("/operator/") && path.includes(":id") ? [path] : [],
    );
    expect(paths.length).toBeGreaterThan(5);
    for (const path of paths) {
      for (const id of ["unknown", "x".repeat(6_000), "%00"]) {
        const response = await send(path.replace(":id", id), { form_token, credits: "1", reason: "r" }, cookie);
        expect({ path, id, status: response.status }).toEqual({ path, id, status: 404 });
      }
    }
    expect(service.database.operatorActions.length).toBe(recorded);

    const { id } = await service.person("ann");
    const fields = { form_token, credits: "1", reason: "r", id: "acc_of_others", confirm: "ANN@example.com" };
    const granted = await send(`/operator/accounts/${id}/credits`, fields, cookie);
    expect(granted.status).toBe(303);
    expect(service.database.operatorActions.length).toBe(recorded + 1);
    // Whose credits these are says the path, whatever else the form has.
    expect(service.database.operatorActions.at(-1)).toMatchObject({ command: "credits grant", outcome: "done" });
    expect(service.database.operatorActions.at(-1)?.arguments).toEqual({ id, credits: "1", reason: "r" });

    // A form that is sent twice gives once.
    const page = await (await fetch(`${service.url}/operator/accounts/${id}`, { headers: { cookie } })).text();
    const reference = /name="reference" value="([^"]+)"/.exec(page)?.[1] ?? "";
    const before = await service.ledger.balance(id);
    const again = (amount: string) =>
      send(`/operator/accounts/${id}/credits`, { form_token, credits: amount, reason: "r", reference }, cookie);
    expect([(await again("3")).status, (await again("3")).status]).toEqual([303, 303]);
    expect(service.database.operatorActions.at(-1)?.arguments).toEqual({ id, credits: "3", reason: "r", reference });
    const other = await again("4");
    expect([other.status, await other.text()]).toEqual([
      409,
      expect.stringContaining("This form was sent already, with 3 credits. Nothing more was given."),
    ]);
    expect(await service.ledger.balance(id)).toBe(before + 3);
  });

  it("tells what an account owes and what came back of its orders, which cannot be paid again", async () => {
    const { cookie } = await logInOperator("otto");
    const { id } = await service.person("bob", 10);
    const checkout = anOrderCheckout({ priceCents: 900 });
    const pending = aPendingOrder({ id: orderId("ord-bob"), accountId: id, credits: credits(100), checkout });
    await service.orders.insert(pending);
    await service.orders.pay(pay({ ...pending, paymentId: "pi_bob" }, service.clock.now())._unsafeUnwrap());
    const operators = new MemoryOperatorStore(service.database);
    const reason = "Spent" as AdjustmentReason;
    await operators.adjust(id, (funds) => adjust({ accountId: id, funds, change: -105, reason, at: noon }));
    const withdrawn = { cents: 900, at: noon, transfers: 1 };
    const dispute = { id: "dp_1", kind: "dispute", state: "open", stateAt: noon, withdrawn } as const;
    await service.orders.recordReturn("pi_bob", dispute, noon);
    const page = await (await fetch(`${service.url}/operator/accounts/${id}`, { headers: { cookie } })).text();
    expect(page).toContain("0 credits, 0 reserved, 0 spent. It owes 95 credits. 1 payment is disputed.");
    expect(page).toContain("Paid</span> payment disputed, 100 credits taken back");
    expect(page).not.toContain("Mark as paid");
  });
});
