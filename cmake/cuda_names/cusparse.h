// Names that LibTorch's headers mention, for compiling without cuSPARSE's own. Nothing of ours calls it.
#pragma once
typedef struct cusparseContext* cusparseHandle_t;
typedef enum { CUSPARSE_STATUS_SUCCESS = 0 } cusparseStatus_t;
