/* Stands for packages in tsconfig.types.json. */
export {};
