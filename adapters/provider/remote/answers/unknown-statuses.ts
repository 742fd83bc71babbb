const SHOWN_CHARACTERS_MAX = 40;

/** Warns the operator of each status that the provider does not document, once per status. */
export class UnknownStatuses {
  private readonly warned = new Set<string>();
  private readonly warn: (message: string) => void;

  constructor(warn: (message: string) => void) {
    this.warn = warn;
  }

  warnOnce(provider: string, status: string): void {
    const shown = JSON.stringify(status.slice(0, SHOWN_CHARACTERS_MAX));
    if (this.warned.has(shown)) return;
    this.warned.add(shown);
    this.warn(`${provider} has an unknown status, ${shown}; its tasks count as running.`);
  }
}
