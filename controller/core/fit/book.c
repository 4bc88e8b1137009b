/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/book.h"

#include <string.h>

#include "api/kubernetes/objects/capacity.h"
#include "api/runtime/base/str.h"
#include "controller/core/model/nanos.h"
#include "controller/core/model/sort.h"

void tg_fit_book_init(struct tg_fit_book *book, const struct tg_rules *rules,
                      tg_fit_find_class *find_class, const void *classes, struct tg_arena *arena)
{
    *book = (struct tg_fit_book){.rules = *rules,
                                 .options = {.minor = rules->release},
                                 .find_class = find_class,
                                 .classes = classes,
                                 .arena = arena};
}

/* Room for one more in a list of the arena: doubles. */
static int reserve(struct tg_arena *arena, void *list, size_t n, size_t *capacity, size_t size,
                   struct tg_error *err)
{
    size_t wider = *capacity == 0 ? 8 : *capacity * 2;
    void *old, *grown;
    int rc = 0;

    if (n < *capacity)
        return 0;
    rc = tg_core_alloc(arena, wider, size, &grown, err);
    if (rc < 0)
        return rc;
    memcpy(&old, list, sizeof(old));
    if (n > 0)
        memcpy(grown, old, n * size);
    memcpy(list, &grown, sizeof(grown));
    *capacity = wider;
    return 0;
}

static int selector_of(struct tg_fit_book *book, const char *expression, size_t *ret,
                       struct tg_error *err)
{
    struct tg_error why = TG_ERROR_INIT;
    struct tg_fit_selector *row;
    int rc = 0;

    for (*ret = 0; *ret < book->n_selectors; (*ret)++) {
        if (strcmp(book->selectors[*ret].expression, expression) == 0)
            return 0;
    }
    rc = reserve(book->arena, &book->selectors, book->n_selectors, &book->selectors_capacity,
                 sizeof(*book->selectors), err);
    if (rc < 0)
        return rc;
    row = &book->selectors[book->n_selectors];
    *row = (struct tg_fit_selector){.expression = expression};
    rc = tg_selector_compile_with(expression, &book->options, book->arena, &row->compiled, &why);
    if (rc == -TG_RESOURCE_EXHAUSTED)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "%s", why.message);
    if (rc < 0) {
        row->compiled = NULL;
        row->problem = tg_arena_strdup(book->arena, why.message);
        if (row->problem == NULL)
            return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "%s", why.message);
    }
    book->n_selectors++;
    return 0;
}

/* What the compilation of one claim passes around. */
struct job {
    struct tg_fit_book *book;
    struct tg_fit_claim *claim;
    const char *title; /* of the request, for messages */
    struct tg_error *err;
    int rc; /* of the arena; everything stops at the first failure */
};

static bool refuse(struct job *job, enum tg_fit_fault fault, const char *what)
{
    const struct tg_object_meta *meta = job->claim->object->metadata;

    return tg_fit_fail(&job->claim->problem, job->book->arena, fault, "claim %s, request %s: %s",
                       tg_or(meta == NULL ? NULL : meta->name, "?"), job->title, what);
}

static bool refuse_gate(struct job *job, enum tg_feature feature, const char *what)
{
    refuse(job, TG_FAULT_FEATURE_DISABLED, what);
    job->claim->problem.feature = feature;
    return true;
}

static bool has_no_cel(const struct tg_device_selector *selector)
{
    return selector->cel == NULL || selector->cel->expression == NULL;
}

static bool tolerations_equal(const struct tg_exact_request *a, const struct tg_exact_request *b)
{
    if (a->tolerations.n != b->tolerations.n)
        return false;
    for (size_t i = 0; i < a->tolerations.n; i++) {
        const struct tg_toleration *x = &a->tolerations.items[i], *y = &b->tolerations.items[i];

        if (!tg_streq(x->key, y->key) || !tg_streq(x->operator_, y->operator_) ||
            !tg_streq(x->value, y->value) || !tg_streq(x->effect, y->effect))
            return false;
    }
    return true;
}

