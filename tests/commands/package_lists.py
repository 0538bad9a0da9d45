"""package_lists.py BUILD DEBIAN: checks that each file that the build installs is in exactly one of the
lists debian/*.install. Prints the files that are not, and the listed files that the build does not install."""
import fnmatch
import json
import pathlib
import re
import subprocess
import sys

# The places in a Debian package, which differ because debian/rules gives other options to meson.
PLACES = ((r'^usr/local/', 'usr/'),
          (r'zsh/site-functions', 'zsh/vendor-completions'),
          (r'^usr/lib/python3[.\d]*/(site|dist)-packages', 'usr/lib/python3/dist-packages'))


def debian_place(path, prefix):
    """Converts an installed path to the form in the lists of debian/."""
    path = 'usr' + path.removeprefix(prefix)
    for place, other in PLACES:
        path = re.sub(place, other, path)
    # Outside of /usr meson has no folder for the architecture by default.
    return re.sub(r'^usr/lib(64)?/(libcamp|pkgconfig)', r'usr/lib/x/\2', path)


def files_of(installed):
    """The paths of installed files. The build may make a whole folder, such as man3."""
    for source, path in installed.items():
        below = [file for file in pathlib.Path(source).rglob('*') if file.is_file()]
        yield from (f'{path}/{file.relative_to(source)}' for file in below) if below else (path,)


def main(build, debian):
    answer = subprocess.run(('meson', 'introspect', build, '--installed', '--buildoptions'),
                          check=True, capture_output=True, text=True)
    facts = json.loads(answer.stdout)
    prefix = next(o['value'] for o in facts['buildoptions'] if o['name'] == 'prefix')
    installed = sorted({debian_place(path, prefix) for path in files_of(facts['installed'])})
    lists = {(file.stem, line): False for file in pathlib.Path(debian).glob('*.install')
             for line in file.read_text().split()}
    faults = []
    for path in installed:
        owners = [key for key in lists if any(
            fnmatch.fnmatch(part, key[1]) for part in (path, *map(str, pathlib.PurePath(path).parents)))]
        lists.update(dict.fromkeys(owners, True))
        packages = sorted({package for package, _ in owners})
        if len(packages) != 1:
            faults.append(f'{path}: in {" and ".join(packages) or "no package"}')
    faults += [f'{package}.install: {line}: is not installed'
               for (package, line), used in lists.items() if not used]
    print('\n'.join(faults) or f'{len(installed)} files, {len(lists)} lines')
    return bool(faults)


sys.exit(main(*sys.argv[1:]))
