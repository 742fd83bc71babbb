import { hostname, userInfo } from "node:os";

/** User and machine of this process: `ann@machine`, with sudo `ann as panorama@machine`. */
export const operatorName = (): string => {
  const { SUDO_USER: caller } = process.env;
  const user = userName();
  return `${caller === undefined || caller === "" || caller === user ? user : `${caller} as ${user}`}@${hostname()}`.slice(
    0,
    255,
  );
};

/** In a container a user may have a number only. */
const userName = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
};