static bool same_want(const struct tg_fit_want *a, const struct tg_fit_want *b)
{
    if (a->klass != b->klass || a->all != b->all || a->admin != b->admin ||
        a->n_selectors != b->n_selectors || a->n_class_selectors != b->n_class_selectors ||
        a->n_capacity != b->n_capacity || !tolerations_equal(a->request, b->request))
        return false;
    for (size_t i = 0; i < a->n_selectors; i++) {
        if (a->selectors[i] != b->selectors[i])
            return false;
    }
    for (size_t i = 0; i < a->n_capacity; i++) {
        if (a->capacity[i].nanos != b->capacity[i].nanos ||
            strcmp(a->capacity[i].name, b->capacity[i].name) != 0)
            return false;
    }
    return true;
}

/* true: refused or out of memory. */
static bool read_capacity(struct job *job, const struct tg_exact_request *request,
                          struct tg_fit_want *want)
{
    const struct tg_string_pair *pairs = NULL;
    struct tg_fit_amount *amounts;
    int rc = tg_capacity_requests_read(request->capacity, job->book->arena, &pairs,
                                       &want->n_capacity, job->err);

    if (rc < 0 && rc != -TG_RESOURCE_EXHAUSTED)
        return refuse(job, TG_FAULT_UNREADABLE_CAPACITY, "capacity cannot be read");
    if (rc == 0)
        rc =
            tg_core_alloc(job->book->arena, want->n_capacity, sizeof(*amounts), &amounts, job->err);
    job->rc = rc;
    if (rc < 0)
        return true;
    for (size_t i = 0; i < want->n_capacity; i++) {
        amounts[i].name = pairs[i].key;
        if (pairs[i].value == NULL || tg_nanos_parse(pairs[i].value, &amounts[i].nanos, NULL) < 0)
            return refuse(job, TG_FAULT_UNREADABLE_CAPACITY, "capacity is no quantity");
    }
    want->capacity = amounts;
    return false;
}

static bool read_selectors(struct job *job, const struct tg_exact_request *request,
                           struct tg_fit_want *want)
{
    const struct tg_device_class_spec *spec = want->klass->spec;
    size_t n_class = spec == NULL ? 0 : spec->selectors.n, n = 0;
    size_t *selectors;

    job->rc = tg_core_alloc(job->book->arena, n_class + request->selectors.n, sizeof(*selectors),
                            &selectors, job->err);
    for (size_t i = 0; job->rc == 0 && i < n_class; i++) {
        if (has_no_cel(&spec->selectors.items[i]))
            return refuse(job, TG_FAULT_UNSUPPORTED_SELECTOR,
                          "its class has a selector that is not CEL");
        job->rc = selector_of(job->book, spec->selectors.items[i].cel->expression, &selectors[n++],
                              job->err);
    }
    for (size_t i = 0; job->rc == 0 && i < request->selectors.n; i++)
        job->rc = selector_of(job->book, request->selectors.items[i].cel->expression,
                              &selectors[n++], job->err);
    want->selectors = selectors;
    want->n_selectors = n;
    want->n_class_selectors = n_class;
    return job->rc < 0;
}

static bool find_want(struct job *job, const struct tg_fit_want *want, size_t *ret)
{
    struct tg_fit_book *book = job->book;

    for (*ret = 0; *ret < book->n_wants; (*ret)++) {
        if (same_want(&book->wants[*ret], want))
            return false;
    }
    job->rc = reserve(book->arena, &book->wants, book->n_wants, &book->wants_capacity,
                      sizeof(*book->wants), job->err);
    if (job->rc == 0)
        book->wants[book->n_wants++] = *want;
    return job->rc < 0;
}

