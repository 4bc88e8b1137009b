/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/labels.h"

#include "api/runtime/base/vec.h"
#include "controller/core/model/model.h"

/* What is kept of a label: key and value, numbers of strings; the value is OWN where it tells the
 * node from others. */
#define OWN 0U
#define NUMBERS_EACH 2

/* One that only this node has as far as is known: when another comes with the same, it is one too
 * many to tell, until the first is told again. */
static uint32_t value_of(const struct tg_string_pair *label, const char *name)
{
    const struct tg_blob *blob;

    if (label->value == NULL || label->value == name)
        return OWN;
    blob = tg_blob_of(label->value);
    return blob->uses == 1 ? OWN : blob->number;
}

uint32_t tg_labels_keep(struct tg_model *model, const char *name,
                        const struct tg_string_pair *labels, size_t n)
{
    static const uint32_t none = 0;

    TG_VEC_CLEAR(&model->numbers);
    for (size_t i = 0; i < n; i++) {
        if (labels[i].key == NULL)
            continue;
        *TG_VEC_PUSH(&model->numbers) = tg_blob_of(labels[i].key)->number;
        *TG_VEC_PUSH(&model->numbers) = value_of(&labels[i], name);
    }
    return tg_blobs_use(&model->labels, model->numbers.n == 0 ? &none : model->numbers.items,
                        model->numbers.n * sizeof(none));
}

void tg_labels_leave(struct tg_model *model, uint32_t labels)
{
    if (labels != 0)
        tg_blobs_drop(&model->labels, labels, NULL, NULL);
}

size_t tg_fleet_labels(const struct tg_fleet *fleet)
{
    return fleet->model->labels.n_items + 1;
}

bool tg_labels_tell(const struct tg_fleet *fleet, uint32_t labels,
                    bool (*reads)(const void *data, const char *key), const void *data)
{
    const struct tg_model *model = fleet->model;
    const uint32_t *numbers = (const uint32_t *)(const void *)tg_blobs_get(&model->labels, labels);
    size_t n = tg_blob_of(numbers)->n / sizeof(*numbers);

    for (size_t i = 0; i + 1 < n; i += NUMBERS_EACH) {
        if (numbers[i + 1] == OWN &&
            reads(data, (const char *)tg_blobs_get(&model->strings, numbers[i])))
            return true;
    }
    return false;
}
