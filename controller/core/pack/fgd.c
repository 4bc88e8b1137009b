/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `fgd`: the placement that raises fragmentation least, in steps of a sigmoid (Weng et al., USENIX
 * ATC '23); ties go to the first node by name, as in the paper's artifact.
 */
#include "controller/core/pack/policy.h"

/* ln(s / (100 - s)) in millionths for s = 51 ... 99: where floor(100 sigmoid(x)) reaches s. */
static const int32_t steps[] = {
    40005,   80043,   120144,  160343,  200671,  241162,  281851,  322773,  363965,  405465,
    447312,  489548,  532217,  575364,  619039,  663294,  708185,  753772,  800119,  847298,
    895384,  944462,  994623,  1045969, 1098612, 1152680, 1208311, 1265666, 1324925, 1386294,
    1450010, 1516347, 1585627, 1658228, 1734601, 1815290, 1900959, 1992430, 2090741, 2197225,
    2313635, 2442347, 2586689, 2751535, 2944439, 3178054, 3476099, 3891820, 4595120,
};
enum { N_STEPS = sizeof(steps) / sizeof(steps[0]) };

/* floor(100 / (1 + exp(-x))) of x = gain / scale cards */
static int64_t sigmoid(__int128 gain, int64_t scale)
{
    __int128 x = gain * 1000000;
    __int128 card = (__int128)scale * TG_PACK_CARD;
    int64_t s = 50;

    if (x >= 0) {
        for (unsigned i = 0; i < N_STEPS && x >= steps[i] * card; i++)
            s++;
        return s;
    }
    for (unsigned i = 0; i < N_STEPS && x < -(steps[i] * card); i++)
        s--;
    return s - 1;
}

struct trial {
    const struct tg_fragment *fragment;
    int64_t before;
    struct tg_pack_score *best;
};

static void visit(void *context, unsigned card, const struct tg_pack_node *after)
{
    struct trial *trial = context;
    int64_t gain = trial->before - tg_fragment_of(trial->fragment, after);
    int64_t value = sigmoid(gain, trial->fragment->total > 0 ? trial->fragment->total : 1);

    if (trial->best->levels != 0 && value < trial->best->value)
        return;
    if (trial->best->levels == 0 || value > trial->best->value)
        trial->best->levels = 0;
    trial->best->value = value;
    trial->best->levels = (uint16_t)(trial->best->levels | 1U << card);
}

static void refresh(struct tg_packer *packer)
{
    tg_fragment_set(&packer->fragment, &packer->mix);
}

static void score(struct tg_packer *packer, const struct tg_pack_class *klass,
                  const struct tg_pack_request *request, struct tg_pack_score *ret)
{
    struct trial trial = {.fragment = &packer->fragment,
                          .before = tg_fragment_of(&packer->fragment, &klass->node),
                          .best = ret};

    tg_pack_policy_try(&klass->node, request, visit, &trial);
}

const struct tg_pack_policy tg_pack_fgd = {.name = "fgd", .refresh = refresh, .score = score};
