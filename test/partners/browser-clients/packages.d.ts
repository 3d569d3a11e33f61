// What the tests use of packages that are installed here only while they run.

declare module 'playwright-core' {
  export interface Locator {
    textContent(options?: { timeout: number }): Promise<string | null>;
  }
  export interface Page {
    goto(url: string): Promise<unknown>;
    reload(): Promise<unknown>;
    click(selector: string): Promise<void>;
    fill(selector: string, value: string): Promise<void>;
    evaluate(expression: string): Promise<unknown>;
    waitForFunction(expression: string, argument?: undefined, options?: { timeout: number }): Promise<unknown>;
    on(event: 'pageerror', listener: (error: Error) => void): void;
  }
  export interface BrowserContext {
    newPage(): Promise<Page>;
    close(): Promise<void>;
  }
  export interface Browser {
    newContext(): Promise<BrowserContext>;
    close(): Promise<void>;
  }
  export const chromium: {
    launch(options: { executablePath: string; args: readonly string[]; env: NodeJS.ProcessEnv }): Promise<Browser>;
  };
}

declare module '@sparticuz/chromium' {
  const archive: { executablePath(): Promise<string> };
  export default archive;
  /** Unpacks a file into the folder for temporary files. @returns its path. */
  export const inflate: (file: string) => Promise<string>;
}

declare module 'svelte/compiler' {
  type Compile = (code: string, options: { filename: string }) => { js: { code: string } };
  export const compile: Compile;
  export const compileModule: Compile;
}
