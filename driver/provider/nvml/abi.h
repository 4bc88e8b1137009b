/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the binary interface of libnvidia-ml.so.1 that we use: our own declarations of its
 * published functions and structures (NVML API reference, API version 13), so that nothing of the
 * vendor is needed to build. The library is loaded at run time (library.h).
 */
#ifndef TG_DRIVER_PROVIDER_NVML_ABI_H
#define TG_DRIVER_PROVIDER_NVML_ABI_H

/* nvmlReturn_t */
enum {
    NVML_OK = 0,
    NVML_UNINITIALIZED = 1,
    NVML_INVALID_ARGUMENT = 2,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_NOT_FOUND = 6,
    NVML_INSUFFICIENT_SIZE = 7,
    NVML_DRIVER_NOT_LOADED = 9,
    NVML_TIMEOUT = 10,
    NVML_FUNCTION_NOT_FOUND = 13,
    NVML_GPU_IS_LOST = 15,
    NVML_RESET_REQUIRED = 16,
    NVML_LIB_RM_VERSION_MISMATCH = 18,
    NVML_IN_USE = 19,
    NVML_MEMORY = 20,
    NVML_INSUFFICIENT_RESOURCES = 23, /* full, or that placement is taken: it does not say which */
    NVML_ARGUMENT_VERSION_MISMATCH = 25,
    NVML_NOT_READY = 27,
    NVML_UNKNOWN = 999,
};

/* Lengths of buffers that always suffice. */
#define NVML_NAME_BYTES 96
#define NVML_UUID_BYTES 96
#define NVML_VERSION_BYTES 81

/* NVML_STRUCT_VERSION: structures say their size and version in their first member. */
#define NVML_VERSION(type, number) ((unsigned)sizeof(type) | (unsigned)(number) << 24)

struct nvml_pci {
    char bus_id_legacy[16];
    unsigned domain, bus, device;
    unsigned pci_device_id; /* device << 16 | vendor */
    unsigned pci_subsystem_id;
    char bus_id[32];
};

struct nvml_memory {
    unsigned long long total, free, used;
};

/* nvmlGpuFabricInfo_v2_t */
struct nvml_fabric {
    unsigned version;
    unsigned char cluster_uuid[16];
    int status;
    unsigned clique_id;
    unsigned char state;
    unsigned health_mask;
};
#define NVML_FABRIC_COMPLETED 3

/* nvmlGpuInstanceProfileInfo_v2_t; version 3 differs in the order of members. */
struct nvml_gi_profile {
    unsigned version;
    unsigned id, is_p2p_supported, slice_count, instance_count, multiprocessor_count;
    unsigned copy_engines, decoders, encoders, jpeg_engines, ofa_engines;
    unsigned long long memory_mib;
    char name[NVML_NAME_BYTES];
};
#define NVML_GI_PROFILES 0x12 /* one more than the highest profile number that is known */

struct nvml_placement {
    unsigned start, size; /* memory slices */
};

struct nvml_gi_info {
    void *device;
    unsigned id, profile_id;
    struct nvml_placement placement;
};

struct nvml_ci_profile {
    unsigned id, slice_count, instance_count, multiprocessor_count;
    unsigned copy_engines, decoders, encoders, jpeg_engines, ofa_engines;
};
#define NVML_CI_PROFILES 8
#define NVML_CI_ENGINE_SHARED 0

struct nvml_ci_info {
    void *device, *gpu_instance;
    unsigned id, profile_id;
    struct nvml_placement placement; /* compute slices */
};

/*
 * Name, parameters and whether a driver without it cannot be used. Devices, GPU instances and
 * compute instances are handles that only the library looks into.
 */
#define NVML_FUNCTIONS(X)                                                                          \
    X(true, nvmlInit_v2, (void))                                                                   \
    X(true, nvmlShutdown, (void))                                                                  \
    X(true, nvmlSystemGetDriverVersion, (char *version, unsigned n))                               \
    X(false, nvmlSystemGetCudaDriverVersion_v2, (int *version))                                    \
    X(true, nvmlDeviceGetCount_v2, (unsigned *n))                                                  \
    X(true, nvmlDeviceGetHandleByIndex_v2, (unsigned index, void **device))                        \
    X(true, nvmlDeviceGetUUID, (void *device, char *uuid, unsigned n))                             \
    X(true, nvmlDeviceGetName, (void *device, char *name, unsigned n))                             \
    X(true, nvmlDeviceGetPciInfo_v3, (void *device, struct nvml_pci *pci))                         \
    X(true, nvmlDeviceGetMinorNumber, (void *device, unsigned *minor))                             \
    X(true, nvmlDeviceGetMemoryInfo, (void *device, struct nvml_memory *memory))                   \
    X(false, nvmlDeviceGetArchitecture, (void *device, unsigned *architecture))                    \
    X(false, nvmlDeviceGetBrand, (void *device, unsigned *brand))                                  \
    X(false, nvmlDeviceGetCudaComputeCapability, (void *device, int *major, int *minor))           \
    X(false, nvmlDeviceGetNumaNodeId, (void *device, unsigned *node))                              \
    X(false, nvmlDeviceGetGpuFabricInfoV, (void *device, struct nvml_fabric *fabric))              \
    X(false, nvmlDeviceGetComputeMode, (void *device, unsigned *mode))                             \
    X(false, nvmlDeviceSetComputeMode, (void *device, unsigned mode))                              \
    X(false, nvmlDeviceGetMigMode, (void *device, unsigned *current, unsigned *pending))           \
    X(false, nvmlDeviceGetMaxMigDeviceCount, (void *device, unsigned *n))                          \
    X(false, nvmlDeviceGetMigDeviceHandleByIndex, (void *device, unsigned index, void **mig))      \
    X(false, nvmlDeviceGetGpuInstanceId, (void *mig, unsigned *id))                                \
    X(false, nvmlDeviceGetComputeInstanceId, (void *mig, unsigned *id))                            \
    X(false, nvmlDeviceGetGpuInstanceProfileInfoV,                                                 \
      (void *device, unsigned profile, struct nvml_gi_profile *info))                              \
    X(false, nvmlDeviceGetGpuInstancePossiblePlacements_v2,                                        \
      (void *device, unsigned profile_id, struct nvml_placement *placements, unsigned *n))         \
    X(false, nvmlDeviceGetGpuInstances,                                                            \
      (void *device, unsigned profile_id, void **instances, unsigned *n))                          \
    X(false, nvmlGpuInstanceGetInfo, (void *instance, struct nvml_gi_info *info))                  \
    X(false, nvmlDeviceCreateGpuInstanceWithPlacement,                                             \
      (void *device, unsigned profile_id, const struct nvml_placement *placement,                  \
       void **instance))                                                                           \
    X(false, nvmlGpuInstanceDestroy, (void *instance))                                             \
    X(false, nvmlGpuInstanceGetComputeInstanceProfileInfo,                                         \
      (void *instance, unsigned profile, unsigned engines, struct nvml_ci_profile *info))          \
    X(false, nvmlGpuInstanceGetComputeInstances,                                                   \
      (void *instance, unsigned profile_id, void **instances, unsigned *n))                        \
    X(false, nvmlComputeInstanceGetInfo_v2, (void *instance, struct nvml_ci_info *info))           \
    X(false, nvmlGpuInstanceCreateComputeInstance,                                                 \
      (void *instance, unsigned profile_id, void **compute))                                       \
    X(false, nvmlComputeInstanceDestroy, (void *compute))

#endif
