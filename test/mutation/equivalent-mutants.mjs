/**
 * Mutants that change nothing a caller can see, so that no test can find them: by file, mutator (none: each) and the
 * beginning of the line.
 */
export const EQUIVALENT = [
  {
    file: "application/accounts/api-requests.ts",
    mutators: ["ConditionalExpression"],
    line: "const secret = apiKey === undefined ? undefined : parseApiKeySecret(apiKey);",
    why: "a request without a key is refused either way",
  },
  {
    file: "application/panoramas/panoramas.ts",
    mutators: ["ConditionalExpression"],
    line: "if (image.isErr()) continue;",
    why: "every one of them has failed, so each can be retried",
  },
  {
    file: "domain/credits/ledger-audit.ts",
    mutators: ["ConditionalExpression"],
    line: 'if (!("taskId" in entry)) continue;',
    why: "only narrows the type, all these entries name a task",
  },
  {
    file: "domain/credits/ledger.ts",
    mutators: ["EqualityOperator"],
    line: 'kind: change < 0 ? "payment_refund" : "payment_restored",',
    why: "a change is never 0",
  },
  {
    file: "domain/credits/payment-return.ts",
    mutators: ["EqualityOperator"],
    line: "difference(one, other) < 0 ? other : one;",
    why: "reports without a difference are equal",
  },
  {
    file: "domain/credits/rate-limit.ts",
    mutators: ["ConditionalExpression"],
    line: "const within = isWhole ? log : log.filter(isWithin);",
    why: "filtering gives the same, more slowly",
  },
  {
    file: "domain/credits/rate-limit.ts",
    mutators: ["ConditionalExpression", "EqualityOperator"],
    line: "log: newest <= nowMilliseconds ? extended : extended.sort((a, b) => a - b),",
    why: "sorting gives the same, more slowly",
  },
  {
    file: "domain/images/upload-rules.ts",
    mutators: ["StringLiteral"],
    line: 'declaredType = "",',
    why: "any text fits that is not the name of a type",
  },
  {
    file: "domain/tasks/abilities.ts",
    mutators: ["ConditionalExpression", "EqualityOperator"],
    line: "if (prompt.length <= promptCharactersMax) return ok(undefined);",
    why: "counting gives the same, more slowly",
  },
  {
    file: "domain/tasks/creation-request.ts",
    mutators: ["ArrayDeclaration"],
    line: "webhookPrivateOrigins: readonly string[] = [],",
    why: "no origin is equal to the added text",
  },
  {
    file: "domain/tasks/creation-request.ts",
    mutators: ["ConditionalExpression", "EqualityOperator"],
    line: "return sent.length < Object.keys(body).length ? Object.fromEntries(sent) : body;",
    why: "a copy gives the same, more slowly",
  },
  {
    file: "domain/tasks/creation-request.ts",
    line: 'if (issue === undefined) throw new Error("zod refused the creation request without an issue");',
    why: "zod refuses nothing without an issue",
  },
  {
    file: "domain/tasks/creation-request.ts",
    mutators: ["OptionalChaining"],
    line: "return issue.params?.rule(input);",
    why: "every refinement has params",
  },
  {
    file: "domain/tasks/creation-request.ts",
    line: "default:",
    why: "the schema raises no other issue",
  },
  {
    file: "domain/tasks/creation-request.ts",
    line: "throw new Error(`the creation request has no rule for zod's issue ",
    why: "the schema raises no other issue",
  },
  {
    file: "domain/text.ts",
    mutators: ["MethodExpression"],
    line: "const begin = text.slice(0, 2 * max); // a code point has at most two UTF-16 units",
    why: "only so that a long text is not read to its end",
  },
];

/** The entry of the list that the mutant is of. */
export const equivalentOf = ({ file, mutator, line }) =>
  EQUIVALENT.find(
    (entry) =>
      entry.file === file &&
      line.trim().startsWith(entry.line) &&
      (entry.mutators === undefined || entry.mutators.includes(mutator)),
  );
