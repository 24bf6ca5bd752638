"""A folder includes its own files and those of lower rows only; LibTorch only where it may; no `exit` outside main."""
import pathlib
import re
import sys

ROWS = {
    "include/flopmark": 0,
    "config": 1, "hardware": 1, "stats": 1, "flops": 1, "flops/observe": 1, "plugin": 1,
    "measure": 2, "models": 2, "data": 2,
    "train": 3, "metrics": 4, "results": 5, "launch": 6, "compare": 7, "bisect": 8, "report": 9,
    "cli": 10, "worker": 10,
}
TORCH = {"flops/observe", "plugin", "models", "data", "train", "worker"}
TORCH_PUBLIC = {"batch.h", "dataset.h", "model.h", "plugin.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)


def folder_of(path):
    """The folder of an include such as "flops/observe/observer.h"; None for a library's header."""
    if path.startswith("flopmark/"):
        return "include/flopmark"
    parent = str(pathlib.PurePosixPath(path).parent)
    return parent if parent in ROWS else None


def faults_of(folder, file):
    row, text = ROWS[folder], file.read_text()
    for included in INCLUDE.findall(text):
        target = folder_of(included)
        if target and target != folder and ROWS[target] >= row and (folder, target) != ("flops/observe", "flops"):
            yield f"{file}: includes {included}: {target} is not below {folder}"
        if re.match(r"(torch|ATen|c10|caffe2)/", included) and folder not in TORCH and file.name not in TORCH_PUBLIC:
            yield f"{file}: includes {included}: no LibTorch in {folder}"
    if file.name != "main.cpp" and re.search(r"(?<![\w.>])(std::)?(exit\((?!\))|abort\()", text):
        yield f"{file}: exit or abort outside main.cpp"


def main():
    root = pathlib.Path(sys.argv[1])
    places = {name: root / ("" if name.startswith("include") else "src") / name for name in ROWS}
    seen, faults = 0, []
    for folder, place in places.items():
        for file in sorted(place.glob("*.h")) + sorted(place.glob("*.cpp")):
            seen += 1
            faults += faults_of(folder, file)
    known = {str(p) for p in places.values()}
    for file in (root / "src").rglob("*.*"):
        if file.suffix in (".h", ".cpp") and str(file.parent) not in known:
            faults.append(f"{file}: its folder has no row")
    print("\n".join(faults) or f"{seen} files, all point down")
    return 1 if faults or seen == 0 else 0


sys.exit(main())
