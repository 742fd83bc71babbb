/** What becomes of a call: it is done; or the connection is lost before it was done, or after, before its answer came. */
export type Fate = "done" | "lost_before" | "lost_after";

/** Thrown by a call whose connection is lost: a use case cannot know whether it was done. */
export class ConnectionLost extends Error {}

type Waiting = { readonly losable: boolean; readonly go: (fate: Fate) => Promise<void> };

/** What a port answers without waiting for anything. */
const INSTANT: ReadonlySet<string | symbol> = new Set(["canMake", "readiness", "nextPollMilliseconds"]);

/**
 * Halts every call of the ports that are behind it until the test lets it go on: so a test decides how the steps of
 * concurrent use cases interleave, at every point at which they wait. A use case whose calls are never let go on again
 * is as dead as one whose process was killed.
 */
export class PortGates {
  private waiting: Waiting[] = [];

  get halted(): number {
    return this.waiting.length;
  }

  /** The same port, behind the gates. Only calls of a `losable` port, a database say, can lose their connection. */
  guard<Port extends object>(port: Port, { losable }: { readonly losable: boolean }): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        if (INSTANT.has(name)) return member.bind(target);
        return (...args: unknown[]) => this.halt(losable, () => member.apply(target, args));
      },
    });
  }

  /** Lets one halted call go on; resolves when it has ended, and what follows it has come to its next halt. */
  async letGo(index: number, fate: Fate = "done"): Promise<void> {
    const [waiting] = this.waiting.splice(index % Math.max(1, this.waiting.length), 1);
    await waiting?.go(waiting.losable ? fate : "done");
    await settled();
  }

  /** Lets all calls that are halted now go on at once. */
  async letAllGo(): Promise<void> {
    await Promise.all(this.waiting.splice(0).map(({ go }) => go("done")));
    await settled();
  }

  /** The process is killed: what is halted never goes on. */
  kill(): void {
    this.waiting = [];
  }

  private halt<T>(losable: boolean, call: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const go = async (fate: Fate): Promise<void> => {
        try {
          if (fate === "lost_before") throw new ConnectionLost();
          const answer = await call();
          if (fate === "lost_after") throw new ConnectionLost();
          resolve(answer);
        } catch (error) {
          reject(error);
        }
      };
      this.waiting.push({ losable, go });
    });
  }
}

/** Every promise that waits for nothing but other promises has gone on. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
