// Names that LibTorch's headers mention, for compiling without cuSOLVER's own. Nothing of ours calls it.
#pragma once
#include "cusolver_common.h"
typedef struct cusolverDnContext* cusolverDnHandle_t;
