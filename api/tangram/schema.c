/* SPDX-License-Identifier: Apache-2.0 */
#include "api/tangram/schema.h"

#include <stdio.h>
#include <string.h>

#include "api/runtime/base/str.h"
#include "api/runtime/json/patch.h"

/* Deeper nesting than any API of ours: a table that contains itself is a mistake in the table. */
enum { MAX_DEPTH = 24 };

/* Where the writer stands. Errors of the buffer are sticky and checked once at the end. */
struct out {
    struct tg_buf *buf;
    struct tg_error *err;
    int indent;
    size_t max_name;
    char path[256]; /* for messages */
};

static void indent(struct out *o)
{
    for (int i = 0; i < o->indent; i++)
        tg_buf_append_str(o->buf, "  ");
}

static void line(struct out *o, const char *text)
{
    indent(o);
    tg_buf_append_str(o->buf, text);
    tg_buf_append_char(o->buf, '\n');
}

/* key: "value", quoted as JSON, which is YAML too. */
static void line_string(struct out *o, const char *key, const char *value)
{
    if (value == NULL)
        return;
    indent(o);
    tg_buf_printf(o->buf, "%s: ", key);
    tg_json_quote(o->buf, value);
    tg_buf_append_char(o->buf, '\n');
}

static void line_number(struct out *o, const char *key, int64_t value)
{
    indent(o);
    tg_buf_printf(o->buf, "%s: %lld\n", key, (long long)value);
}

static void line_size(struct out *o, const char *key, size_t value)
{
    if (value > 0)
        line_number(o, key, (int64_t)value);
}

static void line_strings(struct out *o, const char *key, const char *const *values)
{
    if (values == NULL || values[0] == NULL)
        return;
    indent(o);
    tg_buf_printf(o->buf, "%s: [", key);
    for (size_t i = 0; values[i] != NULL; i++) {
        tg_buf_append_str(o->buf, i == 0 ? "" : ", ");
        tg_json_quote(o->buf, values[i]);
    }
    tg_buf_append_str(o->buf, "]\n");
}

static void write_rules(struct out *o, const struct tg_schema_rule *rules)
{
    if (rules == NULL || rules[0].rule == NULL)
        return;
    line(o, "x-kubernetes-validations:");
    for (size_t i = 0; rules[i].rule != NULL; i++) {
        indent(o);
        tg_buf_append_str(o->buf, "- rule: ");
        tg_json_quote(o->buf, rules[i].rule);
        tg_buf_append_str(o->buf, "\n");
        o->indent++;
        line_string(o, "message", rules[i].message);
        o->indent--;
    }
}

static void write_string_limits(struct out *o, const struct tg_schema *schema)
{
    line_strings(o, "enum", schema->values);
    line_string(o, "pattern", schema->pattern);
    line_string(o, "format", schema->format);
    line_size(o, "minLength", schema->min_length);
    line_size(o, "maxLength", schema->max_length);
}

static int write_object(struct out *o, const struct tg_type *type, int depth);

static int write_item(struct out *o, const struct tg_field *field, const struct tg_schema *schema,
                      int depth)
{
    line(o, "items:");
    o->indent++;
    int rc = 0;
    if (field->item == TG_FIELD_STRING) {
        line(o, "type: string");
        write_string_limits(o, schema);
    } else if (field->item == TG_FIELD_OBJECT) {
        rc = write_object(o, field->type, depth);
        write_rules(o, schema->item_rules);
    } else {
        rc = tg_error_set(o->err, TG_INVALID_ARGUMENT, "%s: lists of this kind have no schema yet",
                          o->path);
    }
    o->indent--;
    return rc;
}

static int write_list(struct out *o, const struct tg_field *field, const struct tg_schema *schema,
                      int depth)
{
    line(o, "type: array");
    line_size(o, "minItems", schema->min_items);
    line_size(o, "maxItems", field->max_items);
    if (schema->list_key != NULL) {
        line(o, "x-kubernetes-list-type: map");
        line_strings(o, "x-kubernetes-list-map-keys",
                     (const char *const[]){schema->list_key, NULL});
    } else {
        line(o, schema->set ? "x-kubernetes-list-type: set" : "x-kubernetes-list-type: atomic");
    }
    return write_item(o, field, schema, depth);
}

/* Everything below "fieldName:". */
static int write_field(struct out *o, const struct tg_field *field, int depth)
{
    const struct tg_schema *schema = field->schema;
    if (schema == NULL || schema->description == NULL)
        return tg_error_set(o->err, TG_INVALID_ARGUMENT, "%s: the field has no description",
                            o->path);
    line_string(o, "description", schema->description);
    int rc = 0;
    switch (field->kind) {
    case TG_FIELD_STRING:
        line(o, "type: string");
        write_string_limits(o, schema);
        break;
    case TG_FIELD_BOOL:
        line(o, "type: boolean");
        break;
    case TG_FIELD_INT:
        line(o, "type: integer");
        line_string(o, "format", schema->format);
        if (schema->maximum > schema->minimum) {
            line_number(o, "minimum", schema->minimum);
            line_number(o, "maximum", schema->maximum);
        }
        break;
    case TG_FIELD_OBJECT:
        rc = write_object(o, field->type, depth);
        break;
    case TG_FIELD_LIST:
        rc = write_list(o, field, schema, depth);
        break;
    case TG_FIELD_RAW:
        line(o, "x-kubernetes-preserve-unknown-fields: true");
        break;
    case TG_FIELD_SCALAR_TEXT:
        line(o, "x-kubernetes-int-or-string: true");
        break;
    case TG_FIELD_MAP:
        return tg_error_set(o->err, TG_INVALID_ARGUMENT, "%s: maps have no schema yet", o->path);
    }
    write_rules(o, schema->rules);
    return rc;
}

