/** Bundles the scripts and styles of the web pages into `folder`, each file whole in itself. */
export declare const buildClient: (folder: string) => Promise<void>;
