/**
 * Lists the packages of an environment, and moves what the source's own packages put into it aside: these files name
 * the checkout by its path, and are put into the environment of each revision.
 *
 * Arguments: the folder that they are moved to, or nothing; the file for the list. Run by the environment's interpreter.
 */
export const listPackagesScript = `
import importlib.metadata, json, os, platform, sys, sysconfig
aside, listed = sys.argv[1:]
site = os.path.realpath(sysconfig.get_path("purelib"))
programs = os.path.realpath(os.path.join(sys.prefix, "bin"))
packages, is_shared = [], True
for package in list(importlib.metadata.distributions(path=[site])):
    origin = json.loads(package.read_text("direct_url.json") or "{}")
    url = origin.get("url")
    if not (url and url.startswith("file:") and "dir_info" in origin):
        vcs = origin.get("vcs_info")
        packages.append([package.metadata["Name"], package.version,
                         "%s+%s@%s" % (vcs["vcs"], url, vcs["commit_id"]) if vcs else url])
        continue
    for file in package.files or []:
        path = os.path.normpath(os.path.join(site, str(file)))
        place = next((each for each in (site, programs) if path.startswith(each + os.sep)), None)
        if place is None or not os.path.lexists(path):
            continue
        within = os.path.relpath(path, place)
        first = within.split(os.sep)[0]
        is_code = place == site and not (first.endswith((".pth", ".dist-info")) or "__editable__" in within)
        is_shared = is_shared and not is_code
        if aside and not is_code:
            to = os.path.join(aside, "site" if place == site else "bin", within)
            os.makedirs(os.path.dirname(to), exist_ok=True)
            os.replace(path, to)
with open(listed, "w", encoding="utf-8") as out:
    json.dump({"python": platform.python_version(), "site": site, "packages": sorted(packages), "is_shared": is_shared}, out)
`;

/**
 * Makes the environment of one revision: the packages of a shared environment, and those of its own checkout.
 *
 * Arguments: its folder; the shared environment and its folder of packages; the folder of what was moved aside; the
 * checkout that this was installed from, and the one that takes its place; folders whose modules are found. Run by the
 * interpreter that made the shared environment.
 */
export const placeEnvironmentScript = `
import os, shutil, sys, venv
target, shared, packages, aside, before, after, *paths = sys.argv[1:]
venv.EnvBuilder(symlinks=True, with_pip=False, clear=True).create(target)
site = os.path.join(target, "lib", "python%d.%d" % sys.version_info[:2], "site-packages")
programs = os.path.join(target, "bin")
def place(kind, to):
    start = os.path.join(aside, kind)
    for folder, _, names in os.walk(start):
        for name in names:
            path = os.path.join(folder, name)
            new = os.path.join(to, os.path.relpath(path, start))
            os.makedirs(os.path.dirname(new), exist_ok=True)
            with open(path, "rb") as file:
                content = file.read()
            for old, other in ((before, after), (shared, target)):
                content = content.replace(os.fsencode(old), os.fsencode(other))
            with open(new, "wb") as file:
                file.write(content)
            os.chmod(new, os.stat(path).st_mode | 0o200)
place("site", site)
place("bin", programs)
for name in os.listdir(os.path.join(shared, "bin")):
    if not name.lower().startswith(("python", "pip", "activate")) and not os.path.lexists(os.path.join(programs, name)):
        os.symlink(os.path.join(shared, "bin", name), os.path.join(programs, name))
with open(os.path.join(site, "landfall.pth"), "w", encoding="utf-8") as file:
    file.write("".join(path + "\\n" for path in paths))
    file.write("import site; site.addsitedir(%r)\\n" % packages)
`;
