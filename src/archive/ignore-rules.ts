import ignore, { type Ignore } from 'ignore';

/** The file at the root of the folder whose word is the last one. Its patterns are those of a `.gitignore`. */
export const ownIgnoreFile = '.landfallignore';
/** Read in every folder, as git does. */
export const gitIgnoreFile = '.gitignore';

/** What no build needs, or makes itself. */
const needless = ['.git', '.hg', '.svn', 'node_modules', '__pycache__', '.venv', '.DS_Store'];

/** What looks as if it held a secret. Examples of such files do not. */
const secretive = [
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

/** The decision about a path: packed, or ignored by a rule of the user or by default. */
export type IgnoreDecision = 'packed' | 'ignored' | 'ignored by default';

/**
 * The rules that hold in one folder and below it, until another ignore file adds to them. The last rule that fits a path
 * decides, and nothing comes back from a folder that is left out: so says git. Ours come first, so that any ignore file
 * can take them back, and those of `.landfallignore` come last.
 */
export class IgnoreRules {
  readonly #files: readonly string[];
  readonly #own: string;
  readonly #rules: Ignore;

  private constructor(files: readonly string[], own: string) {
    this.#files = files;
    this.#own = own;
    this.#rules = ignore({ ignorecase: false });
    for (const pattern of [...needless, ...secretive.map(inAnyCase)]) this.#rules.add({ pattern, mark: byDefault });
    for (const text of files) this.#rules.add(text);
    this.#rules.add(own);
  }

  /** The rules at the root, before any `.gitignore`; `own` is the text of `.landfallignore`. */
  static atRoot(own: string): IgnoreRules {
    return new IgnoreRules([], own);
  }

  /** The rules in `folder` (from the root, empty for it) including its `.gitignore`. */
  with(text: string, folder: string): IgnoreRules {
    return new IgnoreRules([...this.#files, belowFolder(text, folder)], this.#own);
  }

  /** @param path from the root, with slashes. */
  decide(path: string, isFolder: boolean): IgnoreDecision {
    const { ignored, rule } = this.#rules.test(isFolder ? `${path}/` : path);
    if (!ignored) return 'packed';
    return rule?.mark === byDefault ? 'ignored by default' : 'ignored';
  }
}

const byDefault = 'default';

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
