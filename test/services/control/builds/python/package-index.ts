import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes wheels: each a name, a version, its files, and what it requires. */
const writer = `
import json, os, sys, zipfile
folder, wheels = sys.argv[1], json.loads(sys.argv[2])
for name, version, files, requires in wheels:
    info = "%s-%s.dist-info" % (name, version)
    meta = "Metadata-Version: 2.1\\nName: %s\\nVersion: %s\\n" % (name, version)
    files = dict(files)
    files[info + "/METADATA"] = meta + "".join("Requires-Dist: %s\\n" % each for each in requires)
    files[info + "/WHEEL"] = "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
    files[info + "/RECORD"] = "".join("%s,,\\n" % each for each in [*files, info + "/RECORD"])
    with zipfile.ZipFile(os.path.join(folder, "%s-%s-py3-none-any.whl" % (name, version)), "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
`;

/** A build backend by the name of a known one: an editable package is its folder \`src\` on the path. */
const backend = `
import os, re, zipfile
def _names():
    text = open("pyproject.toml").read()
    return re.search('name = "([^"]+)"', text)[1].replace("-", "_"), re.findall('requires: (.+)', text)
def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    name, requires = _names()
    info = name + "-0.1.dist-info"
    files = {
        name + ".pth": os.path.abspath("src") + "\\n",
        info + "/METADATA": "Metadata-Version: 2.1\\nName: %s\\nVersion: 0.1\\n" % name
            + "".join("Requires-Dist: %s\\n" % each for each in requires),
        info + "/WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        info + "/entry_points.txt": "[console_scripts]\\nagent-tool = my_agent:main\\n",
    }
    files[info + "/RECORD"] = "".join("%s,,\\n" % each for each in [*files, info + "/RECORD"])
    wheel = "%s-0.1-0.editable-py3-none-any.whl" % name
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w") as out:
        for path, text in files.items():
            out.writestr(path, text)
    return wheel
`;

type Wheel = [name: string, version: string, files: Record<string, string>, requires: string[]];

/** A package index in a folder, with small stand-ins, and the variables by which pip uses it alone. */
export function packageIndex(root: string, wheels: readonly Wheel[] = []): Record<string, string> {
  const folder = join(root, 'wheels');
  mkdirSync(folder, { recursive: true });
  const all: readonly Wheel[] = [
    ['langgraph', '1.0.1', { 'langgraph/graph.py': 'made = "an engine"\n' }, ['helper']],
    ['langgraph', '0.5.4', { 'langgraph/graph.py': '' }, []],
    ['helper', '2.0', { 'helper.py': 'value = 2\n' }, []],
    ['hatchling', '1.0', { 'hatchling/__init__.py': '', 'hatchling/build.py': backend }, []],
    ...wheels,
  ];
  execFileSync('python3', ['-I', '-c', writer, folder, JSON.stringify(all)]);
  // pip's own file of this machine may name other indexes.
  const file = join(root, 'pip.conf');
  writeFileSync(file, '');
  return { PIP_NO_INDEX: '1', PIP_FIND_LINKS: folder, PIP_CONFIG_FILE: file };
}
