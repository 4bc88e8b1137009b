/* SPDX-License-Identifier: Apache-2.0 */
/* Files of manifests (YAML or JSON, several documents a file, Lists taken apart), with the places
 * where things stand. */
#ifndef TG_CONTROLLER_CLI_DOCUMENTS_H
#define TG_CONTROLLER_CLI_DOCUMENTS_H

#include "controller/cli/problems.h"

/* Of one file, and of all of them together with what is made of them. */
#define TG_CLI_FILE_MAX ((size_t)64 << 20)
#define TG_CLI_MEMORY ((size_t)1 << 30)

struct tg_document {
    const char *file;
    const struct tg_json *root; /* an object with apiVersion and kind */
    const char *api_version, *kind;
    const char *group;      /* of the apiVersion; "" for core */
    const char *namespace_; /* metadata.namespace; "default" if absent */
    const char *name;       /* metadata.name; "" if absent */
};

struct tg_documents {
    struct tg_arena *arena;
    TG_VEC(struct tg_document) items;
};

void tg_documents_init(struct tg_documents *documents, struct tg_arena *arena);
void tg_documents_done(struct tg_documents *documents);

/* Appends the documents of the file ("-": standard input). What cannot be read is a problem; the
 * others are appended all the same. */
void tg_documents_read(struct tg_documents *documents, const char *file,
                       struct tg_problems *problems);
/* The same of n bytes. */
void tg_documents_parse(struct tg_documents *documents, const char *file, const char *data,
                        size_t n, struct tg_problems *problems);

/* The value below root along keys, ended by NULL; NULL if it is not there. */
const struct tg_json *tg_json_at(const struct tg_json *root, ...) __attribute__((sentinel));

struct tg_type;
/* Decodes a part of a document into a new struct of the type. NULL: a problem was added. path: of
 * the part in the document, "" for the root. */
void *tg_document_decode(const struct tg_document *document, const struct tg_json *part,
                         const char *path, const struct tg_type *type, struct tg_arena *arena,
                         struct tg_problems *problems);

#endif
