import * as z from 'zod';

/** The files of one user interface, for browsers. */
export const uiBundle = z.object({ 'entrypoint.js': z.string(), 'entrypoint.css': z.string().optional() });
export type UiBundle = z.infer<typeof uiBundle>;

/** The bundles by their keys in `ui` of the graph configuration. */
export type UiBundles = ReadonlyMap<string, UiBundle>;

/** The global variable of a bundle in a page, as clients of the public server know it. */
export const globalNameOf = (name: string): string => `__LGUI_${name.replaceAll(/[^a-zA-Z0-9]/g, '_')}`;

/** A user interface that can't be bundled. `lines` have `file:line:column` where known. */
export class UiBuildError extends Error {
  readonly lines: readonly string[];

  constructor(lines: readonly string[]) {
    super(lines.join('\n'));
    this.name = 'UiBuildError';
    this.lines = lines;
  }
}
