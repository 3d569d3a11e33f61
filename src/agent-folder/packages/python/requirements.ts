/** The lines of a requirements file without comments, continued lines joined. */
const linesOf = (text: string): string[] =>
  text
    .replace(/\\\r?\n/g, ' ')
    .split('\n')
    .map((line) => line.replace(/(?:^|\s)#.*$/, '').trim())
    .filter((line) => line !== '');

/** Whether a requirements file names one version of each package, and nothing else. */
export function isPinned(text: string): boolean {
  const packages = linesOf(text).filter((line) => !line.startsWith('--'));
  return (
    packages.length > 0 && packages.every((line) => /^[\w.-]+(?:\[[^\]]*\])?\s*===?\s*[^\s*,]+(?:\s|;|$)/.test(line))
  );
}

/** What a requirements file refers to: further files, and whether it takes anything else from the source itself. */
export function referencesOf(text: string): { files: string[]; isLocal: boolean } {
  const files: string[] = [];
  let isLocal = false;
  for (const line of linesOf(text)) {
    const [, file] = /^(?:-r|-c|--requirement|--constraint)[\s=]*(\S+)/.exec(line) ?? [];
    if (file !== undefined) files.push(file);
    else if (/^(?:(?:-e|--editable|-f|--find-links)[\s=]|\.|\/)|file:|@\s*\.{0,2}\//.test(line)) isLocal = true;
  }
  return { files, isLocal };
}
