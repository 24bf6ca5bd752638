// Names that LibTorch's headers mention, for compiling without cuSOLVER's own. Nothing of ours calls it.
#pragma once
typedef enum { CUSOLVER_STATUS_SUCCESS = 0 } cusolverStatus_t;
