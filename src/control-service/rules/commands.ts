/** What a command may not hold, by what it is called when one is told so. */
const refusedCharacters: readonly (readonly [pattern: RegExp, called: string])[] = [
  [/['"`]/, 'a quote'],
  [/\\/, 'a backslash'],
  [/[\r\n]/, 'a line break'],
  [/\t/, 'a tab'],
  [/[|;$<>]/, 'one of | ; $ < >'],
  [/(?<!&)&(?!&)|&{3,}/, 'a single &'],
  [/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/, 'a control character'],
];

/** The sentence against `install_command` or `build_command`, where there is one: only plain words and `&&` are taken. */
export function commandProblem(field: string, command: string): string | undefined {
  const found = refusedCharacters.filter(([pattern]) => pattern.test(command)).map(([, called]) => called);
  if (found.length > 0) {
    return `${field} may not hold ${found.join(' or ')}; put what needs it into a script of the repository.`;
  }
  return command.trim() === '' ? `${field} may not be blank; leave it out to have it found.` : undefined;
}
