import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import type { Finding } from "../../../bootstrap/doctor/finding.js";
import { environmentFile, readEnvironmentFile, unwritable } from "../../../bootstrap/init/environment-file.js";
import { terminalAnswers } from "../../../bootstrap/init/terminal-answers.js";

const refused: Finding = { name: "database", status: "failed", kind: "unreachable", message: "No." };

/** Answers questions by the variable that they name; each has a queue of answers, and then the empty answer. */
const person = (answers: Readonly<Record<string, readonly string[]>>) => {
  const left = new Map(Object.entries(answers).map(([variable, texts]) => [variable, [...texts]]));
  const asked: string[] = [];
  const ask = async (question: string): Promise<string> => {
    const [variable = "keep"] = /[A-Z]\w+_\w+|STORAGE|PROVIDER/.exec(question) ?? [];
    asked.push(variable);
    return left.get(variable)?.shift() ?? "";
  };
  return { ask, asked };
};

const ANSWERS = { PUBLIC_URL: ["https://a.example"], STORAGE: ["filesystem"], PROVIDER: ["local"] };

describe("terminalAnswers", () => {
  it("asks for what an answer makes necessary, and again what is required", async () => {
    const { ask, asked } = person({
      ...ANSWERS,
      STORAGE: ["s3"],
      S3_BUCKET: ["", "pictures"],
      PROVIDER: ["fal:seedream-4.5,comfyui"],
      FAL_API_KEY: ["k"],
      COMFYUI_BASE_URL: ["http://10.0.0.1:8188"],
    });
    const answers = await terminalAnswers(
      async () => ok({ findings: [] }),
      ask,
      () => {},
    );
    expect(answers).toEqual({
      PUBLIC_URL: "https://a.example",
      STORAGE: "s3",
      S3_BUCKET: "pictures",
      PROVIDER: "fal:seedream-4.5,comfyui",
      FAL_API_KEY: "k",
      COMFYUI_BASE_URL: "http://10.0.0.1:8188",
    });
    expect(asked.filter((variable) => variable === "S3_BUCKET")).toHaveLength(2);
    expect(asked).not.toContain("MAIL_FROM");
  });

  it("asks a topic again that is wrong, and keeps what the person wants to keep", async () => {
    const { ask, asked } = person({
      ...ANSWERS,
      DATABASE_URL: ["postgres://a", "postgres://b"],
      keep: ["again", "keep"],
    });
    const said: string[] = [];
    const answers = await terminalAnswers(
      async ({ PUBLIC_URL }, [topic]) => {
        if (PUBLIC_URL === undefined) return err("no URL");
        return ok({ findings: topic === "database" ? [refused] : [] });
      },
      ask,
      (line) => said.push(line),
    );
    expect(answers.DATABASE_URL).toBe("postgres://b");
    expect(asked.filter((variable) => variable === "DATABASE_URL")).toHaveLength(2);
    expect(said).toEqual(["failed: database: No.", "failed: database: No."]);
  });
});

describe("the settings file", () => {
  it("has the same values after it is written and read, and refuses what systemd and the shell read differently", () => {
    const variables = { A_B: "x y$z", C: 'with "quotes"', D: "" };
    expect(readEnvironmentFile(`# a comment\n\n${environmentFile(variables)}`)._unsafeUnwrap()).toEqual(variables);
    expect(readEnvironmentFile('export A="b"\nC=d')._unsafeUnwrap()).toEqual({ A: "b", C: "d" });
    expect(readEnvironmentFile("A=1\nsecret")._unsafeUnwrapErr()).toBe("Line 2 is not NAME='value'.");
    expect(unwritable({ A: "fine", B: "it's" })).toBe("B");
    expect(unwritable(variables)).toBeUndefined();
  });
});
