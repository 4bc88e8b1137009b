/* SPDX-License-Identifier: Apache-2.0 */
/* Byte strings that many hold and that are kept once, by number. References are counted. */
#ifndef TG_RUNTIME_JSON_POOL_H
#define TG_RUNTIME_JSON_POOL_H

#include <stddef.h>
#include <stdint.h>

struct tg_pool;

struct tg_pool *tg_pool_new(void);
/* NULL is allowed. */
void tg_pool_free(struct tg_pool *pool);
/* The number of those bytes, with one reference more. Numbers begin at 1; 0 stands for no bytes. */
uint32_t tg_pool_take(struct tg_pool *pool, const void *bytes, size_t n);
/* One reference less; without references they are forgotten and the number is given anew. */
void tg_pool_release(struct tg_pool *pool, uint32_t number);
/* Valid while there is a reference. */
const void *tg_pool_get(const struct tg_pool *pool, uint32_t number, size_t *ret_n);
/* Different byte strings. */
size_t tg_pool_count(const struct tg_pool *pool);

#endif
