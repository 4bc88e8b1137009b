/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TangramConfiguration: the controller's one configuration document (design 11), strict YAML. Every
 * error names line and field.
 */
#ifndef TG_TANGRAM_CONFIGURATION_H
#define TG_TANGRAM_CONFIGURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/error.h"

/* A topology level: its domains are the values of a node label or of a device attribute. */
struct tg_level {
    const char *name;
    const char *node_label;       /* exactly one of the two is set */
    const char *device_attribute; /* fully qualified "domain/name" */
    size_t rank; /* 0 = outermost; host is the innermost; TG_LEVEL_UNRANKED for a raw label key */
};
#define TG_LEVEL_UNRANKED ((size_t)-1)
#define TG_LEVEL_HOST "host"

struct tg_delays { /* nanoseconds, all > 0 */
    int64_t lease; /* duration of the leader's lease; 15s */
    int64_t stall; /* an open plan whose node or device is away is given up after this; 2m */
    int64_t bind; /* an un-gated member must be bound within this; 60s; a Gang's bindTimeout wins */
    int64_t hold; /* what a lost member held stays held for this; 5m; a Gang's holdFor wins */
    int64_t linger;      /* an auto Gang lives on this long after its last live member; 60s */
    int64_t audit;       /* the controller looks for broken invariants this often; 5m */
    int64_t request;     /* deadline of one API request; 10s */
    int64_t watch;       /* lifetime asked of one watch before it is resumed; 5m */
    int64_t drain_after; /* the first unit that waits for devices has nodes kept for it after this;
                            2m */
    int64_t drain;       /* so long at most, and others have as long before it begins again; 30m */
    int64_t watch_idle;  /* a watch that is silent (not even a bookmark) for this is cut; 3m */
};

/* Which packing policy says where (controller/core/pack). */
struct tg_class_policy {
    const char *class_name, *policy;
};
struct tg_policies {
    const char *fleet; /* of requests whose first class is not in the list; NULL: the default */
    const struct tg_class_policy *classes;
    size_t n_classes;
};

/* A kind of pod that is known to come: what one of them asks for, and how many come in some period
 * of time, which is the same for all of the list. */
struct tg_expected {
    const char *class_name;
    int64_t devices;
    const char *selector;     /* CEL, or NULL */
    const char *cpu, *memory; /* quantities, or NULL */
    int64_t count;
};

struct tg_configuration; /* owns everything it hands out */

/* Parses one document, fills in defaults, validates. file is named in errors. */
int tg_configuration_parse(const char *file, const char *data, size_t n,
                           struct tg_configuration **ret, struct tg_error *err);
/* Reads the file (at most 1 MiB), then as above. */
int tg_configuration_load(const char *file, struct tg_configuration **ret, struct tg_error *err);
/* What an empty document gives: levels zone (topology.kubernetes.io/zone) and host. */
struct tg_configuration *tg_configuration_new_default(void);
void tg_configuration_free(struct tg_configuration *configuration); /* NULL is allowed */

const char *tg_configuration_instance(const struct tg_configuration *configuration);
const struct tg_policies *tg_configuration_policies(const struct tg_configuration *configuration);
/* What is known to come; empty: it is learned. */
const struct tg_expected *tg_configuration_expected(const struct tg_configuration *configuration,
                                                    size_t *ret_n);
const struct tg_delays *tg_configuration_delays(const struct tg_configuration *configuration);
/* Levels, outermost first; the last is always host. */
const struct tg_level *tg_configuration_levels(const struct tg_configuration *configuration,
                                               size_t *ret_n);

/* A level by name, by its node label, or by a raw label key (one with a '/'): ret->name is then the
 * key itself and points to `name`. TG_NOT_FOUND lists the known levels. */
int tg_configuration_find_level(const struct tg_configuration *configuration, const char *name,
                                struct tg_level *ret, struct tg_error *err);

static inline void tg_cleanup_configuration(struct tg_configuration **configuration)
{
    tg_configuration_free(*configuration);
}

#endif
