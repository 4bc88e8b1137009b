/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SimInventory document, decoded strictly: unknown fields, wrong types and values that cannot
 * be published are errors with file and line.
 *
 *   apiVersion: tangram.dev/v1alpha1
 *   kind: SimInventory
 *   firstIndex: 8                         # position of the first card; default 0
 *   cards:                                # in the order of their positions on the node; may be []
 *   - product: NVIDIA L4                  # a card of api/mig, by its exact product name
 *     count: 2                            # default 1
 *     mig: off                            # the only value that this version knows, and the default
 *     attributes: {rail: {int: 3}}        # added, or put in the place of the card's own
 *   - name: custom                        # any other card; the name becomes its productName
 *     memory: 48Gi
 *     attributes: {productName: {string: X9}, driverVersion: {version: 1.2.3}}
 *
 *   faults:                               # what goes wrong, for tests of what follows from it
 *   - call: edit                          # list, edit (a device is prepared), set (a card is set)
 *     device: gpu-12*                     # a pattern of names; default: all
 *     from: 2                             # the first and the last call of that kind since the
 *     to: 3                               # start that it meets; default: 1, and for ever
 *     error: the card has fallen off      # or delay: 10s, hang: true, kill: true (as kill -9)
 *
 * Two inventories of one node (two drivers with cards of their own) differ in firstIndex: the same
 * position of the same node is the same card.
 *
 * Attributes that follow from the position (uuid, index, minor, resource.kubernetes.io/pciBusID)
 * cannot be given.
 */
#ifndef TG_DRIVER_PROVIDER_SIM_INVENTORY_H
#define TG_DRIVER_PROVIDER_SIM_INVENTORY_H

#include <stddef.h>

#include "api/kubernetes/objects/resource.h"
#include "api/mig/card.h"
#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"

#define TG_SIM_CARDS_MAX 1024 /* of a node: firstIndex and counts added up */
#define TG_SIM_BYTES_MAX ((size_t)1 << 20)

/* One entry of `cards`. Strings live in the arena of the inventory. */
struct tg_sim_card {
    int line;
    size_t count;
    const char *product_name;                         /* of the card, or `name` */
    const struct tg_card *card;                       /* NULL: custom */
    const char *memory;                               /* quantity */
    TG_LIST_OF(struct tg_keyed_attribute) attributes; /* in the order of the document */
};

enum tg_sim_call { TG_SIM_LIST, TG_SIM_EDIT, TG_SIM_SET, TG_SIM_CALLS };
#define TG_SIM_FAULTS_MAX 64
struct tg_sim_fault {
    enum tg_sim_call call;
    const char *device; /* pattern; NULL: all */
    int64_t from, to;   /* counted from 1; to 0: for ever */
    const char *error;  /* NULL: none */
    int64_t delay;      /* ns */
    bool hang, kill;
};

struct tg_sim_inventory {
    size_t first_index;
    TG_LIST_OF(struct tg_sim_card) cards;
    TG_LIST_OF(struct tg_sim_fault) faults;
};

/* Decodes `n` bytes. `file` is the name for messages. TG_INVALID_ARGUMENT: "FILE:LINE:
 * cards[1].product: ...". */
int tg_sim_inventory_decode(const char *file, const char *data, size_t n, struct tg_arena *arena,
                            struct tg_sim_inventory *ret, struct tg_error *err);
/* Reads the file and decodes it. */
int tg_sim_inventory_load(const char *file, struct tg_arena *arena, struct tg_sim_inventory *ret,
                          struct tg_error *err);

#endif
