type Listener = () => void;

/**
 * What the application uses of AbortSignal. That of Node.js makes an exception and an event for each abort, which takes
 * most of the time of a run.
 */
class LightSignal {
  aborted = false;
  private listeners: Listener[] | undefined;

  addEventListener(_: "abort", listener: Listener): void {
    this.listeners ??= [];
    this.listeners.push(listener);
  }

  removeEventListener(_: "abort", listener: Listener): void {
    this.listeners = this.listeners?.filter((one) => one !== listener);
  }

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    const { listeners = [] } = this;
    this.listeners = undefined;
    for (const listener of listeners) listener();
  }

  static any(signals: readonly LightSignal[]): LightSignal {
    const any = new LightSignal();
    for (const signal of signals) {
      if (signal.aborted) any.abort();
      else signal.addEventListener("abort", () => any.abort());
    }
    return any;
  }
}

class LightController {
  readonly signal = new LightSignal();

  abort(): void {
    this.signal.abort();
  }
}

/**
 * Replaces what reads the real time or chance besides the ports, until the returned function is called. `after` is a
 * timer in virtual time.
 */
export const replaceGlobals = (
  random: () => number,
  after: (milliseconds: number, run: () => void) => void,
): (() => void) => {
  const real = { AbortController, AbortSignal };
  const realRandom = Math.random;
  const timeout = (milliseconds: number): LightSignal => {
    const signal = new LightSignal();
    after(milliseconds, () => signal.abort());
    return signal;
  };
  Math.random = random;
  Object.assign(globalThis, {
    AbortController: LightController,
    AbortSignal: { any: LightSignal.any, timeout },
  });
  return () => {
    Math.random = realRandom;
    Object.assign(globalThis, real);
  };
};
