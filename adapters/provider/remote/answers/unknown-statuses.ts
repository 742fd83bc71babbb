const SHOWN_CHARACTERS_MAX = 40;

/** Tells the operator about words of a provider that its documentation does not have, each once. */
export class UnknownStatuses {
  private readonly told = new Set<string>();
  private readonly warn: (message: string) => void;

  constructor(warn: (message: string) => void) {
    this.warn = warn;
  }

  warnOnce(provider: string, status: string): void {
    const shown = JSON.stringify(status.slice(0, SHOWN_CHARACTERS_MAX));
    if (this.told.has(shown)) return;
    this.told.add(shown);
    this.warn(`${provider} has an unknown status, ${shown}; its tasks count as running.`);
  }
}
