"""The example plug-in, built outside the tree against an installed flopmark, is measured and counted.

  plugin_test.py SOURCE_DIR BUILD_DIR
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

source, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])


def run(*command, code=0, cwd=None):
    done = subprocess.run([str(part) for part in command], text=True, capture_output=True, cwd=cwd,
                          env=dict(os.environ, LD_LIBRARY_PATH="", CMAKE_PREFIX_PATH=""))
    assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


with tempfile.TemporaryDirectory() as folder:
    scratch = pathlib.Path(folder)
    prefix, mine = scratch / "installed", scratch / "mine"
    run("cmake", "--install", build, "--prefix", prefix)
    headers = sorted(path.name for path in (prefix / "include/flopmark").iterdir())
    assert headers == ["batch.h", "dataset.h", "error.h", "model.h", "plugin.h"], headers

    shutil.copytree(source / "examples/plugin", mine)
    run("cmake", "-S", mine, "-B", mine / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", mine / "build")

    config = (mine / "spirals.json").read_text().replace("../../build/plugin", "build")
    (mine / "spirals.json").write_text(config)
    program = prefix / "bin/flopmark"
    few = ["--set", "measure.steps=20", "--set", "measure.repeats=1", "--set", "measure.warmup_max_steps=12"]
    run(program, "run", "spirals.json", "--quiet", "--store", ".", "--output", "record.json", *few,
        "--set", "model.options.width=32", cwd=mine)
    record = json.loads((mine / "record.json").read_text())
    assert record["status"] == "ok", record
    assert record["config"]["model"] == {"plugin": "build/libspirals.so", "type": "two_layers", "options": {"width": 32}}
    assert record["parameters"] == 3 * 32 + 32 * 2 + 2, record["parameters"]
    assert record["flops"]["forward_flop"] == 2 * 256 * (2 * 32 + 32 * 2), record["flops"]
    assert record["data"]["samples"] == 4096 and record["repeats"][0]["samples"] == 20 * 256, record["data"]

    count = json.loads(run(program, "flops", "spirals.json", "--format", "json", cwd=mine))
    assert count["forward_flop"] == 2 * 256 * (2 * 64 + 64 * 2), count

    text = run(program, "run", "spirals.json", "--quiet", "--set", "model.options.wdith=32", code=200, cwd=mine)
    assert 'model.options: unknown option "wdith"; known are width' in text, text
print("the example plug-in was built against the installed SDK and measured")
