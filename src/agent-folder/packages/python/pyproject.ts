/** Reads the lines of a pyproject.toml that decide an installation. The file is not parsed as TOML. */

const linesOf = (text: string): string[] => text.split('\n').map((line) => line.trim());

/** The rest of a line after `key =`; undefined if the line sets another key. */
function valueAfterKey(line: string, key: string): string | undefined {
  if (!line.startsWith(key)) return undefined;
  const rest = line.slice(key.length).trimStart();
  return rest.startsWith('=') ? rest.slice(1).trim() : undefined;
}

/** The first value of a key in any table; undefined unless it is a quoted string. */
export function textSetting(text: string, key: string): string | undefined {
  for (const line of linesOf(text)) {
    const value = valueAfterKey(line, key);
    if (value === undefined) continue;
    const [quote = ''] = value;
    const end = value.indexOf(quote, 1);
    return (quote === '"' || quote === "'") && end > 0 ? value.slice(1, end) : undefined;
  }
  return undefined;
}

/** The required version of Python; Poetry uses its own key. */
export const requiredPython = (pyproject: string): string | undefined =>
  textSetting(pyproject, 'requires-python') ?? textSetting(pyproject, 'python');

/** Whether a project configures package indexes for uv, which pip ignores. */
export function namesUvIndex(pyproject: string): boolean {
  const lines = linesOf(pyproject);
  if (lines.some((line) => /^\[{1,2}tool\.uv\.(?:index|sources|pip)\b/.test(line))) return true;
  const uvTable = lines.slice(lines.indexOf('[tool.uv]') + 1 || lines.length);
  const end = uvTable.findIndex((line) => line.startsWith('['));
  const keys = ['index', 'index-url', 'extra-index-url', 'find-links', 'no-index', 'sources'];
  return uvTable
    .slice(0, end === -1 ? undefined : end)
    .some((line) => keys.some((key) => valueAfterKey(line, key) !== undefined));
}

/** Build backends that read nothing but manifests and package names, unless the project has hooks. */
const knownBackends = new Set([
  'setuptools.build_meta',
  'hatchling.build',
  'poetry.core.masonry.api',
  'flit_core.buildapi',
  'pdm.backend',
  'uv_build',
]);

/** Tables with which a project runs its own code during the installation. */
const compiledCodeTable = /^\[{1,2}tool\.(?:poetry\.build\]|setuptools\.(?:ext-modules|cmdclass))/;
const hookTable = /^\[{1,2}tool\.hatch\.(?:build|metadata)\.(?:targets\.[\w-]+\.)?hooks/;

/** Why the installation of a project may read more of the source than its manifests; undefined if it does not. */
export function extraReadsReason(pyproject: string): string | undefined {
  const lines = linesOf(pyproject);
  if (lines.some((line) => valueAfterKey(line, 'backend-path') !== undefined)) return 'has a build backend of its own';
  if (lines.some((line) => hookTable.test(line))) return 'has hooks of its own';
  if (lines.some((line) => compiledCodeTable.test(line))) return 'compiles code of its own';
  if (pyproject.includes('@ file:')) return 'takes a package by its path';
  if (isDynamic(lines, 'dependencies')) return 'computes its dependencies';
  const backend = textSetting(pyproject, 'build-backend');
  return backend === undefined || knownBackends.has(backend) ? undefined : `builds by ${backend.slice(0, 100)}`;
}

/** Whether the list `dynamic`, which may span several lines, contains a name. */
function isDynamic(lines: readonly string[], name: string): boolean {
  const start = lines.findIndex((line) => valueAfterKey(line, 'dynamic') !== undefined);
  if (start === -1) return false;
  const list = lines.slice(start).join(' ');
  return list.slice(0, list.indexOf(']') + 1 || undefined).includes(name);
}
