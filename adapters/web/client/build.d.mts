/** Bundles the scripts and styles of the web pages into `folder`, each file self-contained, and compresses them. */
export declare const buildClient: (folder: string) => Promise<void>;
