import { element } from "./page.js";

const MIB = 1024 * 1024;

/**
 * The chosen files as thumbnails that can be removed. Files that the service would refuse are not added, and a form
 * with too few pictures is not sent.
 */
export const pictureList = (form: HTMLFormElement): void => {
  const input = element("files") as HTMLInputElement;
  const drop = element("drop");
  const list = element("pictures");
  const error = element("picture-error");
  const countMin = Number(input.dataset.countMin);
  const countMax = Number(input.dataset.countMax);
  const bytesMax = Number(input.dataset.bytesMax);
  const totalBytesMax = Number(input.dataset.totalBytesMax);
  const types = input.accept.split(",");
  let chosen: readonly File[] = [];

  /** The number of pictures that the form sends. */
  const pictures = (): number => chosen.length + othersOf(form);

  const refusalOf = (file: File): string | undefined => {
    if (!types.includes(file.type)) return `“${file.name}” isn’t a JPEG, PNG or WebP.`;
    if (file.size > bytesMax) return `“${file.name}” is larger than ${Math.floor(bytesMax / MIB)} MB.`;
    if (chosen.reduce((sum, { size }) => sum + size, file.size) > totalBytesMax)
      return `Together the pictures are larger than ${Math.floor(totalBytesMax / MIB)} MB.`;
    return pictures() >= countMax ? refusalOfMore(countMax) : undefined;
  };

  const add = (files: Iterable<File>): void => {
    const refusals: string[] = [];
    for (const file of files) {
      const refusal = refusalOf(file);
      if (refusal !== undefined) refusals.push(refusal);
      else chosen = [...chosen, file];
    }
    error.textContent = [...new Set(refusals)].join(" ");
    error.hidden = refusals.length === 0;
    show();
  };

  const show = (): void => {
    const transfer = new DataTransfer();
    for (const file of chosen) transfer.items.add(file);
    input.files = transfer.files;
    for (const image of list.querySelectorAll("img")) URL.revokeObjectURL(image.src);
    list.replaceChildren(...chosen.map((file) => itemOf(file, remove)));
    element("chosen").textContent = chosen.map(({ name }) => name).join(", ");
    requireEnough();
  };

  const requireEnough = (): void => {
    input.setCustomValidity(pictures() < countMin ? "Add a picture." : "");
  };

  const remove = (file: File): void => {
    chosen = chosen.filter((other) => other !== file);
    error.hidden = true;
    show();
    input.focus();
  };

  requireEnough();
  form.addEventListener("input", requireEnough);
  input.addEventListener("change", () => add([...(input.files ?? [])]));
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    add(event.dataTransfer?.files ?? []);
  });
};

const refusalOfMore = (countMax: number): string =>
  countMax === 1 ? "Add at most 1 picture." : `Add at most ${countMax} pictures.`;

const itemOf = (file: File, onRemove: (file: File) => void): HTMLElement => {
  const item = document.createElement("li");
  const image = new Image(96, 72);
  image.src = URL.createObjectURL(file);
  image.alt = "";
  const name = document.createElement("span");
  name.textContent = file.name;
  const remove = document.createElement("button");
  remove.type = "button";
  remove.className = "link";
  remove.textContent = "Remove";
  remove.setAttribute("aria-label", `Remove ${file.name}`);
  remove.addEventListener("click", () => onRemove(file));
  item.append(image, name, remove);
  return item;
};

/** Pictures that the form sends by their address. */
const othersOf = (form: HTMLFormElement): number => {
  const data = new FormData(form);
  return [...data.getAll("uploaded_url"), ...data.getAll("image_url")].filter((url) => url !== "").length;
};