/* In the built-in allocator's order: selectors, admin access, class, mode. */
static bool judge_request(struct job *job, const struct tg_exact_request *request)
{
    for (size_t i = 0; i < request->selectors.n; i++) {
        if (has_no_cel(&request->selectors.items[i]))
            return refuse(job, TG_FAULT_UNSUPPORTED_SELECTOR, "a selector that is not CEL");
    }
    if (request->admin_access.set && !tg_rules_have(&job->book->rules, TG_FEATURE_ADMIN_ACCESS))
        return refuse_gate(job, TG_FEATURE_ADMIN_ACCESS,
                           "admin access is requested, but the feature is disabled");
    if (tg_or(request->device_class_name, "")[0] == '\0')
        return refuse(job, TG_FAULT_MISSING_CLASS, "it names no device class");
    if (job->book->find_class(job->book->classes, request->device_class_name) == NULL)
        return refuse(job, TG_FAULT_UNKNOWN_CLASS, "its device class does not exist");
    return false;
}

static bool read_mode(struct job *job, const struct tg_exact_request *request,
                      struct tg_fit_want *want, struct tg_fit_choice *choice)
{
    const char *mode = tg_or(request->allocation_mode, "ExactCount");

    want->all = strcmp(mode, "All") == 0;
    if (want->all)
        return false;
    if (strcmp(mode, "ExactCount") != 0)
        return refuse(job, TG_FAULT_UNSUPPORTED_MODE, "unknown allocation mode");
    if (request->count.set && request->count.value < 1)
        return refuse(job, TG_FAULT_UNSUPPORTED_MODE, "the count is less than 1");
    choice->count = request->count.set ? (size_t)request->count.value : 1;
    return false;
}

static bool read_want(struct job *job, const struct tg_exact_request *request,
                      struct tg_fit_choice *choice)
{
    struct tg_fit_want want = {.request = request,
                               .admin = request->admin_access.set && request->admin_access.value};

    if (judge_request(job, request) || read_mode(job, request, &want, choice))
        return true;
    want.klass = job->book->find_class(job->book->classes, request->device_class_name);
    return read_selectors(job, request, &want) || read_capacity(job, request, &want) ||
           find_want(job, &want, &choice->want);
}

static bool covers(const struct tg_device_constraint *constraint, const char *request,
                   const char *full)
{
    for (size_t i = 0; i < constraint->requests.n; i++) {
        if (tg_streq(constraint->requests.items[i], request) ||
            tg_streq(constraint->requests.items[i], full))
            return true;
    }
    return constraint->requests.n == 0;
}

static bool bind_constraints(struct job *job, const struct tg_fit_request *request,
                             struct tg_fit_choice *choice)
{
    const struct tg_device_claim *devices = job->claim->object->spec->devices;
    bool *bound;

    job->rc =
        tg_core_alloc(job->book->arena, devices->constraints.n, sizeof(*bound), &bound, job->err);
    for (size_t i = 0; job->rc == 0 && i < devices->constraints.n; i++)
        bound[i] = covers(&devices->constraints.items[i], request->name, choice->name);
    choice->bound = bound;
    return job->rc < 0;
}

static bool read_choices(struct job *job, const struct tg_device_request *from,
                         struct tg_fit_request *request)
{
    struct tg_fit_choice *choices;

    request->n_choices = request->listed ? from->first_available.n : 1;
    job->rc =
        tg_core_alloc(job->book->arena, request->n_choices, sizeof(*choices), &choices, job->err);
    if (job->rc < 0)
        return true;
    request->choices = choices;
    for (size_t i = 0; i < request->n_choices; i++) {
        struct tg_fit_choice *choice = &choices[i];

        choice->request = request->listed ? &from->first_available.items[i] : from->exactly;
        choice->name = request->name;
        if (request->listed)
            choice->name = tg_arena_printf(job->book->arena, "%s/%s", request->name,
                                           tg_or(choice->request->name, ""));
        if (choice->name == NULL) {
            job->rc = tg_error_set(job->err, TG_RESOURCE_EXHAUSTED,
                                   "the decision needs more memory than its budget");
            return true;
        }
        job->title = choice->name;
        job->claim->n_sound_choices = i;
        if (read_want(job, choice->request, choice) || bind_constraints(job, request, choice))
            return true;
    }
    return false;
}

