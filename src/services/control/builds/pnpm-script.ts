const printed = /^(\S+) ((?:pre|post)?(?:install|prepare|prepublish|build|compile|generate)): (.*)$/;

/** A line that a package's script printed, as pnpm shows it: `apps/agent postinstall: Error: ...`. */
export function pnpmScriptLine(line: string): { script: string; text: string } | undefined {
  const [, folder, script, text] = printed.exec(line) ?? [];
  if (folder === undefined || script === undefined || text === undefined) return undefined;
  return folder === '.' || folder.includes('/') ? { script: `${folder} ${script}`, text } : undefined;
}

/**
 * Keeps what explains a script that failed: its first line that names a cause, else its last one. Scripts of optional
 * packages may fail before the one that ends the command.
 */
export function pnpmScripts(isCause: (text: string) => boolean) {
  const running = new Map<string, { first: string | undefined; last: string | undefined }>();
  let failed: string | undefined;
  return {
    add(line: string): void {
      const { script, text } = pnpmScriptLine(line) ?? {};
      if (script === undefined || text === undefined || text.trim() === '') return;
      const before = running.get(script);
      if (text === 'Failed') failed = before?.first ?? before?.last ?? failed;
      else running.set(script, { first: before?.first ?? (isCause(text) ? text : undefined), last: text });
    },
    cause: (): string | undefined => failed,
  };
}
