import { readFile } from "node:fs/promises";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { logInAs, openWorksOf, setUpBrowser, type Tab } from "../../support/browser.js";
import { PASSWORD, type WebService } from "../../support/web-service.js";

describe("the account page", () => {
  const on = setUpBrowser();
  let service: WebService;
  let tab: Tab;
  let people = 0;

  beforeAll(() => {
    ({ service } = on);
  });
  beforeEach(async () => {
    await service.clock.advance(60_000); // attempts of the previous test no longer count
    people += 1;
    tab = await on.openTab();
  });

  const readCredits = (key: string) =>
    fetch(`${service.url}/api/v1/credits`, { headers: { authorization: `Bearer ${key}` } });

  it("lets a new customer order credits and create an API key, which works until it is revoked", async () => {
    const { page } = tab;
    await page.goto("/signup");
    await page.getByLabel("E-mail address").fill("New.Customer@example.com");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign up" }).click();
    await page.waitForURL("**/works"); // logged in

    await page.goto("/account/keys");
    expect(await page.getByRole("button", { name: "Create key" }).count()).toBe(0);
    await page.getByRole("link", { name: "Credits", exact: true }).click();
    await page.getByRole("radio", { name: /500 credits/ }).check();
    await page.getByRole("button", { name: "Order" }).click();
    await page.getByRole("heading", { name: "How to pay" }).waitFor();
    expect(await page.getByRole("main").textContent()).toContain("Name the number of the order with your payment.");
    await page.getByRole("button", { name: "Cancel the order" }).click();
    await page.getByText("The order is canceled.").waitFor();
    expect(await page.getByRole("region", { name: "Orders" }).textContent()).toContain("No orders yet.");
    await page.getByRole("radio", { name: /500 credits/ }).check();
    await page.getByRole("button", { name: "Order" }).click();
    await page.getByRole("link", { name: "Account" }).last().click();
    expect(await page.getByRole("region", { name: "Orders" }).textContent()).toContain("Waiting for payment");
    await service.payEveryOrder(); // the operator does this

    await page.goto("/account");
    expect(await page.getByRole("region", { name: "Credits", exact: true }).textContent()).toContain("500");
    expect(await page.getByRole("region", { name: "Activity" }).textContent()).toContain("+500");
    const places = page.getByRole("navigation", { name: "Account" });
    await places.getByRole("link", { name: "Keys and usage" }).click();
    await page.waitForURL("**/account/keys");
    expect(await places.locator("[aria-current=page]").allTextContents()).toEqual(["Keys and usage"]);
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Keys and usage");
    await page.getByLabel("Name of the new key").fill("my <b>laptop</b>");
    await page.getByText("Limits of the new key").click();
    await page.getByLabel("create and upload").uncheck();
    await page.getByLabel("Expires (UTC)").fill("2030-01-31T10:30");
    await page.getByLabel("Credits per month").fill("100");
    await page.getByRole("button", { name: "Create key" }).click();
    const secret = (await page.locator("#secret").textContent()) ?? "";
    await page.reload();
    expect(await page.locator("#secret").count()).toBe(0);
    expect(await page.getByRole("region", { name: "API keys" }).getByRole("listitem").count()).toBe(1);
    expect(page.url()).toBe(`${service.url}/account/keys#new-key`);
    expect(secret).toMatch(/^sk-[\w-]{43}$/);
    expect(await (await readCredits(secret)).json()).toEqual({
      remaining_credits: 500,
      reserved_credits: 0,
      spent_credits: 0,
    });

    await page.goto("/account/keys");
    const keys = (await page.getByRole("region", { name: "API keys" }).textContent()) ?? "";
    for (const shown of ["may only read", "0 of 100 this month", "31 Jan 2030, 10:30 UTC"])
      expect(keys).toContain(shown);
    expect(await page.content()).not.toContain(secret);
    await page.getByText("Revoke", { exact: true }).click();
    await page.getByRole("button", { name: "Revoke now: my <b>laptop</b>" }).click();
    await expect
      .poll(() => page.getByRole("region", { name: "API keys" }).textContent())
      .toContain("You have no API keys.");
    expect((await readCredits(secret)).status).toBe(401);
  });

  it("lets a member change password and address, look at the data, and delete the account, with the keyboard", async () => {
    const ann = await service.person(`walker-${people}`, 20_860);
    tab = await on.openTab({ timezoneId: "America/New_York" });
    const { page } = tab;
    await logInAs(tab, ann);
    await page.goto("/account");
    expect(await page.locator(".figure").textContent()).toBe("20,860");
    // The time of the purchase, in the reader's zone.
    expect(await page.getByRole("region", { name: "Activity" }).locator("time").textContent()).toMatch(/ GMT-[45]$/);
    expect(await page.getByRole("navigation", { name: "Main" }).locator("[aria-current]").textContent()).toBe(
      "Account",
    );
    await page.getByRole("link", { name: "Settings" }).click();

    const password = page.getByRole("region", { name: "Password" });
    await password.getByLabel("Current password").focus();
    for (const text of [PASSWORD, "another long password"]) {
      await page.keyboard.type(text);
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await page.getByRole("status").filter({ hasText: "Your password is changed." }).waitFor();

    const address = page.getByRole("region", { name: "E-mail address" });
    await address.getByLabel("New e-mail address").fill("Walker@New.example.com");
    await address.getByLabel("Current password").fill("wrong");
    await address.getByRole("button", { name: "Change the address" }).click();
    await page.getByRole("alert").filter({ hasText: "The current password is wrong." }).waitFor();
    expect(await address.getByLabel("New e-mail address").inputValue()).toBe("Walker@New.example.com");
    await address.getByLabel("Current password").fill("another long password");
    await page.keyboard.press("Enter");
    await page.getByRole("status").filter({ hasText: "ask the operator for the link" }).waitFor();
    await page.goto(`/account/email?token=${service.mail.letters.at(-1)?.token}`);
    await page.getByRole("button", { name: "Change it" }).click();
    await page.getByText("You log in with walker@new.example.com").waitFor();

    const downloads = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download my data" }).click();
    const download = await downloads;
    expect(download.suggestedFilename()).toBe("panorama-account.jsonl");
    const [first = ""] = (await readFile(await download.path(), "utf8")).split("\n");
    expect(JSON.parse(first)).toMatchObject({ type: "account", email: "walker@new.example.com" });

    const end = page.getByRole("region", { name: "Delete the account" });
    expect(await end.textContent()).toContain("Your 20,860 credits are lost.");
    await end.getByText("Delete my account", { exact: true }).press("Enter");
    await end.getByLabel("Current password").fill("another long password");
    await end.getByRole("button", { name: "Delete my account for good" }).click();
    await page.getByRole("status").filter({ hasText: "Your account is deleted" }).waitFor();
    await page.goto("/account");
    expect(new URL(page.url()).pathname).toBe("/login");
    expect((await readCredits(ann.key)).status).toBe(401);
  });

  it("does not open with the cookie of a session that was logged out", async () => {
    const { page } = tab;
    await openWorksOf(tab, await service.person(`ann-${people}`));
    const cookies = await page.context().cookies();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.waitForURL(`${service.url}/`);
    await page.context().addCookies(cookies);
    await page.goto("/account");
    expect(new URL(page.url()).pathname).toBe("/login");
  });
});
