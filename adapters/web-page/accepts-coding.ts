/** Whether an Accept-Encoding header names the content coding, and not with `q=0`, which forbids it. */
export const acceptsCoding = (acceptEncoding: string | undefined, coding: string): boolean =>
  (acceptEncoding ?? "").split(",").some((item) => {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
    return name === coding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