static bool asks_capacity(const struct tg_device_request *from)
{
    if (from->exactly != NULL && from->exactly->capacity != NULL)
        return true;
    for (size_t i = 0; i < from->first_available.n; i++) {
        if (from->first_available.items[i].capacity != NULL)
            return true;
    }
    return false;
}

static bool read_request(struct job *job, const struct tg_device_request *from,
                         struct tg_fit_request *request)
{
    const struct tg_rules *rules = &job->book->rules;

    *request = (struct tg_fit_request){.name = tg_or(from->name, ""),
                                       .listed = from->first_available.n > 0};
    job->title = request->name;
    job->claim->n_sound_choices = 0;
    if (request->listed && !tg_rules_have(rules, TG_FEATURE_PRIORITIZED_LIST))
        return refuse_gate(job, TG_FEATURE_PRIORITIZED_LIST,
                           "has subrequests, but the DRAPrioritizedList feature is disabled");
    if (asks_capacity(from) && !tg_rules_have(rules, TG_FEATURE_CONSUMABLE_CAPACITY))
        return refuse_gate(
            job, TG_FEATURE_CONSUMABLE_CAPACITY,
            "has capacity requests, but the DRAConsumableCapacity feature is disabled");
    if (!request->listed && from->exactly == NULL)
        return refuse(job, TG_FAULT_MISSING_CLASS,
                      "neither exactly nor firstAvailable (a newer form of request?)");
    return read_choices(job, from, request);
}

/* distinctAttribute came with consumable capacity; allocators that lack every feature of its
 * generation do not know it. */
static bool knows_distinct(const struct tg_rules *rules)
{
    return (rules->features &
            (TG_FEATURE_CONSUMABLE_CAPACITY | TG_FEATURE_DEVICE_BINDING_AND_STATUS |
             TG_FEATURE_LIST_TYPE_ATTRIBUTES)) != 0;
}

static bool read_constraints(struct job *job, const struct tg_device_claim *devices)
{
    struct tg_fit_constraint *constraints;

    job->rc = tg_core_alloc(job->book->arena, devices->constraints.n, sizeof(*constraints),
                            &constraints, job->err);
    for (size_t i = 0; job->rc == 0 && i < devices->constraints.n; i++) {
        const struct tg_device_constraint *from = &devices->constraints.items[i];

        if (from->match_attribute != NULL)
            constraints[i].attribute = from->match_attribute;
        else if (from->distinct_attribute != NULL && knows_distinct(&job->book->rules))
            constraints[i] =
                (struct tg_fit_constraint){.attribute = from->distinct_attribute, .distinct = true};
        else
            return refuse(job, TG_FAULT_UNSUPPORTED_CONSTRAINT,
                          "a constraint of a kind that is not known");
    }
    job->claim->constraints = constraints;
    job->claim->n_constraints = devices->constraints.n;
    return job->rc < 0;
}

int tg_fit_book_add(struct tg_fit_book *book, const struct tg_resource_claim *claim,
                    struct tg_fit_claim *ret, struct tg_error *err)
{
    const struct tg_device_claim *devices = claim->spec == NULL ? NULL : claim->spec->devices;
    struct job job = {.book = book, .claim = ret, .title = "?", .err = err};
    size_t n = devices == NULL ? 0 : devices->requests.n;

    *ret = (struct tg_fit_claim){.object = claim};
    job.rc = tg_core_alloc(book->arena, n, sizeof(*ret->requests), &ret->requests, err);
    if (job.rc < 0 || devices == NULL)
        return job.rc;
    ret->n_requests = n;
    for (ret->n_sound = 0; ret->n_sound < n; ret->n_sound++) {
        if (read_request(&job, &devices->requests.items[ret->n_sound],
                         &ret->requests[ret->n_sound]))
            return job.rc;
    }
    ret->n_sound_choices = 0;
    job.title = "*";
    read_constraints(&job, devices);
    return job.rc;
}
