/**
 * What `install_command` and `build_command` must not contain, with names for people. control-service.md leaves it open;
 * this is what the public service refuses.
 */
const refused: readonly (readonly [pattern: RegExp, called: string])[] = [
  [/['"`]/, 'a quote'],
  [/\\/, 'a backslash'],
  [/[\r\n]/, 'a line break'],
  [/\t/, 'a tab'],
  [/[|;$<>]/, 'one of | ; $ < >'],
  [/(?<!&)&(?!&)|&{3,}/, 'a single &'],
  [/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/, 'a control character'],
];

/** The forbidden parts of a command; empty if it consists of plain words and `&&`. */
export const refusedInCommand = (command: string): string[] =>
  refused.filter(([pattern]) => pattern.test(command)).map(([, called]) => called);
