"""Every command in README.md is run here, in a scratch copy of the project with its own Git history.

Commands stand in ```console blocks behind "$ ". Those in RUN_BY_CI do set-up and are run by the gate itself; a command that
is neither there nor runs with exit code 0 here fails the test, and so does a list entry that the README no longer has.

  readme_test.py SOURCE_DIR BUILD_BIN_DIR
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

RUN_BY_CI = {"scripts/quickstart", "scripts/test"}
NEEDS_MORE = {  # run by hand: what they need is no part of the gate
    "flopmark check configs/llama-tiny-cpu.json",  # a verdict on the noise of the machine that tests
    "scripts/python-reference --models",
    "flopmark doctor configs/quickstart.json",
    "flopmark ab configs/quickstart.json --b.set train.precision=bf16-mixed",
    "flopmark ab configs/quickstart.json --a.ref HEAD~1 --build 'scripts/setup && cmake --workflow --preset release' --budget 30m --format markdown",
    "flopmark bisect configs/quickstart.json --good v1.0 --bad HEAD --build 'scripts/setup && cmake --workflow --preset release' --budget 2h",
    "flopmark calibrate configs/quickstart.json --pairs 40 --want 0.02",
    "git bisect run flopmark ab configs/quickstart.json --a.ref v1.0 --build 'scripts/setup && cmake --workflow --preset release' --mid 0.025",
    "scripts/gpu-check --deps gpu-deps --output gpu-check.json",
    "cmake --preset release -B build/bench -DFLOPMARK_BENCHMARKS=ON && cmake --build build/bench",
    "benchmarks/python/compare_quickstart",
    "benchmarks/python/compare_eager",
    "benchmarks/python/compare_loaders",
    "build/bench/bin/loop_overhead configs/quickstart.json 1.002",
    "build/bench/bin/loop_overhead configs/mlp-cpu.json 1.005",
}


def commands(text):
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        yield from (line[2:].strip() for line in block.splitlines() if line.startswith("$ "))


def scratch_copy(source, folder):
    copy = pathlib.Path(folder) / "flopmark"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("build", ".deps", ".git", "results"))
    git = ["git", "-C", str(copy), "-c", "user.name=reader", "-c", "user.email=reader@example.org"]
    for step in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "a copy for the README's commands"]):
        subprocess.run(git + step, check=True)
    return copy


def main():
    source, programs = pathlib.Path(sys.argv[1]), sys.argv[2]
    found = list(commands((source / "README.md").read_text()))
    faults = [f"not in the README any more: {c}" for c in sorted((RUN_BY_CI | NEEDS_MORE) - set(found))]
    ran = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = scratch_copy(source, folder)
        (copy / "build").mkdir()
        (copy / "build/release").symlink_to(pathlib.Path(programs).parent)  # built already
        env = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}", HOME=folder)
        for command in found:
            if command in RUN_BY_CI | NEEDS_MORE:
                continue
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=copy, env=env, text=True,
                                  capture_output=True, timeout=600)
            ran += 1
            print(f"$ {command}\n{done.stdout}{done.stderr}")
            if done.returncode != 0:
                faults.append(f"exit code {done.returncode}: {command}")
    print("\n".join(faults) or f"{ran} commands ran")
    return 1 if faults or ran == 0 else 0


sys.exit(main())
