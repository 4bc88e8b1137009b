/* SPDX-License-Identifier: Apache-2.0 */
/* A hash for tables whose keys an outsider chooses. */
#ifndef TG_RUNTIME_BASE_HASH_H
#define TG_RUNTIME_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* SipHash-1-3 under a secret of the process (the 16 random bytes that the kernel left it), folded
 * to 32 bits: nobody can prepare keys that all collide. Differs from process to process: nothing
 * that others see may depend on it. */
uint32_t tg_hash_secret(const void *data, size_t n);

#endif
