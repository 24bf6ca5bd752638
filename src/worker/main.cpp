#include <torch/version.h>

#include <cstdio>

int main() { std::puts(TORCH_VERSION); }
