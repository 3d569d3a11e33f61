/** What a pyproject.toml says that decides an installation, line by line: it is not parsed as a whole. */

const linesOf = (text: string): string[] => text.split('\n').map((line) => line.trim());

/** The rest of a line after `key =`; undefined where the line sets another key. */
function setTo(line: string, key: string): string | undefined {
  if (!line.startsWith(key)) return undefined;
  const rest = line.slice(key.length).trimStart();
  return rest.startsWith('=') ? rest.slice(1).trim() : undefined;
}

/** The text that a key is set to, wherever it stands first; undefined where it is no text in quotes. */
export function textSetting(text: string, key: string): string | undefined {
  for (const line of linesOf(text)) {
    const value = setTo(line, key);
    if (value === undefined) continue;
    const [quote = ''] = value;
    const end = value.indexOf(quote, 1);
    return (quote === '"' || quote === "'") && end > 0 ? value.slice(1, end) : undefined;
  }
  return undefined;
}

/** What a project requires of the interpreter; Poetry has a key of its own. */
export const requiredPython = (pyproject: string): string | undefined =>
  textSetting(pyproject, 'requires-python') ?? textSetting(pyproject, 'python');

/** Whether a project tells uv where packages are, which pip does not read. */
export function namesUvIndex(pyproject: string): boolean {
  const lines = linesOf(pyproject);
  if (lines.some((line) => /^\[{1,2}tool\.uv\.(?:index|sources|pip)\b/.test(line))) return true;
  const own = lines.slice(lines.indexOf('[tool.uv]') + 1 || lines.length);
  const end = own.findIndex((line) => line.startsWith('['));
  const keys = ['index', 'index-url', 'extra-index-url', 'find-links', 'no-index', 'sources'];
  return own.slice(0, end === -1 ? undefined : end).some((line) => keys.some((key) => setTo(line, key) !== undefined));
}

/** The build backends that read manifests and the names of packages alone, unless a hook of the project's runs. */
const knownBackends = new Set([
  'setuptools.build_meta',
  'hatchling.build',
  'poetry.core.masonry.api',
  'flit_core.buildapi',
  'pdm.backend',
  'uv_build',
]);

/** How the tables begin by which a project runs code of its own when it is installed. */
const ownCode = /^\[{1,2}tool\.(?:poetry\.build\]|setuptools\.(?:ext-modules|cmdclass))/;
const hooks = /^\[{1,2}tool\.hatch\.(?:build|metadata)\.(?:targets\.[\w-]+\.)?hooks/;

/** Why the installation of a project may read more of the source than its manifests; undefined where it doesn't. */
export function reachOf(pyproject: string): string | undefined {
  const lines = linesOf(pyproject);
  if (lines.some((line) => setTo(line, 'backend-path') !== undefined)) return 'has a build backend of its own';
  if (lines.some((line) => hooks.test(line))) return 'has hooks of its own';
  if (lines.some((line) => ownCode.test(line))) return 'compiles code of its own';
  if (pyproject.includes('@ file:')) return 'takes a package by its path';
  if (computes(lines, 'dependencies')) return 'computes its dependencies';
  const backend = textSetting(pyproject, 'build-backend');
  return backend === undefined || knownBackends.has(backend) ? undefined : `builds by ${backend.slice(0, 100)}`;
}

/** Whether the list `dynamic`, which may go over several lines, has a name. */
function computes(lines: readonly string[], name: string): boolean {
  const start = lines.findIndex((line) => setTo(line, 'dynamic') !== undefined);
  if (start === -1) return false;
  const list = lines.slice(start).join(' ');
  return list.slice(0, list.indexOf(']') + 1 || undefined).includes(name);
}
