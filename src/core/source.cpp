// The hash of the source files. It has its own translation unit, because it changes with every edit.
#include "iacta.h"

#ifndef IACTA_SOURCE
#define IACTA_SOURCE "unknown"
#endif

const char* iacta_source(void) { return IACTA_SOURCE; }
