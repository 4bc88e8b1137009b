/* SPDX-License-Identifier: Apache-2.0 */
/* What others reached on the openb traces, to print beside our own figures. */
#ifndef TG_BENCH_PACKING_REFERENCES_H
#define TG_BENCH_PACKING_REFERENCES_H

/* One JSON object: the upper bounds, and the means of the published results when they lie beside
 * the trace (../expected_results/analysis_allo_discrete.csv; a word on stderr when they do not). */
void references_print(const char *pods_path, const char *name);

#endif
