import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PROMPT_CHARACTERS_MAX } from "../../../domain/tasks/creation-request.js";
import {
  indexedWords,
  isFoundBy,
  normalizedText,
  SEARCH_CHARACTERS_MAX,
  SEARCHED_CHARACTERS_MAX,
  searchWords,
} from "../../../domain/tasks/prompt-search.js";

const finds = (search: string, prompt: string): boolean => isFoundBy(searchWords(search), prompt);

const letters = fc.constantFrom("a", "b", "é", "Ö", "ß", "й", "Σ", "ש", "ك", "한", "क", "7");
const word = fc.string({ unit: letters, minLength: 1, maxLength: 6 });
const space = fc.constantFrom(" ", ", ", "\n", "… ", " — ", "/");
/** The words with something between them. */
const textOf = fc.array(fc.tuple(word, space), { minLength: 1, maxLength: 8 });

describe("a search in prompts", () => {
  it("finds a prompt by the beginnings of its words, in any order, case and form, and with other accents", () => {
    const written = fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => text.toUpperCase(),
      (text) => text.toLowerCase(),
      (text) => text.normalize("NFC"),
      (text) => text.normalize("NFD"),
      (text) => text.replace(/\p{L}/gu, "$&\u0301"),
    );
    const prompted = textOf.chain((prompt) =>
      fc.tuple(
        fc.constant(prompt.flat().join("")),
        fc.array(fc.tuple(fc.constantFrom(...prompt.map(([one]) => one)), fc.nat(), written), {
          minLength: 1,
          maxLength: 4,
        }),
      ),
    );
    fc.assert(
      fc.property(prompted, ([prompt, chosen]) => {
        const search = chosen
          .map(([one, length, write]) => write([...one].slice(0, 1 + (length % [...one].length)).join("")))
          .join(" ");
        expect(finds(search, prompt)).toBe(true);
      }),
    );
  });

  it("finds no prompt without a word that begins with each word of the search", () => {
    const ascii = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        fc.array(ascii, { maxLength: 6 }),
        fc.array(ascii, { minLength: 1, maxLength: 3 }),
        (prompt, search) => {
          const expected = search.every((wanted) => prompt.some((one) => one.startsWith(wanted)));
          expect(finds(search.join(" "), prompt.join(", "))).toBe(expected);
        },
      ),
    );
  });

  it("accepts any text; an additional word never adds results", () => {
    const codePoint = fc.oneof(fc.nat(0xff), fc.nat(0xffff), fc.nat(0x10ffff));
    const any = fc.array(codePoint, { maxLength: 150 }).map((points) => String.fromCodePoint(...points));
    fc.assert(
      fc.property(any, any, any, (prompt, search, more) => {
        const words = searchWords(search);
        expect(isFoundBy(words, search) || [...search].length > SEARCH_CHARACTERS_MAX).toBe(true);
        expect(isFoundBy([...words, ...searchWords(more)], prompt) && !isFoundBy(words, prompt)).toBe(false);
      }),
    );
  });

  it.each([
    ["ÖDE straße", "Eine öde STRASSE", true],
    ["strasse", "Straße", true],
    ["strasse", "STRAẞE", true],
    ["οδοσ", "ΟΔΟΣ", true],
    ["istanbul", "İSTANBUL", true],
    ["ﬁre", "a fire", true],
    ["שלום", "שָׁלוֹם", true],
    ["ещё", "еще", true],
    ["ake", "a lake", false],
    ["lake boat", "a lake", false],
    ["bedroom", "bed room", false],
    ["タワー", "夜の東京タワー", true],
    ["東京城", "夜の東京タワー", false],
    ["कि", "कु", false],
    ["🌊", "waves🌊", true],
    ["❤\uFE0F", "❤", true],
    ["soft\u00ADly", "softly", true],
    ["don't", "don’t", true],
  ])("%j finds %j: %s", (search, prompt, found) => {
    expect(finds(search, prompt)).toBe(found);
  });

  it.each(["", " ", "?!", "\u200B", "\u0301", "—…"])("finds no words in %j", (search) => {
    expect(searchWords(search)).toEqual([]);
  });

  it("counts the first 100 characters of a search", () => {
    expect(searchWords(`${"a".repeat(99)} bc`)).toEqual(["A".repeat(99)]);
    expect(searchWords(`${" ".repeat(99)}bc`)).toEqual(["B"]);
  });

  it("counts the first twelve words of a search", () => {
    expect(searchWords("a b c d e f g h i j k l m n").join("")).toBe("ABCDEFGHIJKL");
  });

  it("leaves out words that another word begins with", () => {
    expect(searchWords("lake la lakes snow la")).toEqual(["LAKES", "SNOW"]);
  });

  it.each([
    [" lake, lake!", ["LAKE"]],
    ["a".repeat(101), ["A".repeat(100)]],
    ["東京タワー lakes夜", ["東京タワ", "京タワー", "タワー", "ワー", "LAKES夜", "夜"]],
  ])("indexes %j as %j", (prompt, words) => {
    expect(indexedWords(prompt)).toEqual(words);
  });

  it("compares words of scripts without spaces in pieces of four characters", () => {
    expect(searchWords("東京タワー 夜の")).toEqual(["東京タワ", "京タワー", "夜の"]);
    expect(searchWords("夜の東京タワ夜の東")).toEqual(["夜の東京", "タワ夜の", "ワ夜の東"]);
    expect(searchWords("夜lakes")).toEqual(["夜LAK"]);
    expect(finds("東京タワー", "夜の東京タワー")).toBe(true);
    expect(finds("東京タワー", "東京タワと京タワー")).toBe(true); // the price of short pieces
    expect(finds("東京タワー", "東京 タワー")).toBe(false);
  });

  it("normalizedText respects max and is idempotent", () => {
    const codePoint = fc.oneof(fc.nat(0xff), fc.nat(0xffff), fc.nat(0x10ffff), fc.constantFrom(0xfdfa, 0x390, 0xdf));
    const any = fc.array(codePoint, { maxLength: 300 }).map((points) => String.fromCodePoint(...points));
    fc.assert(
      fc.property(any, fc.integer({ min: 1, max: 200 }), (text, max) => {
        const normalized = normalizedText(text, max);
        expect([...normalized].length).toBeLessThanOrEqual(max);
        expect(normalizedText(normalized, max)).toBe(normalized);
      }),
    );
    expect(normalizedText("ß lake", 3)).toBe("SS");
    expect(normalizedText("\uFDFA", 5)).toBe("صلى ا");
  });

  it("indexes any prompt with at most five times as many characters as a prompt may have", () => {
    const unit = fc.constantFrom("\uFDFA", "東", "a", " ", "🌊", "\u0301", "ΐ", "夜 ", "x東");
    fc.assert(
      fc.property(fc.string({ unit, minLength: 1, maxLength: 40 }), (text) => {
        const words = indexedWords(text.repeat(Math.ceil(5_000 / text.length)));
        const characters = words.reduce((sum, word) => sum + [...word].length, 0);
        expect(characters).toBeLessThanOrEqual(5 * SEARCHED_CHARACTERS_MAX);
        expect(new Set(words).size).toBe(words.length);
      }),
      { numRuns: 50 },
    );
  });

  it("reads all characters that the prompt of a creation may have", () => {
    expect(SEARCHED_CHARACTERS_MAX).toBe(PROMPT_CHARACTERS_MAX);
  });
});
