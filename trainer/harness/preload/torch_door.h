#pragma once

/* What the library with LibTorch's operator points calls in the preload
 * library, which has loaded it. Plain C, since the two are built by different
 * compilers. Found by the dynamic linker: the preload library comes first. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Throws an exception of that type for real, as `throw(type, text)` of a plan
 * asks for: `c10`, `c10_index`, `c10_value`, `c10_type`, `c10_not_implemented`,
 * `oom`. Returns 0 for a type that it does not know, and never otherwise. */
typedef int (*mishap_thrower)(const char* type, const char* text);

/* Whether points of this family (`op`) are hit at all in this process. From any
 * thread. */
int mishap_agent_wants(const char* family);

/* The number of the point of that name (`op/aten::add.Tensor`), the same at
 * each call. Once a name, not at each hit. From any thread. */
uint32_t mishap_agent_point(const char* name);

/* The point is hit, before its body runs. Returns 0 when the body is to run; in
 * a fault it throws, or does not come back. From any thread. */
int mishap_agent_hit(uint32_t point);

/* Once, before the first hit. */
void mishap_agent_set_thrower(mishap_thrower thrower);

/* What the preload library looks up in the library that it has loaded. To be
 * called on each thread that starts afterwards, before its function:
 * operators are points on threads that have called it alone. */
void mishap_torch_thread_starts(void);

#ifdef __cplusplus
}
#endif
