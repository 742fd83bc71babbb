/** That of package.json; a test compares them. */
export const CLIENT_VERSION = "2.0.0";
