"""The front-end builds from the folder that scripts/gpu-deps makes, without libgit2, and then says so.

  dependency_folder_test.py SOURCE_DIR
"""
import pathlib
import subprocess
import sys
import tempfile

source = pathlib.Path(sys.argv[1])


def run(*command, code=0):
    done = subprocess.run(command, text=True, capture_output=True, cwd=source)
    assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


with tempfile.TemporaryDirectory() as folder:
    deps, build = pathlib.Path(folder) / "deps", pathlib.Path(folder) / "build"
    run("scripts/gpu-deps", deps)
    assert "is there already" in run("scripts/gpu-deps", deps)
    options = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DFLOPMARK_WORKER=OFF", "-DFLOPMARK_GIT=OFF"]
    run("cmake", "-S", source, "-B", build, f"-DFLOPMARK_DEPS={deps}", *options)
    run("cmake", "--build", build, "--target", "flopmark", "gtest_main")
    program = build / "bin/flopmark"
    assert "llama" in run(program, "list")
    text = run(program, "compare", "HEAD:quickstart", "HEAD:quickstart", code=202)
    assert "built without Git" in text, text
print("built from a folder of dependencies")
