import { type Brand, valueOrThrow } from "../ids.js";

/** The number of an entry in its ledger. Later entries have greater numbers. */
export type LedgerCursor = Brand<number, "LedgerCursor">;

/** Parses a cursor; `undefined` if the text has another form. */
export const parseLedgerCursor = (text: string): LedgerCursor | undefined =>
  /^[0-9]{1,15}$/.test(text) ? (Number(text) as LedgerCursor) : undefined;

/** Creates a cursor from an entry number of a store: an integer from 0 to 10^15 - 1. Throws otherwise. */
export const ledgerCursor = (entry: number): LedgerCursor =>
  valueOrThrow(
    parseLedgerCursor(String(entry)),
    String(entry),
    "a cursor of the ledger: an integer from 0 to 10^15 - 1",
  );

/** Start of a page: the newest entry that is older than `entry`. `balance`: the balance after that older entry. */
export type EntryPlace = { readonly entry: LedgerCursor; readonly balance: number };

/** Parses the text of `entryPlaceText`; `undefined` if the text has another form. */
export const parseEntryPlace = (text: string): EntryPlace | undefined => {
  const parts = /^([0-9]{1,15})\.([0-9]{1,15})$/.exec(text);
  return parts === null ? undefined : { entry: ledgerCursor(Number(parts[1])), balance: Number(parts[2]) };
};

/** The text `<entry>.<balance>`. The balance saves each page the sum over newer entries. */
export const entryPlaceText = ({ entry, balance }: EntryPlace): string => `${entry}.${balance}`;
