import { afterEach, describe, expect, it, vi } from "vitest";
import { accountId } from "../../../../adapters/contracts/support/builders.js";
import { AccountWrites } from "../../../../adapters/persistence/tasks/account-writes.js";
import { StoreBusy } from "../../../../application/ports/stores/store-errors.js";

describe("AccountWrites", () => {
  afterEach(() => void vi.useRealTimers());

  const gate = () => {
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    return { opened, open };
  };

  it("runs the work of one account in order, and accounts concurrently", async () => {
    const writes = new AccountWrites();
    const first = gate();
    const log: string[] = [];
    const work = (name: string) => async (waited: boolean) => {
      log.push(`${name} ${waited ? "has waited" : "at once"}`);
      if (name === "a1") await first.opened;
      return name;
    };
    const all = [
      writes.inOrder(accountId(1), work("a1")),
      writes.inOrder(accountId(1), work("a2")),
      writes.inOrder(accountId(1), work("a3")),
      writes.inOrder(accountId(2), work("b1")),
    ];
    expect(await all[3]).toBe("b1");
    expect(log).toEqual(["a1 at once", "b1 at once"]);
    first.open();
    expect(await Promise.all(all)).toEqual(["a1", "a2", "a3", "b1"]);
    expect(log.slice(2)).toEqual(["a2 has waited", "a3 has waited"]);
    await writes.inOrder(accountId(1), work("a4"));
    expect(log.at(-1)).toBe("a4 at once");
  });

  it("continues after failed work", async () => {
    const writes = new AccountWrites();
    const failing = writes.inOrder(accountId(1), () => Promise.reject(new Error("the first fails")));
    const next = writes.inOrder(accountId(1), async () => "next");
    await expect(failing).rejects.toThrow("the first fails");
    expect(await next).toBe("next");
  });

  it("does not run work that has waited for more than three seconds", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const writes = new AccountWrites();
    const first = gate();
    const held = writes.inOrder(accountId(1), () => first.opened);
    const late = vi.fn(async () => {});
    const refused = writes.inOrder(accountId(1), late).catch((error: unknown) => error);
    vi.advanceTimersByTime(3_001);
    const next = writes.inOrder(accountId(1), async () => "next");
    first.open();
    await held;
    expect(await refused).toBeInstanceOf(StoreBusy);
    expect(late).not.toHaveBeenCalled();
    expect(await next).toBe("next");
  });
});
