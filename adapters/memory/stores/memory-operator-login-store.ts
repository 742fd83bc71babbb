import type { OperatorLoginStore } from "../../../application/ports/stores/operator-login-store.js";
import type { OperatorLogin, OperatorName, OperatorSession } from "../../../domain/accounts/operator.js";

/** Logins of operators in memory. Every method runs without an `await`, so it is atomic. */
export class MemoryOperatorLoginStore implements OperatorLoginStore {
  private readonly logins = new Map<OperatorName, OperatorLogin & { codeStep: number }>();
  private readonly sessions = new Map<string, OperatorSession>();

  async hasAny(): Promise<boolean> {
    return this.logins.size > 0;
  }

  async find(name: OperatorName): Promise<OperatorLogin | undefined> {
    return withoutStep(this.logins.get(name));
  }

  async list(): Promise<OperatorLogin[]> {
    return [...this.logins.values()]
      .flatMap((login) => withoutStep(login) ?? [])
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async put(login: OperatorLogin): Promise<void> {
    const known = this.logins.get(login.name);
    await this.remove(login.name);
    const codeStep = known?.codeSecret === login.codeSecret ? known.codeStep : 0;
    this.logins.set(login.name, { ...login, codeStep });
  }

  async remove(name: OperatorName): Promise<boolean> {
    for (const [token, { operator }] of this.sessions) if (operator === name) this.sessions.delete(token);
    return this.logins.delete(name);
  }

  async useCode(name: OperatorName, step: number): Promise<boolean> {
    const login = this.logins.get(name);
    if (login === undefined || login.codeStep >= step) return false;
    login.codeStep = step;
    return true;
  }

  async insertSession(session: OperatorSession, passwordHash: string): Promise<boolean> {
    if (this.logins.get(session.operator)?.passwordHash !== passwordHash) return false;
    this.sessions.set(session.tokenSha256, session);
    return true;
  }

  async findSession(tokenSha256: string): Promise<OperatorSession | undefined> {
    return this.sessions.get(tokenSha256);
  }

  async deleteSession(tokenSha256: string): Promise<void> {
    this.sessions.delete(tokenSha256);
  }

  async deleteExpiredSessions(now: Date): Promise<void> {
    for (const [token, { expiresAt }] of this.sessions) if (expiresAt <= now) this.sessions.delete(token);
  }
}

const withoutStep = (stored: (OperatorLogin & { codeStep: number }) | undefined): OperatorLogin | undefined => {
  if (stored === undefined) return undefined;
  const { codeStep: _, ...login } = stored;
  return login;
};
