# Shared by the scripts in this folder; sourced from the project's top folder.

TORCH_VERSION=2.15.0
CUDA_WHEELS=(nvidia-cuda-runtime==13.2.86 nvidia-cuda-cupti==13.2.86)  # libtorch_cpu.so loads these two
# Of these only the headers, to compile what runs on GPUs only.
HEADER_WHEELS=(nvidia-nccl-cu13==2.30.7 nvidia-cuda-crt==13.2.86 nvidia-cuda-cccl==13.2.86)
LIBTORCH_DIR=.deps/libtorch
FLOPMARK_PACKAGES=(g++ cmake ninja-build ccache pkg-config git python3 python3-pip ca-certificates
                   libcli11-dev libfmt-dev nlohmann-json3-dev libgit2-dev libgtest-dev libgmock-dev
                   libjpeg62-turbo-dev libpng-dev libgloo-dev)
TEST_PACKAGES=(openmpi-bin iproute2)  # mpirun, and hosts and cables between them; without them such tests are skipped

say() { printf '== %s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# Debian packages that are not installed yet; without root, the line to type.
install_packages() {
  local missing=() package
  command -v dpkg-query >/dev/null || { say "not a Debian system: see to it that these are there: $*"; return; }
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    printf 'These Debian packages are missing. Install them as root, then run this again:\n\n  apt-get update && apt-get install -y --no-install-recommends %s\n\n' "${missing[*]}" >&2
    exit 1
  fi
  say "installing Debian packages: ${missing[*]}"
  apt-get update -q
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# The folder of a LibTorch that is here already, or nothing.
existing_libtorch() {
  local prefix header=include/torch/csrc/api/include/torch/torch.h
  local IFS=':;'
  for prefix in ${CMAKE_PREFIX_PATH:-}; do
    for prefix in "$prefix" "$prefix/torch"; do
      [ ! -e "$prefix/$header" ] || { echo "$prefix"; return; }
    done
  done
  [ ! -e "$LIBTORCH_DIR/torch/$header" ] || [ ! -e "$LIBTORCH_DIR/complete-$TORCH_VERSION" ] ||
    { echo "$LIBTORCH_DIR/torch"; return; }
  python3 - "$header" <<'PY' 2>/dev/null || true
import importlib.metadata, importlib.util, os, re, sys
spec = importlib.util.find_spec("torch")
version = tuple(int(n) for n in re.findall(r"\d+", importlib.metadata.version("torch"))[:2])
folder = spec.submodule_search_locations[0]
if version >= (2, 11) and os.path.exists(os.path.join(folder, sys.argv[1])):
    print(folder)
PY
}

gpu_present() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU'; }

install_libtorch() {
  local found; found=$(existing_libtorch)
  if [ -n "$found" ]; then say "LibTorch: $found"; return; fi
  local wheels=(--no-deps "torch==$TORCH_VERSION" "${CUDA_WHEELS[@]}")
  if gpu_present; then wheels=("torch==$TORCH_VERSION"); fi   # with all of CUDA, 5.4 GB
  say "installing LibTorch $TORCH_VERSION into $LIBTORCH_DIR (${wheels[*]})"
  rm -rf "$LIBTORCH_DIR.part" && mkdir -p "$LIBTORCH_DIR.part"
  python3 -m pip install -q --disable-pip-version-check --no-compile --root-user-action=ignore --target "$LIBTORCH_DIR.part" "${wheels[@]}"
  touch "$LIBTORCH_DIR.part/complete-$TORCH_VERSION"
  rm -rf "$LIBTORCH_DIR" && mv "$LIBTORCH_DIR.part" "$LIBTORCH_DIR"
}

# The headers of NCCL, and those of CUDA that its own include, beside our own LibTorch; without them (no network, say) nothing is lost but
# that this code is compiled.
install_cuda_headers() {
  local place="$LIBTORCH_DIR/nvidia" part="$LIBTORCH_DIR.headers"
  [ -e "$LIBTORCH_DIR/torch" ] || return 0
  [ ! -e "$place/nccl/include/nccl.h" ] || [ ! -e "$place/cu13/include/nv/target" ] || return 0
  say "installing the headers of ${HEADER_WHEELS[*]} into $place"
  rm -rf "$part" && mkdir -p "$part"
  if python3 -m pip download -q --disable-pip-version-check --no-deps --dest "$part" "${HEADER_WHEELS[@]}" &&
     python3 - "$part" <<'PYTHON'
import glob, sys, zipfile
for wheel in glob.glob(sys.argv[1] + "/*.whl"):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(sys.argv[1], [name for name in archive.namelist() if "/include/" in name])
PYTHON
  then
    mkdir -p "$place" && cp -r "$part/nvidia/." "$place/"
  else
    say "no headers of NCCL: code for them is not compiled here"
  fi
  rm -rf "$part"
}

# Whether the LibTorch in use can drive the GPU that is here.
cuda_option() {
  local found; found=$(existing_libtorch)
  if gpu_present && [ -e "$found/lib/libtorch_cuda.so" ] && compgen -G "$found/../nvidia/*/include/cuda_runtime_api.h" >/dev/null &&
     compgen -G "$found/../nvidia/cudnn" >/dev/null; then echo ON; else echo OFF; fi
}

# build_preset PRESET [CMake options]: configures once and builds what changed.
build_preset() {
  local preset=$1; shift
  cmake --preset "$preset" -DFLOPMARK_CUDA="$(cuda_option)" "$@" >"build-$preset.log" 2>&1 || { cat "build-$preset.log" >&2; rm -f "build-$preset.log"; exit 1; }
  rm -f "build-$preset.log"
  cmake --build --preset "$preset"
}
