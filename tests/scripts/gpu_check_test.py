"""scripts/gpu-check --cpu on an existing build: passes, says what it measured, and fails where nothing ran.

  gpu_check_test.py SOURCE_DIR BUILD_DIR
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

source, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])


def gpu_check(folder, *arguments):
    output = pathlib.Path(folder) / "check.json"
    done = subprocess.run([sys.executable, source / "scripts/gpu-check", "--output", output, *arguments], text=True,
                          capture_output=True, env=dict(os.environ, CUDA_VISIBLE_DEVICES=""))
    return done, json.loads(output.read_text())


with tempfile.TemporaryDirectory() as folder:
    done, document = gpu_check(folder, "--cpu", "--built", build)
    assert done.returncode == 0, done.stdout + done.stderr
    assert document["status"] == "ok" and document["schema"] == "flopmark.gpu-check/1", document
    tests, measured, ranks = document["parts"]
    assert tests["passed"] >= 5 and tests["skipped"] == 0, tests
    assert measured["record"]["metrics"]["tokens_per_s"] > 0, measured
    assert len(ranks["record"]["ranks"]) == 2 and ranks["record"]["communication"]["backend"] == "gloo", ranks

    done, document = gpu_check(folder, "--built", build)  # there is no GPU
    assert done.returncode == 1 and document["status"] == "failed", done.stdout
    assert document["parts"][0]["skipped"] > 0 and not document["parts"][0]["ok"], document

    done = subprocess.run([sys.executable, source / "scripts/gpu-check", "--cpu", "--built", folder], text=True, capture_output=True)
    assert done.returncode == 2 and "no bin/flopmark_torch_tests there" in done.stderr, done.stderr
print("gpu-check passes on a CPU, and fails without a GPU or without a build")
