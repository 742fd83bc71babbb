import { readFileSync } from "node:fs";
import { type Copy, DockerfileParser, type From, type PropertyInstruction } from "dockerfile-ast";

/** A step of the Dockerfile that makes files, in their order. */
export type Step =
  | { readonly kind: "copy"; readonly from: string | undefined; readonly sources: string[]; readonly target: string }
  | { readonly kind: "run"; readonly command: string };

export type Stage = {
  readonly image: string;
  readonly name: string | undefined;
  /** Absolute path. */
  readonly workingDirectory: string;
  readonly steps: readonly Step[];
  readonly environment: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly user: string | undefined;
  readonly volumes: readonly string[];
  readonly stopSignal: string | undefined;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
};

type Instruction = ReturnType<ReturnType<typeof DockerfileParser.parse>["getInstructions"]>[number];

/** The stages of the Dockerfile. Throws for an instruction that `npm run verify image` does not carry out. */
export const readStages = (text = readFileSync("Dockerfile", "utf8")): Stage[] => {
  const stages: Instruction[][] = [];
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    if (instruction.getKeyword() === "FROM") stages.push([]);
    stages.at(-1)?.push(instruction);
  }
  return stages.map(stageOf);
};

const stageOf = (instructions: readonly Instruction[]): Stage => {
  const [from] = instructions;
  const all = (keyword: string) => instructions.filter((instruction) => instruction.getKeyword() === keyword);
  const argument = (keyword: string) => all(keyword).at(-1)?.getArgumentsContent() ?? undefined;
  const properties = (keyword: string): Record<string, string> =>
    Object.fromEntries(
      all(keyword).flatMap((instruction) =>
        (instruction as PropertyInstruction)
          .getProperties()
          .map((property) => [property.getName(), property.getValue() ?? ""]),
      ),
    );
  const known = "FROM WORKDIR COPY RUN ENV LABEL USER VOLUME EXPOSE STOPSIGNAL ENTRYPOINT CMD HEALTHCHECK".split(" ");
  for (const instruction of instructions) {
    if (!known.includes(instruction.getKeyword())) throw new Error(`${instruction.getKeyword()} is not known here`);
  }
  return {
    image: (from as From).getImage() ?? "",
    name: (from as From).getBuildStage() ?? undefined,
    workingDirectory: argument("WORKDIR") ?? "/",
    steps: instructions.flatMap(stepOf),
    environment: properties("ENV"),
    labels: properties("LABEL"),
    user: argument("USER"),
    volumes: all("VOLUME").flatMap((instruction) => instruction.getArguments().map((path) => path.getValue())),
    stopSignal: argument("STOPSIGNAL"),
    entrypoint: execForm(all("ENTRYPOINT").at(-1)),
    command: execForm(all("CMD").at(-1)),
    healthCheck: execForm(all("HEALTHCHECK").at(-1)),
  };
};

const stepOf = (instruction: Instruction): Step[] => {
  if (instruction.getKeyword() === "RUN") return [{ kind: "run", command: instruction.getArgumentsContent() ?? "" }];
  if (instruction.getKeyword() !== "COPY") return [];
  const copy = instruction as Copy;
  const from =
    copy
      .getFlags()
      .find((flag) => flag.getName() === "from")
      ?.getValue() ?? undefined;
  const paths = copy.getArguments().map((path) => path.getValue());
  return [{ kind: "copy", from, sources: paths.slice(0, -1), target: paths.at(-1) ?? "" }];
};

/** The words of the exec form, `["a", "b"]`. The shell form is refused: a shell would not pass SIGTERM on. */
const execForm = (instruction: Instruction | undefined): string[] => {
  if (instruction === undefined) return [];
  const [words] = /\[[^\]]*\]$/.exec(instruction.getArgumentsContent() ?? "") ?? [];
  if (words === undefined) throw new Error(`${instruction.getKeyword()} must have the form ["word", …]`);
  return JSON.parse(words) as string[];
};

/** The files and folders at the root of the project that are sent to the builder. */
export const readContext = (text = readFileSync(".dockerignore", "utf8")): string[] => {
  const [everything, ...kept] = text.trimEnd().split("\n");
  if (everything !== "*" || kept.some((line) => !/^![\w.-]+$/.test(line))) {
    throw new Error(".dockerignore must have * in its first line, and then only lines such as !domain");
  }
  return kept.map((line) => line.slice(1));
};
