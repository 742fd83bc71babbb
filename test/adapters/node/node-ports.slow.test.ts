import { DatabaseSync } from "@photostructure/sqlite";
import { ok } from "neverthrow";
import { Pool } from "pg";
import { afterEach, describe, expect, it, vi } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/support/builders.js";
import { MemoryObjectStorage } from "../../../adapters/memory/memory-object-storage.js";
import { ScriptedProvider } from "../../../adapters/memory/scripted-provider.js";
import { type NodePorts, nodePorts } from "../../../adapters/node/node-ports.js";
import { createApplication } from "../../../application/create-application.js";
import { email } from "../../../domain/accounts/account.js";
import { credits } from "../../../domain/credits/credits.js";
import { freshDatabase } from "../../support/postgres.js";
import { plain, seamless } from "../../support/test-images.js";

/** Databases of an embedder. */
const DATABASES = {
  PostgreSQL: async () => {
    const pool = new Pool({ connectionString: await freshDatabase(), max: 4 });
    return { options: { pool, schema: "panorama" }, end: () => pool.end() };
  },
  SQLite: async () => {
    const sqlite = new DatabaseSync(":memory:");
    return { options: { sqlite, prefix: "panorama_" }, end: async () => sqlite.close() };
  },
};

describe.each(["PostgreSQL", "SQLite"] as const)("nodePorts on %s", (technology) => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  const opened = async () => {
    const { options, end } = await DATABASES[technology]();
    closing.push(end);
    return async (): Promise<NodePorts & { provider: ScriptedProvider }> => {
      const provider = new ScriptedProvider();
      const bytes = await seamless({ widthPixels: 512, heightPixels: 256 }).jpeg().toBuffer();
      provider.download = async () => ok({ bytes, thumbnail: "possible" });
      const ports = await nodePorts({ ...options, provider, storage: new MemoryObjectStorage() });
      closing.push(() => ports.close());
      return { ...ports, provider };
    };
  };

  it("make an application that remembers accounts, passwords, credits and panoramas", async () => {
    const open = await opened();
    const first = createApplication({ ports: await open() });
    await first.start();
    const customer = { email: email("ann@example.com"), password: "correct horse battery", credits: credits(10) };
    const { account } = (await first.accounts.open(customer))._unsafeUnwrap();
    const { task } = (await first.panoramas.create(account.id, aCreationRequest()))._unsafeUnwrap();
    const done = await first.panoramas.waitFor(task.id, account.id, 60_000, new AbortController().signal);
    expect(done._unsafeUnwrap().state).toBe("succeeded");
    await first.stop();

    const second = createApplication({ ports: await open() });
    const login = { ...customer, remoteAddress: "192.0.2.1" };
    const session = (await second.accounts.logIn(login))._unsafeUnwrap();
    expect((await second.accounts.findSession(session))?.account).toEqual(account);
    expect((await second.accounts.logIn({ ...login, password: "wrong horse battery" })).isErr()).toBe(true);
    expect((await second.panoramas.read(task.id, account.id))._unsafeUnwrap().state).toBe("succeeded");
    expect(await second.credits.verifyLedger()).toEqual({ accounts: 1, findings: [] });
    expect(await second.credits.readBalance(account.id)).toBe(10 - task.reservation.credits);
  });

  it("write why a task has failed to standard error, and not that it was canceled", async () => {
    const written = vi.spyOn(console, "error").mockImplementation(() => {});
    const ports = await (await opened())();
    const flat = await plain({ widthPixels: 512, heightPixels: 256 }).jpeg().toBuffer();
    ports.provider.download = async () => ok({ bytes: flat, thumbnail: "possible" });
    const application = createApplication({ ports });
    await application.start();
    const customer = { email: email("ann@example.com"), credits: credits(10) };
    const { account } = (await application.accounts.open(customer))._unsafeUnwrap();
    const { task } = (await application.panoramas.create(account.id, aCreationRequest()))._unsafeUnwrap();
    const done = await application.panoramas.waitFor(task.id, account.id, 60_000, new AbortController().signal);
    expect(done._unsafeUnwrap().state).toBe("failed");
    await application.stop();
    for (const reason of ["canceled", "content_refused"] as const) {
      ports.reporter.report({ kind: "task_failed", taskId: task.id, provider: "own", reason, detail: "why" });
    }
    for (const status of ["saved", "expired"] as const) {
      ports.reporter.report({ kind: "image_status", taskId: task.id, status, detail: "why" });
    }
    const flaw = "the result is unusable: it is a single flat colour";
    expect(written.mock.calls.map(([line]) => JSON.parse(line))).toEqual([
      { event: "task_failed", taskId: task.id, provider: "scripted", reason: "unusable_result", detail: flaw },
      { event: "task_failed", taskId: task.id, provider: "own", reason: "content_refused", detail: "why" },
      { event: "image_status", taskId: task.id, status: "expired", detail: "why" },
    ]);
    written.mockRestore();
  });

  it("send webhooks to public addresses only, and report a missing mail server", async () => {
    const written = vi.spyOn(console, "error").mockImplementation(() => {});
    const { ids, mail, webhookSender, clock } = await (await opened())();
    const secrets = [ids.endpointSecret()];
    for (const url of ["http://example.com/", "https://127.0.0.1/", "https://169.254.169.254/"]) {
      const sent = await webhookSender.send({ url, id: "evt_1", body: "{}", secrets, at: clock.now() });
      expect(sent).toMatchObject({ kind: "failed" });
    }
    await mail.post({ kind: "new_password", to: email("ann@example.com"), token: ids.passwordLinkToken() });
    expect(written.mock.calls).toEqual([
      ['{"event":"mail_failed","detail":"There is no mail server (option smtp) for an e-mail new_password."}'],
    ]);
    written.mockRestore();
  });
});
