// What the tests use of packages that are installed here only while they run.

declare module 'svelte/compiler' {
  type Compile = (code: string, options: { filename: string }) => { js: { code: string } };
  export const compile: Compile;
  export const compileModule: Compile;
}