static void write_required(struct out *o, const struct tg_type *type)
{
    bool any = false;
    for (size_t i = 0; i < type->n; i++) {
        if ((type->fields[i].flags & TG_FIELD_REQUIRED) == 0)
            continue;
        if (!any)
            line(o, "required:");
        any = true;
        indent(o);
        tg_buf_printf(o->buf, "- %s\n", type->fields[i].name);
    }
}

/* apiVersion, kind and metadata of the root: the server knows them, and allows no more of metadata
 * than limits of the name. */
static bool write_known_to_server(struct out *o, const struct tg_field *field)
{
    if (tg_streq(field->name, "apiVersion") || tg_streq(field->name, "kind")) {
        indent(o);
        tg_buf_printf(o->buf, "%s: {type: string}\n", field->name);
        return true;
    }
    if (!tg_streq(field->name, "metadata"))
        return false;
    line(o, "metadata:");
    line(o, "  type: object");
    if (o->max_name > 0) {
        line(o, "  properties:");
        indent(o);
        tg_buf_printf(o->buf, "    name: {type: string, maxLength: %zu}\n", o->max_name);
    }
    return true;
}

static int write_object(struct out *o, const struct tg_type *type, int depth)
{
    if (depth > MAX_DEPTH)
        return tg_error_set(o->err, TG_INVALID_ARGUMENT, "%s: nested too deeply", o->path);
    line(o, "type: object");
    write_required(o, type);
    line(o, "properties:");
    o->indent++;
    size_t path = strlen(o->path);
    for (size_t i = 0; i < type->n; i++) {
        const struct tg_field *field = &type->fields[i];
        if (depth == 0 && write_known_to_server(o, field))
            continue;
        snprintf(o->path + path, sizeof(o->path) - path, "%s%s", path > 0 ? "." : "", field->name);
        indent(o);
        tg_buf_printf(o->buf, "%s:\n", field->name);
        o->indent++;
        int rc = write_field(o, field, depth + 1);
        o->indent--;
        o->path[path] = '\0';
        if (rc < 0)
            return rc;
    }
    o->indent--;
    return 0;
}

static void write_names(struct out *o, const struct tg_crd *crd)
{
    line_string(o, "group", crd->group);
    line(o, "scope: Namespaced");
    line(o, "names:");
    o->indent++;
    line_string(o, "kind", crd->kind);
    indent(o);
    tg_buf_printf(o->buf, "listKind: \"%sList\"\n", crd->kind);
    line_string(o, "plural", crd->plural);
    line_string(o, "singular", crd->singular);
    line_strings(o, "shortNames", crd->short_names);
    line_strings(o, "categories", crd->categories);
    o->indent--;
}

static void write_columns(struct out *o, const struct tg_crd *crd)
{
    if (crd->n_columns == 0)
        return;
    line(o, "additionalPrinterColumns:");
    for (size_t i = 0; i < crd->n_columns; i++) {
        const struct tg_schema_column *column = &crd->columns[i];
        indent(o);
        tg_buf_printf(o->buf, "- name: %s\n", column->name);
        o->indent++;
        line_string(o, "type", column->type);
        line_string(o, "jsonPath", column->json_path);
        line_string(o, "description", column->description);
        if (column->priority != 0)
            line_number(o, "priority", column->priority);
        o->indent--;
    }
}

int tg_schema_write_crd(const struct tg_crd *crd, struct tg_buf *out, struct tg_error *err)
{
    struct out o = {.buf = out, .err = err, .max_name = crd->max_name};
    line(&o, "# SPDX-License-Identifier: Apache-2.0");
    line(&o, "# Generated by tg-crd from the field tables in api/tangram; change those instead.");
    line(&o, "apiVersion: apiextensions.k8s.io/v1");
    line(&o, "kind: CustomResourceDefinition");
    line(&o, "metadata:");
    tg_buf_printf(out, "  name: %s.%s\n", crd->plural, crd->group);
    line(&o, "spec:");
    o.indent = 1;
    write_names(&o, crd);
    line(&o, "versions:");
    tg_buf_printf(out, "  - name: %s\n", crd->version);
    o.indent = 2;
    line(&o, "served: true");
    line(&o, "storage: true");
    line(&o, "subresources:");
    line(&o, "  status: {}");
    write_columns(&o, crd);
    line(&o, "schema:");
    o.indent = 3;
    line(&o, "openAPIV3Schema:");
    o.indent = 4;
    line_string(&o, "description", crd->description);
    int rc = write_object(&o, crd->type, 0);
    if (rc < 0)
        return rc;
    if (out->failed)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "the CRD is larger than its buffer");
    return 0;
}
