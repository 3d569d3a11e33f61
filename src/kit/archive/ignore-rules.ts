import ignore from 'ignore';

/** The file at the root of the folder whose rules take precedence, in the syntax of `.gitignore`. */
export const ownIgnoreFile = '.landfallignore';
/** Read in every folder, as git does. */
export const gitIgnoreFile = '.gitignore';

/** What no build needs, or makes itself. */
const unneededPatterns = [
  '.git',
  '.hg',
  '.svn',
  'node_modules',
  '__pycache__',
  '.venv',
  '.pytest_cache',
  '.mypy_cache',
  '.ruff_cache',
  '.DS_Store',
];

/** Whether a folder with these names is an environment of Python, which every build makes anew, whatever it is called. */
export const isPythonEnvironment = (names: readonly string[]): boolean => names.includes('pyvenv.cfg');

/** What looks as if it held a secret. Examples of such files do not. */
const secretFilePatterns = [
  '.env',
  '.env.*',
  '!.env.example',
  '!.env.sample',
  '!.env.template',
  '*.pem',
  '*.key',
  '*.p12',
  '*.pfx',
  'id_rsa',
  'id_dsa',
  'id_ecdsa',
  'id_ed25519',
  '.netrc',
  '.git-credentials',
  '.ssh',
  '.aws',
];

/** Case says nothing about whether a file is a secret. */
const inAnyCase = (pattern: string): string =>
  pattern.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);

/** The rules that hold in one folder and below it, until another ignore file adds to them. */
export interface IgnoreRules {
  /** The rules in `folder` (from the root, empty for it) including its `.gitignore`. */
  with(text: string, folder: string): IgnoreRules;
  /** Whether a path (from the root, with slashes) is packed, or ignored by a rule of the user or by default. */
  decide(path: string, isFolder: boolean): 'packed' | 'ignored' | 'ignored by default';
}

const byDefault = 'default';

/**
 * The rules of `.landfallignore` (`own`) and the ignore files so far; the last that fits decides, as in git. Ours come
 * first, so that any file can take them back, and those of `.landfallignore` last.
 */
export function ignoreRules(own: string, files: readonly string[] = []): IgnoreRules {
  const rules = ignore({ ignorecase: false });
  for (const pattern of [...unneededPatterns, ...secretFilePatterns.map(inAnyCase)])
    rules.add({ pattern, mark: byDefault });
  for (const text of [...files, own]) rules.add(text);
  return {
    with: (text, folder) => ignoreRules(own, [...files, belowFolder(text, folder)]),
    decide(path, isFolder) {
      const { ignored, rule } = rules.test(isFolder ? `${path}/` : path);
      if (!ignored) return 'packed';
      return rule?.mark === byDefault ? 'ignored by default' : 'ignored';
    },
  };
}

/** The patterns of an ignore file in a folder, as they would be written at the root. */
function belowFolder(text: string, folder: string): string {
  if (folder === '') return text;
  const base = folder.replace(/[\\*?[\]!#]/g, String.raw`\$&`);
  return text
    .split(/\r?\n/)
    .flatMap((line) => {
      if (line.startsWith('#') || line.trim() === '') return [];
      const sign = line.startsWith('!') ? '!' : '';
      // What is escaped because it stood first no longer does.
      const pattern = line.slice(sign.length).replace(/^\\(?=[!#])/, '');
      // A slash anywhere but at its end binds a pattern to its folder; one without fits at any depth.
      const isBound = /\/[^\s]/.test(pattern);
      return [`${sign}/${base}/${isBound ? pattern.replace(/^\//, '') : `**/${pattern}`}`];
    })
    .join('\n');
}
