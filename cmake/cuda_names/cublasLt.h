// Names that LibTorch's headers mention, for compiling without cuBLASLt's own. Nothing of ours calls it.
#pragma once
typedef struct cublasLtContext* cublasLtHandle_t;
