/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/admission.h"

#include <stdlib.h>

#include "api/runtime/base/mem.h"
#include "controller/core/fit/rule.h"
#include "controller/core/model/labels.h"

enum { UNKNOWN, EACH /* ask for each node */, FAILED /* and the rule */ };

static struct tg_fit_guest guest_of(const struct tg_admission *admission, size_t pod)
{
    return (struct tg_fit_guest){.pod = admission->piece->pods[pod],
                                 .volumes = admission->piece->volumes};
}

static bool reads(const void *data, const char *key)
{
    const struct tg_admission *admission = data;
    bool found = false;

    for (size_t i = 0; i < admission->piece->n_pods && !found; i++) {
        const struct tg_fit_guest guest = guest_of(admission, i);

        found = tg_fit_reads(&guest, key);
    }
    return found;
}

void tg_admission_init(struct tg_admission *admission, const struct tg_fleet *fleet,
                       const struct tg_piece *piece)
{
    *admission = (struct tg_admission){.fleet = fleet, .piece = piece};
    for (size_t i = 0; i < piece->n_pods; i++) {
        const struct tg_fit_guest guest = guest_of(admission, i);

        admission->cares = admission->cares || tg_fit_cares(&guest);
    }
    admission->named = reads(admission, NULL);
}

void tg_admission_remember(struct tg_admission *admission)
{
    if (admission->cares && !admission->named)
        admission->labels = tg_xcalloc(tg_fleet_labels(admission->fleet), 1);
}

void tg_admission_forget(struct tg_admission *admission)
{
    free(admission->labels);
    admission->labels = NULL;
}

static size_t ask(const struct tg_admission *admission, const struct tg_fleet_node *row)
{
    size_t failed = row->object == NULL ? tg_fit_rules_count + 1 : tg_fit_rules_count;

    for (size_t i = 0; failed == tg_fit_rules_count && i < admission->piece->n_pods; i++) {
        const struct tg_fit_guest guest = guest_of(admission, i);

        failed = tg_fit_first_failed(row, &guest);
    }
    return failed;
}

unsigned char tg_admission_failed(const struct tg_admission *admission,
                                  const struct tg_fleet_node *row)
{
    unsigned char *known;

    if (row->plain && !admission->cares)
        return (unsigned char)tg_fit_rules_count;
    if (!row->plain || admission->labels == NULL)
        return (unsigned char)ask(admission, row);
    known = &admission->labels[row->labels];
    if (*known == UNKNOWN)
        *known = tg_labels_tell(admission->fleet, row->labels, reads, admission)
                     ? EACH
                     : (unsigned char)(FAILED + ask(admission, row));
    return *known == EACH ? (unsigned char)ask(admission, row) : (unsigned char)(*known - FAILED);
}
