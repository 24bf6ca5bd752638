// Names that LibTorch's headers mention, for compiling without cuBLAS's own. Nothing of ours calls it.
#pragma once
typedef struct cublasContext* cublasHandle_t;
typedef enum { CUBLAS_STATUS_SUCCESS = 0 } cublasStatus_t;
