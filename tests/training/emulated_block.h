// A block of GPU threads on a CPU: each thread is a fiber, barriers and shuffles hand over to the next fiber.
//
// Included instead of copies.cuh, before a kernel's own source. `order` decides in which order the threads of a block
// run between two barriers (0 first to last, 1 last to first, else shuffled) and `late` whether a copy to shared memory
// happens when it is asked for or when it is waited for. A kernel without races gives the same bits whatever they are.
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __shared__
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __ldg(p) (*(p))

struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) float2 { float x, y; };
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }

struct Index { unsigned x, y, z; };
static Index threadIdx, blockIdx, blockDim, gridDim;

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline int __popc(unsigned a) { return __builtin_popcount(a); }
inline int __ffs(int a) { return __builtin_ffs(a); }

namespace emulation {

struct Copy { float* to; float from[4]; const float* source; };

struct Warp { int arrived = 0; long generation = 0; uint64_t values[2][32]; };

struct Fiber {
    ucontext_t context;
    jmp_buf resume;
    bool started = false;
    const long* waits_for = nullptr;  // goes on when this is no longer `seen`
    long seen = 0;
    std::unique_ptr<char[]> stack;
    unsigned thread;
    bool finished = false;
    std::vector<std::vector<Copy>> groups{1};
};

static std::vector<Fiber> fibers;
static std::vector<Warp> warps;
static jmp_buf scheduler_resume;
static Fiber* running;
static int at_barrier, at_meeting, unfinished;
static long barrier_generation, meeting_generation;
static bool late;
static std::function<void()> body;
alignas(64) static char shared_memory[1 << 18];

// Jumps between fibers that have begun need no system call, as swapcontext does.
inline void hand_over()
{
    if (_setjmp(running->resume) == 0) _longjmp(scheduler_resume, 1);
}

inline void wait_until_moved(const long& generation, long seen)
{
    if (generation != seen) return;
    running->waits_for = &generation;
    running->seen = seen;
    hand_over();
}

inline void barrier()
{
    const long mine = barrier_generation;
    if (++at_barrier == unfinished) {
        at_barrier = 0;
        barrier_generation++;
    }
    wait_until_moved(barrier_generation, mine);
}

inline void meet(int threads)
{
    const long mine = meeting_generation;
    if (++at_meeting == threads) {
        at_meeting = 0;
        meeting_generation++;
    }
    wait_until_moved(meeting_generation, mine);
}

// All 32 lanes show a value; each gets those of all.
inline const uint64_t* exchange(uint64_t value)
{
    Warp& warp = warps[running->thread / 32];
    const long mine = warp.generation;
    uint64_t* values = warp.values[mine & 1];
    values[running->thread % 32] = value;
    if (++warp.arrived == 32) {
        warp.arrived = 0;
        warp.generation++;
    }
    wait_until_moved(warp.generation, mine);
    return values;
}

template <class T> uint64_t packed(T value) { uint64_t bits = 0; std::memcpy(&bits, &value, sizeof value); return bits; }
template <class T> T unpacked(uint64_t bits) { T value; std::memcpy(&value, &bits, sizeof value); return value; }

inline void enter()
{
    body();
    running->finished = true;
    unfinished--;
    if (unfinished && at_barrier == unfinished) {
        at_barrier = 0;
        barrier_generation++;
    }
    hand_over();
}

inline void run_block(unsigned threads, int order)
{
    fibers = std::vector<Fiber>(threads);
    warps = std::vector<Warp>((threads + 31) / 32);
    at_barrier = at_meeting = 0, unfinished = threads;
    std::memset(shared_memory, 0x7f, sizeof shared_memory);
    for (unsigned thread = 0; thread < threads; thread++) {
        Fiber& fiber = fibers[thread];
        fiber.thread = thread;
        fiber.stack.reset(new char[1 << 16]);
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.get();
        fiber.context.uc_stack.ss_size = 1 << 16;
        fiber.context.uc_link = nullptr;
        makecontext(&fiber.context, enter, 0);
    }
    std::vector<unsigned> turns(threads);
    for (unsigned thread = 0; thread < threads; thread++) turns[thread] = order == 1 ? threads - 1 - thread : thread;
    std::mt19937 random(order);
    while (unfinished) {
        if (order > 1) std::shuffle(turns.begin(), turns.end(), random);
        for (unsigned thread : turns) {
            Fiber& fiber = fibers[thread];
            if (fiber.finished || (fiber.waits_for && *fiber.waits_for == fiber.seen)) continue;
            fiber.waits_for = nullptr;
            running = &fiber;
            threadIdx.x = thread;
            if (_setjmp(scheduler_resume)) continue;
            if (fiber.started) _longjmp(fiber.resume, 1);
            fiber.started = true;
            setcontext(&fiber.context);
        }
    }
}

inline void launch(unsigned blocks, unsigned replicas, unsigned threads, int order, bool copies_are_late,
                   std::function<void()> kernel)
{
    late = copies_are_late;
    body = kernel;
    gridDim = {blocks, replicas, 1};
    blockDim = {threads, 1, 1};
    for (unsigned y = 0; y < replicas; y++)
        for (unsigned x = 0; x < blocks; x++) {
            blockIdx = {x, y, 0};
            run_block(threads, order);
        }
}

}  // namespace emulation

inline void __syncthreads() { emulation::barrier(); }
inline void meet(int threads) { emulation::meet(threads); }
inline void __syncwarp() { emulation::exchange(0); }

template <class T> T __shfl_sync(unsigned, T value, int lane)
{
    return emulation::unpacked<T>(emulation::exchange(emulation::packed(value))[lane & 31]);
}

template <class T> T __shfl_xor_sync(unsigned, T value, int mask)
{
    const int lane = emulation::running->thread % 32;
    return emulation::unpacked<T>(emulation::exchange(emulation::packed(value))[lane ^ mask]);
}

inline unsigned __ballot_sync(unsigned, bool value)
{
    const uint64_t* values = emulation::exchange(value);
    unsigned bits = 0;
    for (int lane = 0; lane < 32; lane++) bits |= unsigned(values[lane] != 0) << lane;
    return bits;
}

template <class T> unsigned __match_any_sync(unsigned, T value)
{
    const uint64_t own = emulation::packed(value), *values = emulation::exchange(own);
    unsigned bits = 0;
    for (int lane = 0; lane < 32; lane++) bits |= unsigned(values[lane] == own) << lane;
    return bits;
}

// A copy leaves rubbish until it is waited for.
inline void copy_16_bytes(float* to, const float* from)
{
    emulation::Copy copy{to, {}, emulation::late ? from : nullptr};
    std::copy(from, from + 4, copy.from);
    std::fill(to, to + 4, std::numeric_limits<float>::quiet_NaN());
    emulation::running->groups.back().push_back(copy);
}

inline void end_group() { emulation::running->groups.emplace_back(); }

template <int LEFT> void wait_for_groups()
{
    auto& groups = emulation::running->groups;
    while (groups.size() > LEFT + 1) {
        for (const auto& copy : groups.front()) {
            const float* from = copy.source ? copy.source : copy.from;
            std::copy(from, from + 4, copy.to);
        }
        groups.erase(groups.begin());
    }
}

inline void ask_for(const void*) {}

#define extern_shared_memory emulation::shared_memory
