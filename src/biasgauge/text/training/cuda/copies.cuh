// Copies from the device's memory to shared memory that go on while the warp does something else.

__device__ __forceinline__ void copy_16_bytes(float* to, const float* from)
{
    const unsigned int address = (unsigned int)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
}

__device__ __forceinline__ void end_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Wait until at most `LEFT` of the groups are under way.
template <int LEFT> __device__ __forceinline__ void wait_for_groups()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

__device__ __forceinline__ void ask_for(const void* address) { asm volatile("prefetch.global.L2 [%0];" ::"l"(address)); }

// A barrier of so many threads of a block, apart from the one of all of them.
__device__ __forceinline__ void meet(int threads) { asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory"); }
